"""Mean and second moment of the unit randomizer's output: functions of its public settings.

t = <V, u> of a uniform V on the sphere in D dimensions has (1 + t)/2 ~ Beta((D-1)/2, (D-1)/2). Of K
independent candidates the m with the largest t are the top. A candidate with upper tail probability
s is among them when at most m - 1 of the K - 1 others exceed it: P(Binomial(K-1, s) <= m - 1). So
the mean of g(t) over the top is

    (K/m) integral_0^1 g(t(s)) P(Binomial(K-1, s) <= m-1) ds,

and over the rest what remains of E g(t). Given the top's share P of the probability, symmetry
around u gives E[V] = shrink u and E[V V^T] = along u u^T + across (I - u u^T), for every unit
vector u.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np


@dataclass(frozen=True)
class UnitLaw:
    """E[V] = shrink u; E[V V^T] = along u u^T + across (I - u u^T)."""

    shrink: float
    along: float
    across: float


@lru_cache(maxsize=4096)
def unit_law(dimension: int, candidates: int, top: int, share: float) -> UnitLaw:
    """The moments when the ``top`` best candidates together have probability ``share``."""
    first, second = _top_moments(dimension, candidates, top)
    ratio = top / (candidates - top)
    rest_first = -first * ratio
    rest_second = (1 / dimension - second * top / candidates) * candidates / (candidates - top)
    along = share * second + (1 - share) * rest_second
    across = (1 - along) / (dimension - 1)
    return UnitLaw(share * first + (1 - share) * rest_first, along, across)


@lru_cache(maxsize=4096)
def _top_moments(dimension: int, candidates: int, top: int) -> tuple[float, float]:
    """The means of t and t^2 over the top."""
    from scipy.special import bdtr, betaincinv

    half = (dimension - 1) / 2
    # s = x^4 resolves the steep end of t(s) near s = 0, where the top is; nodes in panels around
    # the binomial's edge.
    edge = (top / candidates) ** 0.25
    breaks = np.unique(np.clip(np.concatenate([edge * np.linspace(0, 2, 17), [1.0]]), 0, 1))
    nodes, weights = np.polynomial.legendre.leggauss(40)
    low, high = breaks[:-1, np.newaxis], breaks[1:, np.newaxis]
    x = ((high - low) * (nodes + 1) / 2 + low).ravel()
    mass = ((high - low) / 2 * weights).ravel() * 4 * x**3
    s = x**4
    projection = 1 - 2 * betaincinv(half, half, s)
    mass = mass * bdtr(top - 1, candidates - 1, s) * candidates / top
    return float(mass @ projection), float(mass @ projection**2)


def top_share(candidates: int, top: int, high: int, low: int) -> float:
    """The probability that a report is one of the top."""
    return top * high / (top * high + (candidates - top) * low)


@lru_cache(maxsize=1024)
def best_size(dimension: int, epsilon: float) -> tuple[int, int]:
    """Candidates and top: the fewest candidates, a power of two, with an error within 2 % of the
    best at 4096.

    More candidates would be wasted work; with over 4096 a report would take too long on a
    telephone.
    """
    largest = 4096
    least = _best_top(dimension, largest, epsilon)[0]
    size = 32
    while size < largest:
        error, top = _best_top(dimension, size, epsilon)
        if error <= 1.02 * least:
            return size, top
        size *= 2
    return largest, _best_top(dimension, largest, epsilon)[1]


def _best_top(dimension: int, candidates: int, epsilon: float) -> tuple[float, int]:
    """The least E|Z|^2 over the size of the top, and that size.

    There is one minimum, so a ternary search finds it.
    """
    growth = float(np.exp(min(epsilon, 36.0)))

    def error(top: int) -> float:
        share = top * growth / (top * growth + candidates - top)
        return unit_law(dimension, candidates, top, share).shrink ** -2

    low, high = 1, candidates // 2
    while high - low > 3:
        left, right = low + (high - low) // 3, high - (high - low) // 3
        if error(left) <= error(right):
            high = right
        else:
            low = left
    best = min(range(low, high + 1), key=error)
    return error(best), best
