"""The noise of a private selection, in units of a public grid. It does not depend on the rows.

Scores are exact whole numbers with sensitivity at most ``fine_reach``. They are rounded to a grid
that is 2^shift times coarser, where they are exact floats. Rounding moves each score by at most
half a unit, so it adds at most one unit to the difference of two scores. Clipping to 2^52 increases
no difference. With Gumbel noise of scale 2 reach / width, each pick is then an exponential
mechanism of range at most ``width``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.noise.bits import Bits
from discreet.noise.laplace import discrete_laplace
from discreet.noise.selection import Floats, Indices, gumbel_top
from discreet.privacy import Release, Repeated

# The noise scale is at least this many bits of units, so that rounding the
# scores costs almost nothing.
_SCALE_BITS = 28
_LARGEST_SCORE = 2**52


@dataclass(frozen=True)
class RankNoise:
    """Noise with which the choice of ``picks`` candidates has the cost that was charged.

    ``gumbel``: noise is drawn once and the top picks are kept. Otherwise the noise is Laplace noise
    as printed in COST, drawn again for every pick.
    """

    scale: float
    shift: int
    reach: int
    picks: int
    gumbel: bool

    @classmethod
    def covering(cls, fine_reach: int, cost: Repeated) -> RankNoise:
        width = cost.each.parameter
        fine_scale = 2 * fine_reach / width
        shift = max(0, math.floor(math.log2(fine_scale)) - _SCALE_BITS)
        reach = -(-fine_reach >> shift) + 1
        # The margin covers rounding in this line: the range 2 reach / scale
        # must not exceed the width.
        scale = 2 * reach / width * (1 + 1e-12)
        return cls(scale, shift, reach, cost.times, cost.each.bounded_range)

    def releases(self, label: str, unit: float, cost: Repeated, values: Repeated | None) -> list[Release]:
        """The releases to be charged; ``unit`` is the value of one unit of the coarse grid."""
        spread = math.pi / math.sqrt(6) if self.gumbel else math.sqrt(2)
        made = [Release(label, self.reach * unit, self.scale * spread * unit, cost)]
        if values is not None:
            noise_std = math.sqrt(2) * self.value_scale(values) * unit
            made.append(Release(f"{label}: values", self.reach * unit, noise_std, values))
        return made

    def value_scale(self, cost: Repeated) -> float:
        """The scale of Laplace noise with which each value costs ``cost.each``."""
        if cost.times != self.picks or cost.each.bounded_range:
            raise ValueError(f"the values of {self.picks} picks cost as many pure releases, got {cost}")
        return self.reach / cost.each.parameter * (1 + 1e-12)

    def noisy_values(self, exact: NDArray[np.object_], cost: Repeated, bits: Bits) -> NDArray[np.object_]:
        """Whole numbers on the coarse grid, with Laplace noise added."""
        noise = discrete_laplace(self.value_scale(cost), len(exact), bits=bits)
        return np.asarray(exact + noise.astype(object), dtype=object)

    def rounded(self, exact: NDArray[np.object_]) -> NDArray[np.object_]:
        """Exact whole numbers rounded to nearest on the coarser grid."""
        half = (1 << self.shift) >> 1
        return np.asarray((exact + half) // (1 << self.shift), dtype=object)

    def coarse(self, exact: NDArray[np.object_]) -> Floats:
        """Exact whole numbers, rounded to the coarser grid and clipped, as floats."""
        return np.clip(self.rounded(exact), -_LARGEST_SCORE, _LARGEST_SCORE).astype(np.float64)

    def choose(self, scores: Floats, bits: Bits) -> Indices:
        """Positions of the picks among these coarse scores, in the order in which
        they were picked.
        """
        if self.gumbel:
            return gumbel_top(scores, self.picks, self.scale, bits=bits)
        left = np.ones(len(scores), dtype=bool)
        chosen = []
        for _ in range(self.picks):
            noisy = scores + discrete_laplace(self.scale, len(scores), bits=bits)
            position = int(np.argmax(np.where(left, noisy, -np.inf)))
            left[position] = False
            chosen.append(position)
        return np.array(chosen, dtype=np.int64)
