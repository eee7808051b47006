"""The estimator itself, fitted to simulated people: a check of forecasts, and their
replacement if not sharp.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.planning.design import Design
from discreet.planning.sample import Sample

_TEST_ROWS = 20_000


@dataclass(frozen=True)
class Measured:
    """Root mean square error of a coefficient, in units of one feature's standard
    deviation, and the excess risk.
    """

    standard_error: float
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
    squares, risks = [], []
    for _ in range(repeats):
        X, y = design.rows(n, rng)
        known = None
        if public:
            rows, labels = design.rows(public, rng)
            known = Public(rows=rows, y=labels)
        fitted = central_estimator(design, epsilon, delta, neighbours, known).fit(X, y)
        squares.append(np.mean((fitted.results_.estimates[1:] - truth[1:]) ** 2))
        model = np.concatenate([np.ravel(fitted.intercept_), np.ravel(fitted.coef_)])
        risks.append(float(design.risk(model[:, np.newaxis], test)[0]))
    return Measured(math.sqrt(np.mean(squares)), float(np.mean(risks)))
