"""The embedded store: one SQLite file with a write-ahead log, synced at every commit.

Reports and token marks are kept in the order of their random ids, not of their arrival, so the file does not remember
who came when, nor which mark came with which report.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from discreet.errors import StoreError, StoreFull
from discreet.local.task import Task
from discreet.service.entries import (
    Entry,
    Outcome,
    Total,
    added,
    assigned,
    pack,
    row_checksum,
    settle,
    total_checksum,
    unpack,
)
from discreet.service.tokens import Keys
from discreet.service.verification import added_again, check_same, empty_total

_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reports (
    id BLOB PRIMARY KEY, batch INTEGER NOT NULL, body BLOB NOT NULL, checksum BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS marks (mark BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS totals (
    batch INTEGER PRIMARY KEY, count INTEGER NOT NULL, sum BLOB NOT NULL, checksum BLOB NOT NULL
) WITHOUT ROWID;
"""
_PAGE_BYTES = 8192
_LOG_PAGES = 1000  # copy the log back into the file this often: 8 MB, a few tens of milliseconds


class SQLiteStore:
    """Reports of one task in one file; ``max_bytes`` is a quota for it."""

    def __init__(self, path: Path, task: Task, keys: Keys, *, max_bytes: int | None = None) -> None:
        self.path, self._task, self._keys = path.resolve(), task, keys
        with _translated():
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            self._writer = self._connect()
            with suppress(sqlite3.OperationalError):  # another process is making the same file; the log mode sticks
                self._writer.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            self._writer.execute("PRAGMA journal_mode = WAL")
            self._writer.execute("PRAGMA synchronous = FULL")
            self._writer.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
            if max_bytes is not None:
                self._writer.execute(f"PRAGMA max_page_count = {max(1, max_bytes // _PAGE_BYTES)}")
            self._writer.executescript(_SCHEMA)
            self._claim()

    def write(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Store what is new in one transaction; on disk when this returns, and nothing is stored when it raises."""
        with _translated(), _transaction(self._writer) as cursor:
            outcomes, fresh = settle(entries, self._known(cursor, entries), self._used(cursor, entries))
            if fresh:
                self._insert(cursor, fresh)
        return outcomes

    def totals(self) -> list[Total]:
        """The running sums, oldest batch first."""
        with self._reading() as connection:
            return self._totals(connection)

    def open_batch(self) -> int:
        """The number of the batch that takes reports now."""
        with self._reading() as connection:
            return self._open_batch(connection)

    def close_batch(self, number: int) -> bool:
        """Close this batch if it is the open one, so that its sum never changes again."""
        with self._reading() as connection, _transaction(connection) as cursor:
            cursor.execute("UPDATE facts SET value = value + 1 WHERE name = 'open batch' AND value = ?", (number,))
            return cursor.rowcount == 1

    def verified_totals(self) -> list[Total]:
        """The sums added up again from every stored report, its checksum verified and the running sums compared."""
        with self._reading() as connection:
            connection.execute("BEGIN")  # one snapshot for both
            rows = connection.execute("SELECT id, batch, body, checksum FROM reports")
            again = added_again(self._task, self._keys, rows)
            check_same(self._totals(connection), again)
            return again

    def close(self) -> None:
        """Let go of the file; whatever was acknowledged is in it."""
        self._writer.close()

    def _claim(self) -> None:
        """A store belongs to one task for ever: sums of two would be a sum of nothing."""
        with _transaction(self._writer) as cursor:
            cursor.execute("INSERT OR IGNORE INTO facts VALUES ('task', ?)", (self._task.digest,))
            cursor.execute("INSERT OR IGNORE INTO facts VALUES ('open batch', 0)")
            cursor.execute("INSERT OR IGNORE INTO facts VALUES ('key', ?)", (self._keys.checksum(b"this key"),))
            facts = dict(cursor.execute("SELECT name, value FROM facts").fetchall())
        if facts["task"] != self._task.digest:
            raise StoreError(f"{self.path} belongs to task {facts['task'][:12]}, not to {self._task.digest[:12]}")
        if facts["key"] != self._keys.checksum(b"this key"):
            raise StoreError(f"{self.path} was made with another key; put its key file back")

    def _known(self, cursor: sqlite3.Cursor, entries: Sequence[Entry]) -> dict[bytes, bytes]:
        ids = [entry.report_id for entry in entries]
        return dict(cursor.execute(f"SELECT id, body FROM reports WHERE id IN ({_places(ids)})", ids).fetchall())

    def _used(self, cursor: sqlite3.Cursor, entries: Sequence[Entry]) -> set[bytes]:
        marks = [entry.mark for entry in entries]
        return {mark for (mark,) in cursor.execute(f"SELECT mark FROM marks WHERE mark IN ({_places(marks)})", marks)}

    def _insert(self, cursor: sqlite3.Cursor, fresh: Sequence[Entry]) -> None:
        first = self._total(cursor, self._open_batch(cursor))
        for batch, entries in assigned(self._task, first, fresh, datetime.now(UTC).date()):
            checksums = [row_checksum(self._keys, self._task.digest, batch, e.report_id, e.body) for e in entries]
            rows = [(e.report_id, batch, e.body, check) for e, check in zip(entries, checksums, strict=True)]
            cursor.executemany("INSERT INTO reports VALUES (?, ?, ?, ?)", rows)
            total = added(self._total(cursor, batch), [entry.values for entry in entries])
            changed = (batch, total.count, pack(total.values), total_checksum(self._keys, self._task.digest, total))
            cursor.execute("INSERT OR REPLACE INTO totals VALUES (?, ?, ?, ?)", changed)
        cursor.executemany("INSERT INTO marks VALUES (?)", [(entry.mark,) for entry in fresh])
        cursor.execute("UPDATE facts SET value = ? WHERE name = 'open batch'", (batch,))

    def _total(self, cursor: sqlite3.Cursor, batch: int) -> Total:
        row = cursor.execute("SELECT batch, count, sum, checksum FROM totals WHERE batch = ?", (batch,)).fetchone()
        return unpack(self._keys, self._task.digest, row) if row else empty_total(self._task, batch)

    def _totals(self, connection: sqlite3.Connection) -> list[Total]:
        rows = connection.execute("SELECT batch, count, sum, checksum FROM totals ORDER BY batch")
        return [unpack(self._keys, self._task.digest, row) for row in rows]

    def _open_batch(self, connection: sqlite3.Connection | sqlite3.Cursor) -> int:
        return int(connection.execute("SELECT value FROM facts WHERE name = 'open batch'").fetchone()[0])

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own: readers of a write-ahead log neither wait for the writer nor hold it up."""
        with _translated():
            connection = self._connect()
            try:
                connection.execute("PRAGMA synchronous = FULL")
                yield connection
            finally:
                connection.close()

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Cursor]:
    """All or nothing, from before the first read, so that two collectors on one file cannot both see an id as new."""
    cursor = connection.cursor()
    cursor.execute("BEGIN IMMEDIATE")
    try:
        yield cursor
        cursor.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk may have rolled back already
            cursor.execute("ROLLBACK")
        raise
    finally:
        cursor.close()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            raise StoreFull("the store is full; free some room or raise the quota") from error
        raise StoreError(f"the store cannot be used: {error}") from error


def _places(values: Sequence[bytes]) -> str:
    return ",".join("?" * len(values))
