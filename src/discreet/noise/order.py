"""A secret random order of the rows, for mechanisms that require that no one knows it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.noise.bits import Bits


def random_order(count: int, bits: Bits) -> NDArray[np.intp]:
    """A uniformly random permutation of 0 .. count - 1.

    Rows are sorted by independent 128-bit keys. All orders are equally likely unless two keys are
    equal, which has probability below count^2 / 2^129: less than 2^-60 for ten billion rows.
    """
    keys = bits.words(2 * count)
    return np.lexsort((keys[:count], keys[count:])).astype(np.intp)
