"""diffprivlib's LinearRegression, run by the python of .venv-diffprivlib on one problem in an .npz
file.

Usage: python diffprivlib_linear.py problem.npz scores.npz
"""

from __future__ import annotations

import sys
import warnings

import diffprivlib
import numpy as np
from diffprivlib.models import LinearRegression
from sklearn.metrics import r2_score


def main(problem_path: str, scores_path: str) -> None:
    # Diverging fits warn thousands of times; their scores say the same.
    warnings.simplefilter("ignore")
    problem = dict(np.load(problem_path))
    np.savez(
        scores_path,
        original_units=_scores(problem),
        centred_units=_scores(_centred(problem)),
        version=diffprivlib.__version__,
    )


def _scores(problem: dict[str, np.ndarray]) -> np.ndarray:
    """Test R^2 of each noise draw."""
    scores = []
    for draw in range(int(problem["draws"])):
        model = LinearRegression(
            epsilon=float(problem["epsilon"]),
            bounds_X=(problem["low"], problem["high"]),
            bounds_y=(float(problem["y_low"]), float(problem["y_high"])),
            random_state=draw,
        )
        model.fit(problem["X_train"], problem["y_train"])
        prediction = model.predict(problem["X_test"])
        scores.append(r2_score(problem["y_test"], prediction) if np.isfinite(prediction).all() else -np.inf)
    return np.array(scores)


def _centred(problem: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same problem with every declared interval mapped to [-1, 1]; R^2 does not change under
    that.
    """
    centre, half_width = (problem["high"] + problem["low"]) / 2, (problem["high"] - problem["low"]) / 2
    y_centre, y_half_width = (problem["y_high"] + problem["y_low"]) / 2, (problem["y_high"] - problem["y_low"]) / 2
    return problem | {
        "X_train": (problem["X_train"] - centre) / half_width,
        "X_test": (problem["X_test"] - centre) / half_width,
        "y_train": (problem["y_train"] - y_centre) / y_half_width,
        "y_test": (problem["y_test"] - y_centre) / y_half_width,
        "low": -np.ones_like(centre),
        "high": np.ones_like(centre),
        "y_low": np.array(-1.0),
        "y_high": np.array(1.0),
    }


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
