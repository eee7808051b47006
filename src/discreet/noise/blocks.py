"""One exact rejection sampler for every law P(i) ~ exp(-f(|i|)) on the integers.

f is convex and increasing with f(0) = 0 and f(scale) >= 1/2. A magnitude is split as i = k *
width + j, where the width is the power of two in [scale, 2 * scale), or 1 if scale <= 1:

    block k     with probability proportional to exp(-f(k * width)): one word and a cumulative table
    offset j    uniform below the width: bits of a second word
    sign        a fair coin, a negative zero is rejected: the top bit of the second word
    accept      with probability exp(-(f(k * width + j) - f(k * width))): a third word

The product of the first and the last line is exp(-f(i)), so accepted values follow the law. Both
comparisons are lazy (see `lazy.py`): a float64 threshold decides if the word is more than MARGIN
away from it, and otherwise exact arithmetic does. No rounding changes a probability.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from numbers import Real
from typing import Protocol, cast, overload

import numpy as np
from numpy.typing import NDArray

from discreet.noise.bits import Bits, SystemBits, Words
from discreet.noise.lazy import MARGIN, LazyUniform, exp_bounds

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LARGEST_SCALE = 2.0**40  # up to here every magnitude is an exact float64 and far within int64
CHUNK = 1 << 14  # proposals at a time: their words (three each) and floats fit into the CPU cache


class Law(Protocol):
    """A symmetric law on the integers. Implementations are hashable: tables are cached by law."""

    @property
    def scale(self) -> float:
        """The scale, in (0, LARGEST_SCALE]."""
        ...

    def __hash__(self) -> int: ...

    def exponent(self, magnitude: int) -> Fraction:
        """Return f(magnitude), exactly."""
        ...

    def excess(self, start: Floats, offset: Floats) -> Floats:
        """Return f(start + offset) - f(start) with a relative error below 2**-49, for scale > 1."""
        ...


def check_scale(scale: float) -> float:
    """Return the scale as a float, or raise if no noise of this scale can be drawn."""
    if not isinstance(scale, Real):
        raise TypeError(f"scale must be a real number, got {type(scale).__name__}")
    if not 0 < scale <= LARGEST_SCALE:  # also false for NaN
        raise ValueError(f"scale must be finite, > 0 and <= 2**40, got {scale}")
    return float(scale)


@overload
def sample(law: Law, size: None, bits: Bits | None, margin: float = ...) -> int: ...
@overload
def sample(law: Law, size: int | tuple[int, ...], bits: Bits | None, margin: float = ...) -> Integers: ...
def sample(law: Law, size: int | tuple[int, ...] | None, bits: Bits | None, margin: float = MARGIN) -> int | Integers:
    """Draw from the law. With margin 1 every decision takes the exact path; tests use that."""
    source = SystemBits() if bits is None else bits
    shape = () if size is None else size
    values = np.empty(shape, dtype=np.int64)
    flat = values.reshape(-1)
    filled = 0
    while filled < flat.size:
        # At least half of the proposals are accepted; a few surplus ones cost
        # less than another round.
        drawn = _accepted(law, min(2 * (flat.size - filled) + 8, CHUNK), source, margin)
        kept = min(drawn.size, flat.size - filled)
        flat[filled : filled + kept] = drawn[:kept]
        filled += kept
    return int(flat[0]) if size is None else values


def _accepted(law: Law, count: int, source: Bits, margin: float) -> Integers:
    """Make `count` proposals and return the accepted ones."""
    words: Words = source.words(3 * count).reshape(3, count)
    width = block_width(law.scale)
    place = block_edges(law, margin).searchsorted(words[0], side="right")
    start = (place >> 1) * width
    offset = (words[1] & np.uint64(width - 1)).view(np.int64)
    # Proof of the margin: the exponent x has a relative error below 2**-49, which changes exp(-x)
    # by less than x exp(-x) 2**-49 <= 2**-50. np.exp is accurate to 4 units in the last place,
    # 2**-51, and the word as a float to 2**-53. The sum is below 2**-48. With width 1 the offset is
    # 0 and the acceptance probability is 1.
    chance = np.exp(-law.excess(start.astype(float), offset.astype(float))) if width > 1 else 1.0
    surplus = chance - words[2] * 2.0**-64
    accepted = surplus > 0
    unsure = (np.abs(surplus) <= margin) | (place & 1).astype(bool)
    for i in np.flatnonzero(unsure):
        start[i], accepted[i] = _decide_exactly(law, words[:, i], int(offset[i]), source)
    magnitude = start + offset
    negative = (words[1] >> np.uint64(63)).astype(bool)
    accepted &= ~(negative & (magnitude == 0))
    return cast(Integers, np.where(negative, -magnitude, magnitude)[accepted])


def _decide_exactly(law: Law, words: Words, offset: int, source: Bits) -> tuple[int, bool]:
    """The start of the block and whether it is accepted, where floats cannot decide."""
    width = block_width(law.scale)
    start = width * _exact_block(law, LazyUniform(int(words[0]), source))
    excess = law.exponent(start + offset) - law.exponent(start)
    accepted = LazyUniform(int(words[2]), source).is_below(lambda bits: exp_bounds(excess, bits))
    return start, accepted


def _exact_block(law: Law, uniform: LazyUniform) -> int:
    while True:
        for block, (low, high) in enumerate(cumulative_bounds(law, uniform.length)):
            if uniform.digits + 1 <= low:
                return block  # below this block's end, and at or above the previous block's end
            if uniform.digits < high:
                break  # not decided by this many digits
        uniform.refine()  # also beyond the last listed block: more digits list more blocks


def block_width(scale: float) -> int:
    """Smallest power of two that is at least the scale, and at least 1."""
    fraction, power = math.frexp(scale)  # scale = fraction * 2**power with 1/2 <= fraction < 1
    return 1 << max(0, power - 1 if fraction == 0.5 else power)


@lru_cache(maxsize=64)
def cumulative_bounds(law: Law, bits: int) -> tuple[tuple[int, int], ...]:
    """Bounds, times 2**bits, on P(blocks 0..k), for every k until the rest is below 2**-bits."""
    guard = bits + 16
    width = block_width(law.scale)
    weights: list[tuple[int, int]] = []
    while not weights or weights[-1][1] > 1 << 10:
        weights.append(exp_bounds(law.exponent(len(weights) * width), guard))
    # As f is convex with f(width) >= 1/2, each later weight is at most exp(-1/2) times
    # the previous one. So the weights that are not listed sum to at most 1 / (exp(1/2) -
    # 1) < 2 times the last one.
    total_low = sum(low for low, _ in weights)
    total_high = sum(high for _, high in weights) + 2 * weights[-1][1]
    low = high = 0
    bounds = []
    for weight_low, weight_high in weights:
        low, high = low + weight_low, high + weight_high
        bounds.append(((low << bits) // total_high, -((-high << bits) // total_low)))
    return tuple(bounds)


@lru_cache(maxsize=64)
def block_edges(law: Law, margin: float) -> Words:
    """Sorted edges that locate a word: 2k edges <= word mean block k, an odd number means unsure.

    An unsure interval, one margin wide on each side, surrounds the end of each block. From the
    first interval that touches its neighbour or the largest word on, everything is unsure.
    """
    slack = int(margin * 2**64)
    edges: list[int] = []
    for low, high in cumulative_bounds(law, 64):
        if edges and low - slack < edges[-1]:
            break
        edges += [max(low - slack, 0), high + slack]
    edges.pop()  # the last interval has no upper end
    return np.array(edges, dtype=np.uint64)
