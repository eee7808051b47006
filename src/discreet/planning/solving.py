"""Solving for n or epsilon: where a decreasing error curve reaches a level."""

from __future__ import annotations

import math
from collections.abc import Callable

from discreet.planning.remedy import NoForecast, larger_error


def least(error_at: Callable[[float], float], wanted: float, low: float, high: float, name: str) -> float:
    """The smallest value between low and high with an error of at most
    ``wanted``, to one part in 500.

    Errors decrease with n and epsilon, except for small steps where a plan changes;
    any crossing is accepted.
    """
    best = error_at(high)
    if best > wanted:
        raise NoForecast(
            f"no {name} up to {high:,.10g} brings the error down to {wanted:.4g}: ask for a larger error",
            larger_error(best),
        )
    if error_at(low) <= wanted:
        return low
    left, right = math.log(low), math.log(high)
    while right - left > 2e-3:
        middle = (left + right) / 2
        if error_at(math.exp(middle)) <= wanted:
            right = middle
        else:
            left = middle
    return math.exp(right)
