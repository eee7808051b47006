"""A fixed 64-bit hash of each row's cells, to tell rows apart. It does not hide them.

The hash of a row depends on its cells alone, not on its block or on the version of the loop that
ran. All NaNs have the same hash, and so do 0 and -0.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from discreet.rows.kernels import fold_cells

Words = NDArray[np.uint64]

_START = np.uint64(0x9E3779B97F4A7C15)


def row_hashes(columns: Iterable[NDArray[np.float64] | Words], records: int) -> Words:
    """One hash for each of the records, from columns of numbers or of 64-bit words."""
    state = np.full(records, _START)
    for column in columns:
        fold_cells(state, column)
    return state
