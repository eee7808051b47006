"""Rows as streams of Arrow batches from files, databases or other libraries, read for every sum.

Memory does not grow with the number of rows. A small table is kept after its first reading
(kept.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import Any, Protocol

import numpy as np

from discreet.engines.ahead import ahead
from discreet.engines.arrow_cells import batch_cells
from discreet.engines.changes import SameRows
from discreet.engines.engine import Function
from discreet.engines.kept import KeptChunks
from discreet.engines.layout import BLOCK_ROWS, Cells, Layout, chunk, chunk_sum, look_at_persons
from discreet.engines.persons import Persons
from discreet.engines.progress import Progress
from discreet.engines.reading import read_on, reading
from discreet.engines.threads import available_cores, compile_if_it_pays, sum_in_threads
from discreet.engines.total import PassSum, Seen
from discreet.errors import DomainError
from discreet.rows import Parts, Residues

# Rows that are read at once, and those that are summed at once. Large batches take less time a row
# to read, and Arrow holds about two of them for each worker; a block of two dozen columns stays in
# the cache that all cores share.
_BATCH_ROWS = 4 * BLOCK_ROWS
_SUMMED_ROWS = 2 * BLOCK_ROWS
# A table of fewer rows is read in this many batches for each worker, so that all have some.
_LEAST_BATCHES = 4
# The batches of all workers together have no more cells than this, where rows are wide or workers
# many; where a thread reads ahead there are about three for each worker: one that it sums, one that
# waits, one that is being read.
_BATCH_CELLS = 1 << 22


@dataclass(frozen=True)
class Piece:
    """Consecutive rows for one worker: the position of the first, where rows have one, and their
    batches.

    A tuple of batches has been read already; others are read by the worker itself.
    """

    first_row: int
    batches: Iterable[Any]


class Batches(Protocol):
    """A table that can be read repeatedly as Arrow batches; names and types were checked."""

    what: str  # in messages
    ordered: bool
    decimal: str | None  # of CSV files, whose cells are all bytes

    def pieces(self, columns: Sequence[str], batch_rows: int, workers: int) -> Iterator[Piece]:
        """All rows, with these columns."""
        ...

    def empty(self, columns: Sequence[str]) -> Any:
        """A batch of no rows."""
        ...

    def count(self) -> int:
        """The number of rows."""
        ...

    @property
    def rows_ahead(self) -> int | None:
        """The number of rows where it is known without reading them."""
        ...

    @property
    def size(self) -> int | None:
        """Bytes on disk, if the table is in files."""
        ...


class StreamEngine:
    """Sums over batches, by as many threads as there are cores."""

    def __init__(self, layout: Layout, batches: Batches, *, keep: bool = False, batch_rows: int | None = None) -> None:
        self._layout = layout
        self._batches = batches
        self._workers = layout.workers or available_cores()
        self._block_rows = layout.block_rows or _SUMMED_ROWS
        self._batch_rows = batch_rows
        self._keep = keep
        self._kept: KeptChunks | None = None
        self._same = SameRows()
        self._passes = 0

    @property
    def ordered(self) -> bool:
        return self._batches.ordered

    @property
    def types(self) -> dict[str, str | None]:
        """The columns that are read and their types, as far as the table tells."""
        types = getattr(self._batches, "types", {})
        return {name: types.get(name) for name in self._layout.read}

    @cached_property
    def rows(self) -> int:
        rows = reading(self._batches.what, self._batches.count)
        self._same.count(rows)
        return int(rows)

    def sum_rows(self, function: Function, part: Residues | None = None) -> Parts:
        """The exact sum of the function over all rows, or over a part of them; a part is read to
        the end as well.
        """
        if part is not None and not self.ordered:
            raise DomainError(f"rows of {self._batches.what} have no positions")
        if part is None and self._kept is not None:
            return sum_in_threads(partial(chunk_sum, function), iter(self._kept), self._workers).total.value
        keeping = KeptChunks(None if self._keep else self._batches.size, anyhow=self._keep)
        choice = None if self._layout.groups is None else self._persons.begin()

        def of_cells(cells: Cells, batch: Any) -> PassSum:
            made = chunk(self._layout, cells, choice)
            if keeping.complete:
                keeping.add(made, _size(batch, cells))
            return chunk_sum(function, made)

        found = self._pass(of_cells, part)
        self._same.check(found.seen, part)
        if part is None and keeping.complete:
            self._kept = keeping
        return found.total.value

    @cached_property
    def _rows_at_once(self) -> int:
        """How many rows a batch has at the most."""
        if self._batch_rows is not None:
            return self._batch_rows
        most = min(_BATCH_ROWS, _BATCH_CELLS // (self._workers * max(len(self._layout.read), 1)))
        rows = self._batches.rows_ahead
        even = most if rows is None else max(BLOCK_ROWS, -(-rows // (_LEAST_BATCHES * self._workers)))
        return max(1, min(most, even))

    @cached_property
    def _persons(self) -> Persons:
        """Which rows each person uses, found in a separate pass."""
        persons = Persons(self._layout.rows_per_person)

        def look(cells: Cells, batch: Any) -> PassSum:
            look_at_persons(self._layout, cells, persons)
            return PassSum(np.zeros(1, dtype=np.int64), Seen(len(cells)))

        rows = self._pass(look, None).seen.rows
        self._same.check(Seen(rows, persons.digest))
        return persons

    def _pass(self, of_cells: Callable[[Cells, Any], PassSum], part: Residues | None) -> PassSum:
        self._passes += 1
        progress = Progress(self._passes, self._batches.rows_ahead)
        compile_if_it_pays(self._batches.rows_ahead or 0)

        def of_batch(batch: Any, first_row: int) -> PassSum:
            rows = batch if part is None else batch.take(part.positions(batch.num_rows, first_row))
            if self._batches.rows_ahead is None:
                compile_if_it_pays(batch.num_rows)
            first, *others = (of_cells(cells, rows) for cells in self._cells(rows))
            for other in others:
                first.add(other)
            progress.advance(batch.num_rows)
            return first

        def of_piece(piece: Piece) -> PassSum:
            total: PassSum | None = None
            position = piece.first_row
            read = isinstance(piece.batches, tuple)
            for batch in piece.batches if read else read_on(self._batches.what, piece.batches):
                added = of_batch(batch, position)
                total = added if total is None else total.add(added)
                position += batch.num_rows
            # Of no rows, an empty block gives the sum its shape.
            return of_batch(self._batches.empty(self._layout.read), position) if total is None else total

        pieces = read_on(self._batches.what, self._batches.pieces(self._layout.read, self._rows_at_once, self._workers))
        found = sum_in_threads(of_piece, chain([Piece(0, ())], ahead(pieces)), self._workers)
        progress.end()
        return found

    def _cells(self, batch: Any) -> Iterator[Cells]:
        cells = reading(self._batches.what, lambda: batch_cells(self._layout, batch, self._batches.decimal))
        found: Iterator[Cells] = cells.blocks(self._block_rows)
        return found


def _size(batch: Any, cells: Cells) -> int:
    """Bytes of these cells in Arrow's memory, about."""
    return int(batch.nbytes * len(cells) / max(batch.num_rows, 1))
