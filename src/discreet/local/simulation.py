"""A whole collection in memory: the devices' own code on every record, and the noise of the sum drawn once.

The sum of n independent discrete Gaussians of scale s is drawn as one rounded Gaussian of variance n s^2. That is the
same law to many digits and far faster, but its randomness is numpy's: for experiments, never for real reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.local.collection import Collection
from discreet.local.plan import Floats
from discreet.local.statistic import encoded_columns, exact_report, label_values
from discreet.local.task import Task

_CHUNK = 50_000


def simulate(task: Task, columns: Mapping[str, Any], labels: Any, rng: np.random.Generator) -> Collection:
    """The collection of one report per record, as it would arrive from devices."""
    collection = Collection(task)
    n = len(labels)
    for start in range(0, n, _CHUNK):
        chunk = slice(start, min(start + _CHUNK, n))
        size = chunk.stop - chunk.start
        rows = encoded_columns(task, {name: values[chunk] for name, values in columns.items()}, size)
        exact = exact_report(task, rows, label_values(task, labels[chunk]))
        collection.add_sum(exact.sum(axis=0), size)
    noise = np.rint(rng.normal(size=task.report_entries) * task.plan.scales * np.sqrt(n)).astype(np.int64)
    collection.add_sum(noise, 0)
    return collection


def simulate_rows(task: Task, rows: Floats, labels: Any, rng: np.random.Generator) -> Collection:
    """The same for numeric columns given as one array in the task's order."""
    return simulate(task, {column.name: rows[:, j] for j, column in enumerate(task.columns)}, labels, rng)
