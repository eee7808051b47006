"""Whole numbers that float64 has summed exactly, held as pairs of 64-bit integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Parts = NDArray[np.int64]

# Sums are held as two 64-bit integers, worth 2^26 and 1. They can count more than 2^40 rows.
_CARRY_BITS = 26
# Factors that are split into two halves have 22 bits in each.
HALF_BITS = 22


def carried(runs: NDArray[np.float64]) -> Parts:
    """The sum over the first axis as a pair; runs are split before they are added,
    so that any number fits.
    """
    whole = runs.astype(np.int64)
    pair = np.empty((2, *whole.shape[1:]), dtype=np.int64)
    np.sum(whole >> _CARRY_BITS, axis=0, out=pair[0])
    np.sum(whole & (2**_CARRY_BITS - 1), axis=0, out=pair[1])
    return pair


def shifted(whole: Parts, bits: int) -> Parts:
    """Numbers of up to 53 bits times 2^bits (at most 2^26), as a pair."""
    rest = _CARRY_BITS - bits
    pair = np.empty((2, *whole.shape), dtype=np.int64)
    np.right_shift(whole, rest, out=pair[0])
    np.left_shift(whole & (2**rest - 1), bits, out=pair[1])
    return pair


def exact_sum(parts: Parts, worth_bits: int = HALF_BITS) -> NDArray[np.object_]:
    """The parts combined to unbounded Python integers, in grid units of the two factors.

    ``parts`` are pairs of matrices, worth 2^26 and 1: one pair or, if factors have halves, one pair
    for each power of 2^``worth_bits``, the highest first.
    """
    total: Any = 0
    for high, low in zip(parts[::2], parts[1::2], strict=True):
        total = (total << worth_bits) + (high.astype(object) << _CARRY_BITS) + low.astype(object)
    return np.asarray(total, dtype=object)
