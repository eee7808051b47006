"""diffprivlib's linear and logistic regression, run by the python of .venv-diffprivlib.

Reads lines "problem.npz weights.npz" from its input, and answers each with a line once the weights
are written: the imports take longer than most fits.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from diffprivlib.models import LinearRegression, LogisticRegression


def solve(problem_path: str, weights_path: str) -> None:
    problem = dict(np.load(problem_path))
    fit = linear if str(problem["family"]) == "linear" else logistic
    np.savez(weights_path, weights=np.array([fit(problem, seed) for seed in problem["seeds"].tolist()]))


def linear(problem: dict[str, np.ndarray], seed: int) -> np.ndarray:
    """Coefficients, then the intercept; fitted where every column's interval is [-1, 1].

    It takes the noise of a square from the lower bound alone: symmetric intervals keep that right,
    and are its best units, as an interval that is not centred costs it more noise.
    """
    centre, half_width = (problem["high"] + problem["low"]) / 2, (problem["high"] - problem["low"]) / 2
    model = LinearRegression(
        epsilon=float(problem["epsilon"]),
        bounds_X=(-1.0, 1.0),
        bounds_y=(-float(problem["y_bound"]), float(problem["y_bound"])),
        random_state=seed,
    )
    model.fit((problem["X"] - centre) / half_width, problem["y"])
    coef = model.coef_ / half_width
    return np.append(coef, model.intercept_ - centre @ coef)


def logistic(problem: dict[str, np.ndarray], seed: int) -> np.ndarray:
    """Coefficients, then the intercept; data_norm is without the intercept, which it counts itself."""
    model = LogisticRegression(
        epsilon=float(problem["epsilon"]), data_norm=float(problem["feature_radius"]), random_state=seed
    )
    model.fit(problem["X"], problem["y"].astype(np.int64))
    return np.append(model.coef_, model.intercept_)


if __name__ == "__main__":
    # Diverging fits warn thousands of times; their scores say the same.
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        solve(*line.split())
        print("done", flush=True)
