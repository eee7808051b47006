"""Simulated devices: the client's steps on many records, without a ledger for each device."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.local.client import reports
from discreet.local.columns import Floats, encoded_columns
from discreet.local.task import Task

_CHUNK = 256


def device_reports(task: Task, rows: Floats, labels: Floats) -> Iterator[bytes]:
    """One report body per record, with real noise; numeric columns of ``rows`` in the
    task's order.
    """
    columns = {column.name: rows[:, place] for place, column in enumerate(task.columns)}
    return encoded_reports(task, encoded_columns(task, columns, len(rows)), task.target.encode(labels))


def encoded_reports(task: Task, rows: Floats, labels: Floats) -> Iterator[bytes]:
    """The same from encoded rows (1, x) and labels in their own units."""
    for start in range(0, len(labels), _CHUNK):
        yield from reports(task, rows[start : start + _CHUNK], labels[start : start + _CHUNK])
