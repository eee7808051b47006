"""From counted guesses to a lower bound on privacy loss that holds with a stated confidence.

A guess between two neighbouring data sets errs at the rates a (a false alarm) and b (a miss). A
mu-GDP release allows b >= Phi(-ndtri(a) - mu) only, so mu >= -ndtri(a) - ndtri(b); an (epsilon,
delta) one allows 1 - b <= e^epsilon a + delta and the same with a and b exchanged. Both bounds
decrease in a and in b, so upper confidence limits of the two rates (Clopper and Pearson, half of
the allowed error each) give lower confidence limits of mu and epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import betaincinv, ndtri


class Claim(Protocol):
    """The claim that is audited: units and guarantees of ``discreet.privacy`` have
    these methods.
    """

    @property
    def mu(self) -> float: ...

    def delta(self, epsilon: float) -> float: ...


def rate_limit(events: int, runs: int, error: float) -> float:
    """The upper Clopper-Pearson limit of a rate: below the true one with probability at most
    ``error``.
    """
    if not 0 <= events <= runs or runs < 1:
        raise ValueError(f"events must be between 0 and runs, got {events} of {runs}")
    return 1.0 if events == runs else float(betaincinv(events + 1, runs - events, 1 - error))


@dataclass(frozen=True)
class ErrorRates:
    """Error counts of a guess on each side, and the confidence with which both limits hold."""

    false_alarms: int
    misses: int
    runs: int
    confidence: float

    @property
    def limits(self) -> tuple[float, float]:
        """Upper limits of both rates, which hold at once with probability
        ``confidence`` at least.
        """
        error = (1 - self.confidence) / 2
        return rate_limit(self.false_alarms, self.runs, error), rate_limit(self.misses, self.runs, error)

    @property
    def mu(self) -> float:
        """The lower bound on mu: a smaller mu-GDP claim is false."""
        alarm, miss = self.limits
        return max(0.0, -float(ndtri(alarm)) - float(ndtri(miss)))

    def epsilon(self, delta: float) -> float:
        """The lower bound on epsilon at delta; nothing is assumed about the noise."""
        alarm, miss = self.limits
        kept = [(1 - delta - one) / other for one, other in ((miss, alarm), (alarm, miss)) if 1 - delta - one > 0]
        return max(0.0, *(math.log(ratio) for ratio in kept)) if kept else 0.0

    def refutes(self, claim: Claim) -> bool:
        """Whether the claim contradicts these limits: by its mu, or at some epsilon by its whole
        profile.
        """
        if self.mu > claim.mu:
            return True
        alarm, miss = self.limits
        for false, hit in ((alarm, 1 - miss), (miss, 1 - alarm)):
            if hit <= false:
                continue
            for epsilon in np.linspace(0.0, math.log(hit / false), 64):
                if hit - math.exp(epsilon) * false > claim.delta(float(epsilon)):
                    return True
        return False
