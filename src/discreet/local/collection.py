"""The sum of reports: all that a collector must keep to fit every model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.local.columns import Floats
from discreet.local.task import Task


class Collection:
    """Adds reports of one task as exact integers: any order and grouping gives the same bits."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._sum: NDArray[np.object_] = np.array([0] * task.report_entries, dtype=object)
        self._count = 0
        self._values: list[NDArray[np.int64]] = []

    @property
    def task(self) -> Task:
        return self._task

    @property
    def count(self) -> int:
        """How many reports were added."""
        return self._count

    @property
    def total(self) -> NDArray[np.object_]:
        """The exact sum, in grid units."""
        return self._sum.copy()

    def add(self, values: NDArray[np.int64]) -> None:
        """Add one decoded report."""
        self.add_sum(values, 1)
        if self._task.statistic.kind == "predictor":
            self._values.append(values)

    @property
    def values(self) -> Floats:
        """Every report of NLDP's second round, which no sum can stand for; others are added and forgotten."""
        if len(self._values) != self._count:
            raise ValueError("this model needs every report of its own: fit it from a file of reports, not from sums")
        return np.array(self._values, dtype=np.float64).reshape(-1) * self._task.randomizer.unit

    def add_sum(self, total: NDArray[np.int64] | NDArray[np.object_], count: int) -> None:
        """Add the sum of ``count`` decoded reports."""
        whole = np.asarray(total)
        if whole.shape != (self._task.report_entries,) or whole.dtype.kind not in "iO" or count < 0:
            raise ValueError(f"a sum of reports of this task has {self._task.report_entries} whole numbers")
        self._sum = self._sum + whole.astype(object)
        self._count += count

    @property
    def mean(self) -> Floats:
        """The average report, in the units of the statistic."""
        if self._count == 0:
            raise ValueError("a collection without reports has no mean")
        return np.array([float(entry) for entry in self._sum]) * (self._task.randomizer.unit / self._count)
