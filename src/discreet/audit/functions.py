"""Releases that are functions, as models with ``fit``: what an audit asks of an estimator it can then ask of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import discreet
from discreet.audit.frames import frame_of
from discreet.domain import Domain


class CollectedMoments(BaseEstimator):
    """``collect_moments`` of the columns of X and y."""

    def __init__(
        self, *, epsilon: float, delta: float, bounds_X: Any, bounds_y: Any, neighbours: str, ledger: Any = None
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds_X = bounds_X
        self.bounds_y = bounds_y
        self.neighbours = neighbours
        self.ledger = ledger

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


class SecondMoment(BaseEstimator):
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


class ThresholdOfLabels(BaseEstimator):
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


MODELS: dict[str, type] = {kind.__name__: kind for kind in (CollectedMoments, SecondMoment, ThresholdOfLabels)}
