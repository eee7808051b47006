"""At most ``rows_per_person`` rows of each person, chosen by a rule that uses only that person's
rows.

Of each person the complete rows with the least hashes are used. A hash depends on what a row holds
once it is encoded, so the choice is the same in every format, in any order and however rows are
cut; rows with the same hash hold the same numbers, so it does not matter which of them is taken.
Adding, removing or replacing one person's rows does not affect the rows of others. Rows without an
id, whose person is -1, are not used.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.changes import refuse_change
from discreet.rows import Block, row_hashes, weight_of

Words = NDArray[np.uint64]
Mask = NDArray[np.bool_]

_LAST = np.uint64(1 << 63)


def row_ranks(block: Block, width: int) -> Words:
    """Hashes of a block's encoded rows; those of rows that miss a cell are larger than
    all others.
    """
    cells = np.empty((width, block.records))
    block.write_x(cells)
    columns = [*cells, block.y]
    if block.offset is not None:
        columns.append(block.offset)
    if (weight := weight_of(block)) is not None:
        columns.append(weight)
    missing = np.zeros(block.records, dtype=bool)
    for column in columns:
        missing |= np.isnan(column)
    return np.asarray(np.where(missing, _LAST, np.uint64(0)) | (row_hashes(columns, block.records) >> np.uint64(1)))


def least_rows(person: NDArray[np.integer[Any]], ranks: Words, limit: int) -> Mask:
    """Which rows are used, given all rows of all these persons."""
    order = np.lexsort((ranks, person))
    order = order[np.searchsorted(person[order], 0) :]
    starts = np.flatnonzero(np.diff(person[order], prepend=-1))
    sizes = np.diff(starts, append=len(order))
    used = np.zeros(len(person), dtype=bool)
    used[order] = np.arange(len(order)) - np.repeat(starts, sizes) < limit
    return used


class Persons:
    """The rows of a stream that are used, found in a separate pass; memory grows with
    the persons.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._codes: dict[Hashable, int] = {}
        self._lock = threading.Lock()
        self._person = np.zeros(0, dtype=np.int64)
        self._ranks = np.zeros(0, dtype=np.uint64)
        self._waiting: list[tuple[NDArray[np.int64], Words]] = []
        self._waiting_rows = 0

    def look(self, codes: NDArray[np.int64], names: Sequence[str], ranks: Words) -> None:
        """Add some rows: ``codes`` are positions in ``names``."""
        theirs = codes >= 0
        with self._lock:
            known = self._codes
            person = np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)[codes[theirs]]
            self._waiting.append((person, ranks[theirs]))
            self._waiting_rows += len(person)
            # Merge when there are as many new rows as held ones: every row is then sorted a few
            # times only.
            if self._waiting_rows > max(len(self._person), 1 << 20):
                self._reduce()

    def _reduce(self) -> None:
        person = np.concatenate([self._person, *(person for person, _ in self._waiting)])
        ranks = np.concatenate([self._ranks, *(ranks for _, ranks in self._waiting)])
        used = least_rows(person, ranks, self._limit)
        self._person, self._ranks = person[used], ranks[used]
        self._waiting, self._waiting_rows = [], 0

    @property
    def digest(self) -> int:
        """The sum of the ranks of all rows that are used, modulo 2^64."""
        with self._lock:
            self._reduce()
            return int(np.sum(self._ranks, dtype=np.uint64))

    def begin(self) -> Choice:
        """For one pass over the same rows."""
        with self._lock:
            if self._waiting:
                self._reduce()
            size = len(self._codes)
            last = np.zeros(size, dtype=np.uint64)
            np.maximum.at(last, self._person, self._ranks)
            left = np.bincount(self._person[self._ranks == last[self._person]], minlength=size)
        return Choice(self._codes, last, left, self._limit)


class Choice:
    """Which rows of a pass are used: those up to each person's last rank, of which there may be
    equal ones.

    These are ``limit`` rows of a person if the rows are still those that were looked at. If a
    person has more by now, the fit is stopped: nobody ever contributes more.
    """

    def __init__(self, codes: dict[Hashable, int], last: Words, left: NDArray[np.int64], limit: int) -> None:
        self._codes = codes
        self._last = last
        self._left = left
        self._limit = limit
        self._taken = np.zeros(len(last), dtype=np.int64)
        self._lock = threading.Lock()

    def used(self, codes: NDArray[np.int64], names: Sequence[str], ranks: Words) -> Mask:
        """A new person has no rows that are used: the rows have changed, which
        changes.py detects.
        """
        if not self._codes:
            return np.zeros(len(codes), dtype=bool)
        # The last entry is for rows without an id, whose code is -1.
        person = np.array([*(self._codes.get(name, -1) for name in names), -1], dtype=np.int64)[codes]
        used: Mask = (person >= 0) & (ranks < self._last[person])
        at_last = np.flatnonzero((person >= 0) & (ranks == self._last[person]))
        with self._lock:
            for row in at_last.tolist():
                if self._left[person[row]] > 0:
                    self._left[person[row]] -= 1
                    used[row] = True
            taken = person[used]
            np.add.at(self._taken, taken, 1)
            if np.any(self._taken[taken] > self._limit):
                refuse_change()
        return used
