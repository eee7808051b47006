"""A part of the rows, chosen by position alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Residues:
    """The rows whose position leaves a remainder in [low, high) when divided by ``modulus``.

    Remainders spread a part over the whole table, so that a meaningful order (time, a
    sorted column) makes no part special. A row's part depends on its position only, never
    on the content of any row.
    """

    modulus: int
    low: int
    high: int

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high <= self.modulus:
            raise ValueError(f"remainders need 0 <= low < high <= modulus, got {self.low}, {self.high}, {self.modulus}")

    @classmethod
    def side_by_side(cls, widths: Sequence[int]) -> list[Residues]:
        """Disjoint parts; of each sum(widths) rows they have ``widths``, in this order."""
        ends = list(accumulate(widths))
        return [cls(ends[-1], end - width, end) for width, end in zip(widths, ends, strict=True)]

    def count(self, rows: int) -> int:
        """The number of the first ``rows`` rows that belong to it."""
        whole, rest = divmod(rows, self.modulus)
        return whole * (self.high - self.low) + min(max(rest - self.low, 0), self.high - self.low)

    def positions(self, rows: int, first_row: int = 0) -> NDArray[np.intp]:
        """The positions of its rows among ``rows`` rows that start at position ``first_row``."""
        start = first_row - first_row % self.modulus
        cycles = np.arange(start, first_row + rows, self.modulus, dtype=np.intp)
        found = np.add.outer(cycles, np.arange(self.low, self.high, dtype=np.intp)).ravel() - first_row
        return found[(found >= 0) & (found < rows)]

    def cut(self, pieces: int) -> list[Residues]:
        """The same rows in this many parts of equal width, in order."""
        width, rest = divmod(self.high - self.low, pieces)
        if rest or width == 0:
            raise ValueError(f"{self.high - self.low} remainders cannot be cut into {pieces} equal pieces")
        starts = range(self.low, self.high, width)
        return [Residues(self.modulus, start, start + width) for start in starts]
