"""The exponential function by additions and multiplications alone, so that it has the same bits on
every processor and in every loop; numpy's own differs from one processor to the next.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# exp(x) = 2^k exp(r) with |r| <= ln(2) / 2; ln(2) is the sum of two numbers, and k times the first
# is exact. rows/exp_loops.py has the same constants.
_PER_DOUBLING = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# Taylor's series: the first term left out is below 2^-57.
_TERMS = [1 / math.factorial(power) for power in range(13, -1, -1)]
# Below this the result is 0, above the largest that of the largest.
_LEAST, _MOST = -708.0, 709.0


def exponential(x: Floats) -> Floats:
    """exp(x), to about one unit in the last place."""
    near = np.clip(x, _LEAST, _MOST)
    doublings = np.rint(near * _PER_DOUBLING)
    rest = near - doublings * _LN2_HIGH
    rest = rest - doublings * _LN2_LOW
    total = np.full_like(rest, _TERMS[0])
    for term in _TERMS[1:]:
        total *= rest
        total += term
    powers = (np.where(np.isnan(doublings), 0.0, doublings).astype(np.int64) + 1023) << 52
    return np.asarray(np.where(x < _LEAST, 0.0, total * powers.view(np.float64)))
