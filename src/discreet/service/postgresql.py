"""The store on a PostgreSQL server: the same tables and decisions as the embedded one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import psycopg

from discreet.errors import StoreError
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
from discreet.service.postgresql_server import Cursor, Server
from discreet.service.storage import DATABASE_SECONDS, SCHEMA_VERSION, Usage, check_version
from discreet.service.tokens import Keys
from discreet.service.verification import added_again, check_same, empty_total

_NOTES = """
CREATE TABLE IF NOT EXISTS discreet_notes (task TEXT, name TEXT, value TEXT NOT NULL, PRIMARY KEY (task, name));
CREATE TABLE IF NOT EXISTS discreet_schema (version INTEGER NOT NULL);
"""
_SCHEMA = f"""
CREATE TABLE discreet_facts (task TEXT PRIMARY KEY, open_batch INTEGER NOT NULL, key BYTEA NOT NULL);
CREATE TABLE discreet_reports (
    task TEXT, id BYTEA, batch INTEGER NOT NULL, body BYTEA NOT NULL, checksum BYTEA NOT NULL,
    PRIMARY KEY (task, id)
);
CREATE TABLE discreet_marks (mark BYTEA PRIMARY KEY);
CREATE TABLE discreet_totals (
    task TEXT, batch INTEGER, count BIGINT NOT NULL, sum BYTEA NOT NULL, checksum BYTEA NOT NULL,
    PRIMARY KEY (task, batch)
);
{_NOTES}
"""
_TABLES = ("facts", "reports", "marks", "totals", "notes")
# One writer at a time, also over several collectors: held to the end of the transaction.
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('discreet ' || %s, 0))"
_UPSERT = """
INSERT INTO discreet_totals VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (task, batch) DO UPDATE SET count = excluded.count, sum = excluded.sum, checksum = excluded.checksum
"""
_SET_NOTE = """
INSERT INTO discreet_notes VALUES (%s, %s, %s) ON CONFLICT (task, name) DO UPDATE SET value = excluded.value
"""
_FETCH_ROWS = 1000


class PostgreSQLStore:
    """Reports of one task; one database may hold many tasks. ``seconds`` bounds each query."""

    def __init__(
        self, address: str, task: Task, keys: Keys, *, password: str | None = None, seconds: float = DATABASE_SECONDS
    ) -> None:
        self._server, self._task, self._keys = Server(address, password, seconds), task, keys
        self._writer: psycopg.Connection | None = None
        with self._server.transaction() as cursor:
            cursor.execute(_LOCK, ["schema"])  # two collectors may start, and migrate, at once
            _check_schema(cursor)
            self._check(cursor)

    @classmethod
    def create(cls, address: str, task: Task, keys: Keys, *, password: str | None = None) -> PostgreSQLStore:
        """Register this task in the database, and create the tables if there are none."""
        with Server(address, password, DATABASE_SECONDS).transaction() as cursor:
            cursor.execute(_LOCK, ["schema"])
            if _version(cursor) is None:
                cursor.execute(_SCHEMA)
                cursor.execute("INSERT INTO discreet_schema VALUES (%s)", [SCHEMA_VERSION])
            else:
                _check_schema(cursor)
            key = keys.checksum(b"this key")
            inserted = "INSERT INTO discreet_facts VALUES (%s, 0, %s) ON CONFLICT DO NOTHING"
            cursor.execute(inserted, [task.digest, key])
            if cursor.rowcount == 0:
                raise StoreError(f"this database holds a collection of task {task.digest[:12]} already")
        return cls(address, task, keys, password=password)

    def write(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Store what is new in one transaction; on disk when this returns, and nothing is stored
        when it raises.
        """
        with self._writing() as cursor:
            return self._write(cursor, entries)

    def probe(self, size: int) -> None:
        """Store this many bytes durably and delete them again; raises as ``write`` would."""
        with self._writing() as cursor:
            cursor.execute(_SET_NOTE, [self._task.digest, "probe", "x" * size])
        with self._writing() as cursor:
            cursor.execute("DELETE FROM discreet_notes WHERE task = %s AND name = 'probe'", [self._task.digest])

    def counts(self) -> list[tuple[int, int]]:
        """Each batch that has reports, oldest first, with their number."""
        with self._server.transaction() as cursor:
            asked = "SELECT batch, count FROM discreet_totals WHERE task = %s ORDER BY batch"
            return [(int(batch), int(count)) for batch, count in cursor.execute(asked, [self._task.digest])]

    def total(self, batch: int) -> Total:
        """The running sum of one batch."""
        with self._server.transaction() as cursor:
            return self._total(cursor, batch)

    def totals(self) -> list[Total]:
        """The running sums, oldest batch first."""
        with self._server.transaction() as cursor:
            return self._totals(cursor)

    def open_batch(self) -> int:
        """The number of the batch that takes reports now."""
        with self._server.transaction() as cursor:
            return self._open_batch(cursor)

    def close_batch(self, number: int) -> bool:
        """Close this batch if it is the open one, so that its sum never changes again."""
        with self._server.transaction() as cursor:
            cursor.execute(_LOCK, [self._task.digest])
            cursor.execute(
                "UPDATE discreet_facts SET open_batch = open_batch + 1 WHERE task = %s AND open_batch = %s",
                [self._task.digest, number],
            )
            return cursor.rowcount == 1

    def verified_totals(self) -> list[Total]:
        """The sums recomputed from every stored report; checksums and running sums are verified."""
        with self._server.transaction(long=True) as cursor:
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

    def note(self, name: str) -> str | None:
        """A text that was kept beside the reports."""
        with self._server.transaction() as cursor:
            asked = "SELECT value FROM discreet_notes WHERE task = %s AND name = %s"
            row = cursor.execute(asked, [self._task.digest, name]).fetchone()
            return None if row is None else opened_note(self._keys, self._task.digest, name, str(row[0]))

    def set_note(self, name: str, text: str) -> None:
        """Keep a text beside the reports."""
        with self._server.transaction() as cursor:
            sealed = sealed_note(self._keys, self._task.digest, name, text)
            cursor.execute(_SET_NOTE, [self._task.digest, name, sealed])

    def usage(self) -> Usage:
        """The size of the tables, for all tasks; the free space on the server's disk is not known
        here.
        """
        with self._server.transaction() as cursor:
            names = [f"discreet_{table}" for table in _TABLES]
            asked = "SELECT sum(pg_total_relation_size(to_regclass(name))) FROM unnest(%s::text[]) AS name"
            row = cursor.execute(asked, [names]).fetchone()
            return Usage(int(row[0]) if row and row[0] is not None else 0)

    def close(self) -> None:
        """Close the connection; everything that was acknowledged is on the server's disk."""
        self._reset()

    def _check(self, cursor: Cursor) -> None:
        row = cursor.execute("SELECT key FROM discreet_facts WHERE task = %s", [self._task.digest]).fetchone()
        if row is None:
            held = [task[:12] for (task,) in cursor.execute("SELECT task FROM discreet_facts ORDER BY task LIMIT 9")]
            raise StoreError(
                f"this database holds no collection of task {self._task.digest[:12]} (but of: {', '.join(held)}); "
                "`discreet local create` makes one"
            )
        if bytes(row[0]) != self._keys.checksum(b"this key"):
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
        # PostgreSQL keeps rows in order of arrival. Sorted by random id, the rows of one group show
        # no order.
        fresh = sorted(fresh, key=lambda entry: entry.report_id)
        digest = self._task.digest
        first = self._total(cursor, self._open_batch(cursor))
        for batch, entries in assigned(self._task, first, fresh, datetime.now(UTC).date()):
            with cursor.copy("COPY discreet_reports FROM STDIN (FORMAT BINARY)") as copy:
                copy.set_types(["text", "bytea", "int4", "bytea", "bytea"])
                for e in entries:
                    checksum = row_checksum(self._keys, digest, batch, e.report_id, e.body)
                    copy.write_row((digest, e.report_id, batch, e.body, checksum))
            before = first if batch == first.batch else self._total(cursor, batch)
            total = added(before, [entry.values for entry in entries])
            checksum = total_checksum(self._keys, digest, total)
            cursor.execute(_UPSERT, [digest, batch, total.count, pack(total.values), checksum])
        with cursor.copy("COPY discreet_marks FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["bytea"])
            for mark in sorted(entry.mark for entry in fresh):
                copy.write_row((mark,))
        cursor.execute("UPDATE discreet_facts SET open_batch = %s WHERE task = %s", [batch, digest])

    def _total(self, cursor: Cursor, batch: int) -> Total:
        asked = "SELECT batch, count, sum, checksum FROM discreet_totals WHERE task = %s AND batch = %s"
        row = cursor.execute(asked, [self._task.digest, batch]).fetchone()
        return empty_total(self._task, batch) if row is None else unpack(self._keys, self._task.digest, row)

    def _totals(self, cursor: Cursor) -> list[Total]:
        asked = "SELECT batch, count, sum, checksum FROM discreet_totals WHERE task = %s ORDER BY batch"
        rows = cursor.execute(asked, [self._task.digest]).fetchall()
        return [unpack(self._keys, self._task.digest, row) for row in rows]

    def _open_batch(self, cursor: Cursor) -> int:
        row = cursor.execute("SELECT open_batch FROM discreet_facts WHERE task = %s", [self._task.digest]).fetchone()
        if row is None:
            raise StoreError(f"the collection of task {self._task.digest[:12]} was deleted from the database")
        return int(row[0])

    @contextmanager
    def _writing(self) -> Iterator[Cursor]:
        """A transaction on the writer's own connection, which is made anew after a failure."""
        try:
            if self._writer is None:
                self._writer = self._server.connect()
            with self._server.bounded(self._writer), self._writer.transaction(), self._writer.cursor() as cursor:
                yield cursor
        except StoreError:
            self._reset()  # the server may have closed the connection: the next write connects anew
            raise

    def _reset(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def _version(cursor: Cursor) -> int | None:
    """The version of the tables in this database; 0 if none was recorded, None without tables."""
    row = cursor.execute("SELECT to_regclass('discreet_facts'), to_regclass('discreet_schema')").fetchone()
    facts, schema = row if row is not None else (None, None)
    if schema is None:
        return None if facts is None else 0
    found = cursor.execute("SELECT version FROM discreet_schema").fetchone()
    return None if found is None else int(found[0])


def _check_schema(cursor: Cursor) -> None:
    """Migrate tables of an earlier version; raise if the version is unknown."""
    version = _version(cursor)
    if version is None:
        raise StoreError("this database holds no collection; `discreet local create` makes one")
    check_version(version, "this database")
    if version == 0:
        cursor.execute(_NOTES)
        cursor.execute("INSERT INTO discreet_schema VALUES (%s)", [SCHEMA_VERSION])
