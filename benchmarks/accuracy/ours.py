"""Our estimators, called as a user calls them: a frame, a domain, and public rows if there are any."""

from __future__ import annotations

import importlib
from functools import lru_cache, partial
from typing import Any

import numpy as np
from benchmarks.accuracy.cells import DELTA, RELATIONS, Cell
from benchmarks.accuracy.encoded_once import SEED, EncodedOnce
from benchmarks.accuracy.methods import CACHED_PARTS, split_of
from benchmarks.accuracy.problems import Part, Problem, loss
from benchmarks.accuracy.synthetic_sets import EXPOSURE

from discreet import Public

PREFIX = "ours "
ESTIMATORS = {"linear": "LinearRegression", "logistic": "LogisticRegression", "poisson": "PoissonRegressor"}
SOLVERS = {
    "linear": ("auto", "moments", "gd", "pmt"),
    "logistic": ("auto", "gd", "newton", "objective", "cost_gd"),
    "poisson": ("auto", "gd", "newton", "cost_gd"),
}


class NotThereError(Exception):
    """This version of discreet has no such estimator or solver, or it cannot be used here."""


def our_medians(solver: str, cell: Cell, draws: int, splits: int) -> tuple[float, ...]:
    """The median test loss of each split."""
    medians = []
    for number in range(splits):
        encoded = checked(cell.data_set, number)
        medians.append(float(np.median([_loss(solver, cell, encoded) for _ in range(draws)])))
    return tuple(medians)


@lru_cache(CACHED_PARTS)
def checked(name: str, number: int) -> EncodedOnce:
    """A split whose rows are encoded once, after that was seen to change nothing."""
    problem = split_of(name, number)
    encoded = EncodedOnce(problem)
    for with_public in (False, True):
        cell = Cell(name, with_public, RELATIONS[0], 1.0)
        encoded.check(partial(_fit, "auto", cell, problem, SEED), partial(_predictor, problem=problem))
    return encoded


def _loss(solver: str, cell: Cell, encoded: EncodedOnce) -> float:
    with encoded.rows():
        model = _fit(solver, cell, encoded.problem, None)
    encoded.predicts_test_rows(model)
    return float(loss(encoded.problem, _predictor(model, encoded.problem)[:, None])[0])


def _fit(solver: str, cell: Cell, problem: Problem, seed: int | None) -> Any:
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
        "random_state": seed,
    }
    if problem.family == "logistic":
        settings["classes"] = [0, 1]
    else:
        settings["bounds_y"] = problem.bounds_y
    if cell.with_public:
        public = problem.public
        settings["public"] = Public(rows=public.frame, y=public.y, **_exposure(public))
    if problem.private.exposure is not None:
        settings["bounds_exposure"] = EXPOSURE
    try:
        model = estimator(**settings)
        return model.fit(problem.private.frame, _labels(problem, problem.private), **_exposure(problem.private))
    except (ValueError, TypeError) as error:
        # A solver that is not there, or needs public rows: what a user would be told.
        raise NotThereError(f"{name}(solver={solver!r}): {error}") from error


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
