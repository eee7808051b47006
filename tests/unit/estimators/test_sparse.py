"""What users of sparse models see: chosen columns, coefficients in their units, and clear errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from discreet import (
    Domain,
    DomainError,
    Ledger,
    PrivacyLeakWarning,
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegressor,
)
from discreet.domain import Categorical, Numeric

KINDS = [SparseLinearRegression, SparseLogisticRegression, SparsePoissonRegressor]
SOLVERS = ["auto", "two_stage", "iht", "frank_wolfe"]
TRUE = {3: 1.0, 17: -1.0, 29: 0.8}


def make(kind, **more):
    declared = {"epsilon": 20.0, "delta": 1e-6, "sparsity": 3, "bounds_X": (-1, 3)}
    if kind is SparseLinearRegression:
        declared["bounds_y"] = (-6, 8)
    if kind is SparsePoissonRegressor:
        declared["bounds_y"] = (0, 30)
    return kind(**(declared | more))


def data(kind, rows=4_000, columns=40, seed=0):
    """Columns in [-1, 3] about 1, so that units and intercepts matter."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 3, (rows, columns))
    eta = sum(value * (X[:, column] - 1) for column, value in TRUE.items()) + 0.3
    if kind is SparseLinearRegression:
        return X, eta + rng.normal(0, 0.5, rows)
    if kind is SparsePoissonRegressor:
        return X, rng.poisson(np.exp(0.6 * eta))
    return X, (rng.random(rows) < 1 / (1 + np.exp(-eta))).astype(int)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_true_columns_are_found(kind, solver):
    """At epsilon 20 the weakest true column stands more than ten noise scales above the others."""
    model = make(kind, solver=solver).fit(*data(kind))
    assert model.support_.tolist() == sorted(TRUE)
    assert model.get_support().sum() == 3
    assert np.flatnonzero(np.ravel(model.coef_)).tolist() == model.support_.tolist()
    assert model.privacy_.epsilon(1e-6) <= 20 * (1 + 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_coefficients_are_in_the_users_units(kind):
    model = make(kind).fit(*data(kind, rows=20_000))
    scale = 0.6 if kind is SparsePoissonRegressor else 1.0
    assert np.ravel(model.coef_)[model.support_] == pytest.approx(scale * np.array(list(TRUE.values())), abs=0.12)
    at_middle = float(np.ravel(model.intercept_)[0]) + np.ravel(model.coef_).sum()
    assert at_middle == pytest.approx(scale * 0.3, abs=0.12)


def test_sparse_and_dense_input_give_the_same_model():
    rng = np.random.default_rng(1)
    dense = rng.uniform(0, 1, (2_000, 30)) * (rng.random((2_000, 30)) < 0.2)
    y = rng.integers(0, 2, 2_000)
    fits = []
    for X in (dense, sparse.csr_matrix(dense), sparse.coo_array(dense), pd.DataFrame(dense)):
        with pytest.warns(PrivacyLeakWarning):
            fits.append(make(SparseLogisticRegression, bounds_X=(0, 1), random_state=5).fit(X, y))
    assert all(np.array_equal(fit.coef_, fits[0].coef_) for fit in fits)
    assert fits[0].predict_proba(sparse.csr_array(dense)) == pytest.approx(fits[0].predict_proba(dense), rel=1e-12)


def test_a_matrix_that_stores_a_cell_twice_counts_it_once():
    rows, columns = np.array([0, 0, 1]), np.array([0, 0, 1])
    twice = sparse.coo_matrix((np.array([1.0, 1.0, 1.0]), (rows, columns)), shape=(2, 2)).tocsr(copy=True)
    raw = sparse.csr_matrix((np.array([1.0, 1.0, 1.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    y = [0, 1]
    fits = []
    for X in (twice, raw):
        with pytest.warns(PrivacyLeakWarning):
            fits.append(make(SparseLogisticRegression, sparsity=1, random_state=5).fit(X, y))
    assert np.array_equal(fits[0].coef_, fits[1].coef_)
    assert raw.nnz == 3, "the user's matrix must not be changed"


def test_an_automatic_sparsity_keeps_what_stands_clear_of_the_noise():
    model = make(SparseLogisticRegression, sparsity="auto").fit(*data(SparseLogisticRegression, rows=20_000))
    assert set(TRUE) <= set(model.support_.tolist())
    assert len(model.support_) <= 6


@pytest.mark.parametrize("kind", KINDS)
def test_standard_errors_cover_the_truth_on_a_support_that_is_beyond_doubt(kind):
    """Each of 3 estimates lies within 6 standard errors of the truth: a false alarm below 1e-8 if
    they are right.
    """
    model = make(kind).fit(*data(kind, rows=20_000))
    scale = 0.6 if kind is SparsePoissonRegressor else 1.0
    for record, truth in zip(model.results_.records()[1:], TRUE.values(), strict=True):
        assert abs(record["coef"] - scale * truth) < 6 * record["std_err"] + 0.06
        assert 0 < record["std_err"] < 0.2


def test_printed_noise_is_real_and_its_guarantee_is_reported():
    model = make(SparseLogisticRegression, epsilon=1.0, calibration="paper", max_iter=3)
    model.fit(*data(SparseLogisticRegression))
    assert model.privacy_.epsilon(1e-6) < 0.5
    assert len(model.privacy_.releases) == 6
    printed = 8 * 2 * np.sqrt(3 * 3 * np.log(3 / 1e-6)) * 3 / 1.0
    assert model.privacy_.releases[0].noise_std == pytest.approx(np.sqrt(2) * printed, rel=1e-6)


def test_labels_and_classes_are_the_declared_ones():
    X, y = data(SparseLogisticRegression)
    names = np.array(["no", "yes"])[y]
    model = make(SparseLogisticRegression, classes=["no", "yes"]).fit(X, names)
    assert model.classes_.tolist() == ["no", "yes"]
    assert set(model.predict(X[:50])) <= {"no", "yes"}
    assert model.predict_proba(X[:5]).sum(axis=1) == pytest.approx(1)
    assert np.mean(model.predict(X) == names) > 0.65
    # A label that was not declared contributes nothing, and raises nothing.
    make(SparseLogisticRegression, classes=["no", "yes"]).fit(X, np.where(np.arange(len(names)) == 3, "maybe", names))


def test_a_domain_names_the_columns():
    X, y = data(SparseLinearRegression)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    domain = Domain((*(Numeric(name, -1, 3) for name in frame.columns), Numeric("label", -6, 8)))
    model = make(SparseLinearRegression, bounds_X=None, bounds_y=None, domain=domain)
    model.fit(frame, pd.Series(y, name="label"))
    assert [record["name"] for record in model.results_.records()[1:]] == ["c3", "c17", "c29"]


def test_a_categorical_column_is_refused():
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": ["u", "v"]})
    domain = Domain((Numeric("a", 0, 1), Categorical("b", ("u", "v"))))
    with pytest.raises(DomainError, match="numeric columns only"):
        make(SparseLogisticRegression, sparsity=1, bounds_X=None, domain=domain).fit(frame, [0, 1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sparsity": 0}, "between 1 and the number of columns 40, got 0"),
        ({"sparsity": 41}, "between 1 and the number of columns 40, got 41"),
        ({"sparsity": 2.5}, "sparsity must be 'auto' or a whole number"),
        ({"sparsity": True}, "sparsity must be 'auto' or a whole number"),
        ({"sparsity": "many"}, "sparsity must be 'auto' or a whole number"),
        ({"sparsity": "auto", "solver": "iht"}, "needs solver='auto'"),
        ({"solver": "lasso"}, "solver must be one of"),
        ({"max_iter": 0, "solver": "iht"}, "max_iter must be"),
        ({"radius": -1.0, "solver": "frank_wolfe"}, "radius must be None or a finite number > 0"),
        ({"step": np.inf, "calibration": "paper"}, "step must be None or a finite number > 0"),
        ({"bounds_X": None}, "no bounds were declared"),
        ({"bounds_X": (1, 0)}, "low < high"),
        ({"epsilon": 0.0}, "epsilon must be"),
        ({"delta": 0.0}, "delta must be > 0"),
        ({"classes": [1]}, "classes must be the two different labels"),
        ({"classes": [1, 1.0]}, "classes must be the two different labels"),
        ({"calibration": "paper", "solver": "frank_wolfe"}, "COST's algorithm"),
        ({"calibration": "paper", "neighbours": "add_or_remove_one"}, "needs neighbours='replace_one'"),
    ],
)
def test_bad_parameters_say_what_is_wrong(parameters, message):
    with pytest.raises(ValueError, match=message):
        make(SparseLogisticRegression, **parameters).fit(*data(SparseLogisticRegression, rows=50))


@pytest.mark.filterwarnings("ignore::discreet.errors.WeakGuaranteeWarning")
@pytest.mark.filterwarnings("ignore::discreet.errors.UnusableRowsWarning")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", KINDS)
def test_hardly_any_rows_and_absurd_budgets_give_finite_models_without_a_warning(kind, solver, neighbours):
    for rows, epsilon in ((0, 1.0), (2, 1e-3), (2, 1e4), (60, 0.01)):
        if rows == 0 and neighbours == "replace_one":
            continue
        X, y = data(kind, rows=60)
        X, y = X[:rows, :6], y[:rows]
        model = make(kind, epsilon=epsilon, solver=solver, neighbours=neighbours, sparsity=2).fit(X, y)
        assert np.isfinite(model.coef_).all(), (rows, epsilon)
        assert np.isfinite(model.intercept_).all(), (rows, epsilon)
        assert model.results_.covariance is None or np.isfinite(model.results_.std_errors).all(), (rows, epsilon)


def test_a_poisson_range_below_zero_is_refused():
    with pytest.raises(DomainError, match="poisson needs labels >= 0"):
        make(SparsePoissonRegressor, bounds_y=(-1, 5)).fit(*data(SparsePoissonRegressor, rows=50))


def test_a_fit_pays_its_budget_and_a_job_pays_once(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    ledger = Ledger.create(tmp_path / "budget.db", epsilon=2.0, delta=1e-6)
    model = make(SparseLogisticRegression, epsilon=1.0, ledger=ledger)
    first = model.fit(*data(SparseLogisticRegression, rows=500), job="spring")
    (entry,) = ledger.history
    assert len(entry.releases) == len(first.privacy_.releases)
    coef = first.coef_.copy()
    assert np.array_equal(model.fit(*data(SparseLogisticRegression, rows=500), job="spring").coef_, coef)
    assert ledger.history == [entry]
    assert ledger.spent.epsilon <= 1.0 * (1 + 1e-9)
