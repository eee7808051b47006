"""Group commit: one thread stores all waiting reports in one synced transaction, then replies."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from discreet.errors import StoreError
from discreet.service.entries import Entry, Outcome
from discreet.service.limits import Limits
from discreet.service.metrics import Metrics
from discreet.service.storage import Store

_log = logging.getLogger("discreet.service")
_Waiting = tuple[Entry, "asyncio.Future[Outcome]"]


class QueueFull(Exception):
    """The queue is full; the device should try again later."""


class Writer:
    """Between the event loop and the store: a bounded queue and the only thread that writes.

    A report waits for others for at most ``patience`` seconds, or until ``batch_size`` are waiting:
    a sync costs the same for one report as for many. Between reports the thread probes the store.
    So readiness is known before a device asks, and the end of a failure is noticed even if no
    device sends reports.
    """

    def __init__(self, store: Store, metrics: Metrics, limits: Limits, *, body_size: int) -> None:
        self._store, self._metrics, self._limits, self._body_size = store, metrics, limits, body_size
        self._queue: queue.Queue[_Waiting | None] = queue.Queue(limits.queue_size)
        self.last_error: StoreError | None = None  # of the newest commit or probe
        self.closing = False
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="discreet-writer", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        return self._queue.qsize()

    @property
    def queue_size(self) -> int:
        return self._limits.queue_size

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    @property
    def ready(self) -> bool:
        """Whether a report that arrived now would be stored, as far as is known."""
        return self.alive and not self.closing and self.last_error is None

    async def write(self, entry: Entry) -> Outcome:
        """The outcome of the entry, once it is durable; QueueFull at once if the queue is full."""
        future: asyncio.Future[Outcome] = self._loop.create_future()
        try:
            self._queue.put_nowait((entry, future))
        except queue.Full:
            raise QueueFull from None
        return await future

    async def close(self) -> bool:
        """Store what is waiting, then stop. Returns whether this was done in time."""
        self.closing = True
        return await asyncio.to_thread(self._stop)

    def _stop(self) -> bool:
        until = time.monotonic() + self._limits.shutdown_seconds
        with suppress(queue.Full):
            self._queue.put(None, timeout=self._limits.shutdown_seconds)
        self._thread.join(max(0.0, until - time.monotonic()))
        if self.alive:
            _log.error("the store did not answer in time; %d waiting reports are not acknowledged", self.waiting)
        return not self.alive

    def _run(self) -> None:
        while group := self._next_group():
            self._commit(group)

    def _next_group(self) -> list[_Waiting]:
        """Empty when the writer is to stop."""
        first = self._first()
        if first is None:
            return []
        group, until = [first], time.monotonic() + self._limits.patience
        while len(group) < self._limits.batch_size:
            try:
                waiting = self._queue.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                break
            if waiting is None:
                self._queue.put(None)  # found again after this group
                break
            group.append(waiting)
        return group

    def _first(self) -> _Waiting | None:
        while True:
            failing = self.last_error is not None
            try:
                return self._queue.get(timeout=self._limits.retry_seconds if failing else self._limits.probe_seconds)
            except queue.Empty:
                # After a failure the probe is as large as a commit: a full disk may still take a
                # few bytes.
                size = self._body_size * (self._limits.batch_size if failing else 1)
                self._remember(_failure(partial(self._store.probe, size)))

    def _commit(self, group: list[_Waiting]) -> None:
        started = time.monotonic()
        outcomes: list[Outcome] = []
        error = _failure(lambda: outcomes.extend(self._store.write([entry for entry, _ in group])))
        self._remember(error)
        self._metrics.commit_seconds.observe(time.monotonic() - started)
        self._metrics.commit_reports.observe(len(group))
        futures = [future for _, future in group]
        with suppress(RuntimeError):  # the event loop has ended: no request waits any more
            self._loop.call_soon_threadsafe(_tell, futures, outcomes, error)

    def _remember(self, error: StoreError | None) -> None:
        """Log when failing begins and when it ends: once each, however many reports are refused in
        between.
        """
        if error is not None and self.last_error is None:
            _log.error("reports are refused: %s", error)
        elif error is None and self.last_error is not None:
            _log.warning("reports are stored again")
        self.last_error = error


def _failure(act: Callable[[], None]) -> StoreError | None:
    """The store's error, if any. The thread must survive every exception, or requests would wait
    forever.
    """
    try:
        act()
    except StoreError as error:
        return error
    except Exception as error:
        return StoreError(f"the store failed: {type(error).__name__}")
    return None


def _tell(futures: list[asyncio.Future[Outcome]], outcomes: list[Outcome], error: StoreError | None) -> None:
    for number, future in enumerate(futures):
        if future.done():  # the device hung up
            continue
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(outcomes[number])
