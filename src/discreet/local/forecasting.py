"""What a collection will be able to say, and how far liars could bend it: public facts alone."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from discreet.local.collection import Collection
from discreet.local.design import coefficient_map, known_points
from discreet.local.estimate import estimate_covariance, fit, report_response
from discreet.local.links import IDENTITY, Link
from discreet.local.models import Model, as_model
from discreet.local.moment_equation import Points
from discreet.local.plan import Floats
from discreet.local.results import LocalResult
from discreet.local.task import Task


def forecast(task: Task, n: int, model: str | Model | None = None) -> dict[str, Any]:
    """Expected standard errors of each coefficient at n reports, and the expected squared relative error.

    The relative error supposes a linear predictor of standard deviation 1, in no particular direction; it shrinks
    with the square of that.
    """
    if n < 1:
        raise ValueError(f"n must be >= 1, got {n}")
    if model is None:
        model = "logistic" if (task.target.low, task.target.high) == (0.0, 1.0) else "identity"
    points, slope = _typical(task, as_model(model).mean_function)
    link = _straight(slope, task.label_centre)
    moment = points.vectors.T @ points.vectors / len(points.vectors)
    coef = np.ones(task.width)
    coef /= math.sqrt(coef @ moment @ coef)
    response = report_response(task, points, link, coef, 1.0)
    covariance = estimate_covariance(task, n, points, link, coef, response)
    to_columns = coefficient_map(task)
    return {
        "reports": n,
        "names": (["intercept"] if task.fit_intercept else []) + task.names,
        "std_errors": np.sqrt(np.diag(to_columns @ covariance @ to_columns.T)).tolist(),
        "squared_relative_error": float(np.trace(covariance @ moment)),
    }


def influence(
    task: Task, collection: Collection, model: str | Model | LocalResult, share: float, *, public: Any = None
) -> dict[str, float]:
    """How far this share of lying devices could move each coefficient, to first order.

    model: one to fit, or a result of ``fit``.
    A report lies in a ball, so a liar moves the sum by at most the ball's radius plus an honest record's own length.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must be between 0 and 1, got {share}")
    result = model if isinstance(model, LocalResult) else fit(task, collection, [model], public=public)[0]
    step = share * (task.plan.limit * task.plan.unit + _honest_length(task))
    moves = step * np.linalg.norm(result.response, axis=1)
    return dict(zip(result.names, moves.tolist(), strict=True))


def _honest_length(task: Task) -> float:
    return math.hypot(task.radius**2 if task.outer else 0.0, task.cross_weight * task.radius)


@lru_cache(maxsize=32)
def _typical(task: Task, link: Link) -> tuple[Points, float]:
    points = known_points(task)
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    return points, float(weights @ link.slope(nodes) / weights.sum())


def _straight(slope: float, centre: float) -> Link:
    """A line of this slope: what a curved link looks like on average."""

    def slopes(eta: Floats) -> Floats:
        return np.full_like(eta, slope)

    return Link("typical", lambda eta: centre + slope * eta, slopes, IDENTITY.curvature)
