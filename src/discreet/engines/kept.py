"""Blocks of a small file, kept from its first reading: a descent looks at every row some twenty times."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Files with more bytes than this, as they lie on disk or in Arrow's memory, are read again for every sum.
MOST_BYTES = 1 << 26

Kept = tuple[Any, NDArray[np.bool_] | None]


class KeptBlocks:
    """Collects the blocks of one reading by several threads, and forgets them all if they are too large."""

    def __init__(self, file_bytes: int) -> None:
        self._lock = threading.Lock()
        # A large file is not even tried: what is kept in vain takes memory, too.
        self._blocks: list[Kept] | None = [] if file_bytes <= MOST_BYTES else None
        self._bytes = 0

    def add(self, block: Any, used: NDArray[np.bool_] | None, size: int) -> None:
        with self._lock:
            self._bytes += size
            if self._bytes > MOST_BYTES:
                self._blocks = None
            elif self._blocks is not None:
                self._blocks.append((block, used))

    @property
    def complete(self) -> bool:
        """Whether every block that was added is still here."""
        return self._blocks is not None

    def __iter__(self) -> Iterator[Kept]:
        return iter(self._blocks or ())
