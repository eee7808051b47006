"""A privacy budget: an (epsilon, delta) pair and the largest mu that it covers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.errors import GuaranteeError, WeakGuaranteeWarning, warn_user
from discreet.privacy.profile import check_delta, check_finite_epsilon, gaussian_mu
from discreet.privacy.units import GDP, Unit

# A guarantee beyond these values protects almost nobody.
_LARGE_DELTA, _LARGE_EPSILON = 0.01, 50.0


@dataclass(frozen=True)
class Budget:
    """(epsilon, delta) with ``mu``, the largest GDP cost that it covers.

    Costs are added as mu^2. Epsilons do not add up, so those of two budgets cannot be subtracted.
    """

    epsilon: float
    delta: float
    mu: float

    @classmethod
    def of(cls, epsilon: float, delta: float) -> Budget:
        check_finite_epsilon(epsilon)
        check_delta(delta)
        if delta == 0:
            raise ValueError("delta must be > 0: discreet adds Gaussian noise, which no pure guarantee covers; got 0")
        if delta >= 1:
            raise ValueError(
                f"delta must be below 1: it is the probability with which the guarantee may fail, and at 1 even "
                f"publishing the raw rows would satisfy it; choose it well below 1 / number of people; got {delta:g}"
            )
        return cls(float(epsilon), float(delta), gaussian_mu(epsilon, delta))

    def doubts(self, rows: int | None = None) -> list[str]:
        """Reasons why this guarantee protects little; ``rows``: their number if it is public."""
        said = []
        if rows is not None and rows > 0 and self.delta >= 1 / rows:
            said.append(
                f"delta {self.delta:g} is not below 1 / number of rows = 1 / {rows:,}: publishing one row, picked at "
                f"random, would satisfy such a guarantee; choose a much smaller one, such as {0.01 / rows:.0e}"
            )
        elif self.delta >= _LARGE_DELTA:
            said.append(
                f"with delta {self.delta:g} the guarantee may fail with a probability of {self.delta:.0%}; "
                "choose it well below one over the number of people, such as 1e-6"
            )
        if self.epsilon > _LARGE_EPSILON:
            said.append(
                f"epsilon {self.epsilon:g} lets the odds of any guess about a person change by a factor of "
                f"e^{self.epsilon:g}, so it protects nobody; usual values are below 10"
            )
        return said

    def warn(self, rows: int | None = None) -> None:
        """Warn about each of ``doubts``."""
        for doubt in self.doubts(rows):
            warn_user(doubt, WeakGuaranteeWarning)

    @classmethod
    def from_mu(cls, mu: float, delta: float) -> Budget:
        return cls(GDP(mu).epsilon(delta), delta, mu)

    def split(self, shares: Sequence[float]) -> list[GDP]:
        """Costs whose squares are in these proportions and together never exceed this budget."""
        if not shares or any(share <= 0 for share in shares):
            raise ValueError(f"shares must be positive numbers, got {list(shares)}")
        whole = math.fsum(shares)
        return [self.part(share / whole) for share in shares]

    def part(self, share: float) -> GDP:
        """The cost of this share of mu^2."""
        # Slightly below the exact root, so that the exact sum of squares stays within mu^2.
        return GDP(self.mu * math.sqrt(share) * (1 - 1e-14))

    def __str__(self) -> str:
        return f"epsilon {self.epsilon:.4g} at delta {self.delta:.3g} (mu {self.mu:.4g})"


def refuse_weaker(costs: Sequence[Unit], budget: Budget) -> None:
    """Refuse noise with a weaker guarantee than the one asked for, before anything is spent."""
    given = math.sqrt(math.fsum(cost.mu**2 for cost in costs))
    if given > budget.mu:
        epsilon = GDP(given).epsilon(budget.delta)
        raise GuaranteeError(
            f"the printed noise gives epsilon {epsilon:.4g} at delta {budget.delta:.3g}, "
            f"weaker than the {budget.epsilon:.4g} asked for; use calibration='tight'"
        )
