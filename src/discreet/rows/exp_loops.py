"""The exponential function of a line of numbers, with the bits of glm/exponential.py."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

CALLED = {"exp_line": False}
_PER_DOUBLING = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_T = tuple(1 / math.factorial(power) for power in range(14))


def exp_line(x: Any, words: Any, out: Any) -> None:
    """exp(x); ``words`` is a line of memory for it."""
    powers = words.view(np.int64)
    for i in range(len(out)):
        near = x[i]
        near = -708.0 if near < -708.0 else near
        near = 709.0 if near > 709.0 else near
        doublings = np.rint(near * _PER_DOUBLING)
        rest = near - doublings * _LN2_HIGH
        rest = rest - doublings * _LN2_LOW
        total = _T[13] * rest + _T[12]
        total = total * rest + _T[11]
        total = total * rest + _T[10]
        total = total * rest + _T[9]
        total = total * rest + _T[8]
        total = total * rest + _T[7]
        total = total * rest + _T[6]
        total = total * rest + _T[5]
        total = total * rest + _T[4]
        total = total * rest + _T[3]
        total = total * rest + _T[2]
        total = total * rest + _T[1]
        out[i] = total * rest + _T[0]
        powers[i] = (np.int64(doublings if doublings == doublings else 0.0) + 1023) << 52
    for i in range(len(out)):
        out[i] = 0.0 if x[i] < -708.0 else out[i] * words[i]
