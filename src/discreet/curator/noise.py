"""The noise of one sum: its scale, its grid and its symmetry."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.noise import Bits, discrete_gaussian
from discreet.privacy import GDP, Neighbours, Release, Split
from discreet.rows import Answer, Geometry, Query, count_units, left_grid, reach, right_grid

# Python's unbounded integers: a sum over very many rows may exceed 64 bits, and that must
# have no visible effect.
Integers = NDArray[np.object_]


@dataclass(frozen=True)
class GridNoise:
    """Discrete Gaussian noise for one query, in units of a public grid. It
    does not depend on the rows.

    ``shift`` makes the grid coarser than that of the factors, until the noise is at most
    2^39 units. Rounding the sum to that grid moves each of m entries by at most half a
    unit, so the sensitivity grows by at most sqrt(m) units. A square answer is symmetric:
    each off-diagonal entry counts twice in the Frobenius norm, so half the variance is
    enough there. docs/papers/discrete_gaussian.md proves that s^2 = (reach/mu)^2 + 4 makes
    the discrete noise mu-GDP.
    """

    scales: NDArray[np.float64]
    shift: int
    unit: float
    reach: float
    geometry: Geometry

    @classmethod
    def covering(cls, query: Query, cost: GDP, neighbours: Neighbours, rows_per_person: int) -> GridNoise:
        if not 0 < cost.mu < math.inf:
            raise ValueError(f"a release must cost a finite mu > 0, got {cost.mu}")
        rows, columns = query.shape
        left_scale, left = left_grid(query)
        right_scale, right = right_grid(query)
        count = left_scale * count_units(query)
        fine_reach = reach(query.geometry, neighbours, left * right, rows_per_person, count)
        shift = max(0, math.ceil(math.log2(fine_reach / cost.mu)) - 38)
        coarse_reach = fine_reach / 2**shift + math.sqrt(rows * columns)
        # The margin covers rounding in this line and the proof's factor e^(m eta).
        variance = np.full((rows, columns), (coarse_reach / cost.mu * (1 + 1e-12)) ** 2)
        if query.geometry == "square":
            variance[~np.eye(rows, dtype=bool)] /= 2
        unit = 2.0**shift / (left_scale * right_scale)
        return cls(np.sqrt(variance + 4), shift, unit, coarse_reach, query.geometry)

    @property
    def independent(self) -> NDArray[np.bool_]:
        """The entries with independent noise: all, or the upper triangle of a symmetric answer."""
        entries = np.ones(self.scales.shape, dtype=bool)
        return np.triu(entries) if self.geometry in ("square", "printed_square") else entries

    def release(self, label: str, cost: GDP, split: Split | None = None, part: int = 0) -> Release:
        return Release(label, self.reach * self.unit, float(self.scales[0, 0]) * self.unit, cost, split, part)

    def coarse(self, exact: Integers) -> Integers:
        """The exact sum rounded to nearest on the coarser grid."""
        half = (1 << self.shift) >> 1
        return np.asarray((exact + half) // (1 << self.shift), dtype=object)

    def draw(self, bits: Bits) -> Integers:
        """Fresh noise; symmetric if the answer is."""
        noise = np.zeros(self.scales.shape, dtype=np.int64)
        if self.geometry not in ("square", "printed_square"):
            noise[:] = discrete_gaussian(self.scales[0, 0], self.scales.shape, bits=bits)
            return noise.astype(object)
        size = len(noise)
        noise[np.diag_indices(size)] = discrete_gaussian(self.scales[0, 0], size, bits=bits)
        if size > 1:
            upper = np.triu_indices(size, 1)
            noise[upper] = discrete_gaussian(self.scales[0, 1], len(upper[0]), bits=bits)
            noise.T[upper] = noise[upper]
        return noise.astype(object)

    def answer(self, noisy: Integers) -> Answer:
        return Answer(
            noisy.astype(np.float64) * self.unit, float(self.scales[0, 0]) * self.unit, self.geometry == "square"
        )
