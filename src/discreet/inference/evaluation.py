"""Measures of a model from noisy sums over held-out rows, each with an
interval for the privacy noise.

An interval is about the noise alone: it covers the same measure on the same rows without noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from discreet.parameters import normal_quantile
from discreet.rows import RowsUsed

Floats = np.ndarray


@dataclass(frozen=True)
class Measure:
    """A measure of a model: its noisy value, and an interval for its value without noise."""

    name: str
    title: str
    value: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.value

    def within(self, used: RowsUsed) -> Measure:
        """The same with a value within its interval; NaN if numerator and
        denominator are only noise.
        """
        unknown = used.none or used.unclear or math.isinf(self.low)
        return replace(self, value=math.nan if unknown else min(max(self.value, self.low), self.high))


@dataclass(frozen=True)
class CalibrationRow:
    """Rows whose predictions lie between two public numbers: their number, mean
    prediction and mean label.
    """

    low: float
    high: float
    rows: float
    predicted: float
    observed: float
    observed_low: float
    observed_high: float


def ratio_interval(
    above: float, below: float, noise: tuple[float, float], alpha: float, *, squared: float = 0.0
) -> tuple[float, float]:
    """The interval of a ratio of two numbers with independent normal noise:
    Fieller's set, which is exact.

    squared: ``below`` also has the skewed noise squared * (Z^2 - 1), Z standard normal. Quantiles
    of above - ratio * below are then those of the sum of both noises, at the observed ratio. The
    interval is unbounded if the denominator could be 0.
    """
    if below <= 0:
        return -math.inf, math.inf
    ratio, both = max(above, 0.0) / below, (noise[0], math.hypot(noise[1], math.sqrt(2) * squared))
    normal, skewed = math.hypot(noise[0], ratio * noise[1]), ratio * squared
    whole = math.hypot(normal, math.sqrt(2) * skewed)
    down, up = (1.0, 1.0) if whole == 0 else _quantiles(normal / whole, skewed / whole, alpha)
    return _fieller(above, below, both, up)[0], _fieller(above, below, both, down)[1]


def _quantiles(normal: float, skewed: float, alpha: float) -> tuple[float, float]:
    """The distances below and above 0 that normal * N - skewed * (Z^2 - 1) exceeds
    with probability alpha / 2.

    Given Z the rest is normal, so the distribution is a mean over Z, here over 2,000 quantiles.
    """
    z = normal_quantile(alpha)
    if skewed <= 1e-3 * normal:
        return z, z
    shifts = skewed * (ndtri((np.arange(2000) + 0.5) / 2000) ** 2 - 1)

    def beyond(reach: float) -> float:
        """The probability of values below -reach."""
        return float(np.mean(ndtr((shifts - reach) / max(normal, 1e-6))))

    far = 6 + 30 * skewed
    below = brentq(lambda reach: beyond(reach) - alpha / 2, -2.0, far)
    above = brentq(lambda reach: 1 - beyond(-reach) - alpha / 2, -2.0, far)
    return max(float(below), 0.0), max(float(above), 0.0)


def _fieller(above: float, below: float, noise: tuple[float, float], z: float) -> tuple[float, float]:
    """All ratios with |above - ratio * below| within z standard deviations."""
    a, b, c = below**2 - (z * noise[1]) ** 2, above * below, above**2 - (z * noise[0]) ** 2
    if a <= 0:
        return -math.inf, math.inf
    root = math.sqrt(max(b * b - a * c, 0.0))
    return (b - root) / a, (b + root) / a


def clipped(interval: tuple[float, float], low: float, high: float) -> tuple[float, float]:
    return min(max(interval[0], low), high), min(max(interval[1], low), high)


def area_under_curve(
    negative: Floats, positive: Floats, noise_std: float, alpha: float
) -> tuple[float, float, float] | None:
    """The area under the ROC curve from noisy counts by score, and its interval;
    None if noise hides a class.

    With h and g the counts of positives and negatives by cell, in the order of scores, and ties
    within a cell counted as half, AUC = sum_i h_i (sum_{j<i} g_j + g_i / 2) / (P Q). To first
    order, noise e in the counts changes it by sum_i (G_i - a Q) e_i + sum_j (S_j - a P) e'_j over P
    Q, with G_i the negatives below cell i and S_j the positives above cell j. The product of two
    noises adds at most sigma^2 sqrt(m^2 / 2) / (P Q). Within a cell, the probability that a
    positive has a higher score than a negative is assumed to lie between 1/4 and 3/4.
    """
    cells, total = len(positive), (float(positive.sum()), float(negative.sum()))
    unclear = 3 * noise_std * math.sqrt(cells)
    if min(total) <= unclear:
        return None
    below = np.cumsum(negative) - negative / 2
    above = total[0] - np.cumsum(positive) + positive / 2
    product = total[0] * total[1]
    value = float(positive @ below) / product
    slopes = np.concatenate([below - value * total[1], above - value * total[0]])
    first = noise_std * float(np.linalg.norm(slopes)) / product
    second = noise_std**2 * cells / math.sqrt(2) / product
    ties = float(np.maximum(positive, 0) @ np.maximum(negative, 0)) / product
    reach = normal_quantile(alpha) * math.hypot(first, second) + ties / 4
    value = min(max(value, 0.0), 1.0)
    return value, max(value - reach, 0.0), min(value + reach, 1.0)


def entropy(shares: Floats) -> float:
    """The log-loss of predicting these class shares for every row, if they are right."""
    kept = shares[shares > 0]
    return float(-(kept * np.log(kept)).sum())


def equal_groups(counts: Floats, groups: int) -> list[int]:
    """The cells after which to cut, so that groups have about equal numbers of
    rows, from noisy counts.
    """
    rising = np.maximum.accumulate(np.maximum(np.cumsum(counts), 0.0))
    if rising[-1] <= 0:
        return []
    wanted = rising[-1] * np.arange(1, groups) / groups
    places = np.searchsorted(rising, wanted, side="left")
    return sorted({int(place) for place in places if place < len(counts) - 1})


def loss_bound(counts: Floats, noise_std: float, edges: Floats) -> float:
    """Where to clip losses, from a noisy histogram over octaves: one octave
    above the last clear one.

    Only few rows above that can be hidden by noise. A clip within usual losses would bias measures
    by more than their noise. With probability 1 in 1,000 noise alone makes one of 41 empty cells
    look clear, which only costs precision.
    """
    clear = np.flatnonzero(counts > 4 * noise_std)
    return float(edges[min(int(clear[-1]) + 1, len(edges) - 1)] if len(clear) else edges[-1])


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    total = math.fsum(weights)
    return math.fsum(v * w for v, w in zip(values, weights, strict=True)) / total if total > 0 else math.nan


def share_interval(hits: float, misses: float, noise_std: float, alpha: float) -> tuple[float, float]:
    """The interval of a share of hits, if both counts have independent noise: that of
    hits / misses, transformed.
    """
    low, high = ratio_interval(hits, misses, (noise_std, noise_std), alpha)
    if math.isinf(high):  # hardly any misses: use misses / hits
        below, above = ratio_interval(misses, hits, (noise_std, noise_std), alpha)
        if math.isinf(above):
            return 0.0, 1.0
        return 1 / (1 + max(above, 0.0)), 1 / (1 + max(below, 0.0))
    return max(low, 0.0) / (1 + max(low, 0.0)), max(high, 0.0) / (1 + max(high, 0.0))
