"""The joint cost of several releases about the same people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from discreet.privacy.perturbed import Perturbed
from discreet.privacy.profile import check_delta
from discreet.privacy.repeated import Repeated
from discreet.privacy.units import GDP, ZCDP, Approximate, Pure, Unit


@dataclass(frozen=True)
class Composition:
    """Several releases about the same people, in the order in which they are made; each may
    depend on earlier answers.

    Gaussian releases compose exactly: mu^2 adds up. For mixed releases every valid bound is
    computed and the smallest one is used: GDP domination, zCDP, numerical privacy-loss
    distributions (rounded up) and basic composition.
    """

    parts: tuple[Unit, ...]

    @property
    def mu(self) -> float:
        # Picks may count on later releases. If fewer were made, the rest counts as if it had been.
        later: list[float] = []
        shortage = 0.0
        for part in reversed(self.parts):
            if isinstance(part, Repeated) and part.followed_by:
                shortage = max(shortage, part.followed_by**2 - math.fsum(later))
            later.append(part.mu**2)
        return math.sqrt(math.fsum([*later, shortage]))

    @property
    def rho(self) -> float:
        return math.fsum(part.rho for part in self.parts)

    @property
    def merged(self) -> tuple[Unit, ...]:
        """All Gaussian parts as one, then the others, so that few convolutions are needed."""
        gaussian = [part for part in self.parts if isinstance(part, GDP)]
        others = sorted((part for part in self.parts if not isinstance(part, GDP)), key=repr)
        return (*([GDP(Composition(tuple(gaussian)).mu)] if gaussian else []), *others)

    def epsilon(self, delta: float) -> float:
        check_delta(delta)
        return min((route.epsilon(delta) for route in self._routes()), default=0.0)

    def delta(self, epsilon: float) -> float:
        return min((route.delta(epsilon) for route in self._routes()), default=0.0)

    def _routes(self) -> list[Any]:
        if len(self.parts) == 1:
            return [self.parts[0]]
        if all(isinstance(part, GDP) for part in self.parts):
            return [GDP(self.mu)]
        merged = self.merged
        if len(merged) == 2 and isinstance(merged[0], GDP) and isinstance(merged[1], Perturbed):
            return [merged[1].beside(merged[0].mu)]
        routes: list[Any] = [_Sum(merged)]
        if math.isfinite(self.mu):
            routes.append(GDP(self.mu))
        if math.isfinite(self.rho):
            routes.append(ZCDP(self.rho))
        # A part with a finite mu may count as Gaussian noise of that mu: a pick has no loss table.
        for parts in dict.fromkeys([merged, Composition(tuple(_dominating(part) for part in merged)).merged]):
            if (distribution := _composed_pld(parts)) is not None:
                convolved = sum(part.times if isinstance(part, Repeated) else 1 for part in parts)
                routes.append(_Numerical(distribution, ROUNDING * convolved))
        return routes


def compose(parts: Iterable[Unit]) -> Composition:
    """The joint cost of several releases."""
    return Composition(tuple(parts))


def _dominating(part: Unit) -> Unit:
    # Whatever follows: the order of parts is lost here.
    mu = part.alone.mu if isinstance(part, Repeated) else part.mu
    return GDP(mu) if math.isfinite(mu) else part


@dataclass(frozen=True)
class _Sum:
    """Basic composition, the sum of epsilons and deltas: always valid, never tight."""

    parts: Sequence[Unit]

    def epsilon(self, delta: float) -> float:
        slack = math.fsum(part.slack for part in self.parts if isinstance(part, Approximate))
        others = [part for part in self.parts if not isinstance(part, (Approximate, Pure))]
        if delta < slack:
            return math.inf
        share = (delta - slack) / len(others) if others else 0.0
        plain = (part.parameter for part in self.parts if isinstance(part, (Approximate, Pure)))
        return math.fsum(plain) + math.fsum(part.epsilon(share) for part in others)

    def delta(self, epsilon: float) -> float:
        if self.epsilon(1.0) > epsilon:
            return 1.0
        low, high = 1e-300, 1.0
        for _ in range(64):  # each step halves the interval of logarithms; ``high`` is always valid
            middle = math.sqrt(low) * math.sqrt(high)
            if self.epsilon(middle) <= epsilon:
                high = middle
            else:
                low = middle
        return high


# How much rounding in one convolution can reduce delta, on any processor. A fast Fourier transform
# of N numbers has an error of 5 log2(N) 2^-53 relative to its L2 norm. So a convolution of
# probabilities a and b is off by 15 log2(N) 2^-53 sqrt(N) (|a| + |b|) in the sum over its entries,
# with norms of at most 1: 7e-11 for the longest tables. Errors of about 1e-16 were observed.
ROUNDING = 1e-10


@dataclass(frozen=True)
class _Numerical:
    """A convolved privacy-loss distribution.

    ``margin`` is added to delta, so both results are upper bounds.
    """

    distribution: Any
    margin: float

    def epsilon(self, delta: float) -> float:
        return float(self.distribution.get_epsilon_for_delta(delta - self.margin)) if delta > self.margin else math.inf

    def delta(self, epsilon: float) -> float:
        return min(1.0, float(self.distribution.get_delta_for_epsilon(epsilon)) + self.margin)


# The size of a loss table grows with its range. Beyond this loss, which no useful guarantee
# reaches, the other bounds are used.
_LARGEST_LOSS = 100.0


def _largest_loss(part: Unit) -> float:
    if isinstance(part, (Pure, Approximate)):
        return part.parameter
    if isinstance(part, Perturbed):
        return part.largest_loss
    return part.mu**2 / 2 + 10 * part.mu  # ten standard deviations above the mean loss


@lru_cache(maxsize=64)
def _composed_pld(parts: tuple[Unit, ...]) -> Any:
    if any(isinstance(part, ZCDP) or (isinstance(part, Repeated) and part.each.bounded_range) for part in parts):
        return None  # these have no loss table; see their loss_distribution
    if sum(_largest_loss(part) for part in parts) > _LARGEST_LOSS:
        return None
    total = None
    for part in parts:
        distribution = part.loss_distribution()
        if distribution is None:
            return None
        total = distribution if total is None else total.compose(distribution)
    return total
