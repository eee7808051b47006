"""The options for a collector's store, its key and its database password, for all commands."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from discreet.local.task import Task
    from discreet.service.storage import Store
    from discreet.service.tokens import Keys

_STORE_HELP = "A file such as reports.db, or postgresql://user@host/database; also from DISCREET_STORE."
_KEY_HELP = "The collector's secret; by default the store's name with .key."
_PASSWORD_HELP = "A file with the database password; otherwise PGPASSWORD or ~/.pgpass are used."


@dataclass(frozen=True)
class StorePlace:
    """Where a store is, with its key and password."""

    store: str
    key_file: str | None
    password_file: str | None

    def keys(self) -> Keys:
        """The collector's key, which must exist."""
        from discreet.errors import StoreError
        from discreet.service.tokens import Keys

        try:
            return Keys.open(self._key_path())
        except StoreError as error:
            raise StoreError(f"{error}{self._meant()}") from error

    def open(self, task: Task, *, max_bytes: int | None = None, seconds: float | None = None) -> Store:
        """The store, which must exist."""
        from discreet.service.storage import DATABASE_SECONDS, open_store

        return open_store(
            self.store,
            task,
            self.keys(),
            password=self._password(),
            max_bytes=max_bytes,
            seconds=seconds or DATABASE_SECONDS,
        )

    def create(self, task: Task) -> tuple[Store, Path, bool]:
        """Create a store, and its key if there is none; returns the key's file and whether it is
        new.
        """
        from discreet.service.storage import create_store
        from discreet.service.tokens import Keys

        path = self._key_path()
        new = not path.exists()
        keys = Keys.create(path) if new else Keys.open(path)
        try:
            return create_store(self.store, task, keys, password=self._password()), path, new
        except BaseException:
            if new:
                path.unlink(missing_ok=True)  # nothing was made with it
            raise

    def _key_path(self) -> Path:
        from discreet.service.storage import key_path

        path = Path(self.key_file) if self.key_file else key_path(self.store)
        if path is None:
            raise click.UsageError("a PostgreSQL store needs --key: the file that holds the collector's key")
        return path

    def _password(self) -> str | None:
        if self.password_file is None:
            return None
        return Path(self.password_file).read_text(encoding="utf-8").rstrip("\r\n")

    def _meant(self) -> str:
        """A store in the same folder with a similar name and a key: this name is
        probably misspelt.
        """
        place = Path(self.store)
        if self.key_file is not None or "://" in self.store or not place.parent.is_dir():
            return ""
        stores = [key.name.removesuffix(".key") for key in place.parent.glob("*.key")]
        near = difflib.get_close_matches(place.name, stores, n=1)
        return f" (did you mean {place.with_name(near[0])}?)" if near else ""


def store_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--store``, ``--key`` and ``--password-file``, given to the command as one ``place``."""
    return _options(command, required=True)


def optional_store_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a command that needs no store; ``place`` may be None."""
    return _options(command, required=False)


def _options(command: Callable[..., Any], *, required: bool) -> Callable[..., Any]:
    @wraps(command)
    def with_place(*args: Any, store: str | None, key_file: str | None, password_file: str | None, **rest: Any) -> Any:
        place = None if store is None else StorePlace(store, key_file, password_file)
        return command(*args, place=place, **rest)

    existing = click.Path(exists=True, dir_okay=False)
    options = [
        click.option("--store", required=required, envvar="DISCREET_STORE", callback=_visible, help=_STORE_HELP),
        click.option("--key", "key_file", type=click.Path(dir_okay=False), help=_KEY_HELP),
        click.option("--password-file", type=existing, help=_PASSWORD_HELP),
    ]
    for option in reversed(options):
        with_place = option(with_place)
    return with_place


def _visible(context: click.Context, parameter: click.Parameter, store: str | None) -> str | None:
    """Refuse a password on the command line: other users can list it, and shells store it."""
    from_line = context.get_parameter_source("store") is ParameterSource.COMMANDLINE
    if store is None or not from_line or not store.startswith(("postgresql://", "postgres://")):
        return store
    try:
        from discreet.service.postgresql_server import has_password
    except ImportError:
        return store  # opening it says what is missing
    if has_password(store):
        raise click.UsageError(
            "--store must be an address without a password: everybody on this machine can see a command line. "
            "Put the password into PGPASSWORD, --password-file or ~/.pgpass"
        )
    return store
