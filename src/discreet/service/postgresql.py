"""The store on a PostgreSQL server: the same tables and decisions as the embedded one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import psycopg

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
CREATE TABLE IF NOT EXISTS discreet_facts (task TEXT PRIMARY KEY, open_batch INTEGER NOT NULL, key BYTEA NOT NULL);
CREATE TABLE IF NOT EXISTS discreet_reports (
    task TEXT, id BYTEA, batch INTEGER NOT NULL, body BYTEA NOT NULL, checksum BYTEA NOT NULL,
    PRIMARY KEY (task, id)
);
CREATE TABLE IF NOT EXISTS discreet_marks (mark BYTEA PRIMARY KEY);
CREATE TABLE IF NOT EXISTS discreet_totals (
    task TEXT, batch INTEGER, count BIGINT NOT NULL, sum BYTEA NOT NULL, checksum BYTEA NOT NULL,
    PRIMARY KEY (task, batch)
);
"""
# One writer at a time, also over several collectors: held to the end of the transaction.
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('discreet ' || %s, 0))"
_UPSERT = """
INSERT INTO discreet_totals VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (task, batch) DO UPDATE SET count = excluded.count, sum = excluded.sum, checksum = excluded.checksum
"""
_FETCH_ROWS = 1000
Cursor = psycopg.Cursor[tuple[Any, ...]]


class PostgreSQLStore:
    """Reports of one task; one database may hold many tasks."""

    def __init__(self, address: str, task: Task, keys: Keys) -> None:
        self._address, self._task, self._keys = address, task, keys
        self._writer: psycopg.Connection | None = None
        with self._transaction() as cursor:
            # Two collectors may start at once, and CREATE TABLE IF NOT EXISTS is no protection against itself.
            cursor.execute(_LOCK, ["schema"])
            cursor.execute(_SCHEMA)
            self._claim(cursor)

    def write(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Store what is new in one transaction; on disk when this returns, and nothing is stored when it raises."""
        try:
            with _translated():
                if self._writer is None:
                    self._writer = self._connect()
                with self._writer.transaction(), self._writer.cursor() as cursor:
                    return self._write(cursor, entries)
        except StoreError:
            self._reset()  # the server may have gone away: the next write connects anew
            raise

    def totals(self) -> list[Total]:
        """The running sums, oldest batch first."""
        with self._transaction() as cursor:
            return self._totals(cursor)

    def open_batch(self) -> int:
        """The number of the batch that takes reports now."""
        with self._transaction() as cursor:
            return self._open_batch(cursor)

    def close_batch(self, number: int) -> bool:
        """Close this batch if it is the open one, so that its sum never changes again."""
        with self._transaction() as cursor:
            cursor.execute(_LOCK, [self._task.digest])
            cursor.execute(
                "UPDATE discreet_facts SET open_batch = open_batch + 1 WHERE task = %s AND open_batch = %s",
                [self._task.digest, number],
            )
            return cursor.rowcount == 1

    def verified_totals(self) -> list[Total]:
        """The sums added up again from every stored report, its checksum verified and the running sums compared."""
        with self._transaction() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")  # one snapshot for both
            running = self._totals(cursor)
            with cursor.connection.cursor("discreet_rows") as rows:  # a server-side cursor: never all in memory
                rows.itersize = _FETCH_ROWS
                rows.execute(
                    "SELECT id, batch, body, checksum FROM discreet_reports WHERE task = %s", [self._task.digest]
                )
                again = added_again(self._task, self._keys, rows)
            check_same(running, again)
            return again

    def close(self) -> None:
        """Let go of the server; whatever was acknowledged is on its disk."""
        self._reset()

    def _claim(self, cursor: Cursor) -> None:
        key = self._keys.checksum(b"this key")
        cursor.execute("INSERT INTO discreet_facts VALUES (%s, 0, %s) ON CONFLICT DO NOTHING", [self._task.digest, key])
        cursor.execute("SELECT key FROM discreet_facts WHERE task = %s", [self._task.digest])
        row = cursor.fetchone()
        if row is None or bytes(row[0]) != key:
            raise StoreError("the store was made with another key; give the key file that belongs to it")

    def _write(self, cursor: Cursor, entries: Sequence[Entry]) -> list[Outcome]:
        cursor.execute(_LOCK, [self._task.digest])
        ids, marks = [entry.report_id for entry in entries], [entry.mark for entry in entries]
        cursor.execute(
            "SELECT id, body FROM discreet_reports WHERE task = %s AND id = ANY(%s)", [self._task.digest, ids]
        )
        known = {bytes(report_id): bytes(body) for report_id, body in cursor}
        cursor.execute("SELECT mark FROM discreet_marks WHERE mark = ANY(%s)", [marks])
        outcomes, fresh = settle(entries, known, {bytes(mark) for (mark,) in cursor})
        if fresh:
            self._insert(cursor, fresh)
        return outcomes

    def _insert(self, cursor: Cursor, fresh: Sequence[Entry]) -> None:
        # PostgreSQL keeps rows in the order of arrival: sorted by their random ids, a group at least has none.
        fresh = sorted(fresh, key=lambda entry: entry.report_id)
        digest = self._task.digest
        first = self._total(cursor, self._open_batch(cursor))
        for batch, entries in assigned(self._task, first, fresh, datetime.now(UTC).date()):
            with cursor.copy("COPY discreet_reports FROM STDIN (FORMAT BINARY)") as copy:
                copy.set_types(["text", "bytea", "int4", "bytea", "bytea"])
                for e in entries:
                    checksum = row_checksum(self._keys, digest, batch, e.report_id, e.body)
                    copy.write_row((digest, e.report_id, batch, e.body, checksum))
            total = added(self._total(cursor, batch), [entry.values for entry in entries])
            checksum = total_checksum(self._keys, digest, total)
            cursor.execute(_UPSERT, [digest, batch, total.count, pack(total.values), checksum])
        with cursor.copy("COPY discreet_marks FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["bytea"])
            for mark in sorted(entry.mark for entry in fresh):
                copy.write_row((mark,))
        cursor.execute("UPDATE discreet_facts SET open_batch = %s WHERE task = %s", [batch, digest])

    def _total(self, cursor: Cursor, batch: int) -> Total:
        totals = [total for total in self._totals(cursor) if total.batch == batch]
        return totals[0] if totals else empty_total(self._task, batch)

    def _totals(self, cursor: Cursor) -> list[Total]:
        cursor.execute(
            "SELECT batch, count, sum, checksum FROM discreet_totals WHERE task = %s ORDER BY batch",
            [self._task.digest],
        )
        return [unpack(self._keys, self._task.digest, row) for row in cursor.fetchall()]

    def _open_batch(self, cursor: Cursor) -> int:
        cursor.execute("SELECT open_batch FROM discreet_facts WHERE task = %s", [self._task.digest])
        row = cursor.fetchone()
        assert row is not None  # claimed when the store was opened
        return int(row[0])

    @contextmanager
    def _transaction(self) -> Iterator[Cursor]:
        """On a connection of its own, so that it may come from any thread."""
        with _translated(), self._connect() as connection, connection.transaction(), connection.cursor() as cursor:
            yield cursor

    def _connect(self) -> psycopg.Connection:
        connection = psycopg.connect(self._address, autocommit=True, connect_timeout=10)
        # A server may be set to acknowledge before it syncs; ours must not, whatever its default.
        connection.execute("SET synchronous_commit = on")
        return connection

    def _reset(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except psycopg.errors.DiskFull as error:
        raise StoreFull("the PostgreSQL server's disk is full") from error
    except psycopg.Error as error:  # its text may quote a row, so it is not passed on
        raise StoreError(f"the PostgreSQL store cannot be used: {type(error).__name__}") from error
