"""Blocks of a small file, kept from its first reading: a descent looks at every row some twenty times."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# So many numbers, 128 MB, are kept; a larger file is read again for every sum.
MOST_CELLS = 1 << 24
# A text takes a pointer and an object of its own.
_TEXT_CELLS = 8

Blocks = tuple[Any, NDArray[np.bool_] | None]


class KeptBlocks:
    """Collects the blocks of one reading by several threads, and forgets them all if they are too many."""

    def __init__(self, file_bytes: int) -> None:
        self._lock = threading.Lock()
        # A file with more bytes than would be kept is not even tried: what is kept in vain takes memory, too.
        self._blocks: list[Blocks] | None = [] if file_bytes <= 8 * MOST_CELLS else None
        self._cells = 0

    def add(self, block: Any, used: NDArray[np.bool_] | None, columns: Sequence[NDArray[Any]]) -> None:
        cells = sum(len(column) * (_TEXT_CELLS if column.dtype == object else 1) for column in columns)
        with self._lock:
            self._cells += cells
            if self._cells > MOST_CELLS:
                self._blocks = None
            elif self._blocks is not None:
                self._blocks.append((block, used))

    @property
    def complete(self) -> bool:
        """Whether every block that was added is still here."""
        return self._blocks is not None

    def __iter__(self) -> Iterator[Blocks]:
        return iter(self._blocks or ())
