"""Connections to PostgreSQL that end in time: a server that hangs must not hang the collector, nor its shutdown."""

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
    """Where to connect, and how long one question may take.

    The server itself ends a statement after ``seconds``. A server that is stopped, or unreachable, cannot do that, so
    the connection is cut from this side a little later.
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
                password=self._password,  # without one it is looked for in the address, PGPASSWORD and ~/.pgpass
            )
        except psycopg.OperationalError as error:
            raise StoreError(f"cannot connect to PostgreSQL: {self._reason(error)}") from error
        with self.bounded(connection):
            # A server may be set to acknowledge before it syncs; ours must not, whatever its default.
            connection.execute("SET synchronous_commit = on")
            connection.execute(f"SET statement_timeout = {milliseconds}")
            connection.execute(f"SET lock_timeout = {milliseconds}")
            connection.execute(f"SET idle_in_transaction_session_timeout = {6 * milliseconds}")
        return connection

    def _reason(self, error: psycopg.Error) -> str:
        """What the server said of itself; not of an address with a password, of which it might quote a piece."""
        secret = has_password(self._address)
        return type(error).__name__ if secret else " ".join(str(error).split())

    @contextmanager
    def transaction(self, *, long: bool = False) -> Iterator[Cursor]:
        """On a connection of its own, so that it may come from any thread; a long one is bounded by statement only."""
        connection = self.connect()
        try:
            bound = translated() if long else self.bounded(connection)
            with bound, connection.transaction(), connection.cursor() as cursor:
                yield cursor
        finally:
            connection.close()

    @contextmanager
    def bounded(self, connection: psycopg.Connection) -> Iterator[None]:
        """Cut the connection if what is done with it takes longer than a server that works would let it."""
        # A copy of the descriptor: when the time has come, psycopg may have closed its own, and the number been reused.
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
    """Whether the address itself carries a password; what cannot be read counts as one that does."""
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
