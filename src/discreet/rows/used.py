"""How many rows contributed, as a released noisy count says it."""

from __future__ import annotations

import math
from dataclasses import dataclass

# A count within so many standard deviations of its noise is taken for none.
_FAR = 3.0


@dataclass(frozen=True)
class RowsUsed:
    """A noisy count of complete rows and the noise in it; ``of``: how many rows there are, where that is public.

    All of this is released or public, so what is said about it costs nothing.
    """

    count: float
    noise_std: float
    of: int | None = None

    @classmethod
    def seen(cls, count: float, noise_std: float, of: int | None) -> RowsUsed:
        """From an unbiased count, which noise may have moved below none or above all rows."""
        return cls(max(min(count, math.inf if of is None else float(of)), 0.0), noise_std, of)

    @property
    def most(self) -> int:
        """No more rows than this were used, but for noise beyond three standard deviations."""
        return math.ceil(self.count + _FAR * self.noise_std)

    @property
    def none(self) -> bool:
        """Whether the count says that no row, or hardly one, contributed."""
        return self.count <= _FAR * self.noise_std and (self.of is None or self.most < self.of)

    @property
    def unclear(self) -> bool:
        """Whether the count could be that of no row and that of all rows."""
        return self.count <= _FAR * self.noise_std and not self.none

    def __str__(self) -> str:
        shown = f"{self.count:.0f} (std err {self.noise_std:.3g})"
        if self.none:
            return f"{shown}: no row was usable, or at most {self.most} were"
        return f"{shown}: too noisy to tell whether any row was usable" if self.unclear else shown
