"""How much of what was seen is more than noise."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from discreet.rows import Floats, RowsUsed

_LADDER = np.geomspace(1e-6, 1e4, 61)
# No direction is drawn to a goal by more than so many standard deviations of its noise.
_FARTHEST = 1.0
# "clear" from so many standard deviations of a chi-square beyond its mean, "faint" from so many.
_CLEAR, _FAINT = 6.0, 2.0


def clear(vector: Floats, variance: float) -> float:
    """The part of a vector that stands clear of noise of this variance in every entry.

    James and Stein's rule with a margin: noise alone, whose squared length has the mean k and the standard deviation
    sqrt(2 k) in units of its variance, is taken for a signal once in forty times.
    """
    size = len(vector)
    noise = (size + 2 * math.sqrt(2 * size)) * variance
    return max(0.0, 1 - noise / max(float(vector @ vector), 1e-300))


def shrunk(estimate: Floats, noise: Floats, goal: Floats, free: int) -> Floats:
    """The estimate drawn towards a goal as far as it is noise: the mean given what was seen (empirical Bayes).

    Entries from ``free`` on are expected to lie about the goal with one variance, the one that makes what was seen
    likeliest; those before are not drawn but follow the others by their correlation with them. Nothing is drawn by more
    than two standard deviations of its noise (Efron and Morris' limited translation): strong slopes lie along a few
    directions, where the loss is flat and noise is large, and all others together would pull them to the goal.
    """
    away, size = (estimate - goal)[free:], len(estimate) - free
    if size == 0:
        return estimate
    values, vectors = np.linalg.eigh(noise[free:, free:])
    values = np.maximum(values, 1e-300)
    square = (vectors.T @ away) ** 2
    scale = max(float(np.mean(square)), 1e-300)
    spreads = np.concatenate([[0.0], scale * _LADDER])
    fits = [float(np.sum(np.log(a + values) + square / (a + values))) for a in spreads]
    spread = float(spreads[int(np.argmin(fits))])
    seen = vectors.T @ away
    most = _FARTHEST * np.sqrt(values)
    kept = goal[free:] + vectors @ (seen - np.clip(seen * values / (spread + values), -most, most))
    result = estimate.copy()
    result[free:] = kept
    if free:
        follow = noise[:free, free:] @ vectors @ ((vectors.T @ (kept - estimate[free:])) / values)
        result[:free] += follow
    return result


def signal(slopes: Floats, noise: Floats, used: RowsUsed | None = None) -> str:
    """Whether slopes stand out of the privacy noise: "clear", "faint" or "drowned", from released quantities alone.

    Where the count of rows used says that there was none, there is nothing that could stand out.
    """
    if used is not None and used.none:
        return "drowned"
    size = len(slopes)
    if size == 0:
        return "clear"
    factor = cho_factor(noise + 1e-12 * float(np.trace(noise)) / size * np.eye(size) + 1e-300 * np.eye(size))
    score = (float(slopes @ cho_solve(factor, slopes)) - size) / math.sqrt(2 * size)
    return "clear" if score > _CLEAR else "faint" if score > _FAINT else "drowned"


def nearer(estimate: Floats, noise: Floats, one: Floats, other: Floats) -> bool:
    """Whether the estimate is nearer to one model than to another by more than a standard deviation of the noise."""
    precision = np.linalg.inv(noise)

    def distance(goal: Floats) -> float:
        return float((estimate - goal) @ precision @ (estimate - goal))

    apart = float((one - other) @ precision @ (one - other))
    return distance(one) + 2 * math.sqrt(apart) < distance(other)
