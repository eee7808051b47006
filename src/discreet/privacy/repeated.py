"""The cost of several releases of the same kind made at once, such as the picks of a selection."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from scipy.special import log_ndtr

from discreet.privacy.profile import check_delta
from discreet.privacy.units import GDP, ZCDP, Pure


@dataclass(frozen=True)
class Repeated:
    """``times`` releases of cost ``each``; each may depend on earlier answers.

    ``Repeated(Pure(e, bounded_range=True), s)`` is the cost of the top s under Gumbel noise: s
    exponential mechanisms.
    """

    each: Pure
    times: int

    def __post_init__(self) -> None:
        if not self.times >= 1:
            raise ValueError(f"times must be a whole number >= 1, got {self.times}")

    @property
    def mu(self) -> float:
        return math.nextafter(math.sqrt(self.times) * self.each.mu * (1 + 1e-15), math.inf)

    @property
    def rho(self) -> float:
        return self.times * self.each.rho

    def epsilon(self, delta: float) -> float:
        check_delta(delta)
        plain = self.times * self.each.parameter
        return min(plain, GDP(self.mu).epsilon(delta), ZCDP(self.rho).epsilon(delta))

    def delta(self, epsilon: float) -> float:
        if epsilon >= self.times * self.each.parameter:
            return 0.0
        return min(GDP(self.mu).delta(epsilon), ZCDP(self.rho).delta(epsilon))

    def loss_distribution(self) -> Any:
        # With bounded range no single pair of distributions is the worst; the Gaussian and
        # zCDP bounds hold for all.
        return None if self.each.bounded_range else self.each.loss_distribution().self_compose(self.times)

    def to_dict(self) -> dict[str, str]:
        fields = self.each.to_dict()
        return {**fields, "unit": f"repeated {fields['unit']}", "times": str(self.times)}


def picks_within(cost: GDP, picks: int) -> Repeated:
    """This many Gumbel picks, together within a Gaussian cost: the largest range that
    sqrt(picks) mu_1 allows.

    One pick of range e is mu_1-GDP with mu_1 = 2 Phi^-1(1 / (1 + exp(-e/2)))
    (docs/papers/cost_sparse.md), so e = 2 (ln Phi(m) - ln Phi(-m)) at m = mu_1 / 2.
    """
    if not 0 < cost.mu < math.inf:
        raise ValueError(f"a selection must cost a finite mu > 0, got {cost.mu}")
    half = cost.mu / math.sqrt(picks) / 2
    if half < 1:
        # The two logarithms are nearly equal; their difference is 2 artanh(erf(m / sqrt 2)).
        width = 4 * math.atanh(math.erf(half / math.sqrt(2)))
    else:
        width = 2 * float(log_ndtr(half) - log_ndtr(-half))
    made = Repeated(Pure(width * (1 - 1e-13), bounded_range=True), picks)
    while made.mu > cost.mu:  # a few roundings, at most
        made = Repeated(Pure(made.each.parameter * (1 - 1e-13), bounded_range=True), picks)
    return made
