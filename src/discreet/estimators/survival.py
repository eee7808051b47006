"""Survival models for one trusted curator: hazards that are constant within declared intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace as namespace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discreet.curator import Curator
from discreet.docstrings import described, described_like, documented, documented_as
from discreet.domain import Encoder, Numeric, frame_of, lacking
from discreet.domain.follow_up import FollowUpEncoder
from discreet.domain.piecewise import LEAST_PART, PiecewiseEncoder
from discreet.engines import Expanded, SeenThrough
from discreet.errors import DiscreetError, DomainError
from discreet.estimators.formula import reduced
from discreet.estimators.glm import GeneralizedLinearRegressor
from discreet.estimators.glm_base import PrivateGlm
from discreet.estimators.solved import Solver
from discreet.estimators.tables import check_table, check_types
from discreet.glm import Family, Link, Poisson, link
from discreet.privacy import Budget
from discreet.report.evaluation import Evaluation
from discreet.results.named import frame

# The largest log hazard: its exponential can still be multiplied by a time.
_MOST_LOG = 300.0


@documented(like=GeneralizedLinearRegressor)
class PiecewiseExponentialRegressor(PrivateGlm):
    """Differentially private survival regression: hazards that are constant within intervals.

    A proportional hazards model: the hazard of a row in interval k is exp(a_k + x^T coef). It is
    fitted as a Poisson model of events with the time at risk as exposure: each row becomes one
    record for each interval that it reached. The noise covers all records of a person.

    Parameters
    ----------
    breaks : sequence of float
        The increasing ends of the intervals, in the unit of durations: ``(6, 12, 24)`` means (0,
        6], (6, 12] and (12, 24]. Rows followed for longer than the last break count as censored
        there. The noise grows with the number of intervals.

    Attributes
    ----------
    coef_, coef_names_
        Log hazard ratios of the features, then of the intervals against the first.
    intercept_ : float
        The log hazard in the first interval if all features are 0.
    baseline_hazard_ : array
        The hazard in each interval if all features are 0.

    Privacy
    -------
    A row makes at most ``len(breaks)`` records, each of bounded contribution. Sensitivities are
    those of a Poisson fit times ``len(breaks)`` (times ``rows_per_person`` with groups).

    Examples
    --------
    >>> import numpy as np, discreet
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (5000, 1))
    >>> time = rng.exponential(10 / np.exp(X[:, 0]))
    >>> model = discreet.PiecewiseExponentialRegressor(
    ...     epsilon=5, delta=1e-6, bounds_X=(-1, 1), breaks=(5, 20)
    ... )
    >>> model = model.fit(X, np.minimum(time, 20), event=time < 20)
    >>> bool(abs(model.hazard_ratios()["hazard ratio"].iloc[0] - np.e) < 1)
    True
    """

    breaks: Sequence[float]
    data_norm: float | None = None
    alpha: float = 0.0
    cov_type: str = "robust"

    # Parameters of other models that are fixed here.
    _beside = "event"
    _searchable = False
    calibration = "tight"
    solver = "auto"
    public = None
    fit_intercept = True
    max_iter = step = radius = clip = eta = None

    @property
    def bounds_y(self) -> tuple[float, float]:
        """The declared range of durations: from 0 to the last break, after
        which rows count as censored.
        """
        return 0.0, self._ends()[-1]

    def _family(self) -> tuple[Family, Link]:
        return Poisson(), link("log")

    def _solvers(self) -> dict[str, Solver]:
        return {"gd": super()._solvers()["gd"]}

    def _check_parameters(self) -> Budget:
        self._ends()
        return super()._check_parameters()

    def _ends(self) -> tuple[float, ...]:
        try:
            breaks = tuple(float(one) for one in self.breaks)
        except (TypeError, ValueError):
            breaks = ()
        rising = all(low < high for low, high in zip((0.0, *breaks), breaks, strict=False))
        if not breaks or not rising or not math.isfinite(breaks[-1]):
            raise DomainError(f"breaks must be increasing numbers > 0, the ends of intervals, got {self.breaks!r}")
        if min(high - low for low, high in zip((0.0, *breaks), breaks, strict=False)) < LEAST_PART * breaks[-1]:
            raise DomainError(
                f"breaks must be at least 1 / {1 / LEAST_PART:,.0f} of the last one apart, got {self.breaks!r}"
            )
        return breaks

    def _target(self, name: str | None) -> Numeric:
        """Durations from 0 to slightly beyond the last break, so that rows that
        passed it can be recognised.
        """
        return Numeric(str(name or "duration"), 0.0, self._ends()[-1] * (1 + 2.0**-10))

    def _weight(self, name: str | None) -> Numeric:
        if self.domain is not None and name is not None and name in self.domain:
            column = self.domain[name]
            bounds = (column.low, column.high) if isinstance(column, Numeric) else column.values
            if not {0, 1}.issuperset(bounds):
                raise DomainError(
                    f"event {name!r} is declared with {', '.join(map(repr, bounds))}: events must be 0 (censored) and 1"
                )
        return Numeric(str(name or "event"), 0.0, 1.0)

    def _check_offset(self) -> None:
        raise DomainError("a survival model takes no offset: its exposures are the times at risk")

    @described
    def fit(  # type: ignore[override]
        self, X: Any, y: Any = None, groups: Any = None, *, event: Any = None, job: str | None = None
    ) -> Self:
        """Fit on private rows.

        Parameters
        ----------
        X : table
            Features, as for LinearRegression; with a formula, the duration may be one of the
            columns.
        y : vector, optional
            The duration for which each row was followed.
        event : vector, or the name of a column of X
            1 (or true) if the event happened at the end, 0 if the row was censored. By default all
            events happened. A row with any other value is not used.
        """
        budget = self._check_parameters()
        if isinstance(event, str):
            X, event = _without(X, event)
        engine, rows = self._rows_engine(X, y, groups, None, event)
        return self._fit_records(engine, rows, groups is not None, job, budget)

    @described_like(PrivateGlm.fit_table)
    def fit_table(  # type: ignore[override]
        self,
        table: Any,
        *,
        target: str | None = None,
        event: str | None = None,
        features: Sequence[str] | None = None,
        groups: str | None = None,
        job: str | None = None,
    ) -> Self:
        """``fit`` on a table: ``target`` is the column of durations, and ``event`` that of events.

        Parameters
        ----------
        target : str, optional
            The column of durations; not needed if a formula names it on its left side.
        event : str, optional
            The column of events: 1 (or true) if the event happened, 0 if the row was censored.
        """
        budget = self._check_parameters()
        engine, rows = self._table_engine(table, target, features, groups, None, event)
        return self._fit_records(engine, rows, groups is not None, job, budget)

    def _fit_records(self, engine: Any, rows: Encoder, grouped: bool, job: str | None, budget: Budget) -> Self:
        records = PiecewiseEncoder(rows, self._ends())
        self._fit_engine(Expanded(engine, records.see, len(records.breaks)), records, grouped, job, budget)
        return self._with_baseline(rows.width)

    def _saved_encoder(self, names: Sequence[str], target: Numeric, exposure: Numeric | None) -> Any:
        rows = self._make_encoder(names, self._target(None), None, self._weight(target.name))
        return PiecewiseEncoder(rows, self._ends())

    @documented_as(PrivateGlm.adopt)
    def adopt(self, results: Any, encoder: Any, feature_names: Sequence[str] | None) -> Any:
        super().adopt(results, encoder, feature_names)
        return self._with_baseline(encoder.rows.width)

    def _with_baseline(self, width: int) -> Self:
        logs = self.intercept_ + np.concatenate([[0.0], self.coef_[width:]])
        self.baseline_hazard_ = np.exp(np.clip(logs, -_MOST_LOG, _MOST_LOG))
        return self

    def _curator(self, engine: Any, encoder: Any, grouped: bool, job: str | None) -> Curator:
        curator = super()._curator(engine, encoder, grouped, job)
        curator.expand(len(self._ends()))
        return curator

    def _covariates(self, X: Any, extrapolate: bool) -> np.ndarray:
        check_is_fitted(self, "coef_")
        rows: Encoder = self._encoder.rows  # type: ignore[attr-defined]
        table = check_table(self, reduced(rows, X), reset=False)
        check_types(table, rows.domain)
        return rows.design(table, extrapolate=extrapolate)

    @described
    def predict_hazard(self, X: Any, *, extrapolate: bool = False) -> np.ndarray:
        """The hazard of each row (lines) in each interval (columns).

        Returns
        -------
        array of shape (rows, intervals)
            Hazards.
        """
        design = self._covariates(X, extrapolate)
        width = design.shape[1]
        logs = self.intercept_ + np.concatenate([[0.0], self.coef_[width:]])
        # Hazards are finite whatever noise has made of the coefficients.
        return np.asarray(np.exp(np.clip((design @ self.coef_[:width])[:, np.newaxis] + logs, -_MOST_LOG, _MOST_LOG)))

    @described
    def predict_survival(self, X: Any, times: Any, *, extrapolate: bool = False) -> np.ndarray:
        """The probability that each row (lines) has no event until each of these times.

        Parameters
        ----------
        times : array
            Times between 0 and the last break.

        Returns
        -------
        array of shape (rows, times)
            Probabilities.
        """
        moments = np.atleast_1d(np.asarray(times, dtype=np.float64))
        breaks = np.array(self._ends())
        if not ((moments >= 0) & (moments <= breaks[-1])).all():
            raise ValueError(f"times must be between 0 and the last break, {breaks[-1]:g}")
        low = np.concatenate([[0.0], breaks[:-1]])
        there = np.clip(moments[:, np.newaxis] - low, 0.0, breaks - low)
        return np.asarray(np.exp(-self.predict_hazard(X, extrapolate=extrapolate) @ there.T))

    @described
    def predict(self, X: Any, *, extrapolate: bool = False) -> np.ndarray:
        """The mean time until the event or the last break, whichever comes first."""
        hazard = self.predict_hazard(X, extrapolate=extrapolate)
        breaks = np.array(self._ends())
        width = np.diff(np.concatenate([[0.0], breaks]))
        total = np.cumsum(hazard * width, axis=1)
        alive = np.exp(-np.hstack([np.zeros((len(hazard), 1)), total[:, :-1]]))
        return np.asarray((alive * -np.expm1(-hazard * width) / hazard).sum(axis=1))

    @described
    def hazard_ratios(self, alpha: float = 0.05) -> Any:
        """Hazard ratios of the features, with intervals for sampling and privacy noise together.

        Returns
        -------
        DataFrame, or array without pandas
            Ratio, low and high ends, by name, as ``results_.rate_ratios()`` has them.
        """
        check_is_fitted(self, "coef_")
        places = slice(1, 1 + self._encoder.rows.width)  # type: ignore[attr-defined]
        results = self.results_
        values = np.exp(np.column_stack([results.estimates, results.intervals(alpha)])[places])
        names = list(self.coef_names_[: places.stop - 1])
        return frame(values, names, ["hazard ratio", f"{alpha / 2:g}", f"{1 - alpha / 2:g}"])

    @described_like(PrivateGlm.evaluate)
    def evaluate(  # type: ignore[override]
        self,
        X: Any,
        y: Any = None,
        groups: Any = None,
        *,
        event: Any,
        epsilon: float,
        delta: float,
        ledger: Any = None,
        neighbours: str | None = None,
        rows_per_person: int | None = None,
        alpha: float = 0.05,
        random_state: Any = None,
    ) -> Evaluation:
        """Evaluate the model on private held-out rows, by noisy sums.

        Deviances are those of the events of a row against the number that the model expects until
        the row's end: the squares of the deviance residuals of a Cox model. They are compared with
        the deviances of one hazard ratio for all rows, with the same baseline. The calibration
        table has mean hazards over the declared time, by groups of rows of similar risk.

        Parameters
        ----------
        X, y, groups, event
            Rows, as for ``fit``; ``event=None`` says that all events happened.

        Returns
        -------
        Evaluation
            ``deviance_explained`` and ``mean_deviance``, each with a noise interval; a calibration
            table.

        Privacy
        -------
        Each row counts once, however many intervals it reached: the sensitivities are those of any
        other evaluation (rows/evaluation.py).
        """
        opener = self._opener(epsilon, delta, neighbours, rows_per_person)
        if isinstance(event, str):
            X, event = _without(X, event)
        engine, rows = opener._rows_engine(self._evaluated_columns(X), y, groups, None, event)
        return self._evaluated(opener, engine, rows, groups is not None, ledger, alpha, random_state)

    @described_like(PrivateGlm.evaluate_table)
    def evaluate_table(  # type: ignore[override]
        self,
        table: Any,
        *,
        event: str | None,
        epsilon: float,
        delta: float,
        target: str | None = None,
        groups: str | None = None,
        ledger: Any = None,
        neighbours: str | None = None,
        rows_per_person: int | None = None,
        alpha: float = 0.05,
        random_state: Any = None,
    ) -> Evaluation:
        """``evaluate`` on the rows of a table; columns are named as in ``fit_table``.

        Parameters
        ----------
        event : str or None
            The column of events; None says that all events happened.
        target : str, optional
            The column of durations; not needed if a formula names it on its left side.

        Returns
        -------
        Evaluation

        Privacy
        -------
        As ``evaluate``.
        """
        opener = self._opener(epsilon, delta, neighbours, rows_per_person)
        features = None if self.formula is not None else [column.name for column in self._encoder.domain.columns]
        engine, rows = opener._table_engine(table, target, features, groups, None, event)
        return self._evaluated(opener, engine, rows, groups is not None, ledger, alpha, random_state)

    def _seen_by_evaluation(self, engine: Any, encoder: Any) -> tuple[Any, Any, Any]:
        """Each row as one count of events, given the fitted shape of the baseline hazard."""
        seen = FollowUpEncoder(encoder, self._ends(), tuple(self.baseline_hazard_.tolist()))
        model = namespace(
            coef_=self.coef_[: encoder.width],
            coef_names_=self.coef_names_[: len(self.coef_names_) - len(self._ends()) + 1],
            intercept_=math.log(seen.mean_hazard),
            _family=self._family,
        )
        return model, SeenThrough(engine, seen.see), seen

    def mean_interval(self, *args: Any, **more: Any) -> Any:
        """Not available for survival models; ``hazard_ratios`` and ``results_`` have intervals."""
        raise DiscreetError("intervals of survival times are not available; see hazard_ratios() and results_")

    predict_interval = mean_interval


def _without(X: Any, name: str) -> tuple[Any, Any]:
    """A frame without one of its columns, and that column."""
    import narwhals as nw

    if not nw.dependencies.is_into_dataframe(X):
        raise DomainError(f"event={name!r} names a column, but X has no column names: pass the events themselves")
    frame = frame_of(X)
    if name not in frame.columns:
        raise DomainError(f"the table has no column {name!r} for event; {lacking(name, frame.columns)}")
    return frame.drop(name).to_native(), frame[name].to_native()
