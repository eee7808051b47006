"""Any convex loss, dense or sparse: its slope sees no row, its bound holds, and its minimum is
found.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from discreet import (
    DiscreetError,
    GeneralizedLinearRegressor,
    Ledger,
    LinearRegression,
    Loss,
    SparseRegressor,
    huber,
    negative_binomial_loss,
    smoothed_quantile,
)
from discreet.audit import replay
from discreet.glm import LossFamily, link

MUCH = {"epsilon": 1e5, "delta": 1e-6}
DECLARED = {"bounds_X": (-1, 1), "bounds_y": (-200, 400)}
pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.WeakGuaranteeWarning")


def rows(n=3000, columns=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, columns))
    y = 100 + X[:, :3] @ [60.0, -30.0, 10.0] + rng.normal(0, 10, n)
    y[rng.random(n) < 0.1] = 400.0  # a tenth is spoilt
    return X, y


X, Y = rows()


def steep(residual):
    return np.clip(1e6 * residual, -7, 7)


def residual_slope(loss, design, y, beta):
    return design.T @ loss.slope(design @ beta - y) / len(y)


@pytest.mark.parametrize("loss", [huber(20.0), smoothed_quantile(0.3, 9.0)], ids=lambda loss: loss.name)
def test_a_dense_fit_without_noise_is_the_minimum_of_the_loss(loss):
    asked = {"solver": "dp_gd", "max_iter": 150}
    fitted = GeneralizedLinearRegressor(**MUCH, **DECLARED, loss=loss, **asked).fit(X, Y)
    design = np.column_stack([np.ones(len(Y)), X])
    found = np.concatenate([[fitted.intercept_], fitted.coef_])
    # At the minimum the mean slope vanishes: here to within 1 % of what one row can have.
    assert np.max(np.abs(residual_slope(loss, design, Y, found))) < 0.01 * loss.bound


def test_huber_withstands_what_spoils_least_squares():
    robust = GeneralizedLinearRegressor(**MUCH, **DECLARED, loss=huber(15.0), max_iter=100).fit(X, Y)
    squares = LinearRegression(**MUCH, **DECLARED).fit(X, Y)
    assert abs(robust.intercept_ - 100) < 5 < 20 < abs(squares.intercept_ - 100)


@pytest.mark.parametrize("correlation", [0.0, 0.98])
def test_neither_wide_bounds_nor_correlated_columns_stop_a_loss_short(correlation):
    """Steps were 1 over the curvature of rows as long as the bounds allow: slopes stayed at half of their size."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(20_000, 3))
    x[:, 1] = correlation * x[:, 0] + np.sqrt(1 - correlation**2) * x[:, 1]
    truth = np.array([1.0, -0.5, 0.0])
    y = x @ truth + 0.5 * rng.normal(size=20_000)
    asked = {"epsilon": 2.0, "delta": 1e-6, "bounds_X": (-5, 5), "bounds_y": (-8, 8)}
    model = GeneralizedLinearRegressor(**asked, loss=huber(0.7)).fit(x, y)
    assert np.sqrt(np.mean((x @ (model.coef_ - truth)) ** 2)) < 0.06


def test_one_own_loss_of_label_and_predictor_is_that_of_the_family():
    """Poisson's slope exp(eta) - y, given as a function of both, with labels up to 20."""
    rng = np.random.default_rng(1)
    y = np.minimum(rng.poisson(np.exp(0.5 + X @ [0.8, -0.4, 0.1])), 20).astype(float)
    own = Loss(lambda y, eta: np.clip(np.exp(eta) - y, -20, 20), 20.0, eta_range=(-6, 6), link="log", curvature=2.0)
    asked = {**MUCH, "bounds_X": (-1, 1), "bounds_y": (0, 20), "max_iter": 120}
    fitted = GeneralizedLinearRegressor(**asked, loss=own).fit(X, y)
    design = np.column_stack([np.ones(len(y)), X])
    plain = minimize(
        lambda b: np.mean(np.exp(design @ b) - y * (design @ b)),
        np.zeros(4),
        jac=lambda b: design.T @ (np.exp(design @ b) - y) / len(y),
    ).x
    assert np.concatenate([[fitted.intercept_], fitted.coef_]) == pytest.approx(plain, abs=0.02)
    assert fitted.predict(X[:5]) == pytest.approx(np.exp(design[:5] @ plain), rel=0.05)


@pytest.mark.parametrize("loss", [huber(2.0), smoothed_quantile(0.5, 1.0)], ids=lambda loss: loss.name)
def test_a_sparse_fit_finds_the_columns(loss):
    rng = np.random.default_rng(2)
    wide = rng.uniform(-1, 1, (4000, 60))
    y = np.clip(wide[:, [5, 17, 40]] @ [8.0, -6.0, 5.0] + rng.standard_t(2, 4000), -30, 30)
    asked = {"epsilon": 3.0, "delta": 1e-6, "bounds_X": (-1, 1), "bounds_y": (-30, 30), "sparsity": 3}
    fitted = SparseRegressor(**asked, loss=loss).fit(wide, y)
    assert fitted.support_.tolist() == [5, 17, 40]
    assert fitted.coef_[[5, 17, 40]] == pytest.approx([8, -6, 5], abs=1.5)
    assert fitted.n_iter_ == 8


@pytest.mark.parametrize(
    ("family", "low", "draw"),
    [
        ("gamma", 0.05, lambda mean, rng: rng.gamma(2.0, mean / 2)),
        ("negative_binomial", 0.0, lambda mean, rng: rng.negative_binomial(1, 1 / (1 + mean))),
        ("tweedie", 0.0, lambda mean, rng: rng.poisson(mean) * 1.0),
    ],
)
def test_sparse_models_of_further_families_find_the_columns(family, low, draw):
    rng = np.random.default_rng(3)
    wide = rng.uniform(-1, 1, (8000, 40))
    y = np.clip(draw(np.exp(wide[:, [3, 20]] @ [1.2, -1.2]), rng), low, 20)
    for solver in ("auto", "iht"):
        fitted = SparseRegressor(
            epsilon=5.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(low, 20), sparsity=2, family=family, solver=solver
        ).fit(wide, y)
        assert fitted.support_.tolist() == [3, 20], solver
        assert fitted.coef_[[3, 20]] == pytest.approx([1.2, -1.2], abs=0.6), solver


def test_the_slope_is_called_before_any_row_is_read_and_never_with_one():
    seen = []

    def slope(residual):
        seen.append(residual)
        return np.clip(residual, -50, 50)

    loss = Loss(slope, 50.0)
    model = GeneralizedLinearRegressor(epsilon=1.0, delta=1e-6, **DECLARED, loss=loss, max_iter=3)
    calls = [[np.asarray(one).tobytes() for one in seen]]
    for table in (X, -X):
        seen.clear()
        model.fit(table, Y)
        calls.append([np.asarray(one).tobytes() for one in seen])
    assert calls[1] == calls[2]
    assert all(len(one) != len(Y) * 8 for one in calls[1])


REFUSED = {
    "no bound": (lambda: Loss(np.tanh, 0), "finite bound > 0"),
    "no function": (lambda: Loss(3.0, 1.0), r"needs a function slope\(residual\)"),
    "of two arguments": (lambda: Loss(lambda y, eta: eta - y, 1.0), r"slope\(y, eta\) needs eta_range"),
    "one number for all": (lambda: Loss(lambda r: 1.0, 1.0), "must return one number per point"),
    "NaN": (lambda: Loss(np.log, 1.0), "returns NaN at a finite point"),
    "range turned": (lambda: Loss(lambda y, eta: eta, 1.0, eta_range=(1, -1)), "eta_range must be finite"),
    "no width": (lambda: huber(-1.0), "width must be"),
    "no level": (lambda: smoothed_quantile(1.0, 1.0), "level must be a number between 0 and 1"),
    "no bandwidth": (lambda: smoothed_quantile(0.5, 0.0), "bandwidth must be"),
    "no dispersion": (lambda: negative_binomial_loss(0.0, 9), "dispersion and largest must be"),
}


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning", "ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize("what", REFUSED)
def test_a_wrong_loss_is_refused_in_the_users_words(what):
    make, message = REFUSED[what]
    with pytest.raises(ValueError, match=message):
        make()


MODELS = {
    "not convex": ({"loss": Loss(lambda r: np.sin(r), 1.0)}, "is not convex"),
    "beyond its bound": ({"loss": Loss(lambda r: np.clip(r, -9, 9), 3.0)}, r"reaches 9 .* beyond its bound 3"),
    "flat": ({"loss": Loss(lambda r: np.zeros_like(r), 3.0)}, "nothing to fit"),
    "beside a family": ({"loss": huber(1.0), "family": "poisson"}, "loss= replaces family="),
    "no loss": ({"loss": "huber"}, "loss must be a discreet.Loss, .* got str"),
}


@pytest.mark.parametrize("kind", [GeneralizedLinearRegressor, SparseRegressor])
@pytest.mark.parametrize("what", MODELS)
def test_a_loss_that_cannot_be_fitted_is_refused_before_anything_is_spent(what, kind, tmp_path):
    given, message = MODELS[what]
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=3, delta=1e-6)
    more = {"sparsity": 2} if kind is SparseRegressor else {}
    with pytest.raises(ValueError, match=message):
        kind(epsilon=1.0, delta=1e-6, **DECLARED, ledger=ledger, **given, **more).fit(X, Y)
    assert ledger.history == []


def test_a_sparse_loss_has_one_solver():
    asked = {"epsilon": 1.0, "delta": 1e-6, **DECLARED, "loss": huber(1.0)}
    with pytest.raises(ValueError, match="COST's Algorithm 4, solver='iht'"):
        SparseRegressor(**asked, sparsity=2, solver="frank_wolfe").fit(X, Y)
    with pytest.raises(ValueError, match="sparsity='auto' needs"):
        SparseRegressor(**asked, sparsity="auto").fit(X, Y)


def test_two_losses_are_two_jobs(tmp_path):
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=3, delta=1e-6)
    for width in (10.0, 40.0):
        GeneralizedLinearRegressor(
            epsilon=1.0, delta=1e-6, **DECLARED, ledger=ledger, loss=huber(width), max_iter=2
        ).fit(X[:100], Y[:100], job="one")
    assert len(ledger.history) == 2


def test_the_table_is_the_slope():
    loss = smoothed_quantile(0.3, 4.0)
    family = LossFamily(loss).within(-200.0, 400.0)
    y, eta = np.random.default_rng(0).uniform(-200, 400, (2, 500))
    assert family.score(y, eta, link("identity")) == pytest.approx(loss.slope(eta - y), abs=1e-4)
    halved = family.in_units(100.0, 300.0)
    scaled = halved.score((y - 100) / 300, (eta - 100) / 300, link("identity"))
    assert scaled == pytest.approx(loss.slope(eta - y) / 300, abs=1e-6)
    assert np.isnan(family.score(np.array([np.nan]), np.array([1.0]), link("identity"))).all()


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("loss", [huber(300.0), Loss(steep, 7.0)], ids=["huber", "steep"])
def test_no_row_tells_more_than_was_claimed(loss, neighbours):
    asked = {"epsilon": 1.0, "delta": 1e-6, **DECLARED, "loss": loss, "neighbours": neighbours, "max_iter": 2}
    table, labels = X[:100], Y[:100]
    far = np.vstack([table, [1, -1, 1]]), np.append(labels, 400.0)
    near = (table, labels) if neighbours == "add_or_remove_one" else (np.vstack([table, -far[0][-1]]), far[1])
    for model in (GeneralizedLinearRegressor(**asked), SparseRegressor(**asked, sparsity=2)):
        for pair in ((far, near), (near, far)):
            report = replay(model, *pair)
            assert report.passed, str(report)


def test_a_fit_without_standard_errors_says_why_and_can_be_looked_into():
    """``dir`` and completion read every attribute; an error other than AttributeError ended them."""
    fitted = GeneralizedLinearRegressor(epsilon=1.0, delta=1e-6, **DECLARED, loss=huber(20.0)).fit(X, Y)
    with pytest.raises(DiscreetError, match="a fit by loss= has no standard errors"):
        _ = fitted.bse
    assert "bse" not in dir(fitted)
    assert "conf_int" in dir(fitted)
    assert not hasattr(fitted.results_, "pvalues")
