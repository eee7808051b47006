"""The entries of a ledger in their SQLite tables: how they are linked, found, added and verified.

Each entry's hash covers the previous hash, the entry itself and the state after it, so the newest
hash authenticates all of them. The checkpoint is the newest state. It allows a charge to be decided
without reading earlier entries.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from discreet.privacy.ledger_entry import Entry, link
from discreet.privacy.ledger_lock import no_fork
from discreet.privacy.ledger_mark import Mark
from discreet.privacy.ledger_tail import TailEntry, continued


class State(Protocol):
    """The state that a chain of entries adds up to."""

    @property
    def text(self) -> str: ...

    def after(self, kind: str, fields: dict[str, Any]) -> State:
        """The state after one more entry."""
        ...


class StateType(Protocol):
    """How a state starts, and how it is read from its text."""

    def opened(self, kind: str, fields: dict[str, Any]) -> State: ...

    def read(self, text: str) -> State: ...


_TABLES = (
    "CREATE TABLE entries (seq INTEGER PRIMARY KEY, place TEXT, facts TEXT, payload TEXT, digest TEXT, hash TEXT)",
    "CREATE INDEX by_place ON entries (place)",
    "CREATE TABLE checkpoint (only INTEGER PRIMARY KEY CHECK (only = 1), seq INTEGER, state TEXT)",
)


class View:
    """The ledger as one transaction sees it. Raises ValueError if its end was altered.

    ``tail``: the content of its tail, read before the transaction began. In this order no entry is
    missed: an entry that has left the tail is in the transaction.
    """

    def __init__(self, connection: sqlite3.Connection, tail: bytes = b"") -> None:
        self._connection = connection
        newest = connection.execute("SELECT seq, digest, hash FROM entries ORDER BY seq DESC LIMIT 1").fetchone()
        checkpoints = connection.execute("SELECT seq, state FROM checkpoint").fetchall()
        if newest is None or len(checkpoints) != 1 or checkpoints[0][0] != newest[0]:
            raise ValueError("it has no checkpoint at its end")
        self.seq: int = newest[0]
        self.head: str = newest[2]
        self.state: str = checkpoints[0][1]
        self.tail: list[TailEntry] = []
        self.ledger = self.hash_of(0)
        if link(self.hash_of(self.seq - 1), newest[1], self.state) != self.head:
            raise ValueError("its newest entry and its checkpoint do not belong together")
        self.tail = continued(tail, self.seq, self.head)
        if self.tail:
            self.seq, self.head, self.state = self.tail[-1].seq, self.tail[-1].head, self.tail[-1].state

    def hash_of(self, seq: int) -> str:
        """The hash of this entry; empty if there is none."""
        if self.tail and self.tail[0].seq <= seq <= self.seq:
            return self.tail[seq - self.tail[0].seq].head
        row = self._connection.execute("SELECT hash FROM entries WHERE seq = ?", (seq,)).fetchone()
        return "" if row is None else str(row[0])

    def contains(self, mark: Mark) -> bool:
        return mark.ledger == self.ledger and (mark.seq < 0 or self.hash_of(mark.seq) == mark.head)

    def find(self, kind: str, key: str) -> Entry | None:
        """The entry of this kind and key, if there is one."""
        query = "SELECT facts, payload, digest FROM entries WHERE place = ? ORDER BY seq LIMIT 1"
        place = Entry(kind, key, "").place
        row = self._connection.execute(query, (place,)).fetchone()
        if row is None:
            return next((one.entry for one in self.tail if one.facts.startswith(f"{place},")), None)
        entry = Entry(kind, key, row[0], row[1])
        if entry.digest != row[2] or not entry.facts.startswith(entry.place):
            raise ValueError("an entry is not the one that was written")
        return entry

    def facts(self) -> Iterator[str]:
        """The facts of every entry, oldest first."""
        for (facts,) in self._connection.execute("SELECT facts FROM entries ORDER BY seq"):
            yield facts
        yield from (one.facts for one in self.tail)

    def verify(self, states: StateType) -> int:
        """Check each entry, each link and each state; returns the number of entries."""
        if self._connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise ValueError("SQLite finds its pages damaged")
        number, head, state = recomputed(chain(rows(self._connection), (one.row for one in self.tail)), states)
        if (head, state) != (self.head, self.state):
            raise ValueError("its checkpoint is not what its entries add up to")
        return number

    def fold(self) -> bool:
        """Move the entries of the tail into the tables; returns whether there were any."""
        for one in self.tail:
            insert(self._connection, one.seq, one.entry, one.head, one.state)
        folded, self.tail = bool(self.tail), []
        return folded


def rows(connection: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
    """Every entry of the tables, oldest first."""
    return connection.execute("SELECT seq, place, facts, payload, digest, hash FROM entries ORDER BY seq")


def recomputed(entries: Iterable[tuple[Any, ...]], states: StateType) -> tuple[int, str, str]:
    """The number of entries, the last hash and the state, recomputed from the entries alone.

    Raises ValueError if an entry or a link between two entries is not what was written.
    """
    state: State | None = None
    before, number = "", 0
    for seq, place, facts, payload, digest, entry_hash in entries:
        kind, key, fields = json.loads(facts)
        entry = Entry(kind, key, facts, payload)
        state = states.opened(kind, fields) if state is None else state.after(kind, fields)
        before = link(before, entry.digest, state.text)
        if (seq, place, digest, entry_hash) != (number, entry.place, entry.digest, before):
            raise ValueError(f"entry {number} is not the one that was written")
        number += 1
    if state is None:
        raise ValueError("it has no entry")
    return number, before, state.text


def create_tables(connection: sqlite3.Connection) -> None:
    for table in _TABLES:
        connection.execute(table)


def insert(connection: sqlite3.Connection, seq: int, entry: Entry, head: str, state: str) -> None:
    values = (seq, entry.place, entry.facts, entry.payload, entry.digest, head)
    connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", values)
    set_checkpoint(connection, seq, state)


def set_checkpoint(connection: sqlite3.Connection, seq: int, state: str) -> None:
    connection.execute("INSERT OR REPLACE INTO checkpoint VALUES (1, ?, ?)", (seq, state))


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that writes nothing and sees one state of the file."""
    # A short timeout: a writer that was stopped during a commit must not block readers for long.
    with no_fork, closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
        connection.execute("BEGIN")
        # This fails if a crash left the file half written.
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield connection


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """One transaction, which is on disk when the block ends."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=60, isolation_level=None)) as connection:
        # The journal is kept and overwritten: creating and deleting it would sync the
        # folder twice per entry.
        for setting in ("journal_mode = PERSIST", "synchronous = FULL", "fullfsync = ON"):
            connection.execute(f"PRAGMA {setting}")
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
