"""What a multinomial logistic model asks of the rows: how many are in each class, moments, and sums of scores.

The gradient of one row's loss is the outer product of its coordinates z and p - e_y, where p are the predicted
probabilities of the classes and e_y marks the row's own. A weight that keeps it within a bound may look at x and at p
but never at y: then it reweights the likelihood, and at the true coefficients the expected score is still 0.

Every step is elementwise or runs over entries in a fixed order, so a row's factors depend on the row alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.rows.kernels import column_norms, scratch
from discreet.rows.linear_map import LinearMap
from discreet.rows.query import Block, Floats, Geometry
from discreet.rows.scores import Labels


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """How many rows each class has. A row's factor is one 1: its norm is 1, and no two rows point apart."""

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
    """The second moment of (z, weight (e_y - centre)), far rows shortened to ``radius`` in z and all else with it.

    A row is shrink (z, weight (e_y - centre)): with shrink |z| <= radius and shrink <= 1 its norm is at most
    hypot(radius, weight * the greatest |e_k - centre|).
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
class ClassScores:
    """The sum of weight z (p - e_y)^T. ``map`` gives the classes' predictors first, then z.

    Let m(p) be the greatest |p - e_k| over all classes k: whatever the label, |p - e_y| <= m. The weight
    min(1, radius / |z|) min(1, clip / (m |z|)), |z| after the first of them, depends on x alone, and the two factors
    weight m z and (p - e_y) / m have norms of at most ``clip`` and 1.
    """

    map: LinearMap
    labels: Labels
    classes: int
    radius: float
    clip: float
    label: str = "gradient"
    geometry: Geometry = "free"
    right_norm: float = 1.0

    @property
    def left_norm(self) -> float:
        return self.clip

    @property
    def shape(self) -> tuple[int, int]:
        return self.map.outputs - self.classes, self.classes

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        z, score, largest, length, shrink = _weighed(self, block)
        weight = np.minimum(1.0, self.clip / np.maximum(largest * length, 1e-100))
        z *= shrink * weight * largest
        score /= largest
        return z, score


@dataclass(frozen=True, eq=False)
class ClassInformation:
    """The second moment of sqrt(weight) (p - e_y) z, all entries in one long factor (z's index first).

    With the weight of ``ClassScores`` its mean is, at the true coefficients, how steeply the mean of those scores rises
    with the coefficients: E (p - e_y)(p - e_y)^T = diag(p) - p p^T. A second cut, to ``norm``, again by x alone, only
    takes from the information, which makes standard errors larger and never smaller.
    """

    map: LinearMap
    labels: Labels
    classes: int
    radius: float
    clip: float
    norm: float
    label: str = "information"
    geometry: Geometry = "square"

    @property
    def left_norm(self) -> float:
        return self.norm

    right_norm = left_norm

    @property
    def shape(self) -> tuple[int, int]:
        size = (self.map.outputs - self.classes) * self.classes
        return size, size

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        z, score, largest, length, shrink = _weighed(self, block)
        longest = np.maximum(largest * length, 1e-100)
        # shrink z has norm ``length``; the information has the weight shrink * ..., and so sqrt(shrink) beside z.
        root = np.sqrt(shrink * np.minimum(1.0, self.clip / longest))
        root *= self.norm / np.maximum(root * longest / shrink, self.norm)
        row = scratch("factor", (self.shape[0], block.records))
        score *= root
        for start, entry in zip(range(0, len(row), self.classes), z, strict=True):
            np.multiply(score, entry, out=row[start : start + self.classes])
        return row, row


def farthest_class(probabilities: Floats) -> float:
    """The greatest distance from these probabilities to a certain class: |p - e_k|^2 = 1 - 2 p_k + |p|^2."""
    least = float(np.min(probabilities))
    return math.sqrt(max(1.0 - 2.0 * least + float(probabilities @ probabilities), 0.0))


def _weighed(query: ClassScores | ClassInformation, block: Block) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Coordinates z, p - e_y, the longest that could be, the length of z once shortened, and by how much it must be."""
    mapped = query.map.apply(block)
    eta, z = mapped[: query.classes], mapped[query.classes :]
    score = _probabilities(eta)
    least, squares = score[0].copy(), score[0] * score[0]
    for entry in score[1:]:
        np.minimum(least, entry, out=least)
        squares += entry * entry
    largest = np.sqrt(np.maximum(1.0 - 2.0 * least + squares, 1e-12))
    _subtract_marks(score, query.labels.of(block))
    length = column_norms(z)
    shrink = query.radius / np.maximum(length, query.radius)
    return z, score, largest, length * shrink, shrink


def _probabilities(eta: Floats) -> Floats:
    """Softmax over the classes, class after class."""
    p = scratch("probabilities", eta.shape)
    top = eta[0].copy()
    for entry in eta[1:]:
        np.maximum(top, entry, out=top)
    np.subtract(eta, top, out=p)
    np.exp(p, out=p)
    total = p[0].copy()
    for entry in p[1:]:
        total += entry
    p /= total
    return p


def _write_marks(marks: Floats, index: Floats) -> None:
    """e_y; a label that is no number makes them all such, so that the curator's clip drops the row."""
    marks[:] = 0.0 * index
    for number, entry in enumerate(marks):
        entry += np.rint(index) == number


def _subtract_marks(score: Floats, index: Floats) -> None:
    nothing = 0.0 * index
    for number, entry in enumerate(score):
        entry -= (np.rint(index) == number) + nothing
