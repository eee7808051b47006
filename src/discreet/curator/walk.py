"""A pass that asks each row once, one after another, with less overhead per row than ``split``.

The noise of all rows has one scale in grid units, whatever their clip norms are, so it is drawn for
many rows at a time. Replacing a row moves its own answer by at most 2 LONGEST units and no other
answer directly: each row is its own part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from discreet.curator.noise import GridNoise, Integers
from discreet.noise import Bits, discrete_gaussian
from discreet.privacy import GDP, Release, Split
from discreet.rows import Answer, Floats, Residues
from discreet.rows.walk import LONGEST, UNITS, Walk, WalkedRows, Weight

# Noise is drawn for this many rows at a time.
_ROWS_AT_A_TIME = 4096


def walk_scale(cost: GDP) -> float:
    """The noise scale in grid units with which an answer is mu-GDP under replacement of a row.

    docs/papers/discrete_gaussian.md has the proof.
    """
    return math.sqrt((2 * LONGEST / cost.mu * (1 + 1e-12)) ** 2 + 4)


def walk_noise(walk: Walk, cost: GDP, clip: float) -> GridNoise:
    """The noise of one answer, as the audit records it."""
    scales = np.full((walk.size, 1), walk_scale(cost))
    return GridNoise(scales, 0, clip / UNITS, 2 * LONGEST, "free")


def noise_of_rows(walk: Walk, cost: GDP, rows: int, bits: Bits) -> Iterator[Integers]:
    """Fresh noise for one row after another."""
    scale = walk_scale(cost)
    for start in range(0, rows, _ROWS_AT_A_TIME):
        drawn = discrete_gaussian(scale, (min(_ROWS_AT_A_TIME, rows - start), walk.size), bits=bits)
        yield from np.asarray(drawn).astype(object)


class RowByRow:
    """Returns one noisy direction per row, in the order that was drawn; each row answers once."""

    def __init__(
        self,
        walk: Walk,
        cost: GDP,
        split: Split,
        order: list[int],
        engine: Any,
        bits: Bits,
        release: Callable[[Release, GridNoise, Callable[[], Integers], Integers], Integers],
    ) -> None:
        self._walk = walk
        self._cost = cost
        self._split = split
        self._order = order
        self._engine = engine
        self._noises = noise_of_rows(walk, cost, len(order), bits)
        self._release = release
        self._asked = 0
        # Rows in memory are read at once; fetching them one by one gives the same numbers.
        whole = getattr(engine, "whole_block", None)
        self._rows: WalkedRows | None = None if whole is None else walk.read(whole())

    def __len__(self) -> int:
        return len(self._order)

    def step(self, theta: Floats, weight: Weight, clip: float) -> Answer:
        """weight(y, theta . z) z of the next row, clipped at ``clip``, with noise."""
        number = self._asked
        if number == len(self._order):
            raise ValueError("every row has already answered")
        self._asked += 1
        noise = walk_noise(self._walk, self._cost, clip)
        release = noise.release(self._walk.label, self._cost, self._split, number)

        def exact() -> Integers:
            units = self._units(self._order[number], theta, weight, clip)
            return np.array([int(one) for one in units], dtype=object)[:, np.newaxis]

        drawn = next(self._noises)[:, np.newaxis]
        return noise.answer(self._release(release, noise, exact, drawn))

    def _units(self, row: int, theta: Floats, weight: Weight, clip: float) -> Floats:
        with np.errstate(all="ignore"):  # no row may make numpy warn
            if self._rows is not None:
                return self._rows.units(row, theta, weight, clip)

            def of_row(block: Any, used: Any) -> Any:
                if not block.records:  # other blocks of the table
                    return np.zeros(self._walk.size, dtype=np.int64)
                return self._walk.read(block).units(0, theta, weight, clip).astype(np.int64)

            count = len(self._order)
            return np.asarray(self._engine.sum_rows(of_row, Residues(count, row, row + 1)), dtype=np.float64)
