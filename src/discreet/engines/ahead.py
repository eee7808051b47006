"""Reads the next block while one is summed."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any

# The most items that wait: more would take memory and save no time.
_WAITING = 1


def ahead(items: Iterable[Any]) -> Iterator[Any]:
    """The same items, read by a separate thread; its exceptions are raised here."""
    waiting: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue(_WAITING)
    stopped = threading.Event()
    end = object()

    def put(item: Any, error: BaseException | None = None) -> bool:
        while not stopped.is_set():
            try:
                waiting.put((item, error), timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def draw() -> None:
        iterator = iter(items)
        try:
            for item in iterator:
                if not put(item):
                    break
            put(end)
        except BaseException as error:
            put(end, error)
        finally:
            close = getattr(iterator, "close", None)
            if close is not None:
                close()

    thread = threading.Thread(target=draw, daemon=True, name="discreet reader")
    thread.start()
    try:
        while True:
            item, error = waiting.get()
            if error is not None:
                raise error
            if item is end:
                return
            yield item
    finally:
        stopped.set()
        thread.join()
