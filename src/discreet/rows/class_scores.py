"""Queries of a multinomial logistic model: class counts, moments, and sums of scores.

The gradient of one row's loss is the outer product of its coordinates z and p - e_y, where p are
the predicted class probabilities and e_y is the unit vector of the row's class. A weight that
bounds it may depend on x and p but not on y. It then reweights the likelihood, and the expected
score at the true coefficients is still 0.

Every step is elementwise or adds entries in a fixed order, so a row's factors
depend on that row only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.rows.contrasts import covariance, probabilities, scores, squared_length, triangle, unfolded
from discreet.rows.histograms import Histogram
from discreet.rows.kernels import column_norms, scratch
from discreet.rows.linear_map import LinearMap
from discreet.rows.query import Block, Floats, Geometry
from discreet.rows.scores import Labels


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """The number of rows in each class. A row's factor is a unit vector with entries >= 0."""

    classes: int
    labels: Labels
    label: str = "rows in each class"
    geometry: Geometry = "nonnegative"
    left_norm: float = 1.0
    right_norm: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        return self.classes, 1

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        marks = np.empty((self.classes, block.records))
        _write_marks(marks, self.labels.of(block))
        return marks, np.ones((1, block.records))


@dataclass(frozen=True, eq=False)
class ClassMoment:
    """The second moment of (z, weight (e_y - centre)); rows with |z| >
    ``radius`` are scaled down to it.

    A row is shrink (z, weight (e_y - centre)). As shrink |z| <= radius and shrink <= 1, its norm is
    at most hypot(radius, weight * max_k |e_k - centre|).
    """

    map: LinearMap
    labels: Labels
    centre: Floats
    weight: float
    radius: float
    label: str = "second moment of (1, z, classes)"
    geometry: Geometry = "square"

    @property
    def left_norm(self) -> float:
        return math.hypot(self.radius, self.weight * farthest_class(self.centre))

    right_norm = left_norm

    @property
    def shape(self) -> tuple[int, int]:
        size = self.map.outputs + len(self.centre)
        return size, size

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        z = self.map.apply(block)
        shrink = self.radius / np.maximum(column_norms(z), self.radius)
        row = scratch("factor", (self.shape[0], block.records))
        marks = row[self.map.outputs :]
        _write_marks(marks, self.labels.of(block))
        marks -= self.centre[:, np.newaxis]
        marks *= self.weight
        row[: self.map.outputs] = z
        row *= shrink
        return row, row


@dataclass(frozen=True, eq=False)
class ClassQuery:
    """``map`` gives the predictors of all classes, then the coordinates z."""

    map: LinearMap
    labels: Labels
    classes: int

    @property
    def coordinates(self) -> int:
        return self.map.outputs - self.classes

    def seen(self, block: Block) -> tuple[Floats, Floats, Floats, Floats]:
        """Coordinates z (read-only), probabilities p, the largest possible score norm, and its
        factor m(p).
        """
        mapped, length = self.map.seen(block, skipped=self.classes)
        p = probabilities(mapped[: self.classes])
        least, squares = p[0].copy(), p[0] * p[0]
        for entry in p[1:]:
            np.minimum(least, entry, out=least)
            squares += entry * entry
        largest = np.sqrt(np.maximum(1.0 - 2.0 * least + squares, 1e-12))
        return mapped[self.classes :], p, np.maximum(largest * length, 1e-100), largest


@dataclass(frozen=True, eq=False)
class ClassScores(ClassQuery):
    """The sum of weight z (p - e_y)^T, in contrasts of the classes.

    Let m(p) = max_k |p - e_k| over all classes k, so |p - e_y| <= m for every label. The weight is
    the part of a score of norm m |z| that a clip norm of
    ``top`` keeps, minus the part that ``bottom`` keeps: w = min(1, top / (m |z|)) - min(1, bottom /
    (m |z|)). It depends on x alone, and the two factors w m z and (p - e_y) / m have norms of at
    most top - bottom and 1. Contrasts are orthonormal, so they preserve norms.
    """

    top: float
    bottom: float = 0.0
    label: str = "gradient"
    geometry: Geometry = "free"
    right_norm: float = 1.0

    @property
    def left_norm(self) -> float:
        return self.top - self.bottom

    @property
    def shape(self) -> tuple[int, int]:
        return self.coordinates, self.classes - 1

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        z, p, longest, largest = self.seen(block)
        weight = np.minimum(1.0, self.top / longest) - np.minimum(1.0, self.bottom / longest)
        left = scratch("factor", (self.coordinates, block.records))
        np.multiply(z, weight * largest, out=left)
        right = scores(p, self.labels.of(block))
        right /= largest
        return left, right


@dataclass(frozen=True, eq=False)
class ClassProfile:
    """The derivative of the loss in the length t of the slopes, at several t:
    sums of clipped u (p - e_y).

    ``map`` gives u, the classes' predictors for slopes of unit length. ``constants``
    has one line per length.

    Privacy: a row has an entry of at most ``bound`` for each length, so its norm is at
    most bound sqrt(lengths).
    """

    map: LinearMap
    labels: Labels
    lengths: Floats
    constants: Floats
    bound: float
    label: str = "scores along a direction"
    geometry: Geometry = "free"
    right_norm: float = 1.0

    @property
    def left_norm(self) -> float:
        return self.bound * math.sqrt(len(self.lengths))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.lengths), 1

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        u, y = self.map.apply(block), self.labels.of(block)
        own = np.zeros(block.records)
        for number, entry in enumerate(u):
            own += np.where(np.rint(y) == number, entry, 0.0)
        rows = np.empty((len(self.lengths), block.records))
        for row, length, constants in zip(rows, self.lengths, self.constants, strict=True):
            p = probabilities(length * u + constants[:, np.newaxis])
            np.negative(own, out=row)
            for part, entry in zip(p, u, strict=True):
                row += part * entry
            np.clip(row, -self.bound, self.bound, out=row)
            row += 0.0 * y
        return rows, np.ones((1, block.records))


@dataclass(frozen=True, eq=False)
class ClassSizes(ClassQuery, Histogram):
    """The number of rows whose largest possible score norm m |z| (see
    ``ClassScores``) is in each cell.
    """

    edges: Floats
    label: str = "sizes of scores"

    def numbers(self, block: Block) -> Floats:
        _, _, longest, _ = self.seen(block)
        return longest + 0.0 * self.labels.of(block)


@dataclass(frozen=True, eq=False)
class ClassCurvature(ClassQuery):
    """The derivative of the mean of ``ClassScores``: the sum of weight zz^T
    times the covariance of e_y.

    The first factor holds the upper triangle of zz^T, the second that of diag(p) - pp^T in
    contrasts. Off-diagonal entries are multiplied by sqrt(2), so that the norms equal the Frobenius
    norms of the whole matrices. ``unfolded`` turns an answer into the matrix of all coefficients.

    Privacy: the covariance has norm at most 1 (its trace, 1 - |p|^2, is less), and the
    first factor is scaled down until the product of both norms is at most ``norm``. Scaling
    only reduces the curvature.
    """

    top: float
    norm: float
    label: str = "curvature"
    geometry: Geometry = "free"
    right_norm: float = 1.0

    @property
    def left_norm(self) -> float:
        return self.norm

    @property
    def shape(self) -> tuple[int, int]:
        size, free = self.coordinates, self.classes - 1
        return size * (size + 1) // 2, free * (free + 1) // 2

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        z, p, longest, _ = self.seen(block)
        right = covariance(p)
        size = column_norms(right)
        right /= np.maximum(size, 1e-100)
        weight = np.minimum(1.0, self.top / longest) * size
        square = squared_length(z)
        weight *= self.norm / np.maximum(weight * square, self.norm)
        weight += 0.0 * self.labels.of(block)  # a row without a class has no score, so no curvature
        left = scratch("factor", (self.shape[0], block.records))
        triangle(z, weight, left)
        return left, right

    def unfolded(self, value: Floats) -> Floats:
        """The matrix of all coefficients: coordinate by coordinate, all contrasts of each."""
        return unfolded(value, self.coordinates, self.classes - 1)


@dataclass(frozen=True, eq=False)
class ClassWeightedMoment(ClassQuery):
    """The trace of ``ClassCurvature`` over the classes: the second moment of
    z, weighted by 1 - |p|^2.

    Privacy: a sum of squares w w^T with |w| <= norm, so a replaced row moves it
    by at most sqrt(2) norm^2.
    """

    top: float
    norm: float
    label: str = "curvature"
    geometry: Geometry = "square"

    @property
    def left_norm(self) -> float:
        return self.norm

    right_norm = left_norm

    @property
    def shape(self) -> tuple[int, int]:
        size = self.coordinates
        return size, size

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        z, p, longest, _ = self.seen(block)
        spread = 1.0 - squared_length(p)
        root = np.sqrt(np.maximum(spread, 0.0) * np.minimum(1.0, self.top / longest))
        root *= self.norm / np.maximum(root * np.sqrt(squared_length(z)), self.norm)
        root += 0.0 * self.labels.of(block)  # a row without a class has no score, so no curvature
        row = scratch("factor", (self.shape[0], block.records))
        np.multiply(z, root, out=row)
        return row, row


@dataclass(frozen=True, eq=False)
class ClassScoresMoment(ClassQuery):
    """The second moment of the clipped scores of ``ClassScores``, as vectors of all
    entries of z (p - e_y)^T.

    Privacy: a sum of squares w w^T with |w| <= top, so a replaced row moves it
    by at most sqrt(2) top^2.
    """

    top: float
    label: str = "second moment of scores"
    geometry: Geometry = "square"
    weighs_squares: bool = True

    @property
    def left_norm(self) -> float:
        return self.top

    right_norm = left_norm

    @property
    def shape(self) -> tuple[int, int]:
        size = (self.coordinates) * (self.classes - 1)
        return size, size

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        z, p, longest, _ = self.seen(block)
        score = scores(p, self.labels.of(block))
        score *= np.minimum(1.0, self.top / longest)
        row = scratch("factor", (self.shape[0], block.records))
        for start, entry in zip(range(0, len(row), self.classes - 1), z, strict=True):
            np.multiply(score, entry, out=row[start : start + self.classes - 1])
        return row, row


def farthest_class(probabilities: Floats) -> float:
    """The largest distance from these probabilities to a unit vector: |p -
    e_k|^2 = 1 - 2 p_k + |p|^2.
    """
    least = float(np.min(probabilities))
    return math.sqrt(max(1.0 - 2.0 * least + float(probabilities @ probabilities), 0.0))


def _write_marks(marks: Floats, index: Floats) -> None:
    """e_y; a NaN label makes all entries NaN, so that the curator's clip drops the row."""
    marks[:] = 0.0 * index
    for number, entry in enumerate(marks):
        entry += np.rint(index) == number
