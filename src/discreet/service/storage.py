"""What the collector asks of a database, and which database a ``--store`` names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from discreet.errors import StoreError
from discreet.local.task import Task
from discreet.service.entries import Entry, Outcome, Total
from discreet.service.tokens import Keys


class Store(Protocol):
    """Reports of one task. ``write`` is called from one thread; everything else from any."""

    def write(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Store what is new in one transaction; on disk when this returns, and nothing is stored when it raises."""

    def totals(self) -> list[Total]:
        """The running sums, oldest batch first."""

    def open_batch(self) -> int:
        """The number of the batch that takes reports now."""

    def close_batch(self, number: int) -> bool:
        """Close this batch if it is the open one, so that its sum never changes again."""

    def verified_totals(self) -> list[Total]:
        """The sums added up again from every stored report, its checksum verified and the running sums compared."""

    def close(self) -> None: ...


def key_path(store: str) -> Path | None:
    """Where the key of an embedded store lies; a server's key has no natural place and must be named."""
    return None if _is_url(store) else Path(store + ".key")


def open_store(store: str, task: Task, keys: Keys, *, max_bytes: int | None = None) -> Store:
    """The store at a file path or a ``postgresql://`` address, made if there is none."""
    if not _is_url(store):
        from discreet.service.sqlite import SQLiteStore

        return SQLiteStore(Path(store), task, keys, max_bytes=max_bytes)
    if not store.startswith(("postgresql://", "postgres://")):
        raise StoreError("--store must be a file path or an address that begins with postgresql://")
    if max_bytes is not None:
        raise StoreError("a quota in bytes is for the embedded store; limit a PostgreSQL store on its server")
    try:
        from discreet.service.postgresql import PostgreSQLStore
    except ImportError:
        raise StoreError("a PostgreSQL store needs psycopg: pip install 'discreet[postgresql]'") from None
    return PostgreSQLStore(store, task, keys)


def _is_url(store: str) -> bool:
    return "://" in store
