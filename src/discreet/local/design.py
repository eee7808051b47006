"""The design over which expectations are taken: public rows, or Gaussian points of
known moments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.domain.columns import Column, Numeric
from discreet.errors import DomainError, NoSolutionError
from discreet.local.columns import Floats
from discreet.local.gaussian import Gaussian
from discreet.local.known_design import KnownDesign
from discreet.local.moment_equation import Points, gaussian_points
from discreet.local.statistic import Statistic
from discreet.local.task import Task
from discreet.local.unit import Unit

# The estimated share of usable records must be clearly above zero before anything is divided by it.
_LEAST_USABLE = 0.02
# Directions of moments with less than this part of the largest variance count as constant.
_CONSTANT = 1e-10
SUPPOSED_SPREAD = 0.25  # as a share of half the declared range, where nothing is known: bounds at four deviations


@dataclass(frozen=True, eq=False)
class Reported:
    """The parts of the average report: the usable share, and the means of h c and h h^T (if
    reported) over usable records.
    """

    usable: float
    cross: Floats
    second: Floats | None

    @classmethod
    def of(cls, task: Task, mean: Floats) -> Reported:
        statistic = task.statistic
        usable = float(mean[0]) / statistic.flag if statistic.flagged else 1.0
        if usable < _LEAST_USABLE:
            raise NoSolutionError(
                "the estimated share of complete records is about zero: the noise is too large for so few reports, "
                "or most records lack answers"
            )
        cross = mean[statistic.cross_at :] * (statistic.radius / (statistic.cross * usable))
        if not statistic.has_outer:
            return cls(usable, cross, None)
        rows, columns, root = statistic.triangle
        entries = mean[int(statistic.flagged) : statistic.cross_at]
        second = np.zeros((statistic.width, statistic.width))
        second[rows, columns] = second[columns, rows] = entries * (
            statistic.radius**2 / (statistic.outer * usable) / root
        )
        return cls(usable, cross, second)


def raw_map(task: Task) -> Floats:
    """The matrix that maps (1, encoded x) to x in its own units."""
    matrix = np.zeros((len(task.names), len(task.names) + 1))
    place = 0
    for column in task.columns:
        for _ in column.names:
            centre, half = (column.centre, column.half_width) if isinstance(column, Numeric) else (0.0, 1.0)
            matrix[place, 0], matrix[place, place + 1] = centre, half
            place += 1
    return matrix


def coefficient_map(task: Task) -> Floats:
    """The matrix that maps coefficients of z to those in the columns' own units,
    intercept first.
    """
    raw = raw_map(task)
    half = np.diag(raw[:, 1:])
    transform = task.statistic.transform
    slopes = transform.T[1:] / half[:, np.newaxis]
    intercept = transform.T[:1] - raw[:, 0] @ slopes
    return np.vstack([intercept, slopes]) if task.fit_intercept else slopes


def supposed_moment(columns: Sequence[Column]) -> Floats:
    """E[(1, x)(1, x)^T] of independent columns.

    Numbers have their bounds at four standard deviations; levels are equally frequent.
    """
    mean: list[float] = []
    spread: list[float] = []
    for column in columns:
        if isinstance(column, Numeric):
            mean, spread = [*mean, 0.0], [*spread, SUPPOSED_SPREAD**2]
        else:
            share = 1 / len(column.values)
            mean, spread = mean + [share] * len(column.names), spread + [share * (1 - share)] * len(column.names)
    augmented = np.array([1.0, *mean])
    return np.outer(augmented, augmented) + np.diag([0.0, *spread])


def encoded_points(task: Task) -> tuple[Floats, int]:
    """Rows (1, x) that represent the design: public rows, or Gaussian points.

    The second value is how many public rows they are computed from.
    """
    design = task.design
    if isinstance(design, str):
        raise DomainError("this copy of the task holds only the hash of its public design; use the maker's task file")
    if isinstance(design, KnownDesign) and design.rows is not None:
        return design.encoded, design.count
    moment = supposed_design(task) if design is None else design.moment
    return gaussian_points(moment, with_constant=True), 0 if design is None else design.count


def supposed_design(task: Task) -> Floats:
    """The E[(1, x)(1, x)^T] for which the task's z has the identity as second moment."""
    transform = task.statistic.transform
    if task.statistic.kind == "pilot" or not task.fit_intercept or len(transform) != transform.shape[1]:
        return supposed_moment(task.columns)
    back = np.linalg.inv(transform)
    moment = back @ back.T
    return np.asarray(moment / moment[0, 0])


def points_of(task: Task, vectors: Floats, public_rows: int) -> Points:
    """Points with the vector that a device computes for each: h, or w h where h h^T is reported
    too.
    """
    factor = task.statistic.shortening(vectors)[:, np.newaxis]
    return Points(vectors, vectors * (factor**2 if task.statistic.kind == "both" else factor), public_rows)


def known_points(task: Task) -> Points:
    """Points of the design that is known before any report."""
    rows, count = encoded_points(task)
    return points_of(task, rows @ task.statistic.transform.T, count)


@dataclass(frozen=True, eq=False)
class Pooling:
    """How the collected E[h h^T] is used: ``gain`` times its distance from the public one is added
    to that.

    All in the coordinates of svec, where the Frobenius norm is the Euclidean one. ``moments`` are
    svec(h h^T) of the points, minus their mean, and ``precision`` the pseudoinverse of their sum of
    squares; None where points are Gaussian and were changed linearly instead.
    """

    gain: Floats
    moments: Floats | None = None
    precision: Floats | None = None

    def regression(self, values: Floats) -> Floats:
        """Least-squares coefficients of centred values of the points on their moments; 0 in
        directions without variance.
        """
        assert self.moments is not None
        assert self.precision is not None
        return np.asarray((self.precision @ (self.moments.T @ values)).T)


def collected_points(task: Task, count: int, reported: Reported) -> tuple[Points, Pooling]:
    """Points whose E[h h^T] averages the collected and the public one, weighted by
    their variances.
    """
    assert reported.second is not None
    known = known_points(task)
    noise = outer_noise(task) / reported.usable**2
    if isinstance(task.design, KnownDesign) and task.design.rows is not None:
        return _calibrated(task, known, reported.second, noise / count)
    short = known.vectors * task.statistic.shortening(known.vectors)[:, np.newaxis]
    before = short.T @ short / len(short)
    spread = float(np.mean(np.diag(before))) ** 2
    private = count / (spread + noise)
    share = private / (private + known.public_rows / spread)
    mixed = _repaired(share * reported.second + (1 - share) * before, share * np.sqrt(noise / count))
    size = len(task.statistic.triangle[0])
    points = points_of(task, _with_outer(task, known.vectors, mixed), known.public_rows)
    return points, Pooling(share * np.eye(size))


def _calibrated(task: Task, known: Points, second: Floats, noise: float) -> tuple[Points, Pooling]:
    """Public rows with weights that give them the pooled E[h h^T] (linear survey calibration).

    With C the covariance of svec(h h^T) over rows, the public mean has the covariance C/m and the
    collected one about C/n + noise I: the gain (C/m) (C/m + noise I)^-1 is the best linear one.
    Weights 1 + <C^-1 gain d, s_i - mean> move the mean by gain d, d being the distance.
    """
    statistic = task.statistic
    rows, columns, root = statistic.triangle
    short = known.vectors * statistic.shortening(known.vectors)[:, np.newaxis]
    moments = short[:, rows] * short[:, columns] * root
    mean = moments.mean(axis=0)
    moments -= mean
    values, axes = np.linalg.eigh(moments.T @ moments / len(moments))
    values = np.maximum(values, 0.0)
    share = values / (values + noise * known.public_rows + 1e-300)
    gain = (axes * share) @ axes.T
    distance = second[rows, columns] * root - mean
    # C^-1 gain, without dividing by what is 0 in both.
    pull = axes @ ((axes.T @ distance) / (values + noise * known.public_rows + 1e-300))
    weights = 1 + moments @ pull
    varies = values > _CONSTANT * values[-1]
    precision = (axes[:, varies] / (values[varies] * len(moments))) @ axes[:, varies].T
    points = replace(points_of(task, known.vectors, known.public_rows), weights=weights)
    return points, Pooling(gain, moments, precision)


def outer_noise(task: Task) -> float:
    """The variance of one report's noise in an entry of svec(h h^T), about."""
    statistic = task.statistic
    size = task.report_entries
    each = float(np.mean(np.diag(task.randomizer.second_moment(np.zeros((size, size)), np.eye(size) / size))))
    return each * (statistic.radius**2 / statistic.outer) ** 2


def pilot_noise(statistic: Statistic, randomizer: Unit | Gaussian, features: int, count: int) -> float:
    """Standard errors of an encoded column's mean and mean square from this many pilot reports."""
    share = statistic.first / math.sqrt(features)
    return randomizer.longest / math.sqrt(randomizer.dimension * count) / share


def _with_outer(task: Task, vectors: Floats, wanted: Floats) -> Floats:
    """The vectors, changed linearly until their E[h h^T] is the wanted one.

    Clipping is not linear, so this takes a few steps.
    """
    for _ in range(60):
        short = vectors * task.statistic.shortening(vectors)[:, np.newaxis]
        current = short.T @ short / len(short)
        if float(np.abs(current - wanted).max()) <= 1e-10 * float(np.trace(wanted)):
            break
        vectors = vectors @ _root_ratio(current, wanted)
        largest = float(np.sqrt(np.mean(vectors**2)))
        if largest > 1e3 * task.statistic.radius:  # the noisy trace is larger than any record allows
            break
    return vectors


def _repaired(moment: Floats, noise: float) -> Floats:
    """The nearest matrix whose eigenvalues are at least a tenth of the noise, and of the largest
    times 1e-6.
    """
    values, vectors = np.linalg.eigh(moment)
    return np.asarray((vectors * np.maximum(values, max(noise / 10, 1e-6 * float(values[-1])))) @ vectors.T)


def _root_ratio(before: Floats, after: Floats) -> Floats:
    """The matrix that turns rows with second moment ``before`` into rows with ``after``, by right
    multiplication.
    """
    lower, upper = np.linalg.cholesky(_repaired(before, 0.0)), np.linalg.cholesky(after)
    return np.linalg.solve(lower.T, upper.T)
