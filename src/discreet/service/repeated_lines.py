"""Limits repeated log lines to one a minute with a count, so that strangers cannot fill the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

_KINDS = 200  # kinds of lines; more than the code has


class OnceAMinute(logging.Filter):
    """Lets the first line of each kind (logger, level and text before its arguments) through, then
    one a minute.
    """

    def __init__(self, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._seconds, self._clock = seconds, clock
        self._kinds: dict[tuple[str, int, str], tuple[float, int]] = {}  # when written last, how many since

    def filter(self, record: logging.LogRecord) -> bool:
        if len(self._kinds) >= _KINDS:
            self._kinds.clear()
        kind, now = (record.name, record.levelno, str(record.msg)), self._clock()
        written, kept_back = self._kinds.get(kind, (-self._seconds, 0))
        if now - written < self._seconds:
            self._kinds[kind] = (written, kept_back + 1)
            return False
        self._kinds[kind] = (now, 0)
        if kept_back:
            record.msg = f"{record.getMessage()} (and {kept_back} more times since the last such line)"
            record.args = ()
        return True
