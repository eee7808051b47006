"""``discreet local report``: what runs on a device. Loads numpy and nothing larger."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

import click

from discreet.cli.printing import clean_errors
from discreet.documents import parsed_json
from discreet.errors import DomainError

_Record = tuple[str, dict[str, Any]]
_GROUP = 2000  # records in one commit


@click.command()
@click.argument("task_path", metavar="TASK", type=click.Path(exists=True, dir_okay=False))
@click.option("--record", help="One record as JSON, or - for standard input.")
@click.option("--records", type=click.Path(exists=True, dir_okay=False), help="Many: .csv with a header, or .jsonl.")
@click.option("--id", "id_column", help="With --records: the column that says whose record it is.")
@click.option("--state", type=click.Path(file_okay=False), required=True, help="Folder where reports are stored.")
@click.option("--new", is_flag=True, help="Create the folder of --state, for the first report that is made here.")
@click.option("--cap", type=(float, float), default=(10.0, 1e-6), show_default=True, help="Epsilon and delta in all.")
@click.option("--out", type=click.Path(dir_okay=False), required=True, help="Where to write the report's bytes.")
def report(
    task_path: str,
    record: str | None,
    records: str | None,
    id_column: str | None,
    state: str,
    new: bool,
    cap: tuple[float, float],
    out: str,
) -> None:
    """Randomize records for TASK. A repeated call writes the same reports: noise is drawn once."""
    with clean_errors():
        from discreet.local.client import Clients
        from discreet.local.task import Task

        if (record is None) == (records is None) or (records is not None) != (id_column is not None):
            raise click.UsageError("give either --record, or --records with --id")
        task = Task.load(task_path)
        _check_state(Path(state), new)
        clients, count = Clients(task, state, cap=cap), 0
        with _replaced(Path(out)) as file:
            for group in _groups(_records(record, records, id_column)):
                file.writelines(clients.reports(group))
                count += len(group)
        click.echo(f"{count} report{'' if count == 1 else 's'} of {task.body_size} bytes written to {out}")


def _check_state(folder: Path, new: bool) -> None:
    """Check --state and --new: with a misspelt folder, noise would be drawn a second time."""
    there = (folder / "answers.db").exists()
    if not there and not new:
        raise DomainError(
            f"{folder} holds no stored reports: a device that has reported before must name the same folder, or it "
            "would report twice; for the first report that is made here, pass --new"
        )
    if there and new:
        raise DomainError(f"{folder} holds stored reports already: leave out --new")


def _groups(records: Iterator[_Record]) -> Iterator[list[_Record]]:
    """Groups so large that one commit for each costs little."""
    while group := list(islice(records, _GROUP)):
        yield group


@contextmanager
def _replaced(path: Path) -> Iterator[IO[bytes]]:
    """Write the file completely or not at all: after a crash or an error the earlier file stays."""
    part = path.with_name(path.name + ".part")
    try:
        with open(part, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)  # the same reports are written again
        raise


def _records(record: str | None, records: str | None, id_column: str | None) -> Iterator[_Record]:
    if record is not None:
        yield "", _parsed(sys.stdin.read() if record == "-" else record)
        return
    assert records is not None
    assert id_column is not None
    with open(records, encoding="utf-8", newline="") as file:
        rows: Iterator[dict[str, Any]]
        rows = map(_parsed, file) if Path(records).suffix == ".jsonl" else csv.DictReader(file)
        for number, row in enumerate(rows, 1):
            if id_column not in row:
                raise ValueError(f"there is no column {id_column!r} in {records}")
            yield _owner(row[id_column], number, id_column), row


def _owner(value: Any, number: int, id_column: str) -> str:
    """The record's owner. People without an id could not be distinguished, and would share one
    report.
    """
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise ValueError(f"record {number} has no id: {id_column!r} must be a text or a whole number")
    return str(value)


def _parsed(text: str) -> dict[str, Any]:
    try:
        cells = parsed_json(text, "a record")
    except DomainError:
        cells = None
    if not isinstance(cells, dict):
        # The message omits the text, which is a private record.
        raise ValueError("a record must be a JSON object with one value per column")
    return cells
