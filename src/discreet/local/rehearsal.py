"""A simulated collection for a task, with effects of an assumed strength."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.domain.columns import Categorical, Numeric
from discreet.local.collection import Collection
from discreet.local.columns import Floats
from discreet.local.design import encoded_points, raw_map
from discreet.local.known_design import KnownDesign
from discreet.local.models import LocalGLM, Model
from discreet.local.simulation import simulate_encoded
from discreet.local.task import Task

# Standard deviation of residuals of models other than GLMs, as a share of half the label's range.
_RESIDUAL = 0.1


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """A simulated collection, the encoded people behind it, and the coefficients that made their
    labels.
    """

    collection: Collection
    rows: Floats
    labels: Floats
    truth: Floats


def rehearse(
    task: Task, n: int, model: Model, rng: np.random.Generator, effect: float = 1.0, missing: float = 0.0
) -> Rehearsal:
    """n people like the task's public rows or moments, with a linear predictor of standard
    deviation ``effect``.

    ``missing`` is the share of people who leave one answer out. All but a few labels in a thousand
    lie inside the declared range; a model whose means do not fit into it is refused. For a linear
    model ``effect`` is in eighths of the range.
    """
    rows = people(task, n, rng)
    raw = rows @ raw_map(task).T
    slopes = rng.normal(size=raw.shape[1]) / np.maximum(raw.std(axis=0), 1e-12)
    centre, strength = label_scale(task, model, effect)
    spread = float(np.std(raw @ slopes)) if task.fit_intercept else float(np.sqrt(np.mean((raw @ slopes) ** 2)))
    slopes *= strength / max(spread, 1e-12)
    start = centre - float(raw.mean(axis=0) @ slopes) if task.fit_intercept else 0.0
    labels = _labels(task, model, start + raw @ slopes, rng)
    truth = np.array([start, *slopes]) if task.fit_intercept else slopes
    if missing > 0:
        left_out = rng.random(n) < missing
        rows[left_out, rng.integers(1, rows.shape[1], size=int(left_out.sum()))] = np.nan
    return Rehearsal(simulate_encoded(task, rows, labels, rng), rows, labels, truth)


def people(task: Task, n: int, rng: np.random.Generator) -> Floats:
    """Encoded rows (1, x): drawn from the public rows, else Gaussian with known or
    assumed moments.
    """
    points, _ = encoded_points(task)
    if isinstance(task.design, KnownDesign) and task.design.rows is not None:
        return points[rng.integers(len(points), size=n)]
    if task.design is None:
        return _supposed_people(task, n, rng)
    mean, covariance = points[:, 1:].mean(axis=0), np.cov(points[:, 1:], rowvar=False).reshape(2 * (len(task.names),))
    drawn = rng.multivariate_normal(mean, covariance, size=n, method="eigh")
    return np.hstack([np.ones((n, 1)), np.clip(drawn, -1.0, 1.0)])


def _supposed_people(task: Task, n: int, rng: np.random.Generator) -> Floats:
    parts = [np.ones((n, 1))]
    for column in task.columns:
        if isinstance(column, Numeric):
            parts.append(np.clip(rng.normal(scale=0.25, size=(n, 1)), -1.0, 1.0))
        else:
            assert isinstance(column, Categorical)
            parts.append(np.eye(len(column.values))[rng.integers(len(column.values), size=n)][:, 1:])
    return np.hstack(parts)


def label_scale(task: Task, model: Model, effect: float) -> tuple[float, float]:
    """Centre and standard deviation of the linear predictor that keep labels in the
    declared range.
    """
    low, high = task.target.low, task.target.high
    name = model.name
    if name in ("logistic", "boosting", "sigmoid"):
        if not (low <= 0.0 and high >= 1.0):
            raise ValueError(f"a {name} model needs a label range that contains 0 to 1; {task.target.name!r} has less")
        return 0.0, effect
    if name == "identity":
        return task.target.centre, effect * task.target.half_range / 4
    if name in ("poisson", "exponential"):
        if not (low <= 0.0 and high >= 2.0):
            raise ValueError(f"a {name} model needs a label range that contains 0 to 2; {task.target.name!r} has less")
        # exp(centre + 3 effect) and its Poisson scatter stay below the upper bound.
        return float(np.log(high) - 3 * effect - 3 / np.sqrt(high)), effect
    if name == "cubic":
        return 0.0, effect * float(np.cbrt(3 * min(high, -low) * (1 - _RESIDUAL))) / 4 if low < 0 < high else 0.0
    return min(0.0, high / 2), effect * min(1.0, high / 4)


def _labels(task: Task, model: Model, predictor: Floats, rng: np.random.Generator) -> Floats:
    mean = model.mean_function.mean(predictor)
    if isinstance(model, LocalGLM):
        if model.has_two_labels:
            return (rng.random(len(mean)) < mean).astype(np.float64)
        return rng.poisson(np.minimum(mean, 1e6)).astype(np.float64)
    room = np.minimum(task.target.half_range * _RESIDUAL, np.minimum(task.target.high - mean, mean - task.target.low))
    return np.asarray(mean + rng.uniform(-1, 1, size=len(mean)) * np.maximum(room, 0.0))
