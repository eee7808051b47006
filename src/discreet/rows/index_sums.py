"""Queries of single-index models, E[y | x] = mean(eta) with eta linear in x.

A linear map is applied to each row: its first output is eta, the others are coordinates z in which
rows have about equal variance in every direction. Rows beyond ``radius`` are scaled down by a
weight that depends on x alone, so it biases no coefficient of a true model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.rows.kernels import column_norms, scratch
from discreet.rows.linear_map import LinearMap
from discreet.rows.query import Block, Floats, Geometry
from discreet.rows.scores import Labels

Function = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class IndexGradient:
    """The sum of weight(eta) (y - mean(eta)) z, each row clipped at ``clip``,
    and the size of residuals.

    With ``weight`` None this is GLMtron's direction. With the slope of the mean it is the
    least-squares gradient, which for a ReLU uses only the rows with eta > 0. The last entry is
    ``size_weight`` (min(|y - mean|, size_bound) - size_bound / 2), at most
    ``size_weight * size_bound / 2`` in absolute value. A size_weight of 0 leaves it out.
    """

    map: LinearMap
    labels: Labels
    mean: Function
    weight: Function | None
    radius: float
    clip: float
    size_bound: float = 1.0
    size_weight: float = 0.0
    label: str = "gradient"
    geometry: Geometry = "free"
    right_norm: float = 1.0

    @property
    def left_norm(self) -> float:
        return float(np.hypot(self.clip, self.size_weight * self.size_bound / 2))

    @property
    def shape(self) -> tuple[int, int]:
        return self.map.outputs - 1 + (self.size_weight > 0), 1

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        mapped = self.map.apply(block)
        eta, z = mapped[0], mapped[1:]
        residual = self.labels.of(block) - self.mean(eta)
        row = scratch("factor", (self.shape[0], block.records))
        scale = self.radius / np.maximum(column_norms(z), self.radius)
        scale *= residual
        if self.weight is not None:
            scale *= self.weight(eta)
        gradient = row[: len(z)]
        np.multiply(z, scale, out=gradient)
        # Clipped here and not only by the curator, whose clip would also scale
        # down the residual's size.
        gradient *= self.clip / np.maximum(column_norms(gradient), self.clip)
        if self.size_weight > 0:
            np.minimum(np.abs(residual), self.size_bound, out=row[-1])
            row[-1] -= self.size_bound / 2
            row[-1] *= self.size_weight
        return row, np.ones((1, block.records))
