"""Linear and ridge regression as a user meets them."""

from __future__ import annotations

import pickle
import struct

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as plain
from linear_rows import BOUNDS, FREE, PRIVATE, rows
from sklearn.base import clone

from discreet import (
    Categorical,
    Domain,
    DomainError,
    LinearRegression,
    Numeric,
    Public,
    Ridge,
    collect_moments,
)

# Without noise: what everybody else computes.


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("declared", [BOUNDS, {"data_norm": 4.0, "bounds_y": (-4, 4)}], ids=["bounds", "norm"])
def test_at_an_endless_budget_it_is_least_squares(declared, fit_intercept):
    X, y = rows()
    model = LinearRegression(**FREE, **declared, fit_intercept=fit_intercept).fit(X, y)
    expected = plain.LinearRegression(fit_intercept=fit_intercept).fit(X, y)
    assert model.coef_ == pytest.approx(expected.coef_, abs=1e-4)
    assert model.intercept_ == pytest.approx(expected.intercept_, abs=1e-4)
    assert model.predict(X[:9]) == pytest.approx(expected.predict(X[:9]), abs=1e-3)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [1.0, 1000.0])
@pytest.mark.parametrize("declared", [BOUNDS, {"data_norm": 4.0, "bounds_y": (-4, 4)}], ids=["bounds", "norm"])
def test_at_an_endless_budget_it_is_ridge(declared, alpha, fit_intercept):
    X, y = rows()
    model = Ridge(**FREE, **declared, alpha=alpha, fit_intercept=fit_intercept).fit(X, y)
    expected = plain.Ridge(alpha, fit_intercept=fit_intercept).fit(X, y)
    assert model.coef_ == pytest.approx(expected.coef_, abs=1e-4)
    assert model.intercept_ == pytest.approx(expected.intercept_, abs=1e-4)


def test_at_an_endless_budget_categories_are_indicators():
    X, y = rows()
    kind = np.random.default_rng(1).choice(["a", "b", "c"], len(y))
    y = np.clip(y + (kind == "b") * 0.5 - (kind == "c") * 0.25, -4, 4)
    frame = pd.DataFrame({"age": X[:, 0], "kind": kind})
    domain = Domain((Numeric("age", -2, 2), Categorical("kind", ("a", "b", "c"))))
    model = LinearRegression(**FREE, domain=domain, bounds_y=(-4, 4)).fit(frame, y)
    expected = plain.LinearRegression().fit(np.column_stack([X[:, 0], kind == "b", kind == "c"]), y)
    assert model.coef_ == pytest.approx(expected.coef_, abs=1e-4)
    assert model.coef_names_ == ["age", "kind=b", "kind=c"]
    assert model.predict(frame.head()) == pytest.approx(
        expected.predict(np.column_stack([X[:5, 0], kind[:5] == "b", kind[:5] == "c"])), abs=1e-3
    )


def test_at_an_endless_budget_standard_errors_are_the_textbook_ones():
    statsmodels = pytest.importorskip("statsmodels.api")
    X, y = rows()
    for cov_type, textbook in (("model", "nonrobust"), ("robust", "HC0")):
        model = LinearRegression(**FREE, **BOUNDS, cov_type=cov_type).fit(X, y)
        expected = statsmodels.OLS(y, statsmodels.add_constant(X)).fit(cov_type=textbook)
        assert model.bse == pytest.approx(expected.bse[1:], rel=0.01)
        assert model.conf_int() == pytest.approx(expected.conf_int()[1:], abs=1e-3)


# One release, many questions.


def test_every_label_and_penalty_is_free_after_one_release(ledger):
    X, y = rows()
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y})
    domain = Domain((*(Numeric(name, -2, 2) for name in "abc"), Numeric("y", -4, 4)))
    moments = collect_moments(frame, **PRIVATE, domain=domain, ledger=ledger)
    paid = ledger.spent.mu
    assert len(ledger.history) == 1
    for target in "abcy":
        for alpha in (0.0, 10.0):
            assert np.isfinite(moments.regress(target, alpha=alpha).params).all()
    moments.regress("y", ["b"], fit_intercept=False)
    assert (ledger.spent.mu, len(ledger.history)) == (paid, 1)
    assert moments.privacy.epsilon(1e-6) <= 1.0


def test_at_an_endless_budget_any_column_may_be_the_label():
    X, y = rows()
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y})
    domain = Domain((*(Numeric(name, -2, 2) for name in "abc"), Numeric("y", -4, 4)))
    moments = collect_moments(frame, **FREE, domain=domain)
    expected = plain.Ridge(5.0).fit(frame[["y", "c"]], frame["a"])
    result = moments.regress("a", ["y", "c"], alpha=5.0)
    assert result.shrunk == pytest.approx([expected.intercept_, *expected.coef_], abs=1e-3)


def test_unknown_or_repeated_columns_are_refused():
    X, y = rows(100)
    moments = LinearRegression(**PRIVATE, **BOUNDS, solver="moments").fit(X, y).moments_
    for target, features in [("z", None), ("y", ["z"]), ("y", ["x0", "x0"]), ("y", ["y"]), ("y", [])]:
        with pytest.raises(DomainError):
            moments.regress(target, features)


# What a fitted model holds and tells.


@pytest.mark.parametrize("calibration", ["tight", "paper"])
def test_a_fitted_model_holds_no_data(calibration):
    marker = struct.unpack("<d", bytes.fromhex("efcdab8967452301"[:14]) + b"\x3f")[0]
    X, y = rows(400)
    X[7, 1] = y[9] = marker
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    groups = np.arange(400)
    groups[5] = 0x1234567890ABCDE
    for table in (X, frame):
        model = LinearRegression(**PRIVATE, **BOUNDS, calibration=calibration).fit(table, y, groups=groups)
        stored = pickle.dumps(model)
        shown = repr(model) + str(model.privacy_) + (str(model.summary()) if calibration == "tight" else "")
        for secret in (marker, X[0, 0], y[0]):
            for order in "<>":
                assert struct.pack(order + "d", secret) not in stored
            assert repr(float(secret)).encode() not in stored
            assert repr(float(secret)) not in shown
        assert struct.pack("<q", 0x1234567890ABCDE) not in stored
        assert len(stored) < 10_000
        # Of the same rows: a product of three rows may be rounded otherwise than that of four
        # hundred.
        assert (pickle.loads(stored).predict(table) == model.predict(table)).all()


@pytest.mark.parametrize(("n", "epsilon", "fits"), [(3000, 1e9, 1), (50_000, 1.0, 3), (5000, 1.0, 40)])
def test_prediction_intervals_cover_new_labels(n, epsilon, fits):
    """95 percent on average over the noise; where noise hides the residual spread (small n), rather
    more.

    One fit's coverage has a standard deviation of 0.025 at n = 5000, so six of its mean over 40
    fits are 0.024.
    """
    new_X, new_y = rows(20_000, seed=99)
    covered = []
    for seed in range(fits):
        low, high = (
            LinearRegression(epsilon=epsilon, delta=1e-6, **BOUNDS).fit(*rows(n, seed)).predict_interval(new_X).T
        )
        covered.append(np.mean((low <= new_y) & (new_y <= high)))
    assert 0.93 < np.mean(covered) < 0.985


def test_confidence_intervals_cover_the_truth_and_noise_intervals_the_fit_without_noise():
    """100 fits of 3 coefficients at 95 percent: a mean below 87 percent is more than six standard
    deviations away.
    """
    truth = np.array([0.8, -0.5, 0.1])
    covered, noise_covered = [], []
    for seed in range(100):
        X, y = rows(2000, seed)
        model = LinearRegression(epsilon=2.0, delta=1e-6, **BOUNDS).fit(X, y)
        low, high = model.conf_int().T
        covered.append((low <= truth) & (truth <= high))
        low, high = model.noise_int().T
        fit = plain.LinearRegression().fit(X, y).coef_
        noise_covered.append((low <= fit) & (fit <= high))
    assert np.mean(covered) > 0.87
    assert np.mean(noise_covered) > 0.87


def test_parameters_can_be_read_set_and_cloned():
    model = Ridge(**PRIVATE, **BOUNDS, alpha=3.0)
    assert model.get_params()["alpha"] == 3.0
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(epsilon=2.0).epsilon == 2.0
    X, y = rows(200)
    before = model.get_params()
    model.fit(X, y)
    assert model.get_params() == before
    assert not hasattr(clone(model), "coef_")


def test_public_rows_tell_the_scale_for_free():
    X, y = rows()
    public = Public(rows=X[:50])
    model = LinearRegression(**FREE, **BOUNDS, public=public).fit(X, y)
    assert model.coef_ == pytest.approx(plain.LinearRegression().fit(X, y).coef_, abs=1e-3)
    moment = np.column_stack([np.ones(50), X[:50]])
    again = LinearRegression(**FREE, **BOUNDS, public=Public(second_moment=moment.T @ moment / 50, n=50)).fit(X, y)
    assert again.coef_ == pytest.approx(model.coef_, abs=1e-3)
