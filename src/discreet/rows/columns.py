"""A table stored by columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.rows.cells import addresses_of


class Coded:
    """A column of texts or other objects: the distinct cells, and the index of each row's cell.

    A function of the cells is then computed once per distinct cell.
    """

    def __init__(self, distinct: NDArray[np.object_], codes: NDArray[np.integer[Any]]) -> None:
        self.distinct = distinct
        self.codes = codes

    @classmethod
    def of(cls, cells: Sequence[Any]) -> Coded:
        """Encode cells of any type; 1, 1.0 and True are distinct, because they
        are written differently.
        """
        positions: dict[Any, int] = {}
        codes = np.empty(len(cells), dtype=np.int64)
        distinct: list[Any] = []
        for row, cell in enumerate(cells):
            key = _key(cell, row)
            code = positions.setdefault(key, len(distinct))
            if code == len(distinct):
                distinct.append(cell)
            codes[row] = code
        values = np.empty(len(distinct), dtype=object)
        values[:] = distinct
        return cls(values, codes)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> Coded:
        return Coded(self.distinct, self.codes[rows])

    def map(self, function: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
        """The function of every cell; it is applied to the distinct cells only."""
        return np.asarray(np.asarray(function(self.distinct))[self.codes])


_PLAIN = (str, bytes, int, bool, float)


def _key(cell: Any, row: int) -> Any:
    """A key that is equal for cells written alike; a cell that cannot be a key, such
    as a list, gets its own.
    """
    if cell is None or (type(cell) is float and cell != cell):
        return None
    return (type(cell), cell) if type(cell) in _PLAIN else (Coded, row)


class Columns:
    """Rows as one array (or Coded column, or series) per column, as files store them."""

    def __init__(self, arrays: Sequence[Any], records: int) -> None:
        self._arrays = arrays
        self._records = records

    @property
    def arrays(self) -> Sequence[Any]:
        return self._arrays

    @cached_property
    def floats(self) -> bool:
        """Whether each column is a contiguous and aligned array of float64."""
        return all(
            isinstance(array, np.ndarray)
            and array.dtype == np.float64
            and array.flags.c_contiguous
            and array.flags.aligned
            for array in self.arrays
        )

    @cached_property
    def addresses(self) -> NDArray[np.uint64] | None:
        """Where each column begins, if they are as ``floats`` says."""
        return addresses_of(self.arrays) if self.floats else None

    def cut(self, rows: slice) -> Columns:
        """Some consecutive rows."""
        return Columns([column[rows] for column in self.arrays], len(range(self._records)[rows]))

    def __getstate__(self) -> dict[str, Any]:
        """Another process has the same columns at other addresses."""
        return {name: value for name, value in self.__dict__.items() if name != "addresses"}

    def __len__(self) -> int:
        return self._records
