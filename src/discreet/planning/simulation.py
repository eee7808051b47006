"""The estimator itself, fitted to simulated people: a check of forecasts, and their
replacement if not sharp.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import WeakGuaranteeWarning
from discreet.planning.design import Design
from discreet.planning.kinds import Floats
from discreet.planning.sample import Sample

_TEST_ROWS = 20_000


@dataclass(frozen=True)
class Measured:
    """Root mean square error of a coefficient, in units of one feature's standard
    deviation, the median of the standard errors that fits state, and the excess risk.
    """

    standard_error: float
    stated_error: float
    excess_risk: float


def central_estimator(
    people: Design | Sample, epsilon: float, delta: float, neighbours: str, public: Any = None
) -> Any:
    declared = {
        "epsilon": epsilon,
        "delta": delta,
        "neighbours": neighbours,
        "bounds_X": people.bounds_X,
        "public": public,
    }
    if not people.kind.two_classes:
        declared["bounds_y"] = people.label_bounds
    return people.kind.estimator()(**declared)


def fitted(estimator: Any, X: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """The slopes of the estimate, their stated standard errors, and the predicting model."""
    with warnings.catch_warnings():
        # Nobody's rows: the budget of a small table in place of a large one may be huge.
        warnings.simplefilter("ignore", WeakGuaranteeWarning)
        estimator.fit(X, y)
    model = np.concatenate([np.ravel(estimator.intercept_), np.ravel(estimator.coef_)])
    return estimator.results_.estimates[1:], estimator.results_.std_errors[1:], model


def simulate_central(
    design: Design,
    n: int,
    epsilon: float,
    delta: float,
    *,
    neighbours: str = "replace_one",
    public: int = 0,
    repeats: int = 8,
    seed: int = 0,
) -> Measured:
    """Fit this many simulated data sets and compare the models with the truth."""
    from discreet.domain import Public

    rng = np.random.default_rng([seed, n, design.d])
    truth, test = design.coefficients, design.rows(_TEST_ROWS, rng)[0]
    squares, stated, risks = [], [], []
    for _ in range(repeats):
        X, y = design.rows(n, rng)
        known = None
        if public:
            rows, labels = design.rows(public, rng)
            known = Public(rows=rows, y=labels)
        estimate, errors, model = fitted(central_estimator(design, epsilon, delta, neighbours, known), X, y)
        squares.append(np.mean((estimate - truth[1:]) ** 2))
        stated.append(errors)
        risks.append(float(design.risk(model[:, np.newaxis], test)[0]))
    return Measured(math.sqrt(np.mean(squares)), float(np.median(stated)), float(np.mean(risks)))
