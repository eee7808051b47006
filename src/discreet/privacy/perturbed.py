"""The cost of objective perturbation: one released minimiser of a noisy objective
(docs/papers/objective.md).

With rows of norm at most R, noise b ~ N(0, s^2 I) and a penalty of at least Lambda/2 |theta|^2, the
privacy loss of removing a row whose score at the output is q is at most

    log(1 + 4 k q (1 - q)) + t q m Z + (t q m)^2 / 2,   Z ~ N(0, 1)

with m = R / s and k = R^2 / (4 Lambda), where t in [0, 1] depends on the row, and q in [0, 1]
depends on the output and so on Z: the worst q is taken for every Z. The loss is convex in t, so the
worst t is 1, or 0 with the loss log(1 + k). Adding a row has no first term. Replacing a row is
removing one and adding another. ``smoothing_mu`` is the cost of the Gaussian noise that hides the
distance between the computed and the exact minimiser. ``slack`` is the probability, on either data
set, that the distance is larger than assumed. With I and I' for the exact minimisers, P(S) <= I(S)
+ slack <= e^epsilon I'(S) + delta + slack and I'(S) <= P'(S) + slack. Together, P(S) <= e^epsilon
P'(S) + delta + (1 + e^epsilon) slack.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from discreet.privacy.profile import check_delta

Floats = NDArray[np.float64]

# The normal distribution is divided into this many pieces up to this end, q into this many; each
# counts as its worst end.
_Z_PIECES, _Z_END, _Q_PIECES = 1000, 9.0, 200
_BESIDES_PIECES, _BESIDES_END = 200, 8.0
# For many values of epsilon, the profile of removing a row is computed once at this many points.
_FEW, _TABLE = 20, 1000
# Shares of epsilon for removing one row; the rest is for adding another.
_SHARES = np.linspace(0.4, 0.8, 9)
# An upper bound on rounding errors in these formulas.
_MARGIN = 1 + 1e-9
# Losses are tabulated at multiples of this interval, as for all units; the profile is
# computed at this many of them.
_INTERVAL, _POINTS = 1e-4, 4000
# Tails below this probability are counted as infinite losses.
_TAIL = 1e-12
# The minimum of delta is searched up to this epsilon.
_LARGEST_EPSILON = 60.0


@dataclass(frozen=True)
class Perturbed:
    """The cost of one minimised objective; ``replaced``: neighbours replace a row,
    else they add or remove one.
    """

    gradient_mu: float
    curvature: float
    smoothing_mu: float
    replaced: bool
    slack: float = 0.0
    besides_mu: float = 0.0

    def __post_init__(self) -> None:
        numbers = (self.gradient_mu, self.curvature, self.smoothing_mu)
        if not all(0 < number < math.inf for number in numbers) or not 0 <= self.slack < 1:
            raise ValueError(f"a perturbed objective's cost must be finite and positive, got {self}")

    @property
    def mu(self) -> float:
        # The determinant's term is not Gaussian; no mu is known that covers it.
        return math.inf

    @property
    def rho(self) -> float:
        return math.inf

    def delta(self, epsilon: float) -> float:
        return float(self.deltas(np.array([epsilon]))[0])

    def deltas(self, epsilons: Floats) -> Floats:
        """An upper bound on delta at each epsilon (of any sign)."""
        if not self.besides_mu:
            return self._alone(epsilons)
        # The losses of Gaussian releases, in pieces that count as their worse end; the
        # tail beyond counts fully.
        edges = np.linspace(-_BESIDES_END, _BESIDES_END, _BESIDES_PIECES + 1)
        chances = np.diff(ndtr(edges))
        chances[0] += ndtr(-_BESIDES_END)
        left = epsilons[:, np.newaxis] - edges[1:] * self.besides_mu - self.besides_mu**2 / 2
        deltas = self._alone(left.ravel()).reshape(left.shape)
        return np.asarray(np.minimum(1.0, (deltas @ chances + ndtr(-_BESIDES_END)) * _MARGIN))

    def _alone(self, epsilons: Floats) -> Floats:
        """Without the other releases.

        For epsilon < 0 the reversed pair: delta(-e) = 1 - e^-e (1 - delta(e)).
        """
        size = np.abs(epsilons)
        if self.slack * math.exp(min(float(size.max(initial=0.0)), 700.0)) > _TAIL:
            # From some epsilon on the slack's term grows faster than the rest falls; a smaller
            # epsilon's delta holds.
            size_or_less = np.minimum(size, _best_epsilon(replace(self, besides_mu=0.0)))
        else:
            size_or_less = size
        deltas = self._with_slack(size_or_less)
        reversed_pair = 1 - np.exp(-size) * (1 - deltas)
        return np.minimum(1.0, np.where(epsilons >= 0, deltas, reversed_pair))

    def _with_slack(self, sizes: Floats) -> Floats:
        ideal = self._replaced(sizes) if self.replaced else self._removed(sizes)
        return np.asarray(ideal + self.slack * (1 + np.exp(np.minimum(sizes, 700.0))))

    def _removed(self, epsilons: Floats) -> Floats:
        """Removing a row, which is worse than adding one."""
        if len(epsilons) < _FEW:
            return _removed_delta(epsilons, self.gradient_mu, self.curvature, self.smoothing_mu)
        points, table = _removed_table(self.gradient_mu, self.curvature, self.smoothing_mu)
        # A profile is convex in e^epsilon: between two points it lies below their chord.
        return np.asarray(np.interp(np.exp(np.minimum(epsilons, points[-1])), np.exp(points), table))

    def _replaced(self, epsilons: Floats) -> Floats:
        """P(S) <= e^a P0(S) + delta_1 and P0(S) <= e^(epsilon - a) P'(S) + delta_2,
        with the best of a few a.
        """
        added = math.hypot(self.gradient_mu, self.smoothing_mu)
        best = np.ones(len(epsilons))
        for share in _SHARES:
            first = share * epsilons
            second = _gaussian_delta(epsilons - first, added) * _MARGIN
            best = np.minimum(best, self._removed(first) + np.exp(np.minimum(first, 100.0)) * second)
        return best

    def epsilon(self, delta: float) -> float:
        check_delta(delta)
        return _least_epsilon(self, delta)

    def loss_distribution(self) -> Any:
        """A distribution of losses whose profile is at least this one: see ``connected``."""
        return _table_of_losses(self)

    @property
    def largest_loss(self) -> float:
        """Larger losses have probability about 1e-12, or what the slack adds to
        it, and count as infinite.
        """
        return max(self.epsilon(max(_TAIL, 2 * self.delta(_LARGEST_EPSILON))), _INTERVAL)

    def beside(self, mu: float) -> Perturbed:
        """The joint cost with Gaussian releases of this mu in total."""
        return replace(self, besides_mu=math.nextafter(math.hypot(self.besides_mu, mu), math.inf)) if mu else self

    def to_dict(self) -> dict[str, str]:
        numbers = ("gradient_mu", "curvature", "smoothing_mu", "slack", "besides_mu")
        return {
            "unit": "perturbed objective",
            "replaced": str(self.replaced),
            **{name: float(getattr(self, name)).hex() for name in numbers},
        }

    @classmethod
    def from_dict(cls, fields: dict[str, str]) -> Perturbed:
        numbers = {name: float.fromhex(value) for name, value in fields.items() if name not in ("unit", "replaced")}
        return cls(replaced=fields["replaced"] == "True", **numbers)


@lru_cache(maxsize=4096)
def _least_epsilon(cost: Perturbed, delta: float) -> float:
    if cost.delta(0.0) <= delta:
        return 0.0
    low, high = 0.0, 1.0
    while cost.delta(high) > delta:
        low, high = high, 2 * high
        if high > 1e4:
            return math.inf
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if cost.delta(middle) <= delta else (middle, high)
    return high


@lru_cache(maxsize=64)
def _table_of_losses(cost: Perturbed) -> Any:
    from dp_accounting.pld import privacy_loss_distribution as pld

    half = math.ceil(cost.largest_loss / _INTERVAL)
    places = np.unique(np.round(np.linspace(-half, half, _POINTS)).astype(np.int64))
    deltas = [cost.deltas(part * _INTERVAL) for part in np.array_split(places.astype(np.float64), 16)]
    masses, infinite = connected(places.astype(np.float64) * _INTERVAL, np.concatenate(deltas))
    table = {int(place): float(mass) for place, mass in zip(places, masses, strict=True) if mass > 0}
    return pld.PrivacyLossDistribution.create_from_rounded_probability(table, infinite, _INTERVAL)


@lru_cache(maxsize=256)
def _best_epsilon(alone: Perturbed) -> float:
    """Where delta is smallest: beyond it the slack times e^epsilon grows
    faster than the rest falls.
    """
    sizes = np.linspace(0.0, _LARGEST_EPSILON, 601)
    return float(sizes[np.argmin(alone._with_slack(sizes))])


@lru_cache(maxsize=256)
def _losses(gradient_mu: float, curvature: float) -> tuple[Floats, Floats]:
    """The worst loss on each piece of the normal distribution, and the piece's probability."""
    edges = np.linspace(-_Z_END, _Z_END, _Z_PIECES + 1)
    chances = np.diff(ndtr(edges))
    chances[0] += ndtr(-_Z_END)
    q = np.linspace(0.0, 1.0, _Q_PIECES + 1)  # 1/2, the maximum of q (1 - q), is an edge
    low, high = q[:-1], q[1:]
    curved = np.log1p(4 * curvature * np.maximum(low * (1 - low), high * (1 - high)))
    z = edges[1:, np.newaxis] * gradient_mu
    losses = np.max(curved + np.maximum(low * z, high * z) + (high * gradient_mu) ** 2 / 2, axis=1)
    # A row with a large norm may have the full curvature and almost no gradient.
    return np.maximum(losses, math.log1p(curvature)), chances


def _removed_delta(epsilons: Floats, gradient_mu: float, curvature: float, smoothing_mu: float) -> Floats:
    losses, chances = _losses(gradient_mu, curvature)
    parts = _gaussian_delta(epsilons[:, np.newaxis] - losses, smoothing_mu) @ chances
    return np.asarray((parts + ndtr(-_Z_END)) * _MARGIN)


@lru_cache(maxsize=64)
def _removed_table(gradient_mu: float, curvature: float, smoothing_mu: float) -> tuple[Floats, Floats]:
    """The same at evenly spaced points up to the largest loss."""
    losses, _ = _losses(gradient_mu, curvature)
    points = np.linspace(0.0, min(float(losses[-1]) + 10 * smoothing_mu, 700.0), _TABLE + 1)
    return points, _removed_delta(points, gradient_mu, curvature, smoothing_mu)


def connected(losses: Floats, deltas: Floats) -> tuple[Floats, float]:
    """Probabilities of these losses, and of an infinite one, whose profile is at least the
    one given by ``deltas``.

    ``deltas`` are upper bounds on a profile h at t = e^loss. h is convex and decreases from h(0) =
    1, so it lies below the chords of these points, hence below their lower convex hull (from (0, 1)
    on, and constant after its minimum). The hull is the profile of losses at its corners, with
    probability t times the change of slope there.
    """
    t = np.exp(losses)
    deltas = np.minimum.accumulate(np.minimum(deltas, 1.0))
    corners: list[int] = []  # of the hull; -1 is (0, 1)

    def slope(first: int, second: int) -> float:
        x, y = (0.0, 1.0) if first < 0 else (t[first], deltas[first])
        return float((deltas[second] - y) / (t[second] - x))

    for point in range(len(t)):
        while corners:
            before = corners[-2] if len(corners) > 1 else -1
            if slope(before, corners[-1]) < slope(corners[-1], point):
                break
            corners.pop()
        corners.append(point)
    slopes = [*(slope(a, b) for a, b in zip([-1, *corners], corners, strict=False)), 0.0]
    masses = np.zeros(len(t))
    masses[corners] = t[corners] * np.diff(slopes)
    # Probability lost to rounding, summed without rounding, is assigned where it costs most.
    return masses, float(max(deltas[-1], math.fsum((1.0, *-masses))) * _MARGIN)


def _gaussian_delta(epsilon: Floats, mu: float) -> Floats:
    """An upper bound on delta of mu-GDP at any epsilon, including negative ones.

    Ten standard deviations of the loss away from it, delta is 0 or 1 - e^epsilon to within 1e-22.
    """
    deltas = np.asarray(-np.expm1(np.minimum(epsilon, 0.0)) + 1e-22)
    near = np.abs(epsilon) < 10 * mu + mu**2
    close = epsilon[near]
    far = np.exp(np.minimum(close + log_ndtr(-close / mu - mu / 2), 0.0))
    deltas[near] = np.maximum(0.0, ndtr(-close / mu + mu / 2) - far)
    return deltas


@lru_cache(maxsize=64)
def largest_gradient_mu(
    epsilon: float,
    delta: float,
    curvature: float,
    *,
    replaced: bool,
    smoothing: float,
    slack: float = 0.0,
    besides: float = 0.0,
) -> float | None:
    """The largest m = R / s within (epsilon, delta), or None if the curvature alone costs too much.

    ``smoothing`` is smoothing_mu as a share of m; ``besides`` is the mu of Gaussian
    releases in the same budget.
    """
    low, high = 1e-6, 1.0

    def fits(m: float) -> bool:
        return Perturbed(m, curvature, smoothing * m, replaced, slack).beside(besides).delta(epsilon) <= delta

    if not fits(low):
        return None
    while fits(high):
        low, high = high, 2 * high
    while high > low * (1 + 1e-4):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
