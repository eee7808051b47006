"""Private choice of the best candidates: Gumbel noise for a top s, permute-and-flip for one.

Both sample their laws exactly. Scores are exact numbers (each float64 is one) and noise is lazy
(see `lazy.py`): floats decide where they can prove the decision, and otherwise more random digits
and exact arithmetic decide.

With scores of sensitivity D each, `scale = 2 * D / epsilon` makes each choice epsilon-DP
(`D / epsilon` is enough if a person's row can only raise all scores or only lower them). Gumbel's
top s is the exponential mechanism P(i) ~ exp(score / scale) applied s times without replacement
(Durfee and Rogers, 2019), so its cost is that of s such choices. The expected score of
permute-and-flip (McKenna and Sheldon, 2020) is never below that of the exponential mechanism.

Scores must be finite: callers first clip private values by a fixed rule, so that
no error depends on them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.noise.bits import Bits, SystemBits, Words
from discreet.noise.lazy import MARGIN, LazyUniform, exp_bounds, wide_context

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Bound on the float error of a key (score / scale + Gumbel noise) per unit of 1 + |score part| +
# |noise|. The score part has two roundings. log1p and log are accurate to 4 units in the last place
# (an error of log1p enters the noise as a relative error, hence below 2**-50). The addition has one
# rounding. The sum is below 2**-49.
KEY_SLACK = 2.0**-48
LARGEST_FLOAT = float(np.finfo(np.float64).max)


def gumbel_top(scores: ArrayLike, s: int, scale: float, *, bits: Bits | None = None) -> Indices:
    """Indices of the s largest of scores + Gumbel noise of the given scale, largest first."""
    exact_scores = _check(scores, scale)
    if not 1 <= s <= exact_scores.size:
        raise ValueError(f"s must be between 1 and the number of candidates {exact_scores.size}, got {s}")
    return noisy_top(exact_scores, s, float(scale), SystemBits() if bits is None else bits, KEY_SLACK)


def permute_and_flip(scores: ArrayLike, scale: float, *, bits: Bits | None = None) -> int:
    """The first candidate in random order that a coin of exp((score - max) / scale) accepts."""
    exact_scores = _check(scores, scale)
    return first_heads(exact_scores, float(scale), SystemBits() if bits is None else bits, MARGIN)


def noisy_top(scores: Floats, s: int, scale: float, source: Bits, slack: float) -> Indices:
    """`gumbel_top` with a given float slack; an infinite one forces the exact path (in tests)."""
    words = source.words(scores.size)
    # Keys are measured from the s-th largest score. The candidates that compete for the last place
    # then have small score parts, so their float errors are small, and ties of huge scores need no
    # exact arithmetic.
    pivot = float(np.partition(scores, scores.size - s)[scores.size - s])
    high = _key_bound(scores, pivot, scale, _gumbel(words, 0), slack)
    # The s keys with the largest upper bounds are all at least `reached`: a
    # key below it cannot win.
    leaders = np.argpartition(high, scores.size - s)[scores.size - s :]
    reached = _key_bound(scores[leaders], pivot, scale, _gumbel(words[leaders], 1), -slack).min()
    rivals = np.flatnonzero(high >= reached)
    rivals = rivals[np.argsort(-high[rivals], kind="stable")]
    low = _key_bound(scores[rivals], pivot, scale, _gumbel(words[rivals], 1), -slack)
    if _is_settled(low.tolist(), high[rivals].tolist(), s):
        return rivals[:s]
    return _exact_top(scores, rivals, [int(word) for word in words[rivals]], s, pivot, scale, source)


def _gumbel(words: Words, end: int) -> Floats:
    """-ln(-ln(1 - V)) for the upper (end 0) or lower (end 1) V that a word's top 53 bits allow."""
    v = ((words >> np.uint64(11)).astype(np.float64) + end) * 2.0**-53  # exact
    with np.errstate(divide="ignore"):
        return -np.log(-np.log1p(-v))


def _key_bound(scores: Floats, pivot: float, scale: float, noise: Floats, slack: float) -> Floats:
    """Upper bound on the keys for a positive slack, lower bound for a negative one."""
    # A float that overflowed represents a finite number beyond LARGEST_FLOAT, which bounds it.
    near = (-LARGEST_FLOAT, math.inf) if slack > 0 else (-math.inf, LARGEST_FLOAT)
    with np.errstate(over="ignore", invalid="ignore"):
        part = np.clip(np.clip(scores - pivot, *near) / scale, *near)
        bound = part + noise + slack * (1.0 + np.abs(part) + np.abs(noise))
    # A NaN arises only from infinities of opposite signs; then nothing is known.
    return np.where(np.isnan(bound), math.copysign(math.inf, slack), bound)


def _is_settled(low: Sequence[Fraction | float], high: Sequence[Fraction | float], s: int) -> bool:
    """Whether each of the first s keys surely exceeds all later ones; upper bounds must fall."""
    return all(low[i] > high[i + 1] for i in range(min(s, len(low) - 1)))


def _exact_top(
    scores: Floats, rivals: Indices, words: list[int], s: int, pivot: float, scale: float, source: Bits
) -> Indices:
    parts = [(Fraction(float(scores[i])) - Fraction(pivot)) / Fraction(scale) for i in rivals]
    uniforms = [LazyUniform(word, source) for word in words]
    while True:
        noise = [_exact_gumbel(uniform) for uniform in uniforms]
        low = [_plus(part, bound[0]) for part, bound in zip(parts, noise, strict=True)]
        high = [_plus(part, bound[1]) for part, bound in zip(parts, noise, strict=True)]
        order = sorted(range(len(rivals)), key=high.__getitem__, reverse=True)
        if _is_settled([low[i] for i in order], [high[i] for i in order], s):
            return rivals[order[:s]]
        for uniform in uniforms:
            uniform.refine()


def _plus(part: Fraction, bound: Fraction | float) -> Fraction | float:
    # A float bound is infinite. Python would overflow when it converts a huge fraction to add it.
    return bound if isinstance(bound, float) else part + bound


def _exact_gumbel(uniform: LazyUniform) -> tuple[Fraction | float, Fraction | float]:
    """Bounds on -ln(-ln(1 - V)) for V in [digits, digits + 1) / 2**length."""
    length = uniform.length
    # n / 2**length = n 5**length / 10**length has at most `length` decimals, so it is exact at this
    # precision. Both logarithms round correctly and the noise is below `length` in absolute value:
    # the error is far below 10**-length.
    context = wide_context(length + 30)
    error = Fraction(1, 10**length)

    def noise(n: int) -> Fraction:
        complement = context.scaleb(Decimal(n * 5**length), -length)
        # `context.minus`, because a bare minus sign would round to the ambient 28 digits.
        return -Fraction(context.ln(context.minus(context.ln(complement))))

    n = (1 << length) - uniform.digits
    low = noise(n - 1) - error if n > 1 else -math.inf
    high = noise(n) + error if uniform.digits > 0 else math.inf
    return low, high


def first_heads(scores: Floats, scale: float, source: Bits, margin: float) -> int:
    """`permute_and_flip` with a given float margin; 1 forces the exact path (in tests)."""
    order = _random_order(scores.size, source)
    words = source.words(scores.size)
    best = float(scores.max())
    with np.errstate(over="ignore"):
        part = (scores - best) / scale
    # The exponent has two roundings and exp one of its own, so the probability is off by less than
    # 2**-49. Where the difference of scores overflowed, floats cannot decide.
    surplus = np.exp(part) - words * 2.0**-64
    unsure = (np.abs(surplus) <= margin) | np.isinf(part)
    for i in order[(unsure | (surplus > 0))[order]]:
        gap = (Fraction(best) - Fraction(float(scores[i]))) / Fraction(scale)
        if not unsure[i] or _shows_heads(int(words[i]), gap, source):
            return int(i)
    raise AssertionError("the best candidate is accepted with probability 1")


def _shows_heads(word: int, gap: Fraction, source: Bits) -> bool:
    return LazyUniform(word, source).is_below(lambda bits: exp_bounds(gap, bits))


def _random_order(count: int, source: Bits) -> Indices:
    """A uniformly random permutation: the order of random words, redrawn if two are equal."""
    while True:
        words = source.words(count)
        order = np.argsort(words)
        if np.all(np.diff(words[order]) > 0):
            return order


def _check(scores: ArrayLike, scale: float) -> Floats:
    """Return the scores as floats, or raise. Messages contain no score: scores are private."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"scores must be a non-empty vector, got shape {values.shape}")
    if not np.all(np.isfinite(values)):
        raise ValueError("scores must be finite")
    if not isinstance(scale, Real):
        raise TypeError(f"scale must be a real number, got {type(scale).__name__}")
    if not 0 < scale < math.inf:
        raise ValueError(f"scale must be finite and > 0, got {scale}")
    return values
