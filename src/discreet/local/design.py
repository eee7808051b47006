"""The design that expectations are taken over: public rows, or Gaussian points of known moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.domain import Domain, Numeric
from discreet.local.collection import Collection
from discreet.local.make import public_design, raw_map
from discreet.local.moment_equation import Points, gaussian_points
from discreet.local.plan import Floats
from discreet.local.task import Task


@dataclass(frozen=True, eq=False)
class Reported:
    """The average report taken apart: h c, and h h^T where the task asks for it."""

    cross: Floats
    second: Floats | None

    @classmethod
    def of(cls, task: Task, mean: Floats) -> Reported:
        cross = mean[len(mean) - task.width :] / task.cross_weight
        if not task.outer:
            return cls(cross, None)
        rows, columns = np.triu_indices(task.width)
        second = np.zeros((task.width, task.width))
        second[rows, columns] = second[columns, rows] = mean[: len(rows)]
        return cls(cross, second)


def coefficient_map(task: Task) -> Floats:
    """The matrix that takes coefficients u on h's coordinates to those in the columns' own units, intercept first."""
    raw = raw_map(Domain(task.columns))
    half = np.diag(raw[:, 1:])
    slopes = task.transform.T[1:] / half[:, np.newaxis]
    intercept = task.transform.T[:1] - raw[:, 0] @ slopes
    return np.vstack([intercept, slopes]) if task.fit_intercept else slopes


def declared_moment(task: Task) -> Floats:
    """What E[h h^T] would be if nothing but the declared bounds were known: independent, uniform columns."""
    spread = [
        value
        for column in task.columns
        for value in ([1 / 3] if isinstance(column, Numeric) else [1 / len(column.values)] * len(column.names))
    ]
    return task.transform @ np.diag([1.0, *spread]) @ task.transform.T


def known_points(task: Task, public: Any = None) -> Points:
    """Points from public rows if given, else from the moments behind the task's whitening, else from the bounds."""
    if public is not None:
        rows = public_design(Domain(task.columns), public)
        return Points.clip(rows @ task.transform.T, task.radius, len(rows))
    whitened = (task.public_rows > 0 and task.calibration == "tight") or task.second is not None
    moment = np.eye(task.width) if whitened else declared_moment(task)
    return Points.clip(_points_of(task, moment), task.radius, task.public_rows if whitened else 0)


def collected_points(task: Task, collection: Collection, second: Floats, public: Any = None) -> tuple[Points, float]:
    """Points whose covariance weighs the collected h h^T against the public one, each by its known variance.

    Also returns the derivative of the covariance used in the collected one, which carries its noise into the result.
    """
    known = known_points(task, public)
    n = collection.count
    kept = float(np.sum(known.clipped**2) / np.sum(known.vectors**2))  # what the clip leaves of a whitened covariance
    noise = float(task.plan.noise_std[0]) ** 2
    spread = float(np.mean(known.vectors**2)) ** 2
    private_weight = n / (spread + noise / 2 / kept**2)
    public_weight = known.public_rows / spread
    share = private_weight / (private_weight + public_weight)
    before = known.vectors.T @ known.vectors / len(known.vectors)
    mixed = share * second / kept + (1 - share) * before
    mixed = _repaired(mixed, float(np.sqrt(noise / n)) * share / kept)
    if known.public_rows == 0:
        return Points.clip(_points_of(task, mixed), task.radius, 0), share / kept
    change = _root_ratio(before, mixed)
    return Points.clip(known.vectors @ change, task.radius, known.public_rows), share / kept


def _points_of(task: Task, moment: Floats) -> Floats:
    """Gaussian points with this second moment of h; with an intercept, as images of (1, x)."""
    if not task.fit_intercept or len(task.transform) != task.transform.shape[1]:
        return gaussian_points(moment, with_constant=False)
    back = np.linalg.inv(task.transform)
    return gaussian_points(back @ moment @ back.T, with_constant=True) @ task.transform.T


def _repaired(moment: Floats, noise: float) -> Floats:
    """The nearest matrix whose eigenvalues are at least a tenth of the noise, and of the largest times 1e-6."""
    values, vectors = np.linalg.eigh(moment)
    return (vectors * np.maximum(values, max(noise / 10, 1e-6 * float(values[-1])))) @ vectors.T


def _root_ratio(before: Floats, after: Floats) -> Floats:
    """The matrix that turns rows with second moment ``before`` into rows with ``after``, by right multiplication."""
    lower, upper = np.linalg.cholesky(_repaired(before, 0.0)), np.linalg.cholesky(after)
    return np.linalg.solve(lower.T, upper.T)
