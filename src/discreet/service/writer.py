"""Group commit: one thread takes what is waiting, stores it in one synced transaction, then tells everybody."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time

from discreet.errors import StoreError
from discreet.service.entries import Entry, Outcome
from discreet.service.metrics import Metrics
from discreet.service.storage import Store

_log = logging.getLogger("discreet.service")
_Waiting = tuple[Entry, "asyncio.Future[Outcome]"]


class QueueFull(Exception):
    """As many reports wait as may; the device should come again."""


class Writer:
    """Between the event loop and the store: a bounded queue and the only thread that writes.

    A report waits for company for at most ``patience`` seconds, or until ``batch_size`` are there: a sync costs the
    same for one report as for many.
    """

    def __init__(
        self,
        store: Store,
        metrics: Metrics,
        *,
        batch_size: int = 64,
        patience: float = 0.01,
        queue_size: int = 1024,
    ) -> None:
        self._store, self._metrics = store, metrics
        self._batch_size, self._patience = batch_size, patience
        self._queue: queue.Queue[_Waiting | None] = queue.Queue(queue_size)
        self.last_error: StoreError | None = None  # of the newest commit
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="discreet-writer", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        return self._queue.qsize()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    async def write(self, entry: Entry) -> Outcome:
        """What became of the entry, known only once it is durable; QueueFull at once if there is no room to wait."""
        future: asyncio.Future[Outcome] = self._loop.create_future()
        try:
            self._queue.put_nowait((entry, future))
        except queue.Full:
            raise QueueFull from None
        return await future

    async def close(self) -> None:
        """Store what is waiting, then stop."""
        await asyncio.to_thread(self._queue.put, None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        while group := self._next_group():
            self._commit(group)

    def _next_group(self) -> list[_Waiting]:
        """Empty when the writer is to stop."""
        first = self._queue.get()
        if first is None:
            return []
        group, until = [first], time.monotonic() + self._patience
        while len(group) < self._batch_size:
            try:
                waiting = self._queue.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                break
            if waiting is None:
                self._queue.put(None)  # found again after this group
                break
            group.append(waiting)
        return group

    def _commit(self, group: list[_Waiting]) -> None:
        started = time.monotonic()
        outcomes: list[Outcome] | StoreError
        try:
            outcomes = self._store.write([entry for entry, _ in group])
        except StoreError as error:
            outcomes = error
        except Exception as error:  # the thread must outlive every surprise, and nobody may wait for ever
            outcomes = StoreError(f"the store failed: {type(error).__name__}")
        self._remember(outcomes if isinstance(outcomes, StoreError) else None)
        self._metrics.commit_seconds.observe(time.monotonic() - started)
        self._metrics.batch_sizes.observe(len(group))
        futures = [future for _, future in group]
        self._loop.call_soon_threadsafe(_tell, futures, outcomes)

    def _remember(self, error: StoreError | None) -> None:
        """Log when failing begins and when it ends: once each, however many reports are refused in between."""
        if error is not None and self.last_error is None:
            _log.error("reports are refused: %s", error)
        elif error is None and self.last_error is not None:
            _log.warning("reports are stored again")
        self.last_error = error


def _tell(futures: list[asyncio.Future[Outcome]], outcomes: list[Outcome] | StoreError) -> None:
    for number, future in enumerate(futures):
        if future.done():  # the device hung up
            continue
        if isinstance(outcomes, StoreError):
            future.set_exception(outcomes)
        else:
            future.set_result(outcomes[number])
