"""``discreet local serve``, ``tokens``, ``close`` and ``verify``: running a collector."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO

import click

from discreet.cli.printing import clean_errors

if TYPE_CHECKING:
    from discreet.local.collection import Collection
    from discreet.local.task import Task
    from discreet.service.storage import Store
    from discreet.service.tokens import Keys

# Loaded when a command runs: the same ``discreet local`` serves devices, which start in a fifth of a second.

_STORE_HELP = "A file such as reports.db, made if there is none, or postgresql://user@host/database."
_KEY_HELP = "The collector's secret; by default the store's name with .key, made if there is none."


def task_option(command: Any) -> Any:
    return click.option("--task", "task_path", type=click.Path(exists=True, dir_okay=False), required=True)(command)


def store_options(command: Any) -> Any:
    command = click.option("--key", "key_file", type=click.Path(dir_okay=False), help=_KEY_HELP)(command)
    return click.option("--store", required=True, help=_STORE_HELP)(command)


@click.command()
@task_option
@store_options
@click.option("--host", default="127.0.0.1", show_default=True, help="Put a TLS proxy in front before opening this.")
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
@click.option("--public-page", is_flag=True, help="Show the page to everybody, not only to analysts.")
@click.option("--model", "models", multiple=True, help="A model that the page shows; may be given several times.")
@click.option(
    "--public", "public_path", type=click.Path(exists=True, dir_okay=False), help="Public rows, CSV or Parquet."
)
@click.option("--max-bytes", type=click.IntRange(min=1), help="Quota of the embedded store.")
def serve(
    task_path: str,
    store: str,
    key_file: str | None,
    host: str,
    port: int,
    public_page: bool,
    models: tuple[str, ...],
    public_path: str | None,
    max_bytes: int | None,
) -> None:
    """Collect reports over HTTP, durably, and show what they say."""
    with clean_errors():
        from discreet.cli.local_task import read_frame
        from discreet.local.models import as_model
        from discreet.service.app import create_app
        from discreet.service.serving import serve as run
        from discreet.service.storage import open_store
        from discreet.service.tokens import Role

        for model in models:
            as_model(model)  # a misspelt name ends here, not on the page
        task, keys = _task_and_keys(task_path, store, key_file)
        reports = open_store(store, task, keys, max_bytes=max_bytes)
        public = None if public_path is None else read_frame(public_path)
        app = create_app(task, reports, keys, public_page=public_page, models=models, public=public)
        click.echo(f"task    {task.name} ({task.digest[:16]})")
        click.echo(f"page    http://{host}:{port}/")
        if not public_page and sys.stdout.isatty():
            # Only to a person's screen: a token in a log file would be there for everybody who reads it.
            click.echo(f"token   {keys.issue(Role.ANALYST, expires=int(time.time()) + 86_400)}  (analyst, one day)")
        run(app, host=host, port=port)


@click.command()
@store_options
@click.option("--role", type=click.Choice(["device", "analyst"]), required=True)
@click.option("--count", type=click.IntRange(1, 10_000_000), default=1, show_default=True)
@click.option("--days", type=click.IntRange(min=0), default=0, help="Valid for so long; 0 for ever.")
@click.option("--out", type=click.Path(dir_okay=False), help="A new file, readable by you only, instead of the screen.")
def tokens(store: str, key_file: str | None, role: str, count: int, days: int, out: str | None) -> None:
    """Issue tokens, one a line: devices report with them, analysts see results."""
    with clean_errors():
        from discreet.service.tokens import Role

        keys = _keys(store, key_file)
        expires = int(time.time()) + 86_400 * days if days else 0
        issued = (keys.issue(Role(role), expires=expires) for _ in range(count))
        if out is None:
            _print_lines(issued, sys.stdout)
            return
        with open(out, "x", encoding="ascii", opener=_private) as file:
            _print_lines(issued, file)
        click.echo(f"{count} {role} tokens in {out}")


@click.command()
@task_option
@store_options
def close(task_path: str, store: str, key_file: str | None) -> None:
    """Close the open batch: its result is final, and reports from now on go to the next."""
    with clean_errors():
        reports = _opened(task_path, store, key_file)[1]
        number = reports.open_batch()
        if not reports.close_batch(number):
            raise click.ClickException(f"batch {number} was closed by somebody else just now")
        click.echo(f"closed batch {number}")


@click.command()
@task_option
@store_options
def verify(task_path: str, store: str, key_file: str | None) -> None:
    """Add all stored reports up again, checking every one against its checksum and the running sums."""
    with clean_errors():
        reports = _opened(task_path, store, key_file)[1]
        for total in reports.verified_totals():
            click.echo(f"batch {total.batch}: {total.count} reports, each intact and counted once")


def stored_collection(task: Task, store: str, key_file: str | None, batch: int) -> Collection:
    """The sum of one batch, added up again from its verified reports."""
    from discreet.local.collection import Collection
    from discreet.service.storage import open_store

    reports = open_store(store, task, _keys(store, key_file))
    found = [total for total in reports.verified_totals() if total.batch == batch]
    reports.close()
    if not found:
        raise ValueError(f"batch {batch} of {store} holds no report")
    collection = Collection(task)
    collection.add_sum(found[0].values, found[0].count)
    return collection


def _opened(task_path: str, store: str, key_file: str | None) -> tuple[Task, Store]:
    from discreet.service.storage import open_store

    task, keys = _task_and_keys(task_path, store, key_file)
    return task, open_store(store, task, keys)


def _task_and_keys(task_path: str, store: str, key_file: str | None) -> tuple[Task, Keys]:
    from discreet.local.task import Task

    return Task.load(task_path), _keys(store, key_file)


def _keys(store: str, key_file: str | None) -> Keys:
    from discreet.service.storage import key_path
    from discreet.service.tokens import Keys

    path = key_file or key_path(store)
    if path is None:
        raise click.UsageError("a PostgreSQL store needs --key: the file that holds, or will hold, the collector's key")
    return Keys.open(path)


def _print_lines(lines: Iterable[str], file: TextIO) -> None:
    for line in lines:
        print(line, file=file)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
