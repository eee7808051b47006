"""What a guarantee means without the language of differential privacy: how well one can guess."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import ndtr

# Normal quantiles.
_ONE_IN_A_MILLION, _ONE_IN_A_HUNDRED = 4.753424308822899, 2.326347874040841


@dataclass(frozen=True)
class Attacker:
    """The best guess about one person by an attacker who knows all others and sees every release.

    ``right``: the probability that the best guess between two possibilities is right; a coin has
    1/2. ``from_half``: how certain of a true fact an attacker can become who gave it 50 % before,
    except in one case in a million. ``found_1_percent``: the share of people found by an attacker
    who wrongly accuses 1 % of the others.
    """

    mu: float

    @property
    def right(self) -> float:
        """Two Gaussians at distance mu: the best test has equal errors at their midpoint."""
        return float(ndtr(self.mu / 2))

    @property
    def from_half(self) -> float:
        """The gain in log odds is N(mu^2 / 2, mu^2): at most mu^2 / 2 + 4.75 mu, except
        in one case in a million.
        """
        return 1 / (1 + math.exp(-(self.mu**2 / 2 + _ONE_IN_A_MILLION * self.mu)))

    @property
    def found_1_percent(self) -> float:
        return float(ndtr(self.mu - _ONE_IN_A_HUNDRED))

    def sentences(self) -> list[str]:
        return [
            f"An attacker who knows everyone else's data and guesses whether one person is in the data is right at "
            f"most {_percent(self.right)} of the time; a coin is right 50 % of the time.",
            f"An attacker who thought it 50 % likely before is at most {_percent(self.from_half)} certain "
            "afterwards, except in one case in a million.",
            f"An attacker who wrongly accuses 1 in 100 finds at most {_percent(self.found_1_percent)} of the people.",
        ]


def _percent(share: float) -> str:
    digits = 3 if share > 0.995 else 1 if share > 0.95 or share < 0.1 else 0
    return f"{100 * share:.{digits}f} %"
