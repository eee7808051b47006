"""The collector's own state for the page and for ``/metrics``: queue, commits, disk, refusals."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from discreet.service.metrics import REFUSALS, Metrics
from discreet.service.numbers import storage
from discreet.service.storage import Store, Usage
from discreet.service.verification import VERIFIED
from discreet.service.writer import Writer


@dataclass(frozen=True)
class Operations:
    """Of one moment."""

    ready: bool
    waiting: int
    queue_size: int
    commit_seconds: float | None  # on average
    usage: Usage
    verified: str  # when, and how many reports were there
    refused: list[tuple[str, int]]  # most frequent first

    @classmethod
    def of(cls, store: Store, writer: Writer, metrics: Metrics) -> Operations:
        """The state now. It asks the store, so do not call it on the event loop."""
        refused = [(REFUSALS[code], count) for code, count in metrics.refusals.most_common() if count]
        return cls(
            writer.ready,
            writer.waiting,
            writer.queue_size,
            metrics.commit_seconds.mean,
            store.usage(),
            _verified(store.note(VERIFIED), datetime.now(UTC)),
            refused,
        )

    @property
    def commit(self) -> str:
        """Of one commit, in words."""
        if self.commit_seconds is None:
            return "none yet"
        return f"{1000 * self.commit_seconds:.0f} ms on average"

    @property
    def disk(self) -> str:
        """Of the store, in words."""
        left = "" if self.usage.free_bytes is None else f", {storage(self.usage.free_bytes)} free"
        return f"{storage(self.usage.bytes)} used{left}"

    def gauges(self) -> dict[str, tuple[str, float]]:
        """What each says, and its value."""
        found = {
            "discreet_ready": ("1 if a report that arrived now would be stored.", float(self.ready)),
            "discreet_waiting": ("Reports that wait for a commit.", float(self.waiting)),
            "discreet_waiting_limit": ("Reports that may wait for a commit.", float(self.queue_size)),
            "discreet_store_bytes": ("Size of the store.", float(self.usage.bytes)),
        }
        if self.usage.free_bytes is not None:
            found["discreet_store_free_bytes"] = ("Free space for the store.", float(self.usage.free_bytes))
        return found


def _verified(note: str | None, now: datetime) -> str:
    if note is None:
        return "never; `discreet local verify` does it"
    content = json.loads(note)
    days = (now - datetime.fromisoformat(content["time"])).days
    ago = {0: "within a day", 1: "a day ago"}.get(days, f"{days} days ago")
    return f"{ago}: {content['reports']:,} reports, each intact and counted once"
