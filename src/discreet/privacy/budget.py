"""An amount of privacy to spend: an (epsilon, delta) pair and the mu that buys the most for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.errors import GuaranteeError
from discreet.privacy.profile import check_delta, check_finite_epsilon, gaussian_mu
from discreet.privacy.units import GDP, Unit


@dataclass(frozen=True)
class Budget:
    """(epsilon, delta), together with ``mu``: the largest GDP cost that it covers, exactly.

    Releases are paid in mu^2, which adds up; epsilon does not, so two budgets' epsilons cannot be subtracted.
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
        return cls(float(epsilon), float(delta), gaussian_mu(epsilon, delta))

    @classmethod
    def from_mu(cls, mu: float, delta: float) -> Budget:
        return cls(GDP(mu).epsilon(delta), delta, mu)

    def split(self, shares: Sequence[float]) -> list[GDP]:
        """Costs whose squares stand in these proportions and never add up to more than this budget."""
        if not shares or any(share <= 0 for share in shares):
            raise ValueError(f"shares must be positive numbers, got {list(shares)}")
        whole = math.fsum(shares)
        # A few roundings below the exact root, so that the exact sum of squares stays within mu^2.
        return [GDP(self.mu * math.sqrt(share / whole) * (1 - 1e-14)) for share in shares]

    def __str__(self) -> str:
        return f"epsilon {self.epsilon:.4g} at delta {self.delta:.3g} (mu {self.mu:.4g})"


def refuse_weaker(costs: Sequence[Unit], budget: Budget) -> None:
    """Refuse, before anything is spent, noise whose exact guarantee is weaker than the one asked for."""
    given = math.sqrt(math.fsum(cost.mu**2 for cost in costs))
    if given > budget.mu:
        epsilon = GDP(given).epsilon(budget.delta)
        raise GuaranteeError(
            f"the printed noise gives epsilon {epsilon:.4g} at delta {budget.delta:.3g}, "
            f"weaker than the {budget.epsilon:.4g} asked for; use calibration='tight'"
        )
