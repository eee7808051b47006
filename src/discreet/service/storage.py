"""The interface of stores, and how ``--store`` selects one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from discreet.errors import StoreError
from discreet.local.task import Task
from discreet.service.entries import Entry, Outcome, Total
from discreet.service.tokens import Keys

if TYPE_CHECKING:
    from discreet.service.postgresql import PostgreSQLStore

# The version of the tables. Every change raises it and adds a migration beside the schema.
SCHEMA_VERSION = 1
DATABASE_SECONDS = 10.0


@dataclass(frozen=True)
class Usage:
    """The size of the store, and the free space where the collector can know it."""

    bytes: int
    free_bytes: int | None = None


class Store(Protocol):
    """Reports of one task. ``write`` and ``probe`` are called from one thread; everything else from
    any.
    """

    def write(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Store what is new in one transaction; on disk when this returns, and nothing is stored
        when it raises.
        """

    def probe(self, size: int) -> None:
        """Store this many bytes durably and delete them again; raises as ``write`` would."""

    def counts(self) -> list[tuple[int, int]]:
        """Each batch that has reports, oldest first, with their number."""

    def total(self, batch: int) -> Total:
        """The running sum of one batch."""

    def totals(self) -> list[Total]:
        """The running sums, oldest batch first."""

    def open_batch(self) -> int:
        """The number of the batch that takes reports now."""

    def close_batch(self, number: int) -> bool:
        """Close this batch if it is the open one, so that its sum never changes again."""

    def verified_totals(self) -> list[Total]:
        """The sums recomputed from every stored report; checksums and running sums are verified."""

    def note(self, name: str) -> str | None:
        """A text that was kept beside the reports."""

    def set_note(self, name: str, text: str) -> None:
        """Keep a text beside the reports."""

    def usage(self) -> Usage: ...

    def close(self) -> None: ...


def key_path(store: str) -> Path | None:
    """The default path of an embedded store's key; for a server the key must be named."""
    return None if is_address(store) else Path(store + ".key")


def open_store(
    store: str,
    task: Task,
    keys: Keys,
    *,
    password: str | None = None,
    max_bytes: int | None = None,
    seconds: float = DATABASE_SECONDS,
) -> Store:
    """The store at a file path or a ``postgresql://`` address, which ``create_store`` made.

    ``password`` and ``seconds`` (the time limit of one query) are for PostgreSQL; ``max_bytes`` is
    the quota of a file.
    """
    if is_address(store):
        _check_server(store, max_bytes)
        return _postgresql()(store, task, keys, password=password, seconds=seconds)
    from discreet.service.sqlite import SQLiteStore

    return SQLiteStore(Path(store), task, keys, max_bytes=max_bytes)


def create_store(store: str, task: Task, keys: Keys, *, password: str | None = None) -> Store:
    """A new store for this task; raises if there is one. ``open_store`` never creates one."""
    if is_address(store):
        _check_server(store, None)
        return _postgresql().create(store, task, keys, password=password)
    from discreet.service.sqlite import SQLiteStore

    return SQLiteStore.create(Path(store), task, keys)


def check_version(found: int, where: str) -> None:
    """Raise unless this code knows, or can migrate, tables of this version."""
    if found > SCHEMA_VERSION:
        raise StoreError(
            f"{where} was made by a newer discreet (tables of version {found}, this one knows {SCHEMA_VERSION}): "
            "use that version or a newer one"
        )


def is_address(store: str) -> bool:
    return "://" in store


def _check_server(store: str, max_bytes: int | None) -> None:
    if not store.startswith(("postgresql://", "postgres://")):
        raise StoreError("--store must be a file path or an address that begins with postgresql://")
    if max_bytes is not None:
        raise StoreError("a quota in bytes is for the embedded store; limit a PostgreSQL store on its server")


def _postgresql() -> type[PostgreSQLStore]:
    try:
        from discreet.service.postgresql import PostgreSQLStore
    except ImportError:
        raise StoreError("a PostgreSQL store needs psycopg: pip install 'discreet[postgresql]'") from None
    return PostgreSQLStore
