"""The four units of the privacy cost of one release.

Each unit knows its own profile (``epsilon`` at a delta and vice versa) and its value in the three
forms in which releases add up: ``mu`` (GDP), ``rho`` (zCDP) and a privacy-loss distribution. If a
unit has no finite value in one of them it is infinite, and composition uses another.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from scipy.special import erfinv, expit, ndtri, ndtri_exp

from discreet.privacy.profile import (
    check_delta,
    check_epsilon,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
)


class Unit(Protocol):
    """The cost of a release."""

    @property
    def mu(self) -> float: ...

    @property
    def rho(self) -> float: ...

    def epsilon(self, delta: float) -> float: ...

    def delta(self, epsilon: float) -> float: ...

    def loss_distribution(self) -> Any:
        """dp-accounting's PLD, or None if no single distribution dominates."""

    def to_dict(self) -> dict[str, str]: ...


@dataclass(frozen=True)
class GDP:
    """mu-Gaussian DP: as hard to distinguish as N(0, 1) from N(mu, 1)."""

    mu: float

    def __post_init__(self) -> None:
        if not self.mu >= 0:
            raise ValueError(f"mu must be >= 0, got {self.mu}")

    @classmethod
    def from_epsilon(cls, epsilon: float, delta: float) -> GDP:
        """The weakest GDP guarantee that implies (epsilon, delta)."""
        return cls(gaussian_mu(epsilon, delta))

    @property
    def rho(self) -> float:
        return self.mu**2 / 2

    def epsilon(self, delta: float) -> float:
        return gaussian_epsilon(delta, self.mu)

    def delta(self, epsilon: float) -> float:
        return gaussian_delta(epsilon, self.mu)

    def loss_distribution(self) -> Any:
        return _gaussian_pld(self.mu)

    def to_dict(self) -> dict[str, str]:
        return {"unit": "GDP", "mu": float(self.mu).hex()}


@dataclass(frozen=True)
class Pure:
    """epsilon-DP, such as Laplace noise or one permute-and-flip selection.

    ``bounded_range`` marks the exponential mechanism (Gumbel selection). Its zCDP cost is
    epsilon^2/8, not /2, and its dominating Gaussian is that of epsilon/2: for a given pair of
    neighbours its losses lie in an interval of length epsilon, not 2 epsilon
    (docs/papers/cost_sparse.md).
    """

    parameter: float
    bounded_range: bool = False

    def __post_init__(self) -> None:
        check_epsilon(self.parameter)

    @property
    def mu(self) -> float:
        # The trade-off curve of epsilon-DP has one kink, at 1/(1 + e^epsilon). A convex Gaussian
        # curve through that kink lies below its chords, so this mu dominates.
        parameter = self.parameter / 2 if self.bounded_range else self.parameter
        if parameter < 1:
            # 1/(1 + e^epsilon) is too close to 1/2 to be subtracted from it accurately.
            root = math.sqrt(2) * float(erfinv(math.tanh(parameter / 2)))
        elif parameter < 600:
            root = -float(ndtri(expit(-parameter)))
        else:
            # 1/(1 + e^epsilon) underflows, but its logarithm does not; the margin
            # covers this other inverse.
            root = -float(ndtri_exp(-parameter)) * (1 + 1e-12)
        return math.nextafter(2 * root * (1 + 1e-14), math.inf)

    @property
    def rho(self) -> float:
        return self.parameter**2 / (8 if self.bounded_range else 2)

    def epsilon(self, delta: float) -> float:
        check_delta(delta)
        if delta >= 1:
            return 0.0
        # Randomised response is the worst case: delta(e) = (e^eps - e^e) / (1 + e^eps).
        kept = 1 - delta * (1 + math.exp(-self.parameter))
        return 0.0 if kept <= 0 else max(0.0, self.parameter + math.log(kept))

    def delta(self, epsilon: float) -> float:
        return -math.expm1(min(0.0, epsilon - self.parameter)) / (1 + math.exp(-self.parameter))

    def loss_distribution(self) -> Any:
        return _parameter_pld(self.parameter, 0.0)

    def to_dict(self) -> dict[str, str]:
        kind = "selection" if self.bounded_range else "pure"
        return {"unit": kind, "epsilon": float(self.parameter).hex()}


@dataclass(frozen=True)
class ZCDP:
    """rho-zero-concentrated DP."""

    rho: float

    def __post_init__(self) -> None:
        if not self.rho >= 0:
            raise ValueError(f"rho must be >= 0, got {self.rho}")

    @classmethod
    def from_epsilon(cls, epsilon: float, delta: float) -> ZCDP:
        """The weakest zCDP guarantee that implies (epsilon, delta), rounded down."""
        check_epsilon(epsilon)
        check_delta(delta)
        if math.isinf(epsilon):
            return cls(math.inf)
        low, high = 0.0, epsilon
        # At a large delta, rho may exceed epsilon.
        while delta < 1 and cls(high).delta(epsilon) <= delta:
            low, high = high, 2 * high
        while high - low > 1e-12 * high:
            middle = (low + high) / 2
            if cls(middle).delta(epsilon) <= delta:
                low = middle
            else:
                high = middle
        return cls(low)

    @property
    def mu(self) -> float:
        return 0.0 if self.rho == 0 else math.inf

    def epsilon(self, delta: float) -> float:
        check_delta(delta)
        if self.rho == 0:
            return 0.0
        if delta == 0:
            return math.inf
        return max(0.0, _least(lambda order: self._epsilon_at(order, delta)))

    def _epsilon_at(self, order: float, delta: float) -> float:
        # Canonne, Kamath, Steinke 2020, Prop. 12: valid for every order > 1.
        gain = math.log(1 / delta) - math.log(order) + (order - 1) * math.log1p(-1 / order)
        return order * self.rho + gain / (order - 1)

    def delta(self, epsilon: float) -> float:
        if self.rho == 0:
            return 0.0

        def log_delta(order: float) -> float:
            slope = (order - 1) * (order * self.rho - epsilon)
            return slope - math.log(order - 1) + order * math.log1p(-1 / order)

        return min(1.0, math.exp(min(0.0, _least(log_delta))))

    def loss_distribution(self) -> Any:
        return None

    def to_dict(self) -> dict[str, str]:
        return {"unit": "zCDP", "rho": float(self.rho).hex()}


@dataclass(frozen=True)
class Approximate:
    """(epsilon, delta)-DP, if nothing finer is known about a release."""

    parameter: float
    slack: float

    def __post_init__(self) -> None:
        check_epsilon(self.parameter)
        check_delta(self.slack)

    @property
    def mu(self) -> float:
        return math.inf

    @property
    def rho(self) -> float:
        return math.inf

    def epsilon(self, delta: float) -> float:
        if delta < self.slack:
            return math.inf
        rest = (delta - self.slack) / (1 - self.slack) if self.slack < 1 else 1.0
        return Pure(self.parameter).epsilon(rest)

    def delta(self, epsilon: float) -> float:
        return self.slack + (1 - self.slack) * Pure(self.parameter).delta(epsilon)

    def loss_distribution(self) -> Any:
        return _parameter_pld(self.parameter, self.slack)

    def to_dict(self) -> dict[str, str]:
        return {"unit": "approximate", "epsilon": float(self.parameter).hex(), "delta": float(self.slack).hex()}


def unit_from_dict(fields: dict[str, str]) -> Unit:
    """The unit that ``to_dict`` wrote; floats are stored as exact hexadecimal."""
    if fields["unit"].startswith("repeated "):
        from discreet.privacy.repeated import Repeated

        each = unit_from_dict({**fields, "unit": fields["unit"].removeprefix("repeated ")})
        later = float.fromhex(fields.get("followed_by", "0x0p+0"))
        return Repeated(each, int(fields["times"]), later)  # type: ignore[arg-type]
    if fields["unit"] == "perturbed objective":
        from discreet.privacy.perturbed import Perturbed

        return Perturbed.from_dict(fields)
    makers: dict[str, Callable[[], Unit]] = {
        "GDP": lambda: GDP(float.fromhex(fields["mu"])),
        "pure": lambda: Pure(float.fromhex(fields["epsilon"])),
        "selection": lambda: Pure(float.fromhex(fields["epsilon"]), bounded_range=True),
        "zCDP": lambda: ZCDP(float.fromhex(fields["rho"])),
        "approximate": lambda: Approximate(float.fromhex(fields["epsilon"]), float.fromhex(fields["delta"])),
    }
    return makers[fields["unit"]]()


_PLD_INTERVAL = 1e-4


@lru_cache(maxsize=256)
def _gaussian_pld(mu: float) -> Any:
    if mu == 0:
        return _parameter_pld(1e-12, 0.0)
    from dp_accounting.pld import privacy_loss_distribution as pld

    # Rounded up where the square of the noise would overflow; on the table's
    # grid this changes nothing.
    return pld.from_gaussian_mechanism(1 / max(mu, 1e-12), value_discretization_interval=_PLD_INTERVAL)


@lru_cache(maxsize=256)
def _parameter_pld(epsilon: float, delta: float) -> Any:
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    return pld.from_privacy_parameters(
        common.DifferentialPrivacyParameters(epsilon, delta), value_discretization_interval=_PLD_INTERVAL
    )


def _least(function: Callable[[float], float]) -> float:
    """The minimum over orders > 1, by golden section on log(order - 1); every order
    is valid, so this is safe.
    """
    low, high = -12.0, 25.0
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    best = math.inf
    for _ in range(120):
        at_left, at_right = function(1 + math.exp(left)), function(1 + math.exp(right))
        best = min(best, at_left, at_right)
        if at_left < at_right:
            high = right
        else:
            low = left
        left, right = high - ratio * (high - low), low + ratio * (high - low)
    return best
