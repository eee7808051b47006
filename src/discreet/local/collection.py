"""The sum of reports, which suffices to fit every model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.local.columns import Floats
from discreet.local.task import Task


class Collection:
    """Adds reports of one task as exact integers: any order and grouping gives the same bits.

    Parameters
    ----------
    task : Task
        The public task that the reports answer.

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
    >>> from discreet.local import Client, Collection, wire
    >>> collection = Collection(task)
    >>> collection.add(wire.decode(task, Client(task).report({"age": 50, "cost": 0.4})))
    >>> collection.count
    1
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._sum: NDArray[np.object_] = np.array([0] * task.report_entries, dtype=object)
        self._count = 0
        self._values: list[NDArray[np.int64]] = []

    @property
    def task(self) -> Task:
        """The task whose reports are added."""
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
        """Add one decoded report.

        Parameters
        ----------
        values : array of int
            A decoded report, of ``wire.decode``.
        """
        self.add_sum(values, 1)
        if self._task.statistic.kind == "predictor":
            self._values.append(values)

    @property
    def values(self) -> Floats:
        """Every report of NLDP's second round, for which a sum does not suffice. Other reports are
        not kept.
        """
        if len(self._values) != self._count:
            raise ValueError("this model needs every single report: fit it from a file of reports, not from sums")
        return np.array(self._values, dtype=np.float64).reshape(-1) * self._task.randomizer.unit

    def add_sum(self, total: NDArray[np.int64] | NDArray[np.object_], count: int) -> None:
        """Add the sum of ``count`` decoded reports.

        Parameters
        ----------
        total : array of int
            The exact sum, in grid units.
        count : int
            How many reports it has.
        """
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
