"""Functions that release something, wrapped as models with ``fit``, so that they can be audited."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import discreet
from discreet.audit.frames import frame_of
from discreet.curator import listening
from discreet.domain import Domain, Public
from discreet.local import local_guarantee, new_task
from discreet.local.client import reports
from discreet.local.columns import encoded_columns
from discreet.privacy import GDP, Guarantee, Release, Split


class _Bounded(BaseEstimator):  # type: ignore[misc]
    """A model with bounds of features and labels."""

    def __init__(
        self, *, epsilon: float, delta: float, bounds_X: Any, bounds_y: Any, neighbours: str, ledger: Any = None
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds_X = bounds_X
        self.bounds_y = bounds_y
        self.neighbours = neighbours
        self.ledger = ledger


class CollectedMoments(_Bounded):
    """``collect_moments`` of the columns of X and y."""

    def fit(self, X: Any, y: Any) -> Any:
        names = [f"x{place}" for place in range(X.shape[1])]
        features = Domain.from_bounds(names, self.bounds_X).columns
        domain = Domain((*features, *Domain.from_bounds(["y"], self.bounds_y).columns))
        self.moments_ = discreet.collect_moments(
            frame_of({**dict(zip(names, np.asarray(X).T, strict=True)), "y": y}),
            domain=domain,
            target="y",
            epsilon=self.epsilon,
            delta=self.delta,
            neighbours=self.neighbours,
            ledger=self.ledger,
        )
        self.privacy_ = self.moments_.privacy
        return self


class SecondMoment(BaseEstimator):  # type: ignore[misc]
    """``private_second_moment`` of X."""

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float,
        bounds_X: Any,
        neighbours: str,
        public: Any = None,
        calibration: str = "tight",
        ledger: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds_X = bounds_X
        self.neighbours = neighbours
        self.public = public
        self.calibration = calibration
        self.ledger = ledger

    def fit(self, X: Any, y: Any) -> Any:
        self.result_ = discreet.private_second_moment(X, **self.get_params())
        self.privacy_ = self.result_.privacy_
        return self


class ThresholdOfLabels(BaseEstimator):  # type: ignore[misc]
    """``dp_threshold`` of the labels."""

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float,
        bounds_y: Any,
        neighbours: str,
        calibration: str = "tight",
        ledger: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds_y = bounds_y
        self.neighbours = neighbours
        self.calibration = calibration
        self.ledger = ledger

    def fit(self, X: Any, y: Any) -> Any:
        self.threshold_ = discreet.dp_threshold(
            y,
            smallest=0.01,
            largest=float(max(np.abs(self.bounds_y))),
            epsilon=self.epsilon,
            delta=self.delta,
            neighbours=self.neighbours,
            calibration=self.calibration,
            ledger=self.ledger,
        )
        self.privacy_ = self.threshold_.privacy
        return self


class LargestColumns(BaseEstimator):  # type: ignore[misc]
    """``noisy_hard_threshold`` of the columns of X, weighted by y."""

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float,
        bounds_X: Any,
        bounds_y: Any,
        neighbours: str,
        calibration: str = "tight",
        ledger: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds_X = bounds_X
        self.bounds_y = bounds_y
        self.neighbours = neighbours
        self.calibration = calibration
        self.ledger = ledger

    def fit(self, X: Any, y: Any) -> Any:
        self.chosen_ = discreet.noisy_hard_threshold(
            X,
            sparsity=2,
            bound=float(np.max(np.abs(self.bounds_X))),
            weights=y,
            weight_bound=float(np.max(np.abs(self.bounds_y))),
            epsilon=self.epsilon,
            delta=self.delta,
            neighbours=self.neighbours,
            calibration=self.calibration,
            ledger=self.ledger,
        )
        self.privacy_ = self.chosen_.privacy
        return self


class EvaluatedMeans(_Bounded):
    """``evaluate`` of a linear model that is known beforehand."""

    def fit(self, X: Any, y: Any) -> Any:
        declared = {"bounds_X": self.bounds_X, "bounds_y": self.bounds_y}
        model = known_model(discreet.LinearRegression(epsilon=1.0, delta=1e-6, **declared), X.shape[1])
        return _evaluated(self, model, X, y)


class EvaluatedClasses(BaseEstimator):  # type: ignore[misc]
    """``evaluate`` of a logistic model that is known beforehand."""

    def __init__(
        self, *, epsilon: float, delta: float, bounds_X: Any, classes: Any, neighbours: str, ledger: Any = None
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds_X = bounds_X
        self.classes = classes
        self.neighbours = neighbours
        self.ledger = ledger

    def fit(self, X: Any, y: Any) -> Any:
        declared = {"bounds_X": self.bounds_X, "classes": self.classes}
        model = known_model(discreet.LogisticRegression(epsilon=1.0, delta=1e-6, **declared), X.shape[1])
        return _evaluated(self, model, X, y)


def known_model(model: Any, width: int) -> Any:
    """A model with fixed coefficients, which depend on no rows."""
    names = [f"x{place}" for place in range(width)]
    model.n_features_in_ = width
    model._encoder = model._make_encoder(names, model._target("y"), None)
    model.coef_names_ = model._encoder.names
    coef = np.linspace(0.8, -0.4, width)
    model.coef_, model.intercept_ = (coef[np.newaxis], np.array([0.1])) if hasattr(model, "classes_") else (coef, 0.1)
    return model


def _evaluated(audited: Any, model: Any, X: Any, y: Any) -> Any:
    settings = {name: getattr(audited, name) for name in ("epsilon", "delta", "neighbours", "ledger")}
    audited.evaluation_ = model.evaluate(X, y, **settings)
    audited.privacy_ = audited.evaluation_.privacy
    return audited


class LocalReports(BaseEstimator):  # type: ignore[misc]
    """One local report for each row, as `discreet.local` makes them."""

    def __init__(self, *, epsilon: float, delta: float, bounds_X: Any, bounds_y: Any, public: Any = None) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds_X = bounds_X
        self.bounds_y = bounds_y
        self.public = public

    def fit(self, X: Any, y: Any) -> Any:
        columns = Domain.from_bounds([f"x{place}" for place in range(X.shape[1])], self.bounds_X).columns
        (target,) = Domain.from_bounds(["y"], self.bounds_y).columns
        known = None if self.public is None else tuple(map(tuple, np.asarray(self.public.rows).tolist()))
        task = _local_task(self.epsilon, columns, target, known)
        cost = local_guarantee(task).releases[0].cost
        split = Split(0, len(y), cost, GDP(cost.mu))
        encoded = encoded_columns(task, dict(zip([c.name for c in task.columns], np.asarray(X).T, strict=True)), len(y))
        labels = task.target.encode(y)
        self.reports_ = [
            self._report(task, Release("local report", 2.0, 0.0, cost, split, part), encoded[part], labels[part])
            for part in range(len(y))
        ]
        self.privacy_ = Guarantee(tuple(release for _, release in self.reports_), "replace_one")
        return self

    def _report(self, task: Any, release: Release, row: Any, label: float) -> tuple[tuple[bytes, int], Release]:
        body = reports(task, row[np.newaxis], np.array([label]))[0]
        made = body[12:28], int.from_bytes(body[28:30], "little")
        tape = listening.get()
        if tape is not None:
            vector = task.statistic.vectors(row[np.newaxis], task.target.scaled(np.array([label])))[0]
            law = partial(task.randomizer.chances, bytes.fromhex(task.digest), vector)
            made = tape.report(release, law, *made)  # type: ignore[attr-defined]  # the audit's own tapes
        return made, release


@lru_cache(maxsize=16)
def _local_task(epsilon: float, columns: Any, target: Any, known: Any) -> Any:
    """The task of an audit, cached for its many fits."""
    public = None if known is None else Public(rows=np.array(known))
    return new_task("audit", domain=Domain(columns), target=target, epsilon=epsilon, goal=100_000, public=public)


_KINDS = (
    CollectedMoments,
    SecondMoment,
    ThresholdOfLabels,
    LargestColumns,
    EvaluatedMeans,
    EvaluatedClasses,
    LocalReports,
)
MODELS: dict[str, type] = {kind.__name__: kind for kind in _KINDS}
