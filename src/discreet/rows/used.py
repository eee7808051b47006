"""The number of rows that contributed, from a released noisy count."""

from __future__ import annotations

import math
from dataclasses import dataclass

# A count within this many standard deviations of its noise counts as zero.
_FAR = 3.0


@dataclass(frozen=True)
class RowsUsed:
    """A noisy count of complete rows, with its noise; ``of``: the number of
    rows, where it is public.

    All of this is released or public, so statements about it cost nothing.
    """

    count: float
    noise_std: float
    of: int | None = None

    @classmethod
    def seen(cls, count: float, noise_std: float, of: int | None) -> RowsUsed:
        """From an unbiased count, which noise may have moved below 0 or above
        the number of rows.
        """
        return cls(max(min(count, math.inf if of is None else float(of)), 0.0), noise_std, of)

    @property
    def likely(self) -> float:
        """The number to divide sums by. Of a public number of rows, those that are missing are
        subtracted as far as they are clear of the noise.
        """
        if self.of is None:
            return max(self.count, self.noise_std)
        missing = max(self.of - self.count, 0.0)
        return max(self.of - missing**3 / (missing**2 + self.noise_std**2), 1.0)

    @property
    def most(self) -> int:
        """An upper bound on the rows used, exceeded only by noise beyond three
        standard deviations.
        """
        return math.ceil(self.count + _FAR * self.noise_std)

    @property
    def spread(self) -> str:
        """The noise's standard deviation to three digits, and never as a power of ten."""
        return f"{self.noise_std:.3g}" if self.noise_std < 999.5 else f"{self.noise_std:,.0f}"

    @property
    def none(self) -> bool:
        """Whether the count shows that no row, or hardly any, contributed."""
        return self.count <= _FAR * self.noise_std and (self.of is None or self.most < self.of)

    @property
    def unclear(self) -> bool:
        """Whether the count is consistent both with no row and with all rows."""
        return self.count <= _FAR * self.noise_std and not self.none

    def __str__(self) -> str:
        shown = f"{self.count:,.0f} (std err {self.spread})"
        if self.none:
            return f"{shown}: no row was usable, or at most {self.most} were"
        return f"{shown}: too noisy to tell whether any row was usable" if self.unclear else shown
