"""Numbers that somebody passes: true is none of them, and a level of intervals lies between 0 and
1.
"""

import math

import numpy as np
import pytest

from discreet import (
    Domain,
    Ledger,
    LinearRegression,
    Numeric,
    PoissonRegressor,
    PrivateGridSearchCV,
    ReLURegressor,
    Ridge,
    plan,
)
from discreet.glm.families import NegativeBinomial, Tweedie
from discreet.local import new_task, pilot_task
from discreet.parameters import is_number, is_whole, normal_quantile

X = np.random.default_rng(0).uniform(-1, 1, (300, 2))
Y = X @ [1.0, 2.0]
DECLARED = {"epsilon": 1.0, "delta": 1e-6, "bounds_X": (-1, 1), "bounds_y": (-4, 4)}


@pytest.fixture(scope="module")
def model():
    return LinearRegression(**DECLARED).fit(X, Y)


@pytest.fixture(scope="module")
def counts():
    return PoissonRegressor(**DECLARED | {"bounds_y": (0, 9)}).fit(X, np.round(np.exp(X[:, 0])))


@pytest.mark.parametrize("estimator", [LinearRegression, Ridge, ReLURegressor])
@pytest.mark.parametrize(
    ("name", "value"),
    [("epsilon", True), ("epsilon", np.True_), ("delta", True), ("rows_per_person", True), ("bounds_X", (False, True))],
)
def test_true_is_no_number(estimator, name, value):
    with pytest.raises(ValueError, match=f"{name} must be"):
        estimator(**DECLARED | {name: value}).fit(X, Y)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: Ridge(**DECLARED, alpha=True).fit(X, Y),
        lambda: LinearRegression(**DECLARED | {"bounds_y": (False, True)}).fit(X, Y),
        lambda: PrivateGridSearchCV(Ridge(**DECLARED), {"alpha": [0.1, 1.0]}, loss_bound=True).fit(X, Y),
        lambda: PrivateGridSearchCV(Ridge(**DECLARED), {"alpha": [0.1, 1.0]}, shares=(True, 1, 1)).fit(X, Y),
        lambda: plan("linear", n=1000, d=2, epsilon=True),
        lambda: NegativeBinomial(alpha=True),
        lambda: Tweedie(power=True),
        lambda: _task(epsilon=True),
        lambda: _task(goal=True),
        lambda: _task(make=pilot_task, epsilon=True),
    ],
)
def test_true_is_no_number_anywhere_else(ask):
    with pytest.raises(ValueError, match="must be"):
        ask()


def _task(make=new_task, **changed):
    asked = {"epsilon": 4.0, "goal": 100_000} | changed
    return make("cost", domain=Domain((Numeric("age", 18, 90),)), target=Numeric("cost", 0, 1), **asked)


def test_a_budget_of_true_is_refused_before_anything_is_written(tmp_path, model):
    with pytest.raises(ValueError, match="epsilon must be a number"):
        Ledger.create(tmp_path / "ledger", epsilon=True, delta=1e-6)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="epsilon must be a number"):
        model.evaluate(X, Y, epsilon=True, delta=1e-6)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 2, math.nan, True, "0.05", None])
@pytest.mark.parametrize("method", ["conf_int", "noise_int", "coef_table", "mean_interval", "predict_interval"])
def test_a_level_lies_between_0_and_1(model, counts, method, alpha):
    for one in (model, counts):
        rows = (X[:2],) if method.endswith("interval") else ()
        with pytest.raises(ValueError, match="alpha must be a number between 0 and 1"):
            getattr(one, method)(*rows, alpha)


def test_numbers():
    assert all(map(is_number, [1, 0.5, np.float32(0.5), np.int8(3), math.inf]))
    assert not any(map(is_number, ["1", np.array([1.0]), True, None]))
    assert [is_whole(one) for one in (3, np.int8(3), 3.0, True)] == [True, True, False, False]
    assert normal_quantile(0.05) == pytest.approx(1.959964)
