"""From a record to the exact integers that noise is added to: the same code on one device and on simulated millions."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.domain.columns import Column, Numeric
from discreet.local.plan import Floats
from discreet.local.task import Task


class HasColumns(Protocol):
    """A task or a domain: whatever declares columns."""

    @property
    def columns(self) -> tuple[Column, ...]: ...


def encoded_record(task: Task, record: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """One record as (1, x) and y, by declared bounds; NaN where a value is missing, odd or undeclared."""
    columns = {column.name: [_cell(record, column.name)] for column in task.columns}
    return encoded_columns(task, columns, 1), label_values(task, [_cell(record, task.target.name)])


def _cell(record: Mapping[str, Any], name: str) -> Any:
    """A number or a text; anything else counts as missing, for an exception would show that it was there."""
    value = record.get(name)
    return value if isinstance(value, (str, Real)) else None


def encoded_columns(domain: HasColumns, columns: Mapping[str, Any], records: int) -> Floats:
    """Rows (1, x) of a table given column by column, every number in [-1, 1]."""
    parts = [np.ones((1, records))]
    for column in domain.columns:
        values = columns[column.name]
        if isinstance(column, Numeric):
            parts.append(column.encode(values, column.centre, column.half_width))
        else:
            parts.append(column.encode(values))
    return np.vstack(parts).T


def label_values(task: Task, values: Any) -> Floats:
    """Labels clipped to their declared range, in their own units."""
    return task.target.encode(values, 0.0, 1.0)[0]


def exact_report(task: Task, rows: Floats, labels: Floats) -> NDArray[np.int64]:
    """The integers of each record before noise: clipped, in grid units, zero for a record with anything missing."""
    clipped = clipped_vectors(task, rows)
    label = reported_label(task, rows, labels)
    usable = np.isfinite(label) & np.isfinite(clipped).all(axis=1)
    clipped[~usable] = 0.0
    label[~usable] = 0.0
    parts = [task.cross_weight * clipped * label[:, np.newaxis]]
    if task.outer:
        first, second = np.triu_indices(task.width)
        parts.insert(0, clipped[:, first] * clipped[:, second])
    return np.rint(np.hstack(parts) / task.plan.unit).astype(np.int64)


def clipped_vectors(task: Task, rows: Floats) -> Floats:
    """h: the transformed row, shortened to the task's radius."""
    vectors = rows @ task.transform.T
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    with np.errstate(divide="ignore", invalid="ignore"):
        vectors *= np.minimum(1.0, task.radius / lengths)[:, np.newaxis]
    vectors[lengths == 0] = 0.0
    return vectors


def reported_label(task: Task, rows: Floats, labels: Floats) -> Floats:
    """The label, or in a second round its residual, centred and scaled to [-1, 1]."""
    centre: Floats | float = task.label_centre
    if task.second is not None:
        centre = task.second.link.mean(rows @ np.array(task.second.coef))
    return np.clip((labels - centre) / task.label_scale, -1.0, 1.0)
