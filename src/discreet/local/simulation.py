"""A whole collection in memory: the devices' code runs on every record; the sum's noise is drawn
once.

The sum of n independent reports is drawn as one Gaussian with their exact mean and covariance. The
distribution is the same to many digits and this is far faster, but numpy's generator is not secure:
use it for experiments only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.local.collection import Collection
from discreet.local.columns import Floats, encoded_columns
from discreet.local.gaussian import Gaussian
from discreet.local.task import Task
from discreet.local.unit import Unit

# Small enough for a processor's cache.
_CHUNK = 4096


def simulate(task: Task, columns: Mapping[str, Any], labels: Any, rng: np.random.Generator) -> Collection:
    """The collection of one report per record, as it would arrive from devices.

    Parameters
    ----------
    task : Task
        The public task that the reports answer.
    columns : mapping or frame
        True answers by column.
    labels : array
        True labels.
    rng : numpy Generator
        Where the noise comes from: for experiments, never for real reports.

    Returns
    -------
    Collection
        The sum of the reports.

    Examples
    --------
    >>> from discreet import Domain, Numeric
    >>> from discreet.local import new_task
    >>> task = new_task(
    ...     "cost by age",
    ...     domain=Domain((Numeric("age", 18, 90),)),
    ...     target=Numeric("cost", 0, 1),
    ...     epsilon=4.0,
    ...     goal=20_000,
    ... )
    >>> import numpy as np
    >>> from discreet.local import simulate
    >>> rng = np.random.default_rng(0)
    >>> age = rng.uniform(18, 90, 20_000)
    >>> cost = 0.2 + 0.005 * age + rng.uniform(-0.1, 0.1, 20_000)
    >>> collection = simulate(task, {"age": age}, cost, rng)
    >>> collection.count
    20000
    """
    return simulate_encoded(task, encoded_columns(task, columns, len(labels)), task.target.encode(labels), rng)


def simulate_rows(task: Task, rows: Floats, labels: Any, rng: np.random.Generator) -> Collection:
    """The same for numeric columns given as one array in the task's order."""
    return simulate(task, {column.name: rows[:, j] for j, column in enumerate(task.columns)}, labels, rng)


def simulate_encoded(task: Task, rows: Floats, labels: Floats, rng: np.random.Generator) -> Collection:
    """The same for encoded rows (1, x) and labels in their own units."""
    n, size = len(labels), task.report_entries
    if task.statistic.kind == "predictor":
        return _one_by_one(task, rows, labels, rng)
    total, noise = np.zeros(size), np.zeros((size, size))
    for start in range(0, n, _CHUNK):
        chunk = slice(start, start + _CHUNK)
        vectors = task.statistic.vectors(rows[chunk], task.target.scaled(labels[chunk]))
        total += vectors.sum(axis=0)
        if isinstance(task.randomizer, Unit):
            noise += _noise_of(task.randomizer, vectors)
    if isinstance(task.randomizer, Gaussian):
        # It has one covariance, whatever the records are.
        noise = n * task.randomizer.second_moment(noise, noise)
    values, axes = np.linalg.eigh((noise + noise.T) / 2)
    total += axes @ (np.sqrt(np.maximum(values, 0.0)) * rng.normal(size=size))
    collection = Collection(task)
    collection.add_sum(np.rint(total / task.randomizer.unit).astype(np.int64), n)
    return collection


def _noise_of(randomizer: Unit, vectors: Floats) -> Floats:
    """The covariance of these records' reports, added up: of each E[Z Z^T] - v v^T.

    E[Z Z^T] is a multiple of I and one of v v^T / |v|^2 (of the first axis, where v is 0). So one
    product of the vectors suffices, weighted, and one for weights of each sign.
    """
    empty, first = np.zeros((1, 1)), np.ones((1, 1))
    across = float(randomizer.second_moment(empty, empty)[0, 0])
    extra = float(randomizer.second_moment(empty, first)[0, 0]) - across
    squares = np.einsum("ij,ij->i", vectors, vectors)
    weights = extra / np.where(squares > 0, squares, 1.0) - 1
    noise = len(vectors) * across * np.eye(vectors.shape[1])
    for sign in (1.0, -1.0):
        rows = sign * weights > 0
        if rows.any():
            part = (vectors if rows.all() else vectors[rows]) * np.sqrt(np.abs(weights[rows]))[:, np.newaxis]
            noise += sign * (part.T @ part)
    noise[0, 0] += extra * np.count_nonzero(squares == 0)
    return noise


def _one_by_one(task: Task, rows: Floats, labels: Floats, rng: np.random.Generator) -> Collection:
    """Every single report, where a sum does not suffice."""
    assert isinstance(task.randomizer, Gaussian)
    exact = task.randomizer.exact(task.statistic.vectors(rows, task.target.scaled(labels)))
    noisy = exact + np.rint(rng.normal(size=exact.shape) * task.randomizer.entry_scales).astype(np.int64)
    collection = Collection(task)
    for values in noisy:
        collection.add(values)
    return collection
