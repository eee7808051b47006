"""A fixed 64-bit hash of each row's cells, to tell rows apart. It does not hide them.

The hash of a row depends on its cells alone, not on its block or on the version of the loop that
ran. All NaNs have the same hash, and so do 0 and -0.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.rows.kernels import add_products, fold_cells, mixed_sum

Words = NDArray[np.uint64]

_START = np.uint64(0x9E3779B97F4A7C15)


def row_hashes(columns: Iterable[NDArray[np.float64] | Words], records: int) -> Words:
    """One hash for each of the records, from columns of numbers or of 64-bit words."""
    state = np.full(records, _START)
    for column in columns:
        fold_cells(state, column)
    return state


def digest_of(columns: Iterable[NDArray[np.float64] | Words], records: int, used: NDArray[np.bool_] | None) -> int:
    """The sum, modulo 2^64, of another hash of each row that is used: quick to compute, to notice
    that rows have changed.

    It is NH, the hash of UMAC (Black et al., 1999), with a fixed key: a sum of products of halves
    of words, two rows having the same one by a chance of 2^-32. Its bits are then mixed, so that
    the sums of different rows do not cancel.
    """
    state = np.zeros(records, dtype=np.uint64)
    for position, column in enumerate(columns):
        add_products(state, column, _keys(position))
    return mixed_sum(state, used)


@lru_cache(maxsize=4096)
def _keys(position: int) -> tuple[np.uint64, np.uint64]:
    """Two words of 32 bits for the cells of the column at this position."""
    key = int(row_hashes([np.array([position], dtype=np.uint64)], 1)[0])
    return np.uint64(key & 0xFFFFFFFF), np.uint64(key >> 32)
