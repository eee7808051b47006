"""The newest entries of a ledger that is charged many times a second: on disk with one sync each.

A commit of SQLite syncs the disk four times: its journal twice, the file, and the journal's end. In
a burst an entry is appended to ``<path>.tail`` instead, a file of fixed size, with one sync. When
that file is full, at the end of a fit, and with the first entry after the burst, one transaction
moves the tail's entries into the ledger. Why nothing is lost:

* An entry is synced before its mark is written and before its charge returns. So a power cut cannot
  lose an entry that a mark knows, and the charge of everything that was released is on disk.
* At least one of tail and ledger has each entry: the tail is zeroed after the commit that moved its
  entries. Zeroing is not synced. Entries that reappear after a power cut have numbers that are
  already in the ledger, and are skipped.
* Each entry carries its hash, which covers the previous hash, the entry and the totals after it.
  The tail ends before the first entry that does not continue the chain: the charge of a partial
  entry has not returned, and it is overwritten. If an entry that a mark knows is missing or
  altered, the ledger does not contain its mark, and is refused as an older copy.
* The writer of an entry beyond the mark may have died before its sync. The next process that finds
  the entry syncs the tail before using it (``LedgerFile._check``).
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

# A burst: this many appends to one ledger by this process within this many seconds.
BURST, SECONDS = 8, 4.0
# About 40 charges, read in less than a millisecond. Written once, so that an
# append changes no length.
SIZE = 2**15

_appends: dict[Path, deque[float]] = {}


@dataclass(frozen=True)
class TailEntry:
    """An entry with its number, the state after it, its hash, and the place
    in the file where it ends.
    """

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
        """The entry as a row of the table of entries."""
        entry = self.entry
        return self.seq, entry.place, entry.facts, entry.payload, entry.digest, self.head


class Tail:
    """The file beside a ledger that stores its entries in a burst."""

    def __init__(self, ledger: Path) -> None:
        self.path = ledger.with_name(ledger.name + ".tail")
        self._ledger = ledger

    def in_burst(self) -> bool:
        """Count one more append; returns whether appends are fast enough to belong here."""
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
        """Write an entry at this offset, durable on return; returns False, and writes
        nothing, if there is no room.
        """
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
        """Zero a tail whose entries are in the ledger; see above why this is not synced."""
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
    """The entries of a tail that follow the one with this number and hash."""
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
