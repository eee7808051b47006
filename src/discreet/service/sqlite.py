"""The embedded store: one SQLite file with a write-ahead log, synced at every commit.

Reports and token marks are kept in the order of their random ids, not of their arrival, so the file
does not show the order of arrival, nor which mark belongs to which report.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
    opened_note,
    pack,
    row_checksum,
    sealed_note,
    settle,
    total_checksum,
    unpack,
)
from discreet.service.storage import SCHEMA_VERSION, Usage, check_version
from discreet.service.tokens import Keys
from discreet.service.verification import added_again, check_same, empty_total

_SCHEMA = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE reports (id BLOB PRIMARY KEY, batch INTEGER NOT NULL, body BLOB NOT NULL, checksum BLOB NOT NULL)"
    " WITHOUT ROWID",
    "CREATE TABLE marks (mark BLOB PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE totals (batch INTEGER PRIMARY KEY, count INTEGER NOT NULL, sum BLOB NOT NULL, checksum BLOB NOT NULL)"
    " WITHOUT ROWID",
)
_PAGE_BYTES = 8192
_LOG_PAGES = 1000  # copy the log back into the file this often: 8 MB, a few tens of milliseconds
_LOCK_SECONDS = 10.0  # seconds to wait for another process's write


class SQLiteStore:
    """Reports of one task in one file; ``max_bytes`` is a quota for it."""

    def __init__(self, path: Path, task: Task, keys: Keys, *, max_bytes: int | None = None) -> None:
        self.path, self._task, self._keys, self._max_bytes = path.resolve(), task, keys, max_bytes
        if not self.path.exists():
            raise StoreError(f"there is no store at {path}; `discreet local create` makes one")
        self._file = _identity(self.path)
        with _translated():
            self._writer = self._connect()
            try:
                self._check()
                self._writer.execute("PRAGMA journal_mode = WAL")
                self._writer.execute("PRAGMA synchronous = FULL")
                self._writer.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
                if max_bytes is not None:
                    self._writer.execute(f"PRAGMA max_page_count = {max(1, max_bytes // _PAGE_BYTES)}")
            except BaseException:
                self._writer.close()
                raise

    @classmethod
    def create(cls, path: Path, task: Task, keys: Keys) -> SQLiteStore:
        """A new file with the tables of this task; a store belongs to one task and one key for
        ever.
        """
        with _translated():
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            except FileExistsError:
                raise StoreError(f"the file {path} exists already") from None
            connection = _connected(path)
            connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            connection.execute("PRAGMA synchronous = FULL")
            with _transaction(connection) as cursor:
                for statement in _SCHEMA:
                    cursor.execute(statement)
                facts = {"task": task.digest, "open batch": 0, "key": keys.checksum(b"this key")}
                cursor.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
                cursor.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.close()
        return cls(path, task, keys)

    def write(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Store what is new in one transaction; on disk when this returns, and nothing is stored
        when it raises.
        """
        with _translated(), _transaction(self._writer) as cursor:
            outcomes, fresh = settle(entries, self._known(cursor, entries), self._used(cursor, entries))
            if fresh:
                self._insert(cursor, fresh)
        self._check_there()
        return outcomes

    def probe(self, size: int) -> None:
        """Store this many bytes durably and delete them again; raises as ``write`` would."""
        with _translated():
            with _transaction(self._writer) as cursor:
                cursor.execute("INSERT OR REPLACE INTO facts VALUES ('probe', zeroblob(?))", (size,))
            with _transaction(self._writer) as cursor:
                cursor.execute("DELETE FROM facts WHERE name = 'probe'")
        self._check_there()

    def counts(self) -> list[tuple[int, int]]:
        """Each batch that has reports, oldest first, with their number."""
        with self._reading() as connection:
            return connection.execute("SELECT batch, count FROM totals ORDER BY batch").fetchall()

    def total(self, batch: int) -> Total:
        """The running sum of one batch."""
        with self._reading() as connection:
            return self._total(connection, batch)

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
        """The sums recomputed from every stored report; checksums and running sums are verified."""
        with self._reading() as connection:
            connection.execute("BEGIN")  # one snapshot for both
            rows = connection.execute("SELECT id, batch, body, checksum FROM reports")
            again = added_again(self._task, self._keys, rows)
            check_same(self._totals(connection), again)
            return again

    def note(self, name: str) -> str | None:
        """A text that was kept beside the reports."""
        with self._reading() as connection:
            row = connection.execute("SELECT value FROM facts WHERE name = ?", (f"note {name}",)).fetchone()
            return None if row is None else opened_note(self._keys, self._task.digest, name, str(row[0]))

    def set_note(self, name: str, text: str) -> None:
        """Keep a text beside the reports."""
        with self._reading() as connection, _transaction(connection) as cursor:
            sealed = sealed_note(self._keys, self._task.digest, name, text)
            cursor.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (f"note {name}", sealed))

    def usage(self) -> Usage:
        """The size of the file and its log; the free space on the disk and within the quota."""
        files = [self.path, self.path.with_name(self.path.name + "-wal")]
        size = sum(file.stat().st_size for file in files if file.exists())
        free = shutil.disk_usage(self.path.parent).free
        return Usage(size, free if self._max_bytes is None else max(0, min(free, self._max_bytes - size)))

    def close(self) -> None:
        """Close the file; everything that was acknowledged is in it."""
        self._writer.close()

    def _check(self) -> None:
        """Raise unless this is a store of this task, made with this key, with tables that this code
        knows.
        """
        connection = self._writer
        if connection.execute("SELECT name FROM sqlite_master WHERE name = 'facts'").fetchone() is None:
            raise StoreError(f"{self.path} is no store of a collector")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        check_version(version, str(self.path))
        facts = dict(connection.execute("SELECT name, value FROM facts WHERE name IN ('task', 'key')").fetchall())
        if facts.get("task") != self._task.digest:
            asked = self._task.digest[:12]
            raise StoreError(f"{self.path} belongs to task {str(facts.get('task'))[:12]}, not to {asked}")
        if facts.get("key") != self._keys.checksum(b"this key"):
            raise StoreError(f"{self.path} was made with another key; put its key file back")
        if version == 0:  # the same tables, made before versions were recorded
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _check_there(self) -> None:
        """Raise if the file is no longer at its path: SQLite keeps writing to a deleted file."""
        try:
            there: tuple[int, int] | None = _identity(self.path)
        except OSError:
            there = None
        if there != self._file:
            raise StoreError(f"{self.path} was moved or deleted while it was in use: put it back")

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

    def _total(self, cursor: sqlite3.Cursor | sqlite3.Connection, batch: int) -> Total:
        row = cursor.execute("SELECT batch, count, sum, checksum FROM totals WHERE batch = ?", (batch,)).fetchone()
        return unpack(self._keys, self._task.digest, row) if row else empty_total(self._task, batch)

    def _totals(self, connection: sqlite3.Connection) -> list[Total]:
        rows = connection.execute("SELECT batch, count, sum, checksum FROM totals ORDER BY batch")
        return [unpack(self._keys, self._task.digest, row) for row in rows]

    def _open_batch(self, connection: sqlite3.Connection | sqlite3.Cursor) -> int:
        return int(connection.execute("SELECT value FROM facts WHERE name = 'open batch'").fetchone()[0])

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A new connection: readers of a write-ahead log do not block the writer, nor it them."""
        with _translated():
            connection = self._connect()
            try:
                connection.execute("PRAGMA synchronous = FULL")
                yield connection
            finally:
                connection.close()

    def _connect(self) -> sqlite3.Connection:
        return _connected(self.path)


def _connected(path: Path) -> sqlite3.Connection:
    """Connect to an existing file; without mode=rw SQLite would create one."""
    where = f"{path.resolve().as_uri()}?mode=rw"
    return sqlite3.connect(where, uri=True, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Cursor]:
    """A transaction that locks before its first read: two collectors cannot both see an
    id as new.
    """
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


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def _places(values: Sequence[bytes]) -> str:
    return ",".join("?" * len(values))
