"""Rows in this process's memory, summed block by block on every core."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.blas import one_thread_per_block
from discreet.rows import Residues, compile_kernels

# A block of this many rows and a few dozen columns stays in a core's cache from the first step to the last.
BLOCK_ROWS = 16384
# So few rows are summed sooner than threads are started.
FEW_ROWS = 256
# Compiling the inner loops takes longer than they save on fewer rows than this.
MANY_ROWS = 300_000
# A process that sums small tables again and again gains as well, once it has seen so many rows.
_MANY_ROWS_IN_ALL = 5_000_000

Function = Callable[[Any, NDArray[np.bool_] | None], NDArray[np.int64]]


class MemoryEngine:
    """Sums over a table held in memory: an array or any frame that can be sliced by rows.

    ``encode`` turns a slice of the table (and of y) into a block. ``used`` marks the rows that may contribute.
    """

    def __init__(
        self,
        encode: Callable[[Any, Any], Any],
        table: Any,
        y: Any = None,
        *,
        used: NDArray[np.bool_] | None = None,
        block_rows: int = BLOCK_ROWS,
        workers: int | None = None,
    ) -> None:
        self._encode = encode
        self._table = table
        self._y = y
        self._used = used
        self._block_rows = block_rows
        self._workers = workers or available_cores()
        self._memories: dict[int | None, dict[str, Any]] = {}

    @property
    def rows(self) -> int:
        return len(self._table)

    def sum_rows(self, function: Function, every: int = 1, part: Residues | None = None) -> NDArray[np.int64]:
        """The sum of the function over all (or every so many) rows; whole numbers, so their order is of no account.

        ``part``: only over these rows.
        """
        table, y, used = self._table, self._y, self._used
        if part is not None:
            if every != 1:
                raise ValueError("a part of the rows is summed whole")
            chosen = part.positions(len(table))
            table, y, used = table[chosen], _of(y, chosen), _of(used, chosen)
        if every > 1:
            # Frames are thinned in one go: not every library takes a slice with a step.
            table = table[::every] if isinstance(table, np.ndarray) else table.gather_every(every)
            y, used = _of(y, slice(None, None, every)), _of(used, slice(None, None, every))

        def of_block(rows: slice) -> NDArray[np.int64]:
            block = self._encode(table[rows], None if y is None else y[rows])
            if table is self._table:  # the same rows will stand here the next time
                block.memory = self._memories.setdefault(rows.start, {})
            return function(block, None if used is None else used[rows])

        if 0 < len(table) <= FEW_ROWS:
            return of_block(slice(None))
        _compile_if_it_pays(self.rows)
        # An empty table still has one (empty) block, which gives the sum its shape.
        starts = range(0, max(len(table), 1), self._block_rows)
        blocks = (slice(start, start + self._block_rows) for start in starts)
        return sum_in_threads(of_block, blocks, min(self._workers, len(starts)))


_rows_so_far = 0


def _compile_if_it_pays(rows: int) -> None:
    global _rows_so_far
    _rows_so_far += rows
    if rows >= MANY_ROWS or _rows_so_far >= _MANY_ROWS_IN_ALL:
        compile_kernels()


def _of(cells: Any, chosen: Any) -> Any:
    return None if cells is None else cells[chosen]


def sum_in_threads(
    function: Callable[[Any], NDArray[np.int64]], pieces: Iterator[Any], workers: int
) -> NDArray[np.int64]:
    """The sum of the function over the pieces: each worker takes the next piece and adds to a sum of its own.

    The calling thread is one of the workers: a single one starts no thread.
    """
    pieces = _Shared(pieces)

    def work() -> NDArray[np.int64] | None:
        total: NDArray[np.int64] | None = None
        for piece in pieces:
            part = function(piece)
            total = part if total is None else np.add(total, part, out=total)
        return total

    with one_thread_per_block():
        if workers == 1:
            totals = [work()]
        else:
            with ThreadPoolExecutor(workers - 1) as pool:
                futures = [pool.submit(work) for _ in range(workers - 1)]
                totals = [work(), *(future.result() for future in futures)]
    return sum(total for total in totals if total is not None)  # type: ignore[return-value]


class _Shared:
    """An iterator that several threads may draw from."""

    def __init__(self, pieces: Iterator[Any]) -> None:
        import threading

        self._pieces = pieces
        self._lock = threading.Lock()

    def __iter__(self) -> _Shared:
        return self

    def __next__(self) -> Any:
        with self._lock:
            return next(self._pieces)


def available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
