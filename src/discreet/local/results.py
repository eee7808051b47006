"""A fitted model of a local collection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.domain import Numeric
from discreet.errors import DomainError
from discreet.glm import MeanFunction
from discreet.local.columns import Floats, encoded_columns
from discreet.local.design import raw_map
from discreet.local.task import Task
from discreet.report.methods import ReportMethods
from discreet.results import NamedMethods, Results
from discreet.rows import RowsUsed


@dataclass(frozen=True, eq=False)
class LocalResult(NamedMethods, ReportMethods):
    """Coefficients in the columns' own units; standard errors include all sources of error.

    These are privacy noise, sampling, and the public rows' own sampling.

    ``params``, ``bse``, ``conf_int()`` and the others are those of ``results_``, by name; arrays
    start with the intercept if the task has one.

    Attributes
    ----------
    model : str
        What was fitted.
    names : list of str
        Coefficients, the intercept first if there is one.
    estimates : array
        One for each name, in the columns' own units.
    covariance : array
        Of the estimates: noise, sampling and public rows together.
    response : array
        The derivative of the estimates in the entries of the average report: noise, and lying
        devices, act through it.
    noise_covariance : array
        The randomizers' part of the covariance.
    count : int
        How many reports there were.
    task : Task
        What they answered.
    link : MeanFunction
        The fitted mean function.
    usable : float
        The estimated share of reports from complete records.
    usable_std : float
        Its standard error.
    assumption : str
        What else the result rests on.

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
    >>> from discreet.local import fit
    >>> (result,) = fit(task, collection, ["identity"])
    >>> result.conf_int().index.tolist()
    ['const', 'age']
    """

    model: str
    names: list[str]
    estimates: Floats
    covariance: Floats
    response: Floats
    noise_covariance: Floats
    count: int
    task: Task
    link: MeanFunction
    usable: float
    usable_std: float
    assumption: str

    @property
    def results_(self) -> Results:  # type: ignore[override]
        """Estimates, errors, intervals and tests, as every other fitted model has them."""
        from discreet.local.guarantee import local_guarantee

        known = bool(np.isfinite(self.covariance).all())
        used = None
        if self.task.statistic.flagged:
            used = RowsUsed.seen(self.usable * self.count, self.usable_std * self.count, self.count)
        return Results(
            target=self.task.target.name,
            names=tuple("const" if name == "intercept" else name for name in self.names),
            shrunk=self.estimates,
            estimates=self.estimates,
            covariance=self.covariance if known else None,
            # For labels other than 0 and 1 only a bound on the sampling variance is known, so the
            # noise's share is not given.
            noise_covariance=self.noise_covariance if known and self.task.target.two_valued else None,
            privacy=local_guarantee(self.task),
            nobs=float(self.count),
            used=used,
            rows=self.count,
            family=self.model,
            link=self.link.name,
            model=f"local {self.model} model",
            delta=self.delta,
            trust="local",
            facts=(("Task", f"{self.task.name}, {self.digest[:16]}"),),
            notes=(f"Assumed: {self.assumption}.",),
            no_errors="NLDP gives no standard errors for its second round",
        )

    @property
    def coef_(self) -> Floats:
        """Slopes, without the intercept."""
        return self.estimates[int(self.task.fit_intercept) :]

    @property
    def intercept_(self) -> float:
        """The intercept; 0 if the model has none."""
        return float(self.estimates[0]) if self.task.fit_intercept else 0.0

    @property
    def epsilon(self) -> float:
        """What each report costs its device, at ``delta``."""
        return self.task.epsilon

    @property
    def delta(self) -> float:
        """The delta of one report's guarantee."""
        return self.task.delta

    @property
    def digest(self) -> str:
        """The task whose reports these are."""
        return self.task.digest

    def _document(self) -> dict[str, Any]:
        from discreet.local.model_file import local_document

        return local_document(self)

    def _spans(self) -> dict[str, float]:
        return {column.name: column.high - column.low for column in self.task.columns if isinstance(column, Numeric)}

    def predict(self, table: Any) -> Floats:
        """The expected label of each row; for a label of two levels the probability of the one that
        counts as 1.

        Parameters
        ----------
        table : frame or mapping
            Columns of the task by name.

        Returns
        -------
        array
            One prediction per row.
        """
        columns = _columns(self.task, table)
        rows = encoded_columns(self.task, columns, len(next(iter(columns.values()))))
        raw = rows @ raw_map(self.task).T
        return self.link.mean(raw @ self.coef_ + self.intercept_)


def _columns(task: Task, table: Any) -> Mapping[str, Any]:
    names = [column.name for column in task.columns]
    if isinstance(table, Mapping):
        return {name: table[name] for name in names if name in table}
    if isinstance(table, np.ndarray):
        if table.ndim != 2 or table.shape[1] != len(names):
            raise DomainError(f"rows must have {len(names)} columns: {', '.join(names)}")
        return {name: table[:, place] for place, name in enumerate(names)}
    import narwhals as nw

    from discreet.domain import cells

    frame = nw.from_native(table, eager_only=True)
    return {name: cells(frame[name]) for name in names if name in frame.columns}
