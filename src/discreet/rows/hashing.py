"""A fixed 64-bit hash of each row's cells, to tell rows apart. It does not hide them.

The hash of a row depends on its cells alone, not on its block or on the version of the loop that
ran. All NaNs have the same hash, and so do 0 and -0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.rows.cells import addresses_of
from discreet.rows.kernels import fold_cells, product_digest

Words = NDArray[np.uint64]

_START = np.uint64(0x9E3779B97F4A7C15)


def row_hashes(columns: Iterable[NDArray[np.float64] | Words], records: int) -> Words:
    """One hash for each of the records, from columns of numbers or of 64-bit words."""
    state = np.full(records, _START)
    for column in columns:
        fold_cells(state, column)
    return state


def digest_of(
    columns: Sequence[NDArray[np.float64] | Words],
    records: int,
    used: NDArray[np.bool_] | None,
    before: Words | None = None,
) -> int:
    """The sum, modulo 2^64, of another hash of each row that is used: quick to compute, to notice
    that rows have changed.

    It is NH, the hash of UMAC (Black et al., 1999), with a fixed key: a sum of products of halves
    of words, two rows having the same one by a chance of 2^-32. Its bits are then mixed, so that
    the sums of different rows do not cancel. ``before``: where columns of float64 that come before
    the others begin.
    """
    words = [np.ascontiguousarray(column) for column in columns]
    addresses = addresses_of(words) if before is None else np.concatenate([before, addresses_of(words)])
    floats = np.ones(len(addresses), dtype=np.bool_)
    floats[len(addresses) - len(words) :] = [column.dtype == np.float64 for column in words]
    used = np.ones(records, dtype=np.bool_) if used is None else used
    return product_digest(addresses, floats, _keys(len(floats)), used)


@lru_cache(maxsize=64)
def _keys(columns: int) -> Words:
    """Two words of 32 bits for the cells of each column."""
    keys = row_hashes([np.arange(columns, dtype=np.uint64)], columns)
    return np.stack([keys & np.uint64(0xFFFFFFFF), keys >> np.uint64(32)], axis=1)
