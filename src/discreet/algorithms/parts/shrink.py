"""Separating signal from noise: shrinkage and tests."""

from __future__ import annotations

import math

import numpy as np

from discreet.algorithms.parts.noisy_matrix import inverse
from discreet.rows import Floats, RowsUsed

_LADDER = np.geomspace(1e-6, 1e4, 61)
# A direction counts by itself from this square of its noise's standard deviations on, or from that
# of the largest of as many normal numbers.
_ALONE = 4.0
# "clear" and "faint" from this many standard deviations of a chi-square beyond its mean.
_CLEAR, _FAINT = 6.0, 2.0


def clear(vector: Floats, variance: float) -> float:
    """The part of a vector that is clear of noise of this variance in every entry.

    James-Stein shrinkage with a margin. The squared length of noise alone has mean k and standard
    deviation sqrt(2 k), in units of its variance; it passes for a signal about once in forty times.
    """
    size = len(vector)
    noise = (size + 2 * math.sqrt(2 * size)) * variance
    return max(0.0, 1 - noise / max(float(vector @ vector), 1e-300))


def shrunk(estimate: Floats, noise: Floats, goal: Floats, free: int) -> Floats:
    """The estimate shrunk towards a goal by its noise: the posterior mean (empirical Bayes).

    Entries from ``free`` on have a prior centred at the goal with a common variance, which is
    chosen by maximum likelihood. Those before are not shrunk but follow the others by their
    correlation. Strong slopes lie along a few directions, where the loss is flat and the noise
    large, and all others together would pull them to the goal. So a direction that is clear of its
    noise by itself keeps what its own James-Stein rule keeps.
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
    alone = 1 - max(_ALONE, 2 * math.log(size)) * values / np.maximum(square, 1e-300)
    kept = goal[free:] + vectors @ (seen * np.maximum(spread / (spread + values), alone))
    result = estimate.copy()
    result[free:] = kept
    if free:
        follow = noise[:free, free:] @ vectors @ ((vectors.T @ (kept - estimate[free:])) / values)
        result[:free] += follow
    return result


def signal(slopes: Floats, noise: Floats, used: RowsUsed | None = None, without: Floats | None = None) -> str:
    """Whether slopes are clear of the privacy noise: "clear", "faint" or "drowned", from
    released quantities alone.

    If the noisy count of rows used is consistent with none, the result is "drowned". ``without``:
    the projection on slopes that were left out, as nothing is known of them.
    """
    if used is not None and used.none:
        return "drowned"
    if without is not None and np.any(without):
        values, vectors = np.linalg.eigh(without)
        within = vectors[:, values < 0.5]
        if not within.shape[1]:
            return "drowned"
        slopes, noise = within.T @ slopes, within.T @ noise @ within
    size = len(slopes)
    if size == 0:
        return "clear"
    # Rounding may make a covariance of extreme noise slightly indefinite.
    values, vectors = np.linalg.eigh((noise + noise.T) / 2)
    values = np.maximum(values, max(1e-12 * float(values[-1]), 1e-300))
    score = (float(np.sum((vectors.T @ slopes) ** 2 / values)) - size) / math.sqrt(2 * size)
    return "clear" if score > _CLEAR else "faint" if score > _FAINT else "drowned"


def nearer(estimate: Floats, noise: Floats, one: Floats, other: Floats) -> bool:
    """Whether the estimate is closer to one model than to another by more than a
    standard deviation of the noise.
    """
    precision = inverse(noise)

    def distance(goal: Floats) -> float:
        return float((estimate - goal) @ precision @ (estimate - goal))

    apart = float((one - other) @ precision @ (one - other))
    return distance(one) + 2 * math.sqrt(apart) < distance(other)
