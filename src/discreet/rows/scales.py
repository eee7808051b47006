"""The grid of a factor: how many bits its norm has, and what one unit is worth (see grid.py)."""

from __future__ import annotations

import math
from functools import lru_cache

from discreet.rows.carries import HALF_BITS

# Up to this many entries a factor has two halves: four products of such small matrices cost little.
_FEW_ENTRIES = 16


def grid_bits(entries: int) -> int:
    """The number of bits of the norm of a factor with this many entries."""
    return 2 * HALF_BITS if entries <= _FEW_ENTRIES else HALF_BITS


@lru_cache(maxsize=1024)
def grid_scale(norm_bound: float, entries: int, bits: int | None = None) -> float:
    """Grid units per unit of a factor with this many entries: the finest
    power of two within the bits.
    """
    # Beyond these limits squares of entries near the bound would overflow or
    # underflow, and evade the clip.
    if not 1e-100 < norm_bound < 1e100:
        raise ValueError(f"a factor's norm bound must be between 1e-100 and 1e100, got {norm_bound}")
    radius = 2.0 ** (grid_bits(entries) if bits is None else bits)
    return 2.0 ** math.floor(math.log2((radius - math.sqrt(entries) - 1) / norm_bound))


def grid_norm(norm_bound: float, entries: int, bits: int | None = None) -> float:
    """The norm that no clipped factor exceeds, in grid units.

    The float vector is scaled to norm_bound * scale up to rounding of relative size (entries + 8) *
    2^-53, less than 1 unit; floor(v + u) with 0 <= u < 1 moves each entry by at most 1, so the
    vector by at most sqrt(entries).
    """
    return norm_bound * grid_scale(norm_bound, entries, bits) + math.sqrt(entries) + 1
