"""The objective of objective perturbation: the rows' logistic loss.

A row is z = matrix (1, x) with a label 0 or 1. A row beyond the radius R gets weight f^2 with
f = R/|z|. Its gradient is then at most R and its curvature at most R^2/4. The weight depends
on x alone, so it biases no coefficient. A row is stored as f z, on a grid of whole numbers,
and f. With these the minimiser is defined exactly, and the gradient is summed to within 2^-47
R per row, in any row order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from discreet.rows.carries import Parts
from discreet.rows.grid import _exact_product as exact_product
from discreet.rows.kernels import column_norms, place
from discreet.rows.linear_map import LinearMap
from discreet.rows.query import Block, Floats
from discreet.rows.scales import grid_norm, grid_scale
from discreet.rows.scores import Labels

# Rows, and each of the three parts of a score, have this many bits: float64
# adds 512 products exactly.
_BITS = 22
_SCORE_PARTS = 3


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """The weighted sum over rows of log(1 + exp(theta z)) - y theta z, plus
    theta penalty theta / 2.

    ``penalty`` is the user's, nonnegative definite; the curator adds what privacy
    requires, about ``centre``.
    """

    map: LinearMap
    labels: Labels
    radius: float
    penalty: Floats
    centre: Floats
    label: str = "perturbed objective"

    @property
    def size(self) -> int:
        return self.map.outputs

    @property
    def bound(self) -> float:
        """R: the largest norm of a row on the grid."""
        return grid_norm(self.radius, self.size, _BITS) / self._scale

    @property
    def _scale(self) -> float:
        return grid_scale(self.radius, self.size, _BITS)

    def rows(self, block: Block, used: NDArray[np.bool_] | None) -> tuple[Floats, Floats, Floats]:
        """f z in whole grid units, one column per row, f, and the labels; rows
        that do not count are zeros.
        """
        z = self.map.apply(block)
        short = self.radius / np.maximum(column_norms(z), self.radius)
        z *= short
        short = np.where(short > 0, short, 1.0)  # a row without a finite norm becomes zero anyway
        place(z, self.radius, self._scale, np.zeros(block.records))
        labels = self.labels.of(block)
        silent = np.isnan(labels)
        if used is not None:
            silent |= ~used
        z[:, silent] = 0.0
        return z, short, (labels > 0.5).astype(np.float64)

    def parts(self, theta: WholeTheta, block: Block, used: NDArray[np.bool_] | None) -> Parts:
        """What an engine adds: the exact gradient of the rows' losses, and
        their Hessian up to rounding.
        """
        z, short, y = self.rows(block, used)
        eta = theta.times(z) / self._scale / short
        mean = expit(eta)
        # mean - y without cancellation: for y = 1 it is -(1 - mean) = -expit(-eta).
        score = np.where(y > 0, -expit(-eta), mean) * short
        right = np.empty((_SCORE_PARTS + self.size, block.records))
        rest = score * 2.0**_BITS
        for part in range(_SCORE_PARTS):
            np.floor(rest, out=right[part])
            rest = (rest - right[part]) * 2.0**_BITS
        np.rint(z * (mean * expit(-eta)), out=right[_SCORE_PARTS:])
        return exact_product(z, right)

    def read(self, sums: NDArray[np.object_]) -> tuple[Floats, Floats]:
        """Gradient and Hessian from the exact sums."""
        whole = sum(
            (sums[:, part] << (_BITS * (_SCORE_PARTS - 1 - part)) for part in range(_SCORE_PARTS)),
            np.zeros(self.size, dtype=object),
        )
        unit = 2.0 ** (_BITS * _SCORE_PARTS)
        gradient = np.array([float(entry) / unit for entry in whole]) / self._scale
        hessian = sums[:, _SCORE_PARTS:].astype(np.float64) / self._scale**2
        return gradient, (hessian + hessian.T) / 2


@dataclass(frozen=True, eq=False)
class WholeTheta:
    """Coefficients as whole multiples of ``unit``, a power of two; their products
    with whole rows are exact.
    """

    whole: NDArray[np.object_]
    unit: float

    @classmethod
    def near(cls, theta: Floats, unit: float) -> WholeTheta:
        return cls(_rounded(theta, unit), unit)

    def moved(self, step: Floats) -> WholeTheta:
        return WholeTheta(self.whole + _rounded(step, self.unit), self.unit)

    @property
    def value(self) -> Floats:
        return np.array([entry * self.unit for entry in self.whole.tolist()], dtype=np.float64)

    def times(self, z: Floats) -> Floats:
        """theta z for every column of whole numbers: an exact product per piece,
        then one or two roundings.
        """
        total = np.zeros(z.shape[1])
        for piece, unit in self._pieces:
            total += (piece @ z) * unit
        return total

    @cached_property
    def _pieces(self) -> list[tuple[Floats, float]]:
        """Pieces of a few bits each, smallest first: theta is the sum of piece * unit."""
        # Partial sums of products stay within |piece| |z| <= sqrt(size) 2^bits 2^22.1 < 2^53.
        bits = 29 - math.ceil(math.log2(len(self.whole)) / 2)
        left, pieces, unit = self.whole, [], self.unit
        while any(left):
            below = np.array([abs(entry) % 2**bits * (1 if entry > 0 else -1) for entry in left], dtype=object)
            pieces.append((below.astype(np.float64), unit))
            left, unit = (left - below) // 2**bits, unit * 2.0**bits
        return pieces


def _rounded(values: Floats, unit: float) -> NDArray[np.object_]:
    return np.array([round(value / unit) for value in values.tolist()], dtype=object)
