"""Queries of linear models about moments."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.rows.kernels import scratch, shorten
from discreet.rows.query import Block, Floats, Geometry, SummedRows, encoded_x, silence
from discreet.rows.used import RowsUsed


@dataclass(frozen=True)
class PowerSums(SummedRows):
    """Sums of 1, y, y^2, x and |x|^2, enough to centre and scale; without x if public rows give it.

    Squares are summed about ``middle``, in general about 1/2. With t = |x|^2 / x_radius^2 in
    [0, 1], the vector x together with x_radius (t - 1/2) has squared norm x_radius^2 (t +
    (t - 1/2)^2) = x_radius^2 (t^2 + 1/4), which is at most 5/4 x_radius^2. Likewise y with
    y^2 - 1/2 has at most 5/4.

    Where the number of rows is public ("counted", rows/query.py), it hardly matters for a mean
    about which point squares are summed: then about the top of their range, where t + (t - 1)^2 =
    1 - t (1 - t) is at most 1. So x and y have 1 (x_radius^2) instead of 5/4, and the number of
    complete rows costs nothing up to the weight sqrt(3) times the norm of the others
    (docs/papers/moments.md).
    """

    width: int
    x_radius: float
    with_x: bool = True
    label: str = "first look"
    geometry: Geometry = "free"
    left_norm: float = 1.0
    count_weight: float = 0.5

    @classmethod
    def counting(cls, width: int, x_radius: float, *, with_x: bool = True) -> PowerSums:
        """The query for a public number of rows, with the largest power of two as a free weight."""
        free = cls(width, x_radius, with_x, geometry="counted")
        return replace(free, count_weight=2.0 ** math.floor(math.log2(math.sqrt(3) * free.right_norm)))

    @property
    def middle(self) -> float:
        return 1.0 if self.geometry == "counted" else 0.5

    @property
    def shape(self) -> tuple[int, int]:
        return 1, 3 + (self.width + 1) * self.with_x

    @property
    def right_norm(self) -> float:
        others = 1 + self.x_radius**2 * self.with_x
        return math.sqrt(others if self.geometry == "counted" else self.count_weight**2 + 1.25 * others)

    def summed_rows(self, block: Block) -> tuple[Floats, Floats]:
        own = scratch("power sums", (3 + self.with_x, block.records))
        own[0] = self.count_weight
        own[1] = block.y
        np.multiply(block.y, block.y, out=own[2])
        own[2] -= self.middle
        x = np.empty((0, block.records))
        if self.with_x:
            x, norms = encoded_x(block, self.width)
            own[3] = norms**2 / self.x_radius - self.x_radius * self.middle
        if not self.with_x or block.offset is not None:
            own[0] += silence(block, self.width)
        return own, x

    def read(self, sums: Floats, noise_std: float, public_rows: int | None = None) -> PowerMeans:
        """Means from the released sums; a count below the noise is replaced by the noise.

        Where the number of rows is public, the noisy count shows how many rows are incomplete, as
        far as that is clear of the noise.
        """
        seen, count_noise = float(sums[0, 0]) / self.count_weight, noise_std / self.count_weight
        count = RowsUsed.seen(seen, count_noise, public_rows).likely
        means = sums[0, 1:] / count
        spread = self.x_radius * (float(means[2]) + self.x_radius * self.middle) if self.with_x else math.nan
        y_square = float(means[1]) + self.middle
        return PowerMeans(count, noise_std / count, float(means[0]), y_square, means[3:], spread, seen)


@dataclass(frozen=True)
class PowerMeans:
    """Noisy means of y, y^2, x and |x|^2; noise: ``noise_std`` each, and
    x_radius times it for the last.
    """

    count: float
    noise_std: float
    y: float
    y_square: float
    x: Floats
    x_square: float
    # The noisy number of complete rows, as released.
    seen_count: float


@dataclass(frozen=True)
class SecondMoment:
    """The second moment of (1, x, y), centred, scaled and bounded to reduce the noise.

    The row is w * (weight_1, u, weight_y * v) with u = (x - x_centre) / x_scale, v =
    (y - y_centre) / y_scale clipped to +-y_bound, and w = min(1, x_radius / |u|). The
    factor w depends on x alone, so it reweights the least squares and biases no
    coefficient of a linear model.
    """

    x_centre: Floats
    x_scale: float
    x_radius: float
    y_centre: float
    y_scale: float
    y_bound: float
    weight_1: float
    weight_y: float
    label: str = "second moment of (1, x, y)"
    geometry: Geometry = "square"

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.x_centre) + 2, len(self.x_centre) + 2

    @property
    def left_norm(self) -> float:
        return math.sqrt(self.weight_1**2 + self.x_radius**2 + (self.weight_y * self.y_bound) ** 2)

    right_norm = left_norm

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        row = scratch("factor", (self.shape[0], block.records))
        block.write_x(row[1:-1])
        shrink = shorten(row[1:-1], self.x_centre, 1 / self.x_scale, self.x_radius)
        np.multiply(shrink, self.weight_1, out=row[0])
        np.clip((block.y - self.y_centre) / self.y_scale, -self.y_bound, self.y_bound, out=row[-1])
        row[-1] *= shrink * self.weight_y
        return row, row


@dataclass(frozen=True)
class CrossMoment:
    """Sums of x x^T (``with_y=False``) or of x y, released separately by
    sufficient-statistics perturbation.
    """

    width: int
    x_radius: float
    intercept: bool
    with_y: bool

    @property
    def label(self) -> str:
        return "x y" if self.with_y else "x x^T"

    @property
    def geometry(self) -> Geometry:
        return "free" if self.with_y else "printed_square"

    @property
    def shape(self) -> tuple[int, int]:
        rows = self.width + self.intercept
        return rows, 1 if self.with_y else rows

    @property
    def left_norm(self) -> float:
        return math.sqrt(self.x_radius**2 + self.intercept)

    @property
    def right_norm(self) -> float:
        return 1.0 if self.with_y else self.left_norm

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        row = np.ones((self.shape[0], block.records))
        block.write_x(row[int(self.intercept) :])
        # A missing label drops the row from both releases: both must be about the same rows.
        row += 0 * block.y
        return (row, block.y[np.newaxis].copy()) if self.with_y else (row, row)
