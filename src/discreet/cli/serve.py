"""``discreet local create``, ``serve``, ``tokens``, ``close`` and ``verify``: running a
collector.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO

import click

from discreet.cli.printing import clean_errors
from discreet.cli.store_place import StorePlace, store_options

if TYPE_CHECKING:
    from discreet.local.collection import Collection
    from discreet.local.task import Task

# Imported when a command runs: devices use ``discreet local`` too, and must start quickly.


def task_option(command: Any) -> Any:
    return click.option("--task", "task_path", type=click.Path(exists=True, dir_okay=False), required=True)(command)


@click.command()
@task_option
@store_options
def create(task_path: str, place: StorePlace) -> None:
    """Create an empty store for a task, and its key. All other commands need them."""
    with clean_errors():
        from discreet.local.task import Task

        task = Task.load(task_path)
        made, key, new = place.create(task)
        made.close()
        click.echo(f"store   for {task.name} ({task.digest[:16]}), empty")
        click.echo(f"key     {key}{'' if new else ', which was there'}; back it up: without it the store is lost")


@click.command()
@task_option
@store_options
@click.option("--host", default="127.0.0.1", show_default=True, help="Put a TLS proxy in front before opening this.")
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
@click.option("--public-page", is_flag=True, help="Show the page to everybody, not only to analysts.")
@click.option("--model", "models", multiple=True, help="A model that the page shows; may be given several times.")
@click.option("--max-bytes", type=click.IntRange(min=1), help="Quota of the embedded store.")
@click.option("--form", "form_path", type=click.Path(exists=True, dir_okay=False), help="Words for /join, TOML.")
@click.option("--join/--no-join", default=True, show_default=True, help="Serve the participant's page, /join.")
@click.option("--allow-origin", "origins", multiple=True, help="A site whose pages may read the task and report.")
@click.option("--database-seconds", type=click.FloatRange(0.1, 600), help="For one question to PostgreSQL; 10.")
@click.option("--per-address", type=click.IntRange(min=1), default=256, show_default=True, help="Open connections.")
@click.option("--proxy", "proxies", multiple=True, help="A reverse proxy's address: --per-address is not for it.")
def serve(
    task_path: str,
    place: StorePlace,
    host: str,
    port: int,
    public_page: bool,
    models: tuple[str, ...],
    max_bytes: int | None,
    form_path: str | None,
    join: bool,
    origins: tuple[str, ...],
    database_seconds: float | None,
    per_address: int,
    proxies: tuple[str, ...],
) -> None:
    """Collect reports over HTTP, durably, and show models of them."""
    with clean_errors():
        from discreet.local.models import as_model
        from discreet.local.task import Task
        from discreet.service.app import create_app
        from discreet.service.cross_origin import checked_origin
        from discreet.service.form import Form, joinable
        from discreet.service.limits import Limits
        from discreet.service.serving import serve as run
        from discreet.service.tokens import Role

        for model in models:
            as_model(model)  # a misspelt model name is refused here, not on the page
        task, keys = Task.load(task_path), place.keys()
        reports = place.open(task, max_bytes=max_bytes, seconds=database_seconds)
        limits = Limits(connections_per_address=per_address)
        app = create_app(
            task,
            reports,
            keys,
            limits=limits,
            public_page=public_page,
            models=models,
            form=Form.load(task, form_path) if join and joinable(task) else None,
            origins=[checked_origin(origin) for origin in origins],
        )
        click.echo(f"task    {task.name} ({task.digest[:16]})")
        click.echo(f"page    http://{host}:{port}/")
        if join and joinable(task):
            click.echo(f"join    http://{host}:{port}/join, followed by a device token: /join#device-...")
        if not public_page and sys.stdout.isatty():
            # Only to a terminal: a token in a log file could be read by others.
            click.echo(f"token   {keys.issue(Role.ANALYST, expires=int(time.time()) + 86_400)}  (analyst, one day)")
        run(app, host=host, port=port, limits=limits, proxies=frozenset(proxies))


@click.command()
@store_options
@click.option("--role", type=click.Choice(["device", "analyst"]), required=True)
@click.option("--count", type=click.IntRange(1, 10_000_000), default=1, show_default=True)
@click.option("--days", type=click.IntRange(min=0), default=0, help="Days until the tokens expire; 0 for never.")
@click.option("--link", help="With devices: personal links to /join on this address, such as https://survey.example.")
@click.option("--out", type=click.Path(dir_okay=False), help="A new file, readable by you only, instead of the screen.")
def tokens(place: StorePlace, role: str, count: int, days: int, link: str | None, out: str | None) -> None:
    """Issue tokens, one per line: devices report with them, analysts see results."""
    with clean_errors():
        from discreet.service.tokens import Role

        if link is not None and role != "device":
            raise click.UsageError("--link is for devices")
        keys, before = place.keys(), "" if link is None else f"{link.rstrip('/')}/join#"
        expires = int(time.time()) + 86_400 * days if days else 0
        issued = (before + keys.issue(Role(role), expires=expires) for _ in range(count))
        if out is None:
            _print_lines(issued, sys.stdout)
            return
        with open(out, "x", encoding="ascii", opener=_private) as file:
            _print_lines(issued, file)
        click.echo(f"{count} {role} tokens in {out}")


@click.command()
@task_option
@store_options
def close(task_path: str, place: StorePlace) -> None:
    """Close the open batch: its result is final, and reports from now on go to the next."""
    with clean_errors():
        from discreet.local.task import Task

        reports = place.open(Task.load(task_path))
        number = reports.open_batch()
        if not reports.close_batch(number):
            raise click.ClickException(f"batch {number} was closed by somebody else just now")
        click.echo(f"closed batch {number}")


@click.command()
@task_option
@store_options
def verify(task_path: str, place: StorePlace) -> None:
    """Add up all stored reports again, and check them against their checksums and the
    running sums.
    """
    with clean_errors():
        from discreet.local.task import Task
        from discreet.service.verification import VERIFIED

        reports = place.open(Task.load(task_path))
        totals = reports.verified_totals()
        for total in totals:
            click.echo(f"batch {total.batch}: {total.count} reports, each intact and counted once")
        if not totals:
            click.echo("no report is stored yet")
        found = {"time": datetime.now(UTC).isoformat("T", "seconds"), "reports": sum(total.count for total in totals)}
        reports.set_note(VERIFIED, json.dumps(found))


def stored_collection(task: Task, place: StorePlace, batch: int) -> Collection:
    """The sum of one batch, added up again from its verified reports."""
    from discreet.local.collection import Collection

    reports = place.open(task)
    found = [total for total in reports.verified_totals() if total.batch == batch]
    reports.close()
    if not found:
        raise ValueError(f"batch {batch} of the store holds no report")
    collection = Collection(task)
    collection.add_sum(found[0].values, found[0].count)
    return collection


def _print_lines(lines: Iterable[str], file: TextIO) -> None:
    for line in lines:
        print(line, file=file)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
