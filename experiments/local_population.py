"""Simulated collections from a known population, for the experiments on local privacy.

A population is a list of encoded rows, all equally likely, with a logistic model. The average
report of n independent people is drawn as one Gaussian with the exact mean and covariance of one
report, labels, missing answers and the randomizer included. Public rows are drawn from the same
list, so the model holds exactly and coverage has no other error than chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.domain import Categorical, Domain, Numeric
from discreet.domain.columns import Column
from discreet.local import Collection, Task
from discreet.local.columns import encoded_columns

SIZE = 5_000


def numbers(count: int, low: float, high: float) -> tuple[Column, ...]:
    return tuple(Numeric(f"x{place}", low, high) for place in range(count))


@dataclass(frozen=True, eq=False)
class Population:
    """Rows by column, the same encoded and as features in their own units, and the chance of a
    label 1 for each.
    """

    domain: Domain
    columns: dict[str, np.ndarray]
    rows: np.ndarray
    chance: np.ndarray
    truth: np.ndarray
    raw: np.ndarray
    usable: float = 1.0

    @classmethod
    def drawn(
        cls, columns: tuple[Column, ...], rng: np.random.Generator, *, usable: float = 1.0, effect: float = 1.0
    ) -> Population:
        """Normal columns, exponential ones where the lower bound is -1, levels with chances .6, .3
        and .1.

        effect: the standard deviation of the linear predictor, in a random direction.
        """
        made = {column.name: _column(column, rng) for column in columns}
        domain = Domain(columns)
        rows = encoded_columns(domain, made, SIZE)
        raw = np.column_stack([_units(column, made[column.name]) for column in columns])
        slopes = rng.normal(size=raw.shape[1])
        slopes *= effect / np.std(raw @ slopes)
        truth = np.array([-float(raw.mean(axis=0) @ slopes), *slopes])
        return cls(domain, made, rows, 1 / (1 + np.exp(-truth[0] - raw @ slopes)), truth, raw, usable)

    def public(self, count: int, rng: np.random.Generator) -> object:
        """So many independent rows of it, as a frame."""
        import pyarrow as pa

        chosen = rng.integers(SIZE, size=count)
        return pa.table({name: values[chosen] for name, values in self.columns.items()})

    def collected(self, task: Task, n: int, rng: np.random.Generator) -> Collection:
        """The sum of n people's reports."""
        mean, covariance = self.law(task)
        values, axes = np.linalg.eigh(covariance)
        total = n * mean + axes @ (np.sqrt(n * np.maximum(values, 0.0)) * rng.normal(size=len(mean)))
        collection = Collection(task)
        collection.add_sum(np.rint(total / task.randomizer.unit).astype(np.int64), n)
        return collection

    def law(self, task: Task) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of one person's decoded report."""
        size = task.report_entries
        mean, inputs, directions = np.zeros(size), np.zeros((size, size)), np.zeros((size, size))
        for label, chance in ((1.0, self.chance), (0.0, 1 - self.chance)):
            vectors = task.statistic.vectors(self.rows, task.target.scaled(np.full(SIZE, label)))
            unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
            mean += chance @ vectors / SIZE
            inputs += (vectors.T * chance) @ vectors / SIZE
            directions += (unit.T * chance) @ unit / SIZE
        missing = np.zeros((size, size))
        missing[0, 0] = 1 - self.usable  # a report without a direction of its own takes the first axis
        mean *= self.usable
        second = task.randomizer.second_moment(self.usable * inputs, self.usable * directions + missing)
        return mean, second - np.outer(mean, mean)


def _column(column: Column, rng: np.random.Generator) -> np.ndarray:
    if isinstance(column, Categorical):
        return rng.choice(["a", "b", "c"], p=[0.6, 0.3, 0.1], size=SIZE)
    assert isinstance(column, Numeric)
    drawn = rng.exponential(size=SIZE) - 1 if column.low == -1 else rng.normal(size=SIZE)
    return np.clip(drawn, column.low, column.high)


def _units(column: Column, values: np.ndarray) -> np.ndarray:
    if isinstance(column, Categorical):
        return np.column_stack([values == level for level in column.values[1:]]).astype(float)
    return values.astype(float)
