"""Blocks of a small table, kept from its first reading: a descent reads every row several times."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

from discreet.engines.layout import Chunk

# Tables with more bytes than this, on disk or in Arrow's memory, are read again for every sum.
MOST_BYTES = 1 << 26


class KeptChunks:
    """Collects the blocks of one reading by several threads, and drops them all if they are too
    large.
    """

    def __init__(self, table_bytes: int | None, *, anyhow: bool = False) -> None:
        self._most = sys.maxsize if anyhow else MOST_BYTES
        self._lock = threading.Lock()
        # For a large table no block is kept, which would only take memory.
        self._chunks: list[Chunk] | None = [] if table_bytes is None or table_bytes <= self._most else None
        self._bytes = 0

    def add(self, chunk: Chunk, size: int) -> None:
        with self._lock:
            self._bytes += size
            if self._bytes > self._most:
                self._chunks = None
            elif self._chunks is not None:
                self._chunks.append(chunk)

    @property
    def complete(self) -> bool:
        """Whether every block that was added is still here."""
        return self._chunks is not None

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self._chunks or ())
