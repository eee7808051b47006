"""Simulated devices: the client's own steps on many records, without a little ledger for each of 50,000 devices."""

from __future__ import annotations

import os
from collections.abc import Iterator

from discreet.local.client import draw_noise, within_support
from discreet.local.plan import Floats
from discreet.local.statistic import encoded_columns, exact_report, label_values
from discreet.local.task import Task
from discreet.local.wire import ID_BYTES, encode

_CHUNK = 1000


def device_reports(task: Task, rows: Floats, labels: Floats) -> Iterator[bytes]:
    """One report body per record, with real noise; columns of ``rows`` in the task's order."""
    for start in range(0, len(labels), _CHUNK):
        chunk, answers = rows[start : start + _CHUNK], labels[start : start + _CHUNK]
        columns = {column.name: chunk[:, place] for place, column in enumerate(task.columns)}
        exact = exact_report(task, encoded_columns(task, columns, len(chunk)), label_values(task, answers))
        for statistic in exact:
            noisy = within_support(statistic + draw_noise(task.plan), task.plan.limit)
            yield encode(task, noisy, os.urandom(ID_BYTES))
