"""What solvers of the papers share: bounds from declared quantities alone, the number of rows, and
the cost of noise of a printed size.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.first_look import XScaling, first_look
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.privacy import GDP, Budget
from discreet.rows import Floats, Query, Source
from discreet.rows.truncated import TruncatedScores

# The share of mu^2 for the number of rows, where it is private.
_COUNT_SHARE = 0.03


def declared_coordinates(model: GlmModel, x_radius: float) -> tuple[Coordinates, float]:
    """Encoded (1, x), or x from the origin on, and the largest length of a row."""
    if model.origin is None:
        return Coordinates(np.eye(model.size)), math.hypot(1.0, x_radius)
    return Coordinates.through_origin(model.origin, 1.0), x_radius + float(np.linalg.norm(model.origin))


def predictors(model: GlmModel, reach: float) -> tuple[float, float]:
    """The range of the linear predictor, if coefficients contribute at most ``reach``."""
    low, high = (0.0, 0.0) if model.exposure is None else (math.log(bound) for bound in model.exposure)
    return low - reach, high + reach


def truncated_scores(model: GlmModel, coordinates: Coordinates, at: Floats, radius: float, bound: float) -> Query:
    """The gradient at a point, from rows truncated at the radius and bounded scores."""
    family, link = model.family, model.link
    return TruncatedScores(coordinates.map(at), model.labels, lambda y, eta: family.score(y, eta, link), radius, bound)


def row_count(source: Source, budget: Budget, width: int, x_radius: float) -> tuple[float, float]:
    """The number of rows, and the share of the budget that is left after releasing it, if it is
    private.
    """
    if source.public_rows is not None:
        return public_count(source), 1.0
    nothing = XScaling(np.zeros(width), 1.0)
    return first_look(source, budget.part(_COUNT_SHARE), width, x_radius, nothing).count, 1 - _COUNT_SHARE


def public_count(source: Source) -> float:
    """The number of rows, which printed noise needs."""
    if source.public_rows is None:
        raise ValueError("calibration='paper' needs a public number of rows: neighbours='replace_one', no groups")
    return float(max(source.public_rows, 1))


def cost_of(source: Source, query: Query, noise_std: float) -> GDP:
    """The cost of noise of this size for this query: noise and mu are inversely proportional."""
    return GDP(source.noise_std(query, GDP(1.0)) / noise_std)
