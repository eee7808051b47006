"""Where the cells of a block lie in memory, and how they are encoded: what fused loops read."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scaling:
    """How numeric columns are encoded: (clip(cell, low, high) - centre) * per_unit; ``missing`` is
    what an empty cell is encoded as, or NaN.
    """

    low: Floats
    high: Floats
    centre: Floats
    per_unit: Floats
    missing: Floats

    @property
    def lines(self) -> Floats:
        return np.array([self.low, self.high, self.centre, self.per_unit, self.missing])


@dataclass(frozen=True, eq=False)
class CellsInMemory:
    """The address of each column's first cell, all float64, and the distance between two rows in
    cells.

    ``scaling`` has a line for each field of ``Scaling``. ``owner`` keeps the memory.
    """

    addresses: NDArray[np.uint64]
    stride: int
    scaling: Floats
    owner: Any

    @classmethod
    def of_table(cls, table: NDArray[Any], scaling: Floats) -> CellsInMemory | None:
        """A table of float64 in any order; None where loops cannot read it."""
        between_rows, between_columns = table.strides
        plain = table.dtype == np.float64 and table.dtype.isnative and table.flags.aligned
        if not plain or between_rows <= 0 or between_rows % table.itemsize:
            return None
        first, steps = table.ctypes.data, between_columns * np.arange(table.shape[1], dtype=np.int64)
        return cls((first + steps).astype(np.uint64), between_rows // table.itemsize, scaling, table)


def addresses_of(columns: Sequence[NDArray[Any]]) -> NDArray[np.uint64]:
    """Where each array begins."""
    return np.array([column.ctypes.data for column in columns], dtype=np.uint64)


def cells_at(address: Any, cells: int) -> Any:
    """The float64 numbers from this address on; ``pointers`` in fused_loops.py has what numba
    compiles.
    """
    return np.ctypeslib.as_array((ctypes.c_double * cells).from_address(int(address)))
