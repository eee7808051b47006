"""Progress of passes, for a person at a terminal.

Only the number of the pass and its completed tenths are reported: with a private number of rows
neither may reveal it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar

# Called with the number of the pass, from 1, and the tenths of it that are done, from 0 to 10.
Listener = Callable[[int, int], None]

listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


class Progress:
    """The progress of one pass; ``whole`` is its total, None where it is not known."""

    def __init__(self, number: int, whole: float | None) -> None:
        self._listener = listener.get()
        self._number = number
        self._whole = whole
        self._done = 0.0
        self._told = 0
        self._lock = threading.Lock()
        self._tell(0)

    def advance(self, done: float) -> None:
        """Add to the progress; several threads may call this at once."""
        if self._listener is None or not self._whole:
            return
        with self._lock:
            self._done += done
            self._reach(min(int(10 * self._done / self._whole), 10))

    def end(self) -> None:
        self._reach(10)

    def _reach(self, tenths: int) -> None:
        """Every tenth is reported, so that the reports are the same for any number of rows."""
        while self._told < tenths:
            self._told += 1
            self._tell(self._told)

    def _tell(self, tenths: int) -> None:
        if self._listener is not None:
            self._listener(self._number, tenths)
