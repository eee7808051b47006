"""Rows in this process's memory, summed block by block on every core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.engine import Function
from discreet.engines.layout import BLOCK_ROWS, Layout
from discreet.engines.person_ids import person_codes
from discreet.engines.persons import Mask, least_rows, row_ranks
from discreet.engines.threads import available_cores, compile_if_it_pays, sum_in_threads
from discreet.engines.total import PassSum, Seen
from discreet.engines.types import types_of
from discreet.rows import Parts, Residues

# Fewer rows than this are summed faster than threads start.
FEW_ROWS = 256
# Blocks of a large table of few columns: compiled loops take as long for them as for four smaller
# ones, and Python a quarter.
_LARGE, _FEW_COLUMNS = 4 * BLOCK_ROWS, 32


@dataclass(frozen=True)
class Arrays:
    """A table of rows that can be sliced (an array, a frame, sparse rows), with labels and ids
    beside it.
    """

    table: Any
    y: Any = None
    groups: NDArray[Any] | None = None
    # Names of the types of labels and ids.
    beside: tuple[str | None, ...] = ()

    def engine(self, layout: Layout) -> MemoryEngine:
        return MemoryEngine(
            layout.encode,
            self.table,
            self.y,
            groups=self.groups,
            beside=self.beside,
            rows_per_person=layout.rows_per_person,
            width=layout.width,
            block_rows=layout.block_rows,
            workers=layout.workers,
        )


class MemoryEngine:
    """Sums over a table held in memory: an array or any frame that can be sliced by rows.

    ``encode`` turns a slice of the table (and of y) into a block, in which a row has ``width``
    numbers. ``groups`` are person ids, of each of whom ``rows_per_person`` rows are used.
    """

    ordered = True

    def __init__(
        self,
        encode: Callable[[Any, Any], Any],
        table: Any,
        y: Any = None,
        *,
        groups: NDArray[Any] | None = None,
        beside: tuple[str | None, ...] = (),
        rows_per_person: int = 1,
        width: int = 0,
        block_rows: int | None = None,
        workers: int | None = None,
    ) -> None:
        self._encode = encode
        self._table = table
        self._y = y
        self._groups = groups
        self._beside = beside
        self._rows_per_person = rows_per_person
        self._width = width
        self._workers = workers or available_cores()
        self._block_rows = block_rows or _block_rows(self.rows, width, self._workers)
        self._memories: dict[int | None, dict[str, Any]] = {}
        self._used_rows: Mask | None = None

    @property
    def rows(self) -> int:
        return len(self._table)

    @property
    def types(self) -> Any:
        """The columns and their types, as far as the table tells."""
        return types_of(self._table), self._beside

    def sum_rows(self, function: Function, part: Residues | None = None) -> Parts:
        """The exact sum of the function over all rows, or over a part of them."""
        table, y, used = self._table, self._y, self._used
        if part is not None:
            chosen = part.positions(len(table))
            table, y, used = table[chosen], _of(y, chosen), _of(used, chosen)

        def of_block(rows: slice) -> Parts:
            block = self._encode(table[rows], _of(y, rows))
            if part is None:  # the same rows are here in the next pass
                block.memory = self._memories.setdefault(rows.start, {})
            return function(block, _of(used, rows))

        if 0 < len(table) <= FEW_ROWS:
            return of_block(slice(None))
        compile_if_it_pays(self.rows)
        return self._over_blocks(of_block, len(table)).total.value

    def whole_block(self) -> Any:
        """All rows as one block, for a pass row by row; a person may have only one row."""
        if self._groups is not None:
            raise TypeError("a block of all rows has no room for persons")
        return self._encode(self._table, self._y)

    def _over_blocks(self, of_block: Any, rows: int) -> PassSum:
        # An empty table still has one (empty) block, which gives the sum its shape.
        starts = range(0, max(rows, 1), self._block_rows)
        blocks = (slice(start, start + self._block_rows) for start in starts)
        workers = min(self._workers, len(starts))
        return sum_in_threads(lambda rows: PassSum(of_block(rows), Seen()), blocks, workers)

    @property
    def _used(self) -> Mask | None:
        """Which rows their persons use: computed when rows are first summed, after the charge."""
        if self._used_rows is None and self._groups is not None:
            ranks = np.zeros(self.rows, dtype=np.uint64)

            def rank(rows: slice) -> Parts:
                block = self._encode(self._table[rows], _of(self._y, rows))
                ranks[rows] = row_ranks(block, self._width)
                return np.zeros(1, dtype=np.int64)

            self._over_blocks(rank, self.rows)
            self._used_rows = least_rows(person_codes(self._groups)[0], ranks, self._rows_per_person)
        return self._used_rows


def _block_rows(rows: int, width: int, workers: int) -> int:
    """Each worker has several blocks, and their arrays are not large."""
    return _LARGE if width <= _FEW_COLUMNS and rows >= 4 * _LARGE * workers else BLOCK_ROWS


def _of(cells: Any, chosen: Any) -> Any:
    return None if cells is None else cells[chosen]
