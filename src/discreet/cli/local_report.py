"""``discreet local report``: what runs on a device. Loads numpy and nothing larger."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from discreet.cli.printing import clean_errors
from discreet.documents import parsed_json
from discreet.errors import DomainError


@click.command()
@click.argument("task_path", metavar="TASK", type=click.Path(exists=True, dir_okay=False))
@click.option("--record", help="One record as JSON, or - for standard input.")
@click.option("--records", type=click.Path(exists=True, dir_okay=False), help="Many: .csv with a header, or .jsonl.")
@click.option("--id", "id_column", help="With --records: the column that says whose record it is.")
@click.option("--state", type=click.Path(file_okay=False), required=True, help="Where answers are remembered.")
@click.option("--cap", type=(float, float), default=(10.0, 1e-6), show_default=True, help="Epsilon and delta in all.")
@click.option("--out", type=click.Path(dir_okay=False), required=True, help="Where to write the report's bytes.")
def report(
    task_path: str,
    record: str | None,
    records: str | None,
    id_column: str | None,
    state: str,
    cap: tuple[float, float],
    out: str,
) -> None:
    """Randomize records for TASK. Asked again, the same reports come out again: noise is never drawn twice."""
    with clean_errors():
        from discreet.local.client import Client
        from discreet.local.task import Task

        if (record is None) == (records is None) or (records is not None) != (id_column is not None):
            raise click.UsageError("give either --record, or --records with --id")
        task = Task.load(task_path)
        with open(out, "wb") as file:
            count = 0
            for owner, cells in _records(record, records, id_column):
                file.write(Client(task, state, cap=cap, owner=owner).report(cells))
                count += 1
        click.echo(f"{count} report{'' if count == 1 else 's'} of {task.body_size} bytes written to {out}")


def _records(record: str | None, records: str | None, id_column: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    if record is not None:
        yield "", _parsed(sys.stdin.read() if record == "-" else record)
        return
    assert records is not None
    assert id_column is not None
    with open(records, encoding="utf-8", newline="") as file:
        rows: Iterator[dict[str, Any]]
        rows = map(_parsed, file) if Path(records).suffix == ".jsonl" else csv.DictReader(file)
        for row in rows:
            if id_column not in row:
                raise ValueError(f"there is no column {id_column!r} in {records}")
            yield str(row[id_column]), row


def _parsed(text: str) -> dict[str, Any]:
    try:
        cells = parsed_json(text, "a record")
    except DomainError:
        cells = None
    if not isinstance(cells, dict):
        # Without the text: it is somebody's record.
        raise ValueError("a record must be a JSON object with one value per column")
    return cells
