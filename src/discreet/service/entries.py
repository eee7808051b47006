"""The logic of every store, without input or output: entries, outcomes and running sums."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from discreet.errors import StoreCorrupt, StoreError
from discreet.local import wire
from discreet.local.task import Task
from discreet.service.tokens import Keys

_SUM_LIMIT = 2**62  # a running sum this large is far beyond any task's plan, and half of int64's range


class Outcome(StrEnum):
    """The outcome of one entry."""

    ACCEPTED = "accepted"
    REPEATED = "repeated"  # the same report was counted before
    CONFLICT = "conflict"  # another report was counted under this id
    TOKEN_USED = "token_used"  # this token has reported already


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One report to be stored; ``mark`` is the keyed hash of its token, stored in a
    separate table.
    """

    report_id: bytes
    body: bytes
    values: NDArray[np.int64]
    mark: bytes

    @classmethod
    def of(cls, task: Task, body: bytes, mark: bytes) -> Entry:
        """An entry from a report's bytes; WireError if they are not a valid report."""
        values = wire.decode(task, body)
        return cls(wire.report_id(body), body, values, mark)


@dataclass(frozen=True)
class Total:
    """The running sum of one batch."""

    batch: int
    count: int
    values: NDArray[np.int64]


def settle(
    entries: Sequence[Entry], known: Mapping[bytes, bytes], used: Collection[bytes]
) -> tuple[list[Outcome], list[Entry]]:
    """The outcome of each entry, given stored bodies by id and used marks, and the entries that are
    to be stored.
    """
    bodies, marks = dict(known), set(used)
    outcomes, fresh = [], []
    for entry in entries:
        earlier = bodies.get(entry.report_id)
        if earlier is not None:
            # This check comes first, so that a device whose acknowledgement was lost can send again
            # and get one.
            outcomes.append(Outcome.REPEATED if earlier == entry.body else Outcome.CONFLICT)
        elif entry.mark in marks:
            outcomes.append(Outcome.TOKEN_USED)
        else:
            bodies[entry.report_id] = entry.body
            marks.add(entry.mark)
            fresh.append(entry)
            outcomes.append(Outcome.ACCEPTED)
    return outcomes, fresh


def assigned(task: Task, total: Total, fresh: Sequence[Entry], today: date) -> list[tuple[int, list[Entry]]]:
    """Which batch gets which entries; ``total`` is the open batch's.

    A task closes its first batch after a day, or every batch at its goal. Late reports go to the
    next batch, so that what was fitted to a closed one stays as it is.
    """
    batch, rest = total.batch, list(fresh)
    if task.closes != "goal":
        late = batch == 0 and today > date.fromisoformat(task.closes)
        return [(batch + late, rest)]
    parts, room = [], task.goal - total.count
    while rest:
        if room > 0:
            parts.append((batch, rest[:room]))
            rest = rest[room:]
        batch, room = batch + 1, task.goal
    return parts


def added(total: Total, reports: Sequence[NDArray[np.int64]]) -> Total:
    """The total after these reports are added."""
    values = total.values + np.sum(reports, axis=0, dtype=np.int64)
    if max(abs(int(values.max())), abs(int(values.min()))) >= _SUM_LIMIT:
        raise StoreError("a running sum would leave the range of 64-bit integers; nothing was stored")
    return Total(total.batch, total.count + len(reports), values)


def row_checksum(keys: Keys, task_digest: str, batch: int, report_id: bytes, body: bytes) -> bytes:
    """The checksum of one stored report, over all fields of its row."""
    return keys.checksum(b"report", task_digest.encode(), str(batch).encode(), report_id, body)


def total_checksum(keys: Keys, task_digest: str, total: Total) -> bytes:
    """The checksum of one running sum."""
    numbers = f"{total.batch} {total.count}".encode()
    return keys.checksum(b"total", task_digest.encode(), numbers, pack(total.values))


def sealed_note(keys: Keys, task_digest: str, name: str, text: str) -> str:
    """A note as it is stored: after its checksum."""
    return f"{keys.checksum(b'note', task_digest.encode(), name.encode(), text.encode()).hex()} {text}"


def opened_note(keys: Keys, task_digest: str, name: str, stored: str) -> str:
    """The text of a stored note, verified."""
    text = stored.partition(" ")[2]
    if stored != sealed_note(keys, task_digest, name, text):
        raise StoreCorrupt(f"the note {name!r} is not what was written")
    return text


def pack(values: NDArray[np.int64]) -> bytes:
    """A sum as it is stored: little-endian 64-bit integers."""
    return values.astype("<i8").tobytes()


def unpack(keys: Keys, task_digest: str, row: tuple[int, int, bytes, bytes]) -> Total:
    """The running sum in a row (batch, count, values, checksum), verified."""
    batch, count, packed, checksum = row
    total = Total(batch, count, np.frombuffer(packed, dtype="<i8").astype(np.int64))
    if checksum != total_checksum(keys, task_digest, total):
        raise StoreCorrupt(f"the running sum of batch {batch} is not what was written")
    return total
