"""What generalized linear models ask of the rows: sums of clipped scores, and of their curvature.

Both look at a row through a linear map: its first output is the linear predictor eta, the others are coordinates z in
which rows have about equal spread in every direction. A far row is shortened to ``radius`` first. That weight depends
on x alone, so it reweights the likelihood and biases no coefficient of a true model; a score that is still too long is
clipped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.rows.kernels import column_norms, scratch
from discreet.rows.linear_map import LinearMap
from discreet.rows.query import Block, Floats, Geometry

# Elementwise: the derivative in eta of a row's loss, from its label and eta; and the weight of its second derivative.
Score = Callable[[Floats, Floats], Floats]
Weight = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Labels:
    """Encoded labels in the user's units: centre + half_width * y."""

    centre: float
    half_width: float

    def of(self, block: Block) -> Floats:
        return np.asarray(block.y * self.half_width + self.centre)


@dataclass(frozen=True, eq=False)
class ScoreSum:
    """The sum of score(y, eta) z, each row's no longer than ``clip``."""

    map: LinearMap
    labels: Labels
    score: Score
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
        return self.map.outputs - 1, 1

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        eta, z = predictor_and_coordinates(self.map, block)
        scale = self.radius / np.maximum(column_norms(z), self.radius)
        scale *= self.score(self.labels.of(block), eta)
        z *= scale
        return z, np.ones((1, block.records))


@dataclass(frozen=True, eq=False)
class CurvatureSum:
    """The second moment of (sqrt(weight) z, residual): the information matrix, and the spread of residuals beside it.

    The residual is the score over sqrt(weight), clipped to +-``residual_bound`` and weighed by ``residual_weight``, so
    that its square is the dispersion and its product with the rest is the score. A far row is shortened as a whole,
    which keeps all entries about the same reweighted rows.
    """

    map: LinearMap
    labels: Labels
    score: Score
    weight: Weight
    radius: float
    root_weight_bound: float
    residual_bound: float
    residual_weight: float
    label: str = "curvature"
    geometry: Geometry = "square"

    @property
    def left_norm(self) -> float:
        return float(np.hypot(self.radius * self.root_weight_bound, self.residual_weight * self.residual_bound))

    right_norm = left_norm

    @property
    def shape(self) -> tuple[int, int]:
        return self.map.outputs, self.map.outputs

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        eta, z = predictor_and_coordinates(self.map, block)
        root = np.sqrt(np.maximum(self.weight(eta), 0.0))
        row = scratch("factor", (self.map.outputs, block.records))
        shrink = self.radius / np.maximum(column_norms(z), self.radius)
        np.multiply(z, shrink * np.minimum(root, self.root_weight_bound), out=row[:-1])
        residual = self.score(self.labels.of(block), eta) / np.maximum(root, 1e-100)
        np.clip(residual, -self.residual_bound, self.residual_bound, out=row[-1])
        row[-1] *= self.residual_weight * shrink
        return row, row


def predictor_and_coordinates(linear_map: LinearMap, block: Block) -> tuple[Floats, Floats]:
    """The first output with the block's offset added to it, and the others."""
    mapped = linear_map.apply(block)
    offset = getattr(block, "offset", None)
    return (mapped[0] if offset is None else mapped[0] + offset), mapped[1:]
