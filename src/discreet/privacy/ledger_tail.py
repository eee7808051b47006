"""The newest entries of a ledger that is charged many times a second: on disk with one sync each.

A commit of SQLite waits for the disk four times: its journal twice, the file, and the journal's end. In a burst an
entry is appended to ``<path>.tail`` instead, a file of fixed size, which takes one sync. When that file is full, at the
end of a fit, and with the first entry after the burst, one transaction folds the tail into the ledger. Why nothing is
lost:

* An entry is synced before its mark is written and before its charge returns. So a mark never knows an entry that a
  power cut could take, and what was released is on disk.
* Tail and ledger never both lack an entry: the tail is blanked after the commit that took its entries in. Blanking is
  not synced. What a power cut brings back has numbers that the ledger has already, and is passed over.
* Each entry carries its hash, which covers the hash before it, itself and the totals after it. The tail ends before the
  first one that does not continue the chain: half of an entry was never returned for, and is written over. If an entry
  that a mark knows is gone or altered, the ledger does not contain its mark, and is refused as an older copy.
* An entry beyond the mark may be one whose writer died before its sync. Whoever meets it syncs the tail before using
  it (``LedgerFile._check``).
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from discreet.privacy.ledger_entry import Entry, digest, link
from discreet.privacy.ledger_mark import canonical_json, sync, sync_directory

# A burst: so many appends to one ledger by this process, within so many seconds.
BURST, SECONDS = 8, 4.0
# Some 40 charges: reading them takes less than a millisecond. Written once, so that an append changes no length.
SIZE = 2**15

_appends: dict[Path, deque[float]] = {}


@dataclass(frozen=True)
class TailEntry:
    """An entry with its number, the state after it, its hash, and the place in the file where it ends."""

    seq: int
    facts: str
    payload: str | None
    state: str
    head: str
    end: int

    @property
    def entry(self) -> Entry:
        return Entry.read(self.facts, self.payload)

    @property
    def row(self) -> tuple[int, str, str, str | None, str, str]:
        """As the table of entries has it."""
        entry = self.entry
        return self.seq, entry.place, entry.facts, entry.payload, entry.digest, self.head


class Tail:
    """The file beside a ledger that takes its entries in a burst."""

    def __init__(self, ledger: Path) -> None:
        self.path = ledger.with_name(ledger.name + ".tail")
        self._ledger = ledger

    def in_burst(self) -> bool:
        """Count one more append; whether they come so fast that they belong here."""
        appends = _appends.setdefault(self._ledger, deque(maxlen=max(BURST, 1)))
        fast = BURST == 0 or (len(appends) == BURST and time.monotonic() - appends[0] < SECONDS)
        appends.append(time.monotonic())
        return fast

    def read(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""

    def append(self, seq: int, entry: Entry, state: str, head: str, start: int) -> bool:
        """Write an entry at this place, durable on return; False, and nothing is written, where there is no room."""
        text = canonical_json([seq, entry.facts, entry.payload, state, head]).encode("ascii") + b"\n"
        if start + len(text) > SIZE:
            return False
        self._make()
        descriptor = os.open(self.path, os.O_WRONLY)
        try:
            os.pwrite(descriptor, text, start)
            sync(descriptor)
        finally:
            os.close(descriptor)
        return True

    def clear(self) -> None:
        """Blank a tail whose entries the ledger has taken in; see above why that need not be synced."""
        try:
            descriptor = os.open(self.path, os.O_WRONLY)
        except FileNotFoundError:
            return
        try:
            os.pwrite(descriptor, bytes(SIZE), 0)
        finally:
            os.close(descriptor)

    def sync(self) -> None:
        try:
            descriptor = os.open(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return
        try:
            sync(descriptor)
        finally:
            os.close(descriptor)

    def _make(self) -> None:
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            length = os.fstat(descriptor).st_size
            if length < SIZE:
                os.pwrite(descriptor, bytes(SIZE - length), length)
                sync(descriptor)
                sync_directory(self.path.parent)
        finally:
            os.close(descriptor)


def continued(content: bytes, seq: int, head: str) -> list[TailEntry]:
    """The entries of a tail that come after the one with this number and hash."""
    found: list[TailEntry] = []
    end = 0
    for line in content.splitlines(keepends=True):
        end += len(line)
        try:
            number, facts, payload, state, own = json.loads(line.decode("ascii"))
            last_seq, last_head = (found[-1].seq, found[-1].head) if found else (seq, head)
            if not found and number <= seq:
                continue  # the ledger has it already
            if number != last_seq + 1 or link(last_head, digest(facts, payload), state) != own:
                break
            found.append(TailEntry(number, facts, payload, state, own, end))
        except (ValueError, TypeError, RecursionError):
            break
    return found
