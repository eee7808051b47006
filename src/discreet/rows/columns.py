"""A table held column by column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Coded:
    """A column of texts or other objects: the different cells, and which of them each row holds.

    What is looked up by a cell is then looked up once for each different one.
    """

    def __init__(self, distinct: NDArray[np.object_], codes: NDArray[np.integer[Any]]) -> None:
        self.distinct = distinct
        self.codes = codes

    @classmethod
    def of(cls, cells: Sequence[Any]) -> Coded:
        """Cells of any kind; 1, 1.0 and True are different ones, as they are equal but not spelt alike."""
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
        """What the function makes of the cells; it looks at one cell at a time."""
        return np.asarray(np.asarray(function(self.distinct))[self.codes])


_PLAIN = (str, bytes, int, bool, float)


def _key(cell: Any, row: int) -> Any:
    """What cells have in common that are spelt alike; a cell that may be no key, as a list, stands for itself."""
    if cell is None or (type(cell) is float and cell != cell):
        return None
    return (type(cell), cell) if type(cell) in _PLAIN else (Coded, row)


class Columns:
    """Some rows as one array (or Coded column, or series) per column, as files store them."""

    def __init__(self, arrays: Sequence[Any], records: int) -> None:
        self.arrays = arrays
        self._records = records

    @cached_property
    def floats(self) -> bool:
        """Whether each column is an array of float64 that lies in one piece."""
        return all(
            isinstance(array, np.ndarray) and array.dtype == np.float64 and array.flags.c_contiguous
            for array in self.arrays
        )

    def __len__(self) -> int:
        return self._records
