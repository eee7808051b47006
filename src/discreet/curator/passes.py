"""Several questions answered from one pass over the rows, and one answered from several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from discreet.engines.engine import Function
from discreet.rows import Parts, Query, parts_of_each, several_parts


class OnePass:
    """The exact sums of several queries, from one pass that is made when the first is needed."""

    def __init__(self, summed: Callable[[Function], Parts], queries: Sequence[Query]) -> None:
        self._summed = summed
        self._queries = queries
        self._parts: list[Parts] | None = None

    def parts(self, number: int) -> Parts:
        if self._parts is None:
            together = self._summed(partial(several_parts, self._queries))
            self._parts = parts_of_each(self._queries, together)
        return self._parts[number]


def sum_of(parts: Sequence[Parts]) -> Parts:
    """The sum.

    Each is two 64-bit integers, worth 2^26 and 1, which hold far more rows than exist: no carry.
    """
    return np.asarray(np.sum(np.stack(parts), axis=0))
