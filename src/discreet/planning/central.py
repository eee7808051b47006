"""The forecast for one trusted curator: errors of the descent, and their effect after shrinkage."""

from __future__ import annotations

import math

import numpy as np

from discreet.algorithms.parts.shrink import nearer, shrunk
from discreet.planning.descent import Errors, descent_errors
from discreet.planning.design import Design, typical_rows
from discreet.planning.kinds import Floats
from discreet.privacy import Budget

_DRAWS = 64


def central(
    design: Design, n: int, budget: Budget, *, neighbours: str = "replace_one", public: int = 0
) -> tuple[float, float]:
    """The standard error of a coefficient, and the excess risk of the predicting model."""
    errors = descent_errors(design, n, budget, replaced=neighbours == "replace_one", public=public > 0)
    return errors.standard_error, excess_risk(design, errors, public)


def excess_risk(design: Design, errors: Errors, public: int) -> float:
    """The mean risk of shrunk estimates, over draws of their errors and over simulated rows."""
    rng = np.random.default_rng(3)
    truth, models = design.coefficients, []
    for _ in range(_DRAWS):
        estimate = truth + errors.standard_error * rng.standard_normal(design.size)
        models.append(_prediction(design, estimate, errors.noise, _public_fit(design, public, rng)))
    return float(np.mean(design.risk(np.array(models).T, typical_rows(design)[0])))


def _public_fit(design: Design, public: int, rng: np.random.Generator) -> Floats | None:
    """A public fit has the errors of this many rows; with fewer rows than
    coefficients it is almost useless.
    """
    if not public:
        return None
    spread = min(1 / math.sqrt(max(public - design.size, 1) * design.information), design.effect)
    return design.coefficients + spread * rng.standard_normal(design.size)


def _prediction(design: Design, estimate: Floats, variance: float, public: Floats | None) -> Floats:
    """The rule at the descent's end: shrink towards the constant model, or
    towards the public fit.
    """
    noise = max(variance, 1e-300) * np.eye(design.size)
    constant = np.concatenate([estimate[:1], np.zeros(design.d)])
    if public is not None and not nearer(estimate, noise, constant, public):
        return shrunk(estimate, noise, public, 0)
    return shrunk(estimate, noise, constant, 1)
