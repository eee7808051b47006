"""Generalized linear models as a user meets them: what they compute, and from what forms of data."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from glm_rows import BOX, FREE, PRIVATE, exposed, mixed, model_of, peer_of, rows
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from discreet import (
    BudgetError,
    Domain,
    GeneralizedLinearRegressor,
    LogisticRegression,
    Numeric,
    PoissonRegressor,
    Public,
)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 300.0])
@pytest.mark.parametrize("family", ["gaussian", "bernoulli", "poisson", "gamma"])
def test_at_an_endless_budget_it_is_scikit_learns(family, alpha, fit_intercept):
    X, y = rows(family)
    # The penalty of a gaussian is on half the sum of squares, so it is scikit-learn's.
    model = model_of(family, alpha=alpha, fit_intercept=fit_intercept).fit(X, y)
    expected = peer_of(family, alpha, len(y), fit_intercept).fit(X, y)
    assert model.coef_ == pytest.approx(expected.coef_, abs=5e-3)
    assert model.intercept_ == pytest.approx(expected.intercept_, abs=5e-3)
    assert model.predict(X[:50]) == pytest.approx(expected.predict(X[:50]), rel=0.02, abs=0.02)
    if not fit_intercept:
        assert np.all(model.intercept_ == 0)


@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
def test_a_declared_norm_serves_as_well_as_bounds(family):
    X, y = rows(family)
    model = model_of(family, bounds_X=None, data_norm=4.0).fit(X, y)
    assert model.coef_ == pytest.approx(peer_of(family).fit(X, y).coef_, abs=5e-3)


@pytest.mark.parametrize("link", ["probit", "cloglog", "softplus", "log"])
def test_at_an_endless_budget_other_links_are_statsmodels(link):
    statsmodels = pytest.importorskip("statsmodels.api")
    family = {"probit": "bernoulli", "cloglog": "bernoulli", "softplus": "poisson", "log": "negative_binomial"}[link]
    X, y = rows("bernoulli" if family == "bernoulli" else "poisson")
    model = GeneralizedLinearRegressor(
        **FREE, **BOX, family=family, link=link, bounds_y=(0, 1) if family == "bernoulli" else (0, 60)
    ).fit(X, y)
    design = statsmodels.add_constant(X)
    if link == "softplus":
        from scipy.optimize import minimize

        def loss(b):
            mean = np.logaddexp(0, design @ b)
            return np.sum(mean - y * np.log(mean)) / len(y)

        expected = minimize(loss, [1.0, 0, 0, 0], method="BFGS").x
    else:
        kind = {
            "probit": lambda: statsmodels.families.Binomial(statsmodels.families.links.Probit()),
            "cloglog": lambda: statsmodels.families.Binomial(statsmodels.families.links.CLogLog()),
            "log": lambda: statsmodels.families.NegativeBinomial(alpha=1.0),
        }[link]()
        expected = statsmodels.GLM(y, design, family=kind).fit(tol=1e-12).params
    assert [model.intercept_, *model.coef_] == pytest.approx(expected, abs=0.01)


# Exposure.


@pytest.mark.parametrize("form", ["array", "list", "pandas", "polars"])
def test_exposures_are_offsets_in_whatever_form(form):
    X, y, times, peer = exposed()
    given = {
        "array": times,
        "list": times.tolist(),
        "pandas": pd.Series(times, name="t"),
        "polars": pl.Series("t", times),
    }
    model = model_of("poisson", bounds_exposure=(0.1, 4)).fit(X, y, exposure=given[form])
    assert [model.intercept_, *model.coef_] == pytest.approx([peer.intercept_, *peer.coef_], abs=5e-3)
    assert model.predict(X[:9], exposure=times[:9]) == pytest.approx(peer.predict(X[:9]) * times[:9], rel=0.02)
    assert model.predict(X[:9], exposure=2.0) == pytest.approx(2 * model.predict(X[:9]))


def test_an_exposure_may_be_declared_in_the_domain():
    X, y, times, peer = exposed()
    domain = Domain((*(Numeric(f"x{i}", -2, 2) for i in range(3)), Numeric("t", 0.1, 4), Numeric("claims", 0, 60)))
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    model = PoissonRegressor(**FREE, domain=domain).fit(
        frame, pd.Series(y, name="claims"), exposure=pd.Series(times, name="t")
    )
    assert model.coef_ == pytest.approx(peer.coef_, abs=5e-3)


@pytest.mark.parametrize("declared", [(1e-9, 1e9), (0.1, 1e12), (1e-300, 1e300)])
def test_a_range_of_exposures_beyond_all_sense_gives_a_finite_model(declared):
    X, y, times, _ = exposed()
    model = model_of("poisson", epsilon=1.0, bounds_exposure=declared).fit(X, y, exposure=times)
    assert np.isfinite([model.intercept_, *model.coef_]).all()


def test_a_wide_range_of_exposures_costs_little_at_an_endless_budget():
    X, y, times, peer = exposed()
    model = model_of("poisson", epsilon=1e9, bounds_exposure=(1e-4, 1e4)).fit(X, y, exposure=times)
    assert model.coef_ == pytest.approx(peer.coef_, abs=0.02)


def test_exposures_beyond_their_bounds_are_cut():
    X, y, times, _ = exposed()
    seeded = {"bounds_exposure": (0.5, 1.5), "random_state": 1, "epsilon": 1.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = model_of("poisson", **seeded).fit(X, y, exposure=times)
        second = model_of("poisson", **seeded).fit(X, y, exposure=np.clip(times, 0.5, 1.5))
    assert (first.coef_ == second.coef_).all()


# Public data.


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("what", ["rows", "labels", "moment"])
@pytest.mark.parametrize("family", ["bernoulli", "poisson", "gaussian"])
def test_public_data_changes_nothing_at_an_endless_budget(family, what, fit_intercept):
    X, y = rows(family)
    near, labels = rows(family, 80, seed=9)
    ones = np.column_stack([np.ones(80), near])
    public = {
        "rows": Public(near),
        "labels": Public(near, labels),
        "moment": Public(second_moment=ones.T @ ones / 80, n=80),
    }[what]
    model = model_of(family, public=public, fit_intercept=fit_intercept).fit(X, y)
    expected = peer_of(family, fit_intercept=fit_intercept).fit(X, y)
    assert model.coef_ == pytest.approx(expected.coef_, abs=5e-3)


def test_public_frames_and_texts_are_understood():
    columns, domain, design, y = mixed()
    frame, answers = pd.DataFrame(columns), np.where(y == 1, "yes", "no")
    public = Public(frame.head(50), answers[:50])
    model = LogisticRegression(**FREE, domain=domain, classes=["no", "yes"], public=public).fit(frame, answers)
    assert model.coef_ == pytest.approx(peer_of("bernoulli").fit(design, y).coef_, abs=5e-3)


# Paying and persons.


def test_one_job_is_paid_once_and_gives_one_model(ledger):
    X, y = rows("poisson", 500)
    times = np.ones(500)
    estimator = model_of("poisson", epsilon=1.0, ledger=ledger, bounds_exposure=(0.5, 2))
    first = clone(estimator).fit(X, y, exposure=times, job="monday")
    paid, entries = ledger.spent.mu, len(ledger.history)
    second = clone(estimator).fit(X, y, exposure=times, job="monday")
    assert np.array_equal(first.coef_, second.coef_)
    assert (ledger.spent.mu, len(ledger.history)) == (paid, entries)
    assert entries == 1
    assert len(ledger.history[0].releases) == len(first.privacy_.releases)
    assert ledger.spent.mu == pytest.approx(first.privacy_.mu)


@pytest.mark.filterwarnings("ignore:cross_validate computes scores")
def test_clones_and_folds_pay_from_one_ledger(ledger):
    X, y = rows("bernoulli", 500)
    estimator = LogisticRegression(**PRIVATE, **BOX, ledger=ledger)
    with pytest.raises(BudgetError):
        cross_val_score(estimator.set_params(epsilon=2.0), X, y, cv=5, error_score="raise")
    assert ledger.spent.epsilon <= 4.0
    fresh = LogisticRegression(**FREE, **BOX)
    assert np.mean(cross_val_score(fresh, X, y, cv=3)) > 0.5


def test_at_most_so_many_complete_rows_of_each_person_are_used():
    X, y = rows("poisson", 2000)
    groups = np.random.default_rng(2).integers(0, 400, 2000)
    first = pd.Series(groups).groupby(groups).cumcount().to_numpy() < 3
    model = model_of("poisson", epsilon=1e9, rows_per_person=3).fit(X, np.where(first, y, np.nan), groups=groups)
    assert model.coef_ == pytest.approx(peer_of("poisson").fit(X[first], y[first]).coef_, abs=0.01)
    assert model.privacy_.unit == "person"
