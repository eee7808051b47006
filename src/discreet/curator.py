"""The one door: the only code that sees rows and draws noise.

Everything that privacy rests on is on this page: what one person can move (``reach``), the noise for it, and the order
of steps. The charge is durable before a row is read, so that a crash wastes budget and never leaks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.noise import Bits, SystemBits, discrete_gaussian
from discreet.privacy import GDP, Guarantee, Ledger, Neighbours, Release, check_neighbours
from discreet.rows import (
    Answer,
    Block,
    Geometry,
    Parts,
    Query,
    exact_sum,
    left_grid,
    product_parts,
    reach,
    right_grid,
)

# Python's unbounded integers: a sum over very many rows may exceed 64 bits, and nothing may depend on whether it does.
Integers = NDArray[np.object_]


class Engine(Protocol):
    """Whatever can add up a function of blocks of rows."""

    @property
    def rows(self) -> int: ...

    def sum_rows(self, function: Callable[[Block, NDArray[np.bool_] | None], Parts], every: int = 1) -> Parts: ...


class Tape(Protocol):
    """Listens at the door for the replay audit: gets the exact sums, says what is released."""

    def release(self, release: Release, noise: GridNoise, exact: Integers, noisy: Integers) -> Integers: ...


listening: ContextVar[Tape | None] = ContextVar("listening", default=None)


class Curator:
    """Answers queries about rows that nobody else sees, and keeps count of what that costs."""

    def __init__(
        self,
        engine: Engine,
        *,
        neighbours: str = "replace_one",
        rows_per_person: int = 1,
        grouped: bool = False,
        ledger: Ledger | None = None,
        job: str | None = None,
        bits: Bits | None = None,
    ) -> None:
        self._engine = engine
        self._neighbours = check_neighbours(neighbours)
        self._rows_per_person = rows_per_person
        self._grouped = grouped
        self._ledger = ledger
        self._job = job
        self._bits = SystemBits() if bits is None else bits
        self._seeded = bits is not None
        self._releases: list[Release] = []

    @property
    def guarantee(self) -> Guarantee:
        """What all answers given so far promise together."""
        return Guarantee(
            tuple(self._releases), self._neighbours, self._rows_per_person, grouped=self._grouped, seeded=self._seeded
        )

    def noise_std(self, query: Query, cost: GDP) -> float:
        """The noise that ``sum`` would add, from public facts alone: asking this is free."""
        return self._noise(query, cost).release(query.label, cost).noise_std

    def _noise(self, query: Query, cost: GDP) -> GridNoise:
        return GridNoise.covering(query, cost, self._neighbours, self._rows_per_person)

    @property
    def public_rows(self) -> int | None:
        """The number of rows, where the guarantee counts it as public: one row replaced, and rows not grouped."""
        return self._engine.rows if self._neighbours == "replace_one" and not self._grouped else None

    def sum(self, query: Query, cost: GDP, *, every: int = 1) -> Answer:
        """The query's sum over all rows, with discrete Gaussian noise that makes it cost exactly ``cost``.

        ``every`` > 1 sums rows 0, every, 2 * every, ... only. A replaced row keeps its place, so its reach is the same;
        an added one would move all others, so this is refused where the number of rows is private.
        """
        if every != 1 and self.public_rows is None:
            raise ValueError("a subset of rows by position needs a public number of rows")
        noise = self._noise(query, cost)
        release = noise.release(query.label, cost)
        key = None if self._job is None else f"{self._job}/{len(self._releases)}"
        if self._ledger is not None:
            key = self._ledger.charge(cost, label=query.label, key=key)
            if self._job is not None and (stored := self._ledger.stored(key)) is not None:
                self._releases.append(release)
                return noise.answer(np.array(stored["whole"], dtype=object))
        self._releases.append(release)
        exact = noise.coarse(exact_sum(self._engine.sum_rows(partial(product_parts, query), every)))
        noisy = exact + noise.draw(self._bits)
        if (tape := listening.get()) is not None:
            noisy = tape.release(release, noise, exact, noisy)
        if self._ledger is not None and self._job is not None and key is not None:
            noisy = np.array(self._ledger.store(key, {"whole": noisy.tolist()})["whole"], dtype=object)
        return noise.answer(noisy)


@dataclass(frozen=True)
class GridNoise:
    """Discrete Gaussian noise for one query, in units of a public grid; nothing here depends on the rows.

    ``shift`` makes the grid coarser than that of the factors, until the noise is at most 2^39 units. Rounding the sum
    to it moves each of m entries by at most half a unit, so the reach grows by at most sqrt(m) units. A square answer
    is symmetric: its off-diagonal entries stand twice in the Frobenius norm, so half the variance is enough there.
    docs/papers/discrete_gaussian.md proves that s^2 = (reach/mu)^2 + 4 makes the discrete noise mu-GDP.
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
        fine_reach = reach(query.geometry, neighbours, left * right, rows_per_person)
        shift = max(0, math.ceil(math.log2(fine_reach / cost.mu)) - 38)
        coarse_reach = fine_reach / 2**shift + math.sqrt(rows * columns)
        # The margin covers the rounding of this line and the proof's factor e^(m eta).
        variance = np.full((rows, columns), (coarse_reach / cost.mu * (1 + 1e-12)) ** 2)
        if query.geometry == "square":
            variance[~np.eye(rows, dtype=bool)] /= 2
        unit = 2.0**shift / (left_scale * right_scale)
        return cls(np.sqrt(variance + 4), shift, unit, coarse_reach, query.geometry)

    @property
    def independent(self) -> NDArray[np.bool_]:
        """The entries that have noise of their own: in a square the upper triangle, which the lower one mirrors."""
        entries = np.ones(self.scales.shape, dtype=bool)
        return np.triu(entries) if self.geometry in ("square", "printed_square") else entries

    def release(self, label: str, cost: GDP) -> Release:
        return Release(label, self.reach * self.unit, float(self.scales[0, 0]) * self.unit, cost)

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
