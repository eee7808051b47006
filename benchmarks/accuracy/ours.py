"""Our estimators, called as a user calls them: a frame, a declared domain, and the public rows where there are any."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from benchmarks.accuracy.cells import DELTA, Cell
from benchmarks.accuracy.methods import prepared
from benchmarks.accuracy.problems import Part, Problem, loss
from benchmarks.accuracy.synthetic_sets import EXPOSURE

from discreet import Public

PREFIX = "ours "
ESTIMATORS = {"linear": "LinearRegression", "logistic": "LogisticRegression", "poisson": "PoissonRegressor"}
SOLVERS = {
    "linear": ("auto", "moments", "gd", "pmt"),
    "logistic": ("auto", "gd", "newton", "objective", "moments"),
    "poisson": ("auto", "gd", "newton", "moments"),
}


class NotThereError(Exception):
    """This version of discreet has no such estimator or solver, or it cannot be used here."""


def our_medians(solver: str, cell: Cell, draws: int, splits: int) -> tuple[float, ...]:
    """The median test loss of each split."""
    return tuple(
        float(
            np.median([_loss(solver, cell, prepared(cell.data_set, split, False).units.problem) for _ in range(draws)])
        )
        for split in range(splits)
    )


def _loss(solver: str, cell: Cell, problem: Problem) -> float:
    name = ESTIMATORS[problem.family]
    estimator = getattr(importlib.import_module("discreet"), name, None)
    if estimator is None:
        raise NotThereError(f"discreet has no {name}")
    settings: dict[str, Any] = {
        "epsilon": cell.epsilon,
        "delta": DELTA,
        "domain": problem.domain,
        "neighbours": cell.neighbours,
        "solver": solver,
    }
    if problem.family == "logistic":
        settings["classes"] = [0, 1]
    else:
        settings["bounds_y"] = problem.bounds_y
    if cell.with_public:
        # Public labels have no place for an exposure yet: without it they would say something else.
        labels = problem.public.y if problem.public.exposure is None else None
        settings["public"] = Public(rows=problem.public.frame, y=labels)
    if problem.private.exposure is not None:
        settings["bounds_exposure"] = EXPOSURE
    try:
        model = estimator(**settings)
        model.fit(problem.private.frame, _labels(problem, problem.private), **_exposure(problem.private))
    except (ValueError, TypeError) as error:
        # A solver that is not there, or needs public rows: what a user would be told.
        raise NotThereError(f"{name}(solver={solver!r}): {error}") from error
    return float(loss(problem, _predictor(model, problem)[:, None])[0])


def _labels(problem: Problem, part: Part) -> np.ndarray:
    return part.y.astype(np.int64) if problem.family == "logistic" else part.y


def _exposure(part: Part) -> dict[str, np.ndarray]:
    return {} if part.exposure is None else {"exposure": part.exposure}


def _predictor(model: Any, problem: Problem) -> np.ndarray:
    if problem.family == "logistic":
        tiny = np.finfo(float).tiny
        chance = np.clip(model.predict_proba(problem.test.frame), tiny, 1)
        return np.log(chance[:, 1]) - np.log(chance[:, 0])
    prediction = np.asarray(model.predict(problem.test.frame, **_exposure(problem.test)))
    return prediction if problem.family == "linear" else np.log(np.maximum(prediction, 1e-300))
