"""As epsilon grows without end, every solver finds what scikit-learn finds, to the clipping."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression as PlainLinear
from sklearn.linear_model import LogisticRegression as PlainLogistic
from sklearn.linear_model import PoissonRegressor as PlainPoisson
from sklearn.linear_model import Ridge as PlainRidge

from discreet import LinearRegression, Public, Ridge, private_second_moment
from discreet.estimators import LogisticRegression, PoissonRegressor

N = 6_000
MUCH = {"epsilon": 1e5, "delta": 1e-6}


def table(seed=0):
    rng = np.random.default_rng(seed)
    X = np.clip(rng.normal(size=(N, 3)) @ np.array([[0.5, 0.2, 0], [0, 0.3, 0.1], [0, 0, 0.2]]), -2, 2)
    return X, -0.5 + X @ np.array([1.0, -1.0, 2.0]), rng


def public():
    return Public(rows=table(seed=1)[0][:300])


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("with_public", [True, False])
@pytest.mark.parametrize(("solver", "steps"), [("newton", 6), ("objective", None), ("cost_gd", 60)])
def test_logistic_solvers_end_at_the_maximum_of_the_likelihood(solver, steps, with_public, neighbours):
    if solver == "cost_gd" and not with_public:
        pytest.skip("plain gradient descent needs thousands of steps where features are narrow")
    X, eta, rng = table()
    y = (rng.random(N) < 1 / (1 + np.exp(-eta))).astype(int)
    plain = PlainLogistic(C=1e8, tol=1e-10).fit(X, y)
    fitted = LogisticRegression(
        **MUCH,
        bounds_X=(-2, 2),
        solver=solver,
        max_iter=steps,
        neighbours=neighbours,
        public=public() if with_public else None,
    ).fit(X, y)
    # An objective never spends more than epsilon 30. All are far less than the standard errors, 0.1
    # to 0.3.
    close = {"cost_gd": 0.1, "objective": 0.1, "newton": 0.02}[solver]
    assert np.max(np.abs(fitted.coef_ - plain.coef_)) < close
    assert abs(float(fitted.intercept_[0] - plain.intercept_[0])) < close


def test_newton_takes_the_steps_that_its_budget_allows():
    """Slopes far from the constant model take more than three steps, after which the error is near 1."""
    rng = np.random.default_rng(5)
    X = np.clip(rng.normal(size=(N, 3)), -4, 4)
    y = (rng.random(N) < 1 / (1 + np.exp(-(X @ np.array([4.0, -4.0, 3.0]))))).astype(int)
    plain = PlainLogistic(C=1e8, tol=1e-10).fit(X, y)
    asked = {"delta": 1e-6, "bounds_X": (-4, 4), "solver": "newton", "public": Public(rows=X[:300])}
    fitted = LogisticRegression(epsilon=30.0, **asked).fit(X, y)
    assert fitted.n_iter_ > 3
    assert np.max(np.abs(fitted.coef_ - plain.coef_)) < 0.3
    assert LogisticRegression(epsilon=0.1, **asked).fit(X[:500], y[:500]).n_iter_ == 3


@pytest.mark.parametrize("with_public", [True, False])
def test_poisson_newton_ends_at_the_maximum_of_the_likelihood(with_public):
    X, eta, rng = table()
    y = rng.poisson(np.exp(eta))
    plain = PlainPoisson(alpha=0, tol=1e-10, max_iter=1000).fit(X, y)
    fitted = PoissonRegressor(
        **MUCH,
        bounds_X=(-2, 2),
        bounds_y=(0, 40),
        solver="newton",
        max_iter=8,
        public=public() if with_public else None,
    ).fit(X, y)
    assert np.max(np.abs(fitted.coef_ - plain.coef_)) < 0.05


@pytest.mark.parametrize("intercept", [True, False])
def test_pmt_becomes_least_squares_and_ridge(intercept):
    X, eta, rng = table()
    y = np.clip(eta + rng.normal(size=N), -8, 8)
    same = {"bounds_X": (-2, 2), "bounds_y": (-8, 8), "solver": "pmt", "public": public(), "fit_intercept": intercept}
    plain = PlainLinear(fit_intercept=intercept).fit(X, y)
    assert np.max(np.abs(LinearRegression(**MUCH, **same).fit(X, y).coef_ - plain.coef_)) < 0.15
    plain = PlainRidge(alpha=2000.0, fit_intercept=intercept).fit(X, y)
    assert np.max(np.abs(Ridge(**MUCH, **same, alpha=2000.0).fit(X, y).coef_ - plain.coef_)) < 0.15


def test_newton_intervals_hold_the_truth_about_as_often_as_they_say():
    """95 % intervals, 4 coefficients, 40 fits: fewer than 138 of 160 come about less than once in
    10^5 honest runs.
    """
    held = 0
    for seed in range(40):
        rng = np.random.default_rng(100 + seed)
        X = np.clip(rng.normal(size=(4000, 3)) * 0.4, -2, 2)
        y = (rng.random(4000) < 1 / (1 + np.exp(-(0.3 + X @ np.array([1.0, -1.0, 0.5]))))).astype(int)
        given = Public(rows=np.clip(rng.normal(size=(200, 3)) * 0.4, -2, 2))
        fitted = LogisticRegression(epsilon=1, delta=1e-6, bounds_X=(-2, 2), solver="newton", public=given).fit(X, y)
        low, high = fitted.results_.intervals().T
        held += int(np.sum((low <= [0.3, 1.0, -1.0, 0.5]) & (high >= [0.3, 1.0, -1.0, 0.5])))
    assert held >= 138


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("given", ["public", "nothing"])
def test_private_second_moment_and_its_inverse_become_the_plain_ones(given, neighbours):
    X, _, _ = table()
    result = private_second_moment(
        X, **MUCH, bounds_X=(-2, 2), neighbours=neighbours, public=public() if given == "public" else None, alpha=0.1
    )
    plain = X.T @ X / N
    assert np.allclose(result.matrix, plain, atol=2e-3)
    assert np.allclose(result.inverse, np.linalg.inv(plain + 0.1 * np.eye(3)), rtol=0.03, atol=0.03)
    assert np.allclose(result.centre, X.mean(axis=0), atol=2e-3)
    assert result.privacy_.epsilon(1e-6) <= 1e5


def test_public_moments_save_the_inverse_of_an_ill_conditioned_second_moment():
    """Without them the noise drowns the narrow direction (PMT, Theorem 3.3), and the inverse is
    lost.

    Relative errors of 40 runs: at most .13 with public moments (another had .16), at least .99
    without.
    """
    rng = np.random.default_rng(3)
    scale = np.geomspace(1, 0.03, 4)
    X, given = rng.normal(size=(N, 4)) * scale, rng.normal(size=(200, 4)) * scale
    plain = np.linalg.inv(X.T @ X / N)
    errors = []
    for known in (Public(rows=given), None):
        result = private_second_moment(X, epsilon=1, delta=1e-6, bounds_X=(-5, 5), public=known)
        errors.append(np.linalg.norm(result.inverse - plain) / np.linalg.norm(plain))
    assert errors[0] < 0.4
    assert errors[1] > 0.6
