"""Gaussian noise that dominates a given cost, so that any solver's cost can be shared in mu^2.

If delta(epsilon) <= slack + (1 - slack) delta_mu(epsilon) for every epsilon >= 0, the cost is
dominated by a mu-GDP release together with a release that reveals everything with probability
``slack``: the right-hand side is the profile of these two. (For epsilon < 0 the profiles of the
reversed pairs give the same inequality.) In any composition, a release may be replaced by one that
dominates it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from discreet.privacy.composition import Composition
from discreet.privacy.perturbed import Perturbed, connected
from discreet.privacy.units import GDP, Unit

Floats = NDArray[np.float64]

# The profile is evaluated at this many points. Between two of them the cost's profile is taken at
# the lower point and the Gaussian's at the upper one, so the comparison is conservative.
_PLACES, _FEW_PLACES = 600, 100
# The profile is followed until delta is this small, or does not decrease further.
_TAIL = 1e-15
_LARGEST_EPSILON = 100.0
_LARGEST_MU = 50.0


@dataclass(frozen=True)
class Cover:
    """mu-GDP, except with probability ``slack``."""

    mu: float
    slack: float = 0.0


def gaussian_cover(costs: Sequence[Unit]) -> Cover:
    """The smallest mu, with a slack, that covers all these costs; infinite if none is found."""
    return _cover(tuple(costs))


@lru_cache(maxsize=256)
def _cover(costs: tuple[Unit, ...]) -> Cover:
    together = Composition(costs)
    if math.isfinite(together.mu):
        return Cover(together.mu)
    least = together.delta(_LARGEST_EPSILON)
    end = together.epsilon(min(1.0, max(_TAIL, least * (1 + 1e-6))))
    if not math.isfinite(end) or least >= 1:
        return Cover(math.inf)
    places, deltas = _profile(together, end)
    slack = float(deltas[-1])
    excess = np.maximum((deltas[:-1] - slack) / (1 - slack), 0.0)
    low, high = 0.0, 1e-3
    while np.any(_gaussian_delta(places[1:], high) < excess):
        low, high = high, 2 * high
        if high > _LARGEST_MU:
            return Cover(math.inf)
    while high > low * (1 + 1e-6):
        middle = (low + high) / 2
        low, high = (middle, high) if np.any(_gaussian_delta(places[1:], middle) < excess) else (low, middle)
    return Cover(high, slack)


def _profile(together: Composition, end: float) -> tuple[Floats, Floats]:
    """Points from 0 to ``end``, and decreasing upper bounds on delta at them."""
    merged = together.merged
    quick = merged[-1] if len(merged) == 1 else None
    if len(merged) == 2 and isinstance(merged[0], GDP) and isinstance(merged[1], Perturbed):
        quick = merged[1].beside(merged[0].mu)
    if not isinstance(quick, Perturbed):
        places = np.linspace(0.0, end, _FEW_PLACES + 1)
        return places, np.minimum.accumulate([together.delta(float(place)) for place in places])
    losses = np.linspace(-end, end, 2 * _PLACES + 1)
    masses, infinite = connected(losses, np.concatenate([quick.deltas(part) for part in np.array_split(losses, 40)]))
    above = np.cumsum(masses[::-1])[::-1] - masses
    below = np.cumsum((masses * np.exp(-losses))[::-1])[::-1] - masses * np.exp(-losses)
    deltas = infinite + above - np.exp(losses) * below
    return losses[_PLACES:], np.minimum.accumulate(deltas[_PLACES:] * (1 + 1e-9) + 1e-15)


def _gaussian_delta(epsilons: Floats, mu: float) -> Floats:
    """A lower bound on delta of mu-GDP: the largest possible rounding error is subtracted."""
    near, far = ndtr(-epsilons / mu + mu / 2), np.exp(np.minimum(epsilons + log_ndtr(-epsilons / mu - mu / 2), 0.0))
    return np.asarray((near - far) * (1 - 1e-9) - 1e-14 * near)
