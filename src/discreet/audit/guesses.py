"""Guesses that distinguish two sets of released outputs, learnt on some outputs, tested on others.

Only the choice is learnt here. The errors of the chosen guess are counted on outputs that were not
used for the choice, so that choosing the best of many guesses does not cause false alarms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.audit.confidence import ErrorRates

Outputs = NDArray[np.float64]
Scores = NDArray[np.float64]

# Values are clipped at this many spreads.
_FAR = 12.0
# Of the single numbers, those that differ most are tried.
_SINGLES = 4
# A direction of few numbers misses some of the signal, one of many fits noise: both are tried.
_DIRECTIONS = (6, 15, 40, 1000)
_THRESHOLDS = 400
_CHOICE_CONFIDENCE = 0.95
# In mu. Nothing can beat a true likelihood ratio by this much, so something else must leak.
_LEAST_MARGIN = 0.5


@dataclass(frozen=True)
class Guess:
    """``score`` above ``threshold`` means: the first data set."""

    name: str
    score: Callable[[Outputs], Scores]
    threshold: float

    def rates(self, first: Outputs, second: Outputs, confidence: float) -> ErrorRates:
        """How often it is wrong on these outputs."""
        misses = int(np.sum(self.score(first) <= self.threshold))
        false_alarms = int(np.sum(self.score(second) > self.threshold))
        runs = min(len(first), len(second))
        return ErrorRates(false_alarms, misses, runs, confidence)


def learn_guess(first: Outputs, second: Outputs, confidence: float, ratio: int | None = None) -> Guess:
    """The best guess: directions from one half of these outputs, the choice and its threshold from
    the other.

    The guess with the largest bound at a modest confidence is chosen; at a high confidence few
    outputs give no bound for any guess. ``ratio`` is the position of the likelihood ratio; another
    guess is preferred only if it is clearly better.
    """
    confidence = min(confidence, _CHOICE_CONFIDENCE)
    half = len(first) // 2
    best, best_mu = None, -1.0
    if ratio is not None:
        # Threshold 0: there is nothing to learn from a few outputs.
        best = Guess("likelihood ratio", lambda outputs: outputs[:, ratio], 0.0)
        best_mu = best.rates(first, second, confidence).mu + _LEAST_MARGIN
    for name, score in _scores(first[:half], second[:half]):
        high, low = score(first[half:]), score(second[half:])
        for sign in (1.0, -1.0):
            threshold, mu = _best_threshold(sign * high, sign * low, confidence)
            if mu > best_mu:
                best, best_mu = Guess(name, _signed(score, sign), threshold), mu
    assert best is not None
    return best


def _signed(score: Callable[[Outputs], Scores], sign: float) -> Callable[[Outputs], Scores]:
    return lambda outputs: sign * score(outputs)


def _best_threshold(high: Scores, low: Scores, confidence: float) -> tuple[float, float]:
    """The threshold with the largest bound, between observed scores, so that ties fall
    on one side.
    """
    values = np.unique(np.concatenate([high, low]))
    if len(values) == 1:
        return float(values[0]), 0.0
    cuts = (values[1:] + values[:-1]) / 2
    cuts = cuts[np.unique(np.linspace(0, len(cuts) - 1, _THRESHOLDS).astype(int))]
    runs = len(high)
    misses = np.searchsorted(np.sort(high), cuts, side="right")
    false_alarms = runs - np.searchsorted(np.sort(low), cuts, side="right")
    worth = [ErrorRates(int(a), int(m), runs, confidence).mu for a, m in zip(false_alarms, misses, strict=True)]
    best = int(np.argmax(worth))
    return float(cuts[best]), worth[best]


def _scores(first: Outputs, second: Outputs) -> Iterator[tuple[str, Callable[[Outputs], Scores]]]:
    pool = np.concatenate([first, second])
    centre = np.median(pool, axis=0)
    spread = _spread(pool, centre)
    moving = np.flatnonzero(spread > 0)

    def standard(outputs: Outputs) -> Outputs:
        return np.asarray(np.clip((outputs[:, moving] - centre[moving]) / spread[moving], -_FAR, _FAR))

    yield "repeated outputs", _repeats(first, second)
    if len(moving) == 0:
        return
    ranked = _most_different(standard(first), standard(second))
    for count in _DIRECTIONS:
        features = _chosen(standard, ranked[:count])
        yield f"best direction of {len(ranked[:count])} numbers", _direction(features, first, second)
        if count >= len(ranked):
            break
    yield "best direction of distances", _direction(lambda outputs: np.abs(standard(outputs)), first, second)
    for place in ranked[:_SINGLES]:
        yield f"number {moving[place]}", _column(standard, place)
    for place in _most_different(_lowest_bits(first), _lowest_bits(second))[:_SINGLES]:
        yield f"lowest bit of number {place}", _column(_lowest_bits, place)


def _chosen(features: Callable[[Outputs], Outputs], places: list[int]) -> Callable[[Outputs], Outputs]:
    return lambda outputs: features(outputs)[:, places]


def _column(features: Callable[[Outputs], Outputs], place: int) -> Callable[[Outputs], Scores]:
    return lambda outputs: features(outputs)[:, place]


def _spread(pool: Outputs, centre: NDArray[np.float64]) -> NDArray[np.float64]:
    """Median distance from the median; where half of the values are equal, the standard
    deviation.
    """
    typical = np.median(np.abs(pool - centre), axis=0) / 0.6745
    return np.where(typical > 0, typical, pool.std(axis=0))


def _repeats(first: Outputs, second: Outputs) -> Callable[[Outputs], Scores]:
    """Whether an output was seen before: noise must not repeat itself."""
    in_first, in_second = ({row.tobytes() for row in outputs} for outputs in (first, second))

    def score(outputs: Outputs) -> Scores:
        rows = [row.tobytes() for row in outputs]
        return np.array([float(row in in_first) - float(row in in_second) for row in rows])

    return score


def _direction(features: Callable[[Outputs], Outputs], first: Outputs, second: Outputs) -> Callable[[Outputs], Scores]:
    """Fisher's linear discriminant, with a little ridge for numbers that depend on each other."""
    one, other = features(first), features(second)
    rows = len(one) + len(other)
    within = (np.cov(one.T, bias=True) + np.cov(other.T, bias=True)).reshape(one.shape[1], -1) / 2
    ridge = np.trace(within) / len(within) * (1e-6 + len(within) / rows * 0.02)
    difference = one.mean(axis=0) - other.mean(axis=0)
    direction = np.linalg.solve(within + (ridge + 1e-12) * np.eye(len(within)), difference)
    return lambda outputs: features(outputs) @ direction


def _most_different(one: Outputs, other: Outputs) -> list[int]:
    noise = np.sqrt(one.var(axis=0) + other.var(axis=0)) + 1e-12
    difference = np.abs(one.mean(axis=0) - other.mean(axis=0)) / noise
    return [int(place) for place in np.argsort(-difference)]


def _lowest_bits(outputs: Outputs) -> Outputs:
    """The place of each number's lowest set bit: noise drawn in floating point leaves traces of the
    sum there.
    """
    mantissa, exponent = np.frexp(outputs)
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    lowest = np.where(whole == 0, 1, whole & -whole)
    return np.where(whole == 0, 0.0, np.log2(lowest.astype(np.float64)) + exponent - 53)
