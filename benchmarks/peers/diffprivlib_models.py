"""diffprivlib's linear and logistic regression, run by the python of .venv-diffprivlib.

Reads lines "problem.npz weights.npz" from its input, and answers each with a line once the weights are written: the
imports take longer than most fits.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from diffprivlib.models import LinearRegression, LogisticRegression


def solve(problem_path: str, weights_path: str) -> None:
    problem = dict(np.load(problem_path))
    fit = linear if str(problem["family"]) == "linear" else logistic
    np.savez(weights_path, weights=np.array([fit(problem, draw) for draw in range(int(problem["draws"]))]))


def linear(problem: dict[str, np.ndarray], draw: int) -> np.ndarray:
    """Coefficients, then the intercept. Bounds are those of the columns in these units, declared or public."""
    model = LinearRegression(
        epsilon=float(problem["epsilon"]),
        bounds_X=(problem["low"], problem["high"]),
        bounds_y=(-float(problem["y_bound"]), float(problem["y_bound"])),
        random_state=draw,
    )
    model.fit(problem["X"], problem["y"])
    return np.append(model.coef_, model.intercept_)


def logistic(problem: dict[str, np.ndarray], draw: int) -> np.ndarray:
    """Coefficients, then the intercept."""
    model = LogisticRegression(epsilon=float(problem["epsilon"]), data_norm=float(problem["radius"]), random_state=draw)
    model.fit(problem["X"], problem["y"].astype(np.int64))
    return np.append(model.coef_, model.intercept_)


if __name__ == "__main__":
    # Diverging fits warn thousands of times; their scores say the same.
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        solve(*line.split())
        print("done", flush=True)
