"""The cost of several releases of the same kind made at once, such as the picks of a selection."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from scipy.special import log_ndtr

from discreet.privacy.profile import check_delta
from discreet.privacy.units import GDP, ZCDP, Pure

# An upper bound on the relative rounding error of ``_added``, for up to a thousand picks.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Repeated:
    """``times`` releases of cost ``each``; each may depend on earlier answers.

    ``Repeated(Pure(e, bounded_range=True), s)`` is the cost of the top s under Gumbel noise: s
    exponential mechanisms. Such picks cost less before Gaussian releases than alone. With
    ``followed_by`` = m > 0, ``mu`` is what they add to later releases that are charged for a mu of
    m or more: mu^2 + m^2 covers all of them. ``alone`` is the cost whatever follows.
    """

    each: Pure
    times: int
    followed_by: float = 0.0

    def __post_init__(self) -> None:
        if not self.times >= 1:
            raise ValueError(f"times must be a whole number >= 1, got {self.times}")
        if not 0 <= self.followed_by < math.inf or (self.followed_by and not self.each.bounded_range):
            raise ValueError(f"only picks can count on later releases, of a finite mu, got {self}")

    @property
    def mu(self) -> float:
        if not self.each.bounded_range:
            return math.nextafter(math.sqrt(self.times) * self.each.mu * (1 + 1e-15), math.inf)
        if self.times == 1 and not self.followed_by:
            return self.each.mu
        return math.sqrt(_added(self.each, self.times, self.followed_by)) * (1 + _ROUNDING)

    @property
    def alone(self) -> Repeated:
        """The same releases, without counting on later ones."""
        return replace(self, followed_by=0.0)

    @property
    def rho(self) -> float:
        return self.times * self.each.rho

    def epsilon(self, delta: float) -> float:
        check_delta(delta)
        plain = self.times * self.each.parameter
        return min(plain, GDP(self.alone.mu).epsilon(delta), ZCDP(self.rho).epsilon(delta))

    def delta(self, epsilon: float) -> float:
        if epsilon >= self.times * self.each.parameter:
            return 0.0
        return min(GDP(self.alone.mu).delta(epsilon), ZCDP(self.rho).delta(epsilon))

    def loss_distribution(self) -> Any:
        # With bounded range no single pair of distributions is the worst; the Gaussian and
        # zCDP bounds hold for all.
        return None if self.each.bounded_range else self.each.loss_distribution().self_compose(self.times)

    def to_dict(self) -> dict[str, str]:
        fields = self.each.to_dict()
        counted_on = {"followed_by": float(self.followed_by).hex()} if self.followed_by else {}
        return {**fields, "unit": f"repeated {fields['unit']}", "times": str(self.times), **counted_on}


@lru_cache(maxsize=1024)
def _added(each: Pure, times: int, later: float) -> float:
    """By how much picks raise the mu^2 of the Gaussian that dominates what follows them, from
    later^2 on (docs/papers/cost_sparse.md, theorems on one pick).

    The last pick comes first: before m-GDP releases, a pick of range e > 0 adds at most
    e^2 m^2 / (4 m^2 - e^2) if 2 m > e, and never more than its own mu^2.
    """
    most, square = each.mu**2, each.parameter**2
    after, added = later**2, 0.0
    for _ in range(times):
        one = square * after / (4 * after - square) if 4 * after > square else most
        after += min(one, most)
        added += min(one, most)
    return added


def picks_within(cost: GDP, picks: int, followed_by: Sequence[GDP] = ()) -> Repeated:
    """This many Gumbel picks of the largest range that adds ``cost`` to the Gaussian costs
    ``followed_by``, which must be charged together with it, for later releases.

    One pick of range e alone is mu_1-GDP with mu_1 = 2 Phi^-1(1 / (1 + exp(-e/2)))
    (docs/papers/cost_sparse.md), so e = 2 (ln Phi(m) - ln Phi(-m)) at m = mu_1 / 2.
    """
    if not 0 < cost.mu < math.inf:
        raise ValueError(f"a selection must cost a finite mu > 0, got {cost.mu}")
    # Slightly less, because shares of a budget are rounded.
    later = math.sqrt(math.fsum(one.mu**2 for one in followed_by)) * (1 - 1e-9)
    half = cost.mu / math.sqrt(picks) / 2
    if half < 1:
        # The two logarithms are nearly equal; their difference is 2 artanh(erf(m / sqrt 2)).
        width = 4 * math.atanh(math.erf(half / math.sqrt(2)))
    else:
        width = 2 * float(log_ndtr(half) - log_ndtr(-half))

    def made(width: float) -> Repeated:
        return Repeated(Pure(width, bounded_range=True), picks, later)

    # Picks alone need at least this range, picks before many Gaussian releases about 1.25 of it.
    low, high = width * (1 - 1e-12), width * 1.01
    while made(low).mu > cost.mu:  # a few roundings, at most
        low *= 1 - 1e-12
    while made(high).mu <= cost.mu:
        low, high = high, high * 1.01
    while high > low * (1 + 1e-13):
        middle = (low + high) / 2
        low, high = (middle, high) if made(middle).mu <= cost.mu else (low, middle)
    return made(low)
