"""The total cost of a device's reports: those with pure epsilon and those with Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from discreet.local.gaussian import Gaussian, gaussian_delta_bound
from discreet.local.task import Task
from discreet.local.unit import Unit


@dataclass(frozen=True)
class Cost:
    """A GDP cost and a pure epsilon (infinite for Gaussian noise); both hold."""

    mu: float
    epsilon: float = math.inf

    @classmethod
    def of(cls, task: Task) -> Cost:
        randomizer: Unit | Gaussian = task.randomizer
        return cls(randomizer.mu) if isinstance(randomizer, Gaussian) else cls.pure(randomizer.epsilon)

    @classmethod
    def pure(cls, epsilon: float) -> Cost:
        """The mu of an epsilon-DP report.

        Both trade-off curves meet at 1/(1 + e^epsilon), and a convex curve lies below its chords.
        """
        # NormalDist is accurate to about 1e-15; for tiny epsilons the tangent at 1/2 bounds the
        # quantile.
        quantile = -NormalDist().inv_cdf(1 / (1 + math.exp(epsilon)))
        return cls(max(2 * quantile * (1 + 1e-9), 1e-12), epsilon)

    def within(self, epsilon: float, delta: float) -> bool:
        """Whether this is (epsilon, delta)-private by one of the two costs."""
        if self.epsilon <= epsilon * (1 + 1e-12):
            return True
        return delta > 0 and gaussian_delta_bound(epsilon, self.mu) <= delta

    def __str__(self) -> str:
        return f"epsilon {self.epsilon:.4g}" if math.isfinite(self.epsilon) else f"{self.mu:.4g}-GDP"


def together(costs: Sequence[Cost]) -> Cost:
    """The composed cost: squares of mu add up, and epsilons add up."""
    return Cost(math.hypot(*(cost.mu for cost in costs)), math.fsum(cost.epsilon for cost in costs))
