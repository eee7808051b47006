"""Every generalized linear model keeps its guarantee on neighbours, with no more noise than needed."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from discreet import GammaRegressor, GeneralizedLinearRegressor, LogisticRegression, PoissonRegressor, Public
from discreet.audit import replay

EPSILONS = [0.5, 5.0]
RELATIONS = ["replace_one", "add_or_remove_one"]
ROWS, COLUMNS = 4_000, 3


@lru_cache
def features() -> np.ndarray:
    return np.clip(np.random.default_rng(0).normal(0.1, 0.4, (ROWS, COLUMNS)), -1, 1)


@lru_cache
def labels(family: str) -> np.ndarray:
    rng = np.random.default_rng(1)
    eta = 0.2 + features() @ np.array([0.8, -0.6, 0.3])
    return {
        "binary": lambda: (rng.random(ROWS) < 1 / (1 + np.exp(-eta))).astype(int),
        "texts": lambda: np.where(rng.random(ROWS) < 1 / (1 + np.exp(-eta)), "yes", "no"),
        "poisson": lambda: np.minimum(rng.poisson(np.exp(eta)), 8),
        "gamma": lambda: np.clip(rng.gamma(2.0, np.exp(eta) / 2), 0.01, 20),
        "gaussian": lambda: np.clip(eta + 0.5 * rng.normal(size=ROWS), -4, 4),
    }[family]()


@lru_cache
def exposures() -> np.ndarray:
    return np.random.default_rng(2).uniform(0.1, 2.0, ROWS)


def glm(family, **more):
    return lambda: GeneralizedLinearRegressor(**BASE, family=family, **more)


BASE = {"epsilon": 1.0, "delta": 1e-6, "bounds_X": (-1, 1)}
PUBLIC_X = np.clip(np.random.default_rng(3).normal(0.1, 0.4, (60, COLUMNS)), -1, 1)
ONES = np.column_stack([np.ones(60), PUBLIC_X])
PUBLIC_Y = (np.random.default_rng(4).random(60) < 0.5).astype(int)

# Name: the estimator, the family of its labels, the label with the largest score, whether rows have
# exposures.
MODELS = {
    "logistic": (lambda: LogisticRegression(**BASE), "binary", 0, False),
    "logistic, texts": (lambda: LogisticRegression(**BASE, classes=["no", "yes"]), "texts", "no", False),
    "logistic, no intercept": (lambda: LogisticRegression(**BASE, fit_intercept=False), "binary", 0, False),
    "logistic, penalty": (lambda: LogisticRegression(**BASE, alpha=5.0), "binary", 0, False),
    "logistic, few steps": (lambda: LogisticRegression(**BASE, solver="newton", max_iter=2), "binary", 0, False),
    "logistic, public rows": (lambda: LogisticRegression(**BASE, public=Public(PUBLIC_X)), "binary", 0, False),
    "logistic, public labels": (
        lambda: LogisticRegression(**BASE, public=Public(PUBLIC_X, PUBLIC_Y)),
        "binary",
        0,
        False,
    ),
    "logistic, public moment": (
        lambda: LogisticRegression(**BASE, public=Public(second_moment=ONES.T @ ONES / 60, n=60)),
        "binary",
        0,
        False,
    ),
    "poisson": (lambda: PoissonRegressor(**BASE, bounds_y=(0, 8)), "poisson", 8, False),
    "poisson, exposure": (
        lambda: PoissonRegressor(**BASE, bounds_y=(0, 8), bounds_exposure=(0.1, 2.0)),
        "poisson",
        8,
        True,
    ),
    "poisson, no intercept": (
        lambda: PoissonRegressor(**BASE, bounds_y=(0, 8), fit_intercept=False),
        "poisson",
        8,
        False,
    ),
    "gamma": (lambda: GammaRegressor(**BASE, bounds_y=(0.01, 20)), "gamma", 20.0, False),
    "gamma, exposure": (
        lambda: GammaRegressor(**BASE, bounds_y=(0.01, 20), bounds_exposure=(0.1, 2.0)),
        "gamma",
        20.0,
        True,
    ),
    "gaussian": (glm("gaussian", bounds_y=(-4, 4)), "gaussian", -4.0, False),
    "gaussian, public": (glm("gaussian", bounds_y=(-4, 4), public=Public(PUBLIC_X)), "gaussian", -4.0, False),
    "gaussian, log": (glm("gaussian", link="log", bounds_y=(-4, 4)), "gaussian", -4.0, False),
    "probit": (glm("bernoulli", link="probit", bounds_y=(0, 1)), "binary", 0, False),
    "negative binomial": (glm("negative_binomial", bounds_y=(0, 8)), "poisson", 8, False),
    "tweedie": (glm("tweedie", bounds_y=(0, 8)), "poisson", 8, False),
}


def pair(name: str, neighbours: str, x_new, y_new, time_new=2.0, x_other=None):
    """Neighbours that differ in one row: the new one against row 5, or against no row."""
    _, family, _, exposed = MODELS[name]
    X, y, times = features(), labels(family), exposures()
    if neighbours == "replace_one":
        X_new, y_with, times_new = X.copy(), y.astype(object if isinstance(y_new, str) else float), times.copy()
        X_new[5], y_with[5], times_new[5] = x_new, y_new, time_new
        X_old = X.copy()
        if x_other is not None:
            X_old[5] = x_other
        y_old = y.astype(y_with.dtype)
        y_old[5] = y_new if x_other is not None else y_old[5]
    else:
        X_new, X_old = np.vstack([X, x_new]), X
        y_with, y_old, times_new = np.append(y.astype(object), y_new), y.astype(object), np.append(times, time_new)
        if not isinstance(y_new, str):
            y_with, y_old = y_with.astype(float), y_old.astype(float)
    if not exposed:
        return (X_new, y_with), (X_old, y_old)
    return (X_new, y_with, {"exposure": times_new}), (X_old, y_old, {"exposure": times})


def made(name: str, neighbours: str, epsilon: float = 1.0, **more):
    return MODELS[name][0]().set_params(neighbours=neighbours, epsilon=epsilon, **more)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", list(MODELS))
def test_a_far_row_stays_within_the_claim(name, epsilon, neighbours):
    """A row at a corner with a label against the trend; replaced by one at the opposite corner."""
    corner = np.array([1.0, -1.0, 1.0])
    data, neighbour = pair(name, neighbours, corner, MODELS[name][2], x_other=-corner)
    estimator = made(name, neighbours, epsilon)
    report = replay(estimator, data, neighbour)
    assert report.passed, str(report)
    # The row changes the gradient at every step.
    assert report.efficiency > 0.15, str(report)


ODD = {
    "NaN in x": (np.full(COLUMNS, np.nan), 1.0, 1.0),
    "NaN in y": (np.full(COLUMNS, 0.3), np.nan, 1.0),
    "infinite": (np.full(COLUMNS, np.inf), -np.inf, np.inf),
    "near the largest float": (np.full(COLUMNS, 1e308), 1e308, 1e308),
    "outside the bounds": (np.full(COLUMNS, -50.0), 50.0, 0.0),
    "zero": (np.zeros(COLUMNS), 0.0, -1.0),
    "subnormal": (np.full(COLUMNS, 5e-324), 5e-324, 5e-324),
    "no exposure": (np.full(COLUMNS, 0.3), 1.0, np.nan),
}


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("odd", list(ODD))
@pytest.mark.parametrize(
    "name", ["logistic", "logistic, public labels", "poisson, exposure", "gamma, exposure", "gaussian"]
)
def test_an_odd_row_stays_within_the_claim_in_both_directions(name, odd, neighbours):
    data, neighbour = pair(name, neighbours, *ODD[odd])
    for one, other in ((data, neighbour), (neighbour, data)):
        report = replay(made(name, neighbours), one, other)
        assert report.passed, str(report)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("name", ["logistic", "poisson, exposure"])
def test_one_of_few_rows_stays_within_the_claim(name, neighbours):
    """Where one row is most of the data, and where the other data set is empty."""
    _, family, worst, exposed = MODELS[name]
    for n in (2, 3) if neighbours == "replace_one" else (1, 2, 3):
        X, y, times = features()[:n], labels(family)[:n].astype(float), exposures()[:n]
        if neighbours == "replace_one":
            X_other, y_other, times_other = X.copy(), y.copy(), times.copy()
            X_other[0], y_other[0], times_other[0] = -1.0, worst, 2.0
        else:
            X_other, y_other, times_other = X[1:], y[1:], times[1:]
        named = [({"exposure": t},) if exposed else () for t in (times, times_other)]
        report = replay(made(name, neighbours), (X, y, *named[0]), (X_other, y_other, *named[1]))
        assert report.passed, str(report)


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_an_undeclared_class_stays_within_the_claim(neighbours):
    data, neighbour = pair("logistic, texts", neighbours, np.ones(COLUMNS), "perhaps")
    report = replay(made("logistic, texts", neighbours), data, neighbour)
    assert report.passed, str(report)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("name", ["logistic", "poisson"])
def test_a_person_with_many_rows_stays_within_the_claim(name, neighbours):
    X, y = features(), labels(MODELS[name][1]).astype(float)
    ids = np.arange(ROWS)
    own = np.tile([1.0, -1.0, 1.0], (5, 1))
    data = (np.vstack([X, own]), np.append(y, [MODELS[name][2]] * 5), np.append(ids, [ROWS] * 5))
    if neighbours == "replace_one":
        neighbour = (np.vstack([X, -own]), *data[1:])
    else:
        neighbour = (X, y, ids)
    report = replay(made(name, neighbours, rows_per_person=3), data, neighbour)
    assert report.passed, str(report)
    assert report.efficiency > 0.15, str(report)


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_the_worst_row_makes_a_gradient_lose_more_than_half_of_its_cost(neighbours):
    """A label against the trend on a row at the clip: little noise is wasted where most of the
    budget goes.
    """
    corner = np.array([1.0, -1.0, 1.0])
    data, neighbour = pair("logistic", neighbours, corner, 0, x_other=-corner)
    report = replay(made("logistic", neighbours, epsilon=0.5), data, neighbour)
    assert report.passed, str(report)
    gradients = [
        share for label, share in zip(report.labels, report.release_efficiencies, strict=True) if label == "gradient"
    ]
    assert 0.5 <= max(gradients) <= 1 + 1e-9, str(report)
