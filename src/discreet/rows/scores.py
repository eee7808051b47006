"""Queries of generalized linear models: sums of bounded scores, of their
curvature, and second moments.

All three apply a linear map to a row: its first output is the linear predictor eta, the others are
coordinates z in which rows have about equal variance in every direction. Rows beyond ``radius`` are
scaled down. That weight depends on x alone, so it reweights the likelihood and biases no
coefficient of a true model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.rows.kernels import scratch
from discreet.rows.linear_map import LinearMap, with_offset
from discreet.rows.look import shared_of
from discreet.rows.query import Block, Floats, Geometry, WeightedRows, ones

# Elementwise: the derivative of a row's loss in eta, as a function of its label and eta.
Score = Callable[[Floats, Floats], Floats]
# The same as a function of label, eta and the bound on the row's score.
BoundedFunction = Callable[[Floats, Floats, Floats], Floats]


@dataclass(frozen=True, eq=False)
class Labels:
    """Decoded labels, in the user's units: centre + half_width * y."""

    centre: float
    half_width: float

    def of(self, block: Block) -> Floats:
        """Each record's label, only to be read; queries of one pass share them."""

        def compute() -> Floats:
            labels = np.asarray(block.y * self.half_width + self.centre)
            labels.flags.writeable = False
            return labels

        found: Floats = shared_of(block, ("labels", self.centre, self.half_width), compute)
        return found

    @property
    def low(self) -> float:
        return self.centre - self.half_width

    @property
    def high(self) -> float:
        return self.centre + self.half_width


@dataclass(frozen=True, eq=False)
class CurvatureSum:
    """The second moment of (sqrt(slope) z, |score| |z|): the curvature, and
    the variance of the score.

    The slope is that of the clipped score, so the first block is the derivative of the
    equation that ``score_sum`` solves. The last diagonal entry is the trace of the scores'
    covariance. ``slope_norm`` clips rows with much information, which makes standard
    errors larger, never smaller.
    """

    map: LinearMap
    labels: Labels
    score: BoundedFunction
    slope: BoundedFunction
    radius: float
    clip: float
    slope_norm: float
    score_norm: float
    score_weight: float
    label: str = "curvature"
    geometry: Geometry = "square"

    @property
    def left_norm(self) -> float:
        return float(np.hypot(self.slope_norm, self.score_weight * self.score_norm))

    right_norm = left_norm

    @property
    def shape(self) -> tuple[int, int]:
        return self.map.outputs, self.map.outputs

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        eta, z, shrink, length = coordinates_of(self.map, block, self.radius)
        y, bound = self.labels.of(block), self.clip / length
        root = np.sqrt(np.maximum(self.slope(y, eta, bound), 0.0) * shrink)
        root *= self.slope_norm / np.maximum(root * length / shrink, self.slope_norm)
        row = scratch("factor", (self.map.outputs, block.records))
        np.multiply(z, root, out=row[:-1])
        np.minimum(np.abs(self.score(y, eta, bound)) * length, self.score_norm, out=row[-1])
        row[-1] *= self.score_weight
        return row, row


@dataclass(frozen=True, eq=False)
class MappedMoment(WeightedRows):
    """The second moment of (z, v), v a label centred, scaled and clipped to +-``y_bound``;
    far rows are scaled down.
    """

    map: LinearMap
    labels: Labels
    y_centre: float
    y_scale: float
    y_bound: float
    y_weight: float
    radius: float
    label: str = "second moment of (1, z, y)"
    geometry: Geometry = "square"

    @property
    def left_norm(self) -> float:
        return float(np.hypot(self.radius, self.y_weight * self.y_bound))

    right_norm = left_norm

    @property
    def shape(self) -> tuple[int, int]:
        return self.map.outputs + 1, self.map.outputs + 1

    def weighted_rows(self, block: Block) -> tuple[Floats, Floats, Floats]:
        z, length = self.map.with_norms(block)
        shrink = self.radius / np.clip(length, self.radius, np.inf)
        label = np.clip((self.labels.of(block) - self.y_centre) / self.y_scale, -self.y_bound, self.y_bound)
        return z, shrink, label * (self.y_weight * shrink)


@dataclass(frozen=True, eq=False)
class ExposureSum:
    """The sum of exposures, in units of the largest declared one."""

    largest: float
    label: str = "exposure"
    geometry: Geometry = "nonnegative"
    shape: tuple[int, int] = (1, 1)
    left_norm: float = 1.0
    right_norm: float = 1.0

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        if block.offset is None:
            raise TypeError("these rows have no exposure")
        return ones(block.records), np.exp(block.offset)[np.newaxis] / self.largest


def coordinates_of(linear_map: LinearMap, block: Block, radius: float) -> tuple[Floats, Floats, Floats, Floats]:
    """The predictor (with the block's offset), the coordinates, their shrinkage factor,
    and their norm after it.
    """
    mapped, length = linear_map.with_norms(block, skipped=1)
    eta, z = with_offset(mapped[0], block), mapped[1:]
    shrink = radius / np.maximum(length, radius)
    return eta, z, shrink, np.maximum(length * shrink, 1e-100)
