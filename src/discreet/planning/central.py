"""The forecast for one trusted curator: errors of the descent, and what its shrinkage makes of them."""

from __future__ import annotations

import math

import numpy as np

from discreet.algorithms.steps.descent_plan import DescentPlan
from discreet.planning.descent import Errors, descent_errors, shrunk
from discreet.planning.design import Design, typical_rows
from discreet.privacy import Budget

_DRAWS = 64


def central(
    design: Design, n: int, budget: Budget, *, neighbours: str = "replace_one", public: int = 0
) -> tuple[float, float]:
    """Standard error of a coefficient and excess risk of the model that predicts."""
    replaced = neighbours == "replace_one"
    errors = descent_errors(design, n, budget, replaced=replaced, public=public > 0)
    return errors.standard_error, excess_risk(design, errors, _mean_noise(n, budget, replaced, public > 0), public)


def excess_risk(design: Design, errors: Errors, mean_noise: float, public: int) -> float:
    """The mean risk of shrunk estimates, over draws of their errors and over made-up rows."""
    rng = np.random.default_rng(3)
    truth = design.coefficients[:, np.newaxis]
    draws = truth + errors.standard_error * rng.standard_normal((design.size, _DRAWS))
    goals = None
    if public:
        # A public fit has the errors of so many rows; one of fewer rows than coefficients says next to nothing.
        spread = min(1 / math.sqrt(max(public - design.size, 1) * design.information), design.effect)
        goals = truth + spread * rng.standard_normal(draws.shape)
    model = shrunk(draws, truth, errors.noise, errors.caution, mean_noise, goals)
    return float(np.mean(design.risk(model, typical_rows(design)[0])))


def _mean_noise(n: int, budget: Budget, replaced: bool, x_is_known: bool) -> float:
    """About the variance of the first look's mean label: the look sums a handful of numbers in [-1, 1]."""
    share = DescentPlan.look_share(x_is_known)
    return ((4.0 if replaced else 2.0) / (budget.mu * math.sqrt(share) * n)) ** 2
