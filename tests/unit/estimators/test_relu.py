"""ReLU and single-index regression: what users type, and what they are told."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import (
    DiscreetError,
    Domain,
    DomainError,
    GuaranteeError,
    Ledger,
    Public,
    ReLURegressor,
    SingleIndexRegressor,
)
from discreet.domain import Numeric
from discreet.errors import PrivacyLeakWarning
from discreet.glm.index_links import INDEX_LINKS, LeakyReLU, index_link

SOLVERS = ["auto", "minibatch", "tree", "pgd", "sgd", "glmtron"]
TRUTH = np.array([0.8, -0.5, 0.3])


def rows(count: int, link: str = "relu", shift: float = 0.0, seed: int = 0, noise: float = 0.3):
    random = np.random.default_rng(seed)
    X = random.normal(size=(count, 3))
    return X, INDEX_LINKS[link].mean(X @ TRUTH + shift) + noise * random.normal(size=count)


def make(kind=ReLURegressor, **more):
    defaults = {
        "epsilon": 2.0,
        "delta": 1e-6,
        "data_norm": 6.0,
        "bounds_y": (-2, 5),
        "public": Public(*rows(100, seed=9)),
    }
    return kind(**{**defaults, **more})


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("link", list(INDEX_LINKS))
def test_a_large_budget_finds_the_truth(link, intercept):
    """At epsilon 100 and n = 20,000 an error of .08 is more than six standard deviations of
    sampling.
    """
    X, y = rows(20_000, link, 0.4 * intercept)
    bounds = (-20, 20) if link == "cubic" else (-2, 5)
    options = {"link": link, "fit_intercept": intercept, "bounds_y": bounds, "public": None}
    model = make(SingleIndexRegressor, epsilon=100.0, **options).fit(X, y)
    assert np.abs(model.coef_ - TRUTH).max() < 0.08
    assert abs(model.intercept_ - 0.4 * intercept) < 0.08
    means = INDEX_LINKS[link].mean(X @ TRUTH + 0.4 * intercept).clip(*bounds)
    assert np.mean((model.predict(X) - means) ** 2) < 0.005


def test_relu_regressor_is_the_single_index_regressor_with_that_link():
    X, y = rows(2000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        fitted = [make(random_state=4).fit(X, y), make(SingleIndexRegressor, link="relu", random_state=4).fit(X, y)]
    assert np.array_equal(fitted[0].coef_, fitted[1].coef_)
    assert (fitted[0].predict(X) >= 0).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_says_what_it_promises(solver):
    X, y = rows(150)
    model = make(solver=solver, epsilon=0.5).fit(X, y)
    assert model.privacy_.epsilon(1e-6) <= 0.5 * (1 + 1e-9)
    assert model.coef_.shape == (3,)
    assert model.path_.shape[1] == 4
    assert np.isfinite(model.predict(X)).all()
    assert "one row's data replaced" in str(model.privacy_)


def test_centred_bounds_and_no_intercept_keep_the_origin():
    """Bounds that are not symmetric move the encoded origin; a model without intercept must not
    notice.
    """
    X, y = rows(20_000)
    model = make(data_norm=None, bounds_X=(-5, 7), epsilon=100.0, fit_intercept=False, public=None).fit(X, y)
    assert np.abs(model.coef_ - TRUTH).max() < 0.08
    assert model.intercept_ == 0.0


def test_without_an_intercept_columns_may_stay_away_from_0():
    """Steps took half of the predictors to be negative: fits ended at 0, or far off, at any budget."""
    rng = np.random.default_rng(4)
    first, second = rng.uniform(1, 3, 3000), rng.choice([0, 1], 3000)
    X = np.column_stack([first, first * second])
    y = X @ [1.0, 0.5]
    bounds = {"bounds_X": ([1, 0], [3, 3]), "bounds_y": (0, 6)}
    model = ReLURegressor(epsilon=1.0, delta=1e-6, fit_intercept=False, **bounds).fit(X, y)
    assert np.abs(model.predict(X) - y).mean() < 0.1


def test_a_public_second_moment_is_as_good_as_public_rows():
    X, y = rows(5000)
    public = np.column_stack([np.ones(400), rows(400, seed=8)[0]])
    model = make(public=Public(second_moment=public.T @ public / 400, n=400), epsilon=20.0).fit(X, y)
    assert np.abs(model.coef_ - TRUTH).max() < 0.2


def test_standard_errors_come_with_the_default_solver_only():
    X, y = rows(5000)
    model = make().fit(X, y)
    assert model.bse.shape == (3,)
    assert (model.conf_int()[:, 0] < model.conf_int()[:, 1]).all()
    assert model.predict_interval(X[:4]).shape == (4, 2)
    assert "const" in str(model.summary())
    with pytest.raises(DiscreetError, match="solver='auto'"):
        make(solver="minibatch").fit(X, y).conf_int()


def test_fit_table_gives_the_bits_of_fit(tmp_path):
    X, y = rows(700)
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}), tmp_path / "rows.parquet", 150)
    domain = Domain((*(Numeric(name, -5, 5) for name in "abc"), Numeric("y", -2, 5)))
    for solver in ("auto", "minibatch"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyLeakWarning)
            options = {"solver": solver, "public": None, "random_state": 1}
            arrays = make(data_norm=None, bounds_X=(-5, 5), **options).fit(X, y)
            file = make(data_norm=None, bounds_y=None, domain=domain, **options)
            file.fit_table(tmp_path / "rows.parquet", target="y")
        assert np.array_equal(arrays.coef_, file.coef_)


def test_a_job_is_paid_for_once(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    ledger = Ledger.create(tmp_path / "budget.db", epsilon=1, delta=1e-6)
    X, y = rows(300)
    first = make(solver="minibatch", epsilon=0.9, ledger=ledger).fit(X, y, job="monday")
    again = make(solver="minibatch", epsilon=0.9, ledger=ledger).fit(X, y, job="monday")
    assert np.array_equal(first.coef_, again.coef_)
    assert ledger.spent.epsilon <= 0.9 * (1 + 1e-9)


@pytest.mark.parametrize("public", [None, Public(rows=np.ones((5, 3)))], ids=["none", "without labels"])
def test_glmtron_without_labelled_public_rows_is_refused(public):
    with pytest.raises(DomainError, match="public rows with labels"):
        make(solver="glmtron", public=public).fit(*rows(50))


def test_glmtron_outside_of_the_amplifications_range_is_refused_and_says_what_works():
    with pytest.raises(GuaranteeError, match="solver='auto'"):
        make(solver="glmtron", epsilon=9.0).fit(*rows(100))


def test_printed_noise_of_glmtron_gives_more_than_was_asked_for():
    fitted = make(solver="glmtron", calibration="paper", epsilon=1.0).fit(*rows(2000))
    assert fitted.privacy_.epsilon(1e-6) < 1.0


def test_labels_below_a_relus_range_are_refused():
    with pytest.raises(DomainError, match="no value that the relu link can reach"):
        make(bounds_y=(-4, -1)).fit(*rows(20))
    with pytest.raises(DomainError, match="no value that the sigmoid link can reach"):
        make(SingleIndexRegressor, link="sigmoid", bounds_y=(2, 3)).fit(*rows(20))


@pytest.mark.parametrize("solver", ["glmtron", "minibatch", "tree", "sgd"])
def test_parts_by_position_are_refused_where_the_number_of_rows_is_private(solver):
    with pytest.raises(ValueError, match="neighbours='replace_one'"):
        make(solver=solver, neighbours="add_or_remove_one").fit(*rows(50))
    with pytest.raises(ValueError, match="replace_one"):
        make(solver=solver).fit(*rows(50), groups=np.arange(50))


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"solver": "newton"}, "solver must be one of"),
        ({"calibration": "paper"}, "for solvers whose noise the paper prints"),
        ({"max_iter": 0, "solver": "tree"}, "max_iter must be"),
        ({"bounds_y": None}, "no range was declared for y"),
        ({"data_norm": None}, "no bounds were declared"),
    ],
)
def test_wrong_parameters_are_named(wrong, match):
    with pytest.raises((ValueError, DomainError), match=match):
        make(**wrong).fit(*rows(20))


def test_an_unknown_link_is_refused():
    with pytest.raises(ValueError, match="link must be one of relu, leaky_relu"):
        make(SingleIndexRegressor, link="tanh").fit(*rows(20))
    with pytest.raises(ValueError, match="leak must be"):
        LeakyReLU(2.0)
    assert index_link(LeakyReLU(0.2)).leak == 0.2


def test_a_relu_has_half_a_slope_at_its_kink_and_a_cubic_its_steepest_slopes_outside():
    assert INDEX_LINKS["relu"].slope([-1.0, 0.0, 1.0]).tolist() == [0.0, 0.5, 1.0]
    assert float(INDEX_LINKS["cubic"].slope_bound(-2.0, 1.0)) == 4.0


@pytest.mark.parametrize("name", list(INDEX_LINKS))
def test_slopes_are_derivatives_and_inverses_invert(name):
    link = INDEX_LINKS[name]
    eta = np.array([-3.1, -0.7, 0.2, 0.9, 2.4])
    assert np.allclose((link.mean(eta + 1e-6) - link.mean(eta - 1e-6)) / 2e-6, link.slope(eta), atol=1e-5)
    for value in eta:
        mean = float(link.mean(np.array([value]))[0])
        if link.least_mean < mean < link.greatest_mean:
            assert link.predictor(mean) == pytest.approx(value, rel=1e-6)


def test_models_of_many_columns_have_standard_errors_that_cover():
    """Eight correlated columns at epsilon 2: of 96 slopes at least 84 lie within their 95 % intervals."""
    covered = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = np.clip(rng.normal(size=(4000, 8)) @ (np.eye(8) + 0.2 * rng.normal(size=(8, 8))), -4, 4)
        slopes = np.array([0.7, -0.5, 0.4, 0.0, 0.3, -0.2, 0.1, 0.0])
        y = np.maximum(X @ slopes + 0.3, 0) + 0.3 * rng.normal(size=4000)
        model = ReLURegressor(epsilon=2.0, delta=1e-6, bounds_X=(-4, 4), bounds_y=(-2, 8)).fit(X, y)
        low, high = model.conf_int().T
        covered += [*((low <= slopes) & (slopes <= high))]
        assert model.signal_ in ("clear", "faint", "drowned")
    assert np.sum(covered) >= 84


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
@pytest.mark.parametrize("solver", ["glmtron", "sgd", "tree", "pgd"])
def test_slopes_that_noise_has_removed_are_said_to_be_drowned(solver):
    X, y = rows(300)
    model = make(epsilon=0.2, solver=solver, random_state=0).fit(X, y)
    assert not np.any(model.coef_)
    assert model.signal_ == model.results_.signal == "drowned"


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
@pytest.mark.parametrize("solver", ["tree", "pgd"])
def test_slopes_clear_of_the_noise_are_said_to_be_clear(solver):
    X, y = rows(4000)
    model = make(epsilon=3.0, solver=solver, random_state=0).fit(X, y)
    assert np.any(model.coef_)
    assert model.signal_ == "clear"
