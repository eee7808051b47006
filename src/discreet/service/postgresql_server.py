"""Connections to PostgreSQL with timeouts: a hanging server must not block the collector."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg

from discreet.errors import StoreError, StoreFull

Cursor = psycopg.Cursor[tuple[Any, ...]]


class Server:
    """Where to connect, and how long one query may take.

    The server itself ends a statement after ``seconds``. A stopped or unreachable server cannot do
    that, so the connection is cut from this side a little later.
    """

    def __init__(self, address: str, password: str | None, seconds: float) -> None:
        self._address, self._password, self._seconds = address, password, seconds

    def connect(self) -> psycopg.Connection:
        milliseconds = int(1000 * self._seconds)
        try:
            connection = psycopg.connect(
                self._address,
                autocommit=True,
                connect_timeout=max(2, int(self._seconds)),
                tcp_user_timeout=milliseconds,
                application_name="discreet collector",
                password=self._password,  # without one, psycopg takes it from the address, PGPASSWORD or ~/.pgpass
            )
        except psycopg.OperationalError as error:
            raise StoreError(f"cannot connect to PostgreSQL: {self._reason(error)}") from error
        with self.bounded(connection):
            # A server's default may acknowledge a commit before it is synced; the collector must
            # not.
            connection.execute("SET synchronous_commit = on")
            connection.execute(f"SET statement_timeout = {milliseconds}")
            connection.execute(f"SET lock_timeout = {milliseconds}")
            connection.execute(f"SET idle_in_transaction_session_timeout = {6 * milliseconds}")
        return connection

    def _reason(self, error: psycopg.Error) -> str:
        """The server's message; omitted if the address has a password, which it might quote."""
        secret = has_password(self._address)
        return type(error).__name__ if secret else " ".join(str(error).split())

    @contextmanager
    def transaction(self, *, long: bool = False) -> Iterator[Cursor]:
        """Run on a new connection, so that any thread may call this; a long query is bounded per
        statement.
        """
        connection = self.connect()
        try:
            bound = translated() if long else self.bounded(connection)
            with bound, connection.transaction(), connection.cursor() as cursor:
                yield cursor
        finally:
            connection.close()

    @contextmanager
    def bounded(self, connection: psycopg.Connection) -> Iterator[None]:
        """Cut the connection if its use takes longer than a working server would allow."""
        # A copy of the descriptor: by the deadline psycopg may have closed its own, and the number
        # may be reused.
        line = socket.socket(fileno=os.dup(connection.fileno()))
        timer = threading.Timer(self._seconds * 1.5, _cut, [line])
        timer.daemon = True
        timer.start()
        try:
            with translated():
                yield
        finally:
            timer.cancel()
            line.close()


def has_password(address: str) -> bool:
    """Whether the address contains a password; an address that cannot be parsed counts as one."""
    try:
        return "password" in psycopg.conninfo.conninfo_to_dict(address)
    except psycopg.Error:
        return True


def _cut(line: socket.socket) -> None:
    with suppress(OSError):  # closed meanwhile
        line.shutdown(socket.SHUT_RDWR)


@contextmanager
def translated() -> Iterator[None]:
    """psycopg's errors as ours."""
    try:
        yield
    except psycopg.errors.DiskFull as error:
        raise StoreFull("the PostgreSQL server's disk is full") from error
    except psycopg.Error as error:  # its text may quote a row, so it is not passed on
        raise StoreError(f"the PostgreSQL store cannot be used: {type(error).__name__}") from error
