"""The ball for coefficients: papers that bound a mean by its largest value
need bounded coefficients.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from discreet.algorithms.steps.glm_model import GlmModel
from discreet.rows import Floats

# Scores of the logit are bounded for all coefficients: there the ball only keeps numbers finite.
_FAR = 50.0
_USUAL = 3.0


def usual_radius(model: GlmModel) -> float:
    """The default radius of the ball."""
    return _FAR if model.family.is_logistic(model.link) else _USUAL


def warn_at_edge(beta: Floats, radius: float, solver: str) -> None:
    """Warn if the ball, not the data, determined the result; this uses the
    released coefficients alone.
    """
    if math.isfinite(radius) and float(np.linalg.norm(beta)) >= radius * (1 - 1e-9):
        warnings.warn(
            f"the coefficients ended at the edge of the ball of solver={solver!r}, radius {radius:g} "
            "on columns scaled to [-1, 1]: the signal or the noise is larger than that. A larger radius= allows more, "
            "and needs more noise",
            UserWarning,
            stacklevel=2,
        )
