"""What a guarantee means to somebody who knows no differential privacy: how much better one can guess."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import ndtr

# Normal quantiles.
_ONE_IN_A_MILLION, _ONE_IN_A_HUNDRED = 4.753424308822899, 2.326347874040841


@dataclass(frozen=True)
class Attacker:
    """The best guess about one person by somebody who knows all others and sees everything that was released.

    ``right``: how often the best guess between two possibilities is right, where a coin is right half the time;
    ``from_half``: how sure of a true fact somebody can become who thought it 50 % likely, except in one case in a
    million; ``found_1_percent``: how many people an attacker finds who accuses 1 % of the others wrongly.
    """

    mu: float

    @property
    def right(self) -> float:
        """Two Gaussians that are mu apart: the best test errs equally on both sides at their middle."""
        return float(ndtr(self.mu / 2))

    @property
    def from_half(self) -> float:
        """The log odds gained are N(mu^2 / 2, mu^2): at most mu^2 / 2 + 4.75 mu, but for one case in a million."""
        return 1 / (1 + math.exp(-(self.mu**2 / 2 + _ONE_IN_A_MILLION * self.mu)))

    @property
    def found_1_percent(self) -> float:
        return float(ndtr(self.mu - _ONE_IN_A_HUNDRED))

    def sentences(self) -> list[str]:
        return [
            f"Somebody who knows everyone else's data and guesses whether one person is in it is right at most "
            f"{_percent(self.right)} of the time; a coin is right 50 %.",
            f"Somebody who thought it 50 % likely beforehand is at most {_percent(self.from_half)} sure of it "
            "afterwards, except in one case in a million.",
            f"An attacker who accuses 1 in 100 wrongly finds at most {_percent(self.found_1_percent)} of the people.",
        ]


def _percent(share: float) -> str:
    digits = 3 if share > 0.995 else 1 if share > 0.95 or share < 0.1 else 0
    return f"{100 * share:.{digits}f} %"
