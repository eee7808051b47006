"""Expected errors of a collection, and how far lying devices could move it, from public facts."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from discreet.glm import MeanFunction
from discreet.local.collection import Collection
from discreet.local.columns import Floats
from discreet.local.design import Reported, coefficient_map, known_points, pilot_noise, raw_map, supposed_moment
from discreet.local.estimate import Evidence, default_model, estimate_covariance, evidence_of, fit
from discreet.local.known_design import KnownDesign
from discreet.local.links import Link
from discreet.local.models import Model, as_model
from discreet.local.moment_equation import Points
from discreet.local.results import LocalResult
from discreet.local.task import Task


def forecast(task: Task, n: int, model: str | Model | None = None) -> dict[str, Any]:
    """Expected standard errors of each coefficient at n reports, and the expected squared relative
    error.

    The relative error assumes a linear predictor of standard deviation 1 (an eighth of the label's
    range, for a linear model) in a random direction; it falls with the square of this standard
    deviation. The entry "supposes" says which features are assumed: the task's public rows or
    moments, or a guess where the task holds neither.

    Parameters
    ----------
    task : Task
        The public task that the reports answer.
    n : int
        How many reports.
    model : str or model, optional
        The model to fit; logistic for labels in [0, 1], else linear.

    Returns
    -------
    dict
        Expected standard errors by name, and what was supposed.

    Examples
    --------
    >>> from discreet import Domain, Numeric
    >>> from discreet.local import new_task
    >>> task = new_task(
    ...     "cost by age",
    ...     domain=Domain((Numeric("age", 18, 90),)),
    ...     target=Numeric("cost", 0, 1),
    ...     epsilon=4.0,
    ...     goal=20_000,
    ... )
    >>> from discreet.local import forecast
    >>> sorted(forecast(task, 20_000))
    ['names', 'reports', 'squared_relative_error', 'std_errors', 'supposes']
    """
    if n < 1:
        raise ValueError(f"n must be >= 1, got {n}")
    if task.statistic.kind == "pilot":
        return _pilot_forecast(task, n)
    if task.statistic.kind == "predictor":
        unknown = {"std_errors": [math.nan] * len(task.names), "squared_relative_error": math.nan}
        return {"reports": n, "names": task.names, **unknown, "supposes": "nothing: NLDP prints no standard errors"}
    link = as_model(default_model(task) if model is None else model).mean_function
    evidence, straight, coef, moment = _typical(task, link, n)
    covariance = estimate_covariance(task, evidence, straight, coef)
    to_columns = coefficient_map(task)
    return {
        "reports": n,
        "names": (["intercept"] if task.fit_intercept else []) + task.names,
        "std_errors": np.sqrt(np.diag(to_columns @ covariance @ to_columns.T)).tolist(),
        "squared_relative_error": float(np.trace(covariance @ moment) / (coef @ moment @ coef)),
        "supposes": supposition(task),
    }


def _pilot_forecast(task: Task, n: int) -> dict[str, Any]:
    """Errors of a pilot's means, in the columns' units and relative to assumed standard
    deviations.
    """
    noise = pilot_noise(task.statistic, task.randomizer, len(task.names), n)
    halves = np.diag(raw_map(task)[:, 1:])
    supposed = np.diag(supposed_moment(task.columns))[1:] - supposed_moment(task.columns)[0, 1:] ** 2
    return {
        "reports": n,
        "names": task.names,
        "std_errors": (noise * halves).tolist(),
        "squared_relative_error": float(np.mean(noise**2 / supposed)),
        "supposes": supposition(task),
    }


def supposition(task: Task) -> str:
    """What a forecast assumes about the features."""
    if isinstance(task.design, KnownDesign):
        kind = "rows" if task.design.rows is not None else "second moment"
        return f"features like the task's public {kind} ({task.design.count:,} rows)"
    if task.parent:
        return "uncorrelated, Gaussian features with the means and scales that the pilot estimated"
    return (
        "a guess, because the task holds no public facts about the features: independent columns, numbers with "
        "standard deviations of an eighth of their declared range, levels equally frequent; errors are far larger "
        "for columns that vary less"
    )


def influence(task: Task, collection: Collection, model: str | Model | LocalResult, share: float) -> dict[str, float]:
    """How far this share of lying devices could move each coefficient, to first order.

    Parameters
    ----------
    task : Task
        The public task that the reports answer.
    collection : Collection
        The sum of the reports.
    model : str or Model or LocalResult
        A model to fit, or a result of ``fit``. A report has a bounded length, so a lying device
        moves the sum by at most this bound plus 1, the length of an honest record.
    share : float
        The share of lying devices, between 0 and 1.

    Returns
    -------
    dict of str to float
        For each coefficient, how far it could be moved.

    Examples
    --------
    >>> from discreet import Domain, Numeric
    >>> from discreet.local import new_task
    >>> task = new_task(
    ...     "cost by age",
    ...     domain=Domain((Numeric("age", 18, 90),)),
    ...     target=Numeric("cost", 0, 1),
    ...     epsilon=4.0,
    ...     goal=20_000,
    ... )
    >>> import numpy as np
    >>> from discreet.local import simulate
    >>> rng = np.random.default_rng(0)
    >>> age = rng.uniform(18, 90, 20_000)
    >>> cost = 0.2 + 0.005 * age + rng.uniform(-0.1, 0.1, 20_000)
    >>> collection = simulate(task, {"age": age}, cost, rng)
    >>> from discreet.local import influence
    >>> sorted(influence(task, collection, "identity", share=0.01))
    ['age', 'intercept']
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must be between 0 and 1, got {share}")
    result = model if isinstance(model, LocalResult) else fit(task, collection, [model])[0]
    moves = share * (task.randomizer.longest + 1.0) * np.linalg.norm(result.response, axis=1)
    return dict(zip(result.names, moves.tolist(), strict=True))


def _typical(task: Task, link: MeanFunction, n: int) -> tuple[Evidence, MeanFunction, Floats, Floats]:
    """The expected fit to n complete records under a model of typical strength with a
    linear link.
    """
    points, slope = _points_and_slope(task, link)
    moment = points.moment
    values, axes = np.linalg.eigh(moment)
    seen = values > 1e-7 * values[-1]
    strength = task.target.scale / 4 if link.is_identity else 1.0
    # Every direction in which the design varies contributes equally to the predictor.
    coef = axes[:, seen] @ (values[seen] ** -0.5) * (strength / math.sqrt(int(seen.sum())))
    straight = _straight(slope, task.target.centre)
    expected = points.expected(coef, straight, task.target.centre) / task.target.scale
    second = None
    if task.statistic.has_outer:
        short = points.vectors * task.statistic.shortening(points.vectors)[:, np.newaxis]
        second = short.T @ short / len(short)
    return evidence_of(task, Reported(1.0, expected, second), n), straight, coef, moment


@lru_cache(maxsize=32)
def _points_and_slope(task: Task, link: MeanFunction) -> tuple[Points, float]:
    nodes, weights = _normal_nodes()
    return known_points(task), float(weights @ link.slope(nodes))


@lru_cache(maxsize=1)
def _normal_nodes() -> tuple[Floats, Floats]:
    """Nodes and weights for an average over a standard normal."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    return nodes, weights / weights.sum()


def _straight(slope: float, centre: float) -> MeanFunction:
    """A linear link of this slope, which approximates a curved one on average."""

    def slopes(eta: Floats) -> Floats:
        return np.full_like(eta, slope)

    return Link("typical", lambda eta: centre + slope * eta, slopes)
