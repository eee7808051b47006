"""Passes over the rows, with pieces of work on every core of this machine."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from discreet.engines.blas import one_thread_per_block
from discreet.engines.total import PassSum
from discreet.rows import compile_kernels

# Compiling the inner loops takes longer than they save on fewer rows than this.
MANY_ROWS = 300_000
# A process that sums many small tables gains as well, after this many rows.
_MANY_ROWS_IN_ALL = 5_000_000

_rows_so_far = 0


def compile_if_it_pays(rows: int) -> None:
    """Called with rows that are about to be summed."""
    global _rows_so_far
    _rows_so_far += rows
    if rows >= MANY_ROWS or _rows_so_far >= _MANY_ROWS_IN_ALL:
        compile_kernels()


def sum_in_threads(function: Callable[[Any], PassSum], pieces: Iterator[Any], workers: int) -> PassSum:
    """The sum of the function over at least one piece: workers take pieces and add to their own
    sums.

    A single worker is the calling thread. Several are threads of their own, and the calling one
    waits: its stack is deep, and Python 3.11 may ask the system for another piece of stack in many
    calls of the innermost functions.
    """
    shared = _Shared(pieces)

    def work() -> PassSum | None:
        total: PassSum | None = None
        try:
            for piece in shared:
                part = function(piece)
                total = part if total is None else total.add(part)
        except BaseException:
            shared.stop()  # the other workers' sums are not needed any more
            raise
        return total

    with one_thread_per_block():
        if workers == 1:
            totals = [work()]
        else:
            with ThreadPoolExecutor(workers) as pool:
                futures = [pool.submit(work) for _ in range(workers)]
                try:
                    totals = [future.result() for future in futures]
                except BaseException:  # as an interrupt, which only the calling thread gets
                    shared.stop()
                    raise
    first, *others = (total for total in totals if total is not None)
    for other in others:
        first.add(other)
    return first


class _Shared:
    """An iterator that several threads may draw from."""

    def __init__(self, pieces: Iterator[Any]) -> None:
        self._pieces = pieces
        self._lock = threading.Lock()
        self._stopped = False

    def stop(self) -> None:
        self._stopped = True

    def __iter__(self) -> _Shared:
        return self

    def __next__(self) -> Any:
        with self._lock:
            if self._stopped:
                raise StopIteration
            return next(self._pieces)


def available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
