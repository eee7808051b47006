"""Rows that no fit can use are told by the noisy count of rows used, in the summary and as a
warning.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet import Categorical, Domain, Numeric, Public, UnusableRowsWarning
from discreet.algorithms.parts.shrink import signal
from discreet.curator import listening
from discreet.rows import RowsUsed

N = 3000
RNG = np.random.default_rng(5)
X = RNG.uniform(0, 1, (N, 2))
Y = np.round(X @ [1, 2])
MISSING = np.full((N, 2), np.nan)
COMMON = {"epsilon": 1.0, "delta": 1e-6, "bounds_X": ([0, 0], [1, 1])}
BOUNDED = {**COMMON, "bounds_y": (0, 3)}


class Exact:
    """Hands out sums without noise, so that a test does not depend on luck."""

    def release(self, release, noise, exact, noisy):
        return exact

    def select(self, choice, picked):
        return picked

    def minimise(self, minimum, whole):
        return whole

    def order(self, drawn):
        return drawn


@pytest.fixture(autouse=True)
def _no_noise():
    before = listening.set(Exact())
    yield
    listening.reset(before)


def with_public(estimator, **more):
    return estimator(**BOUNDED, public=Public(rows=X[:300]), **more)


MODELS = {
    "linear": lambda: discreet.LinearRegression(**BOUNDED),
    "linear, private number of rows": lambda: discreet.LinearRegression(**BOUNDED, neighbours="add_or_remove_one"),
    "moments": lambda: discreet.LinearRegression(**BOUNDED, solver="moments"),
    "pmt": lambda: with_public(discreet.LinearRegression, solver="pmt"),
    "ridge with public rows": lambda: with_public(discreet.Ridge),
    "logistic": lambda: discreet.LogisticRegression(**COMMON),
    "newton": lambda: discreet.LogisticRegression(**COMMON, solver="newton"),
    "objective": lambda: discreet.LogisticRegression(**COMMON, solver="objective"),
    "three classes": lambda: discreet.LogisticRegression(**COMMON, classes=[0, 1, 2]),
    "poisson": lambda: discreet.PoissonRegressor(**BOUNDED),
    "relu": lambda: discreet.ReLURegressor(**BOUNDED),
    "relu, pgd": lambda: discreet.ReLURegressor(**BOUNDED, solver="pgd"),
    "relu with public rows": lambda: with_public(discreet.ReLURegressor),
    "single index": lambda: discreet.SingleIndexRegressor(**BOUNDED),
}


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_features_that_are_always_missing_are_told(make):
    y = Y.clip(0, 1).astype(int) if isinstance(make(), discreet.LogisticRegression) else Y
    with pytest.warns(UnusableRowsWarning, match="no row was usable"):
        model = make().fit(MISSING, y)
    assert model.n_used_ == pytest.approx(0.0, abs=1e-6)
    if hasattr(model, "results_"):
        assert "no row was usable" in str(model.summary())


def test_nothing_is_clear_where_no_row_was_usable():
    """Once in twenty fits or so noise alone looked like a signal."""
    none, some = RowsUsed.seen(5.0, 10.0, 1000), RowsUsed.seen(900.0, 10.0, 1000)
    slopes, noise = np.array([100.0, 100.0]), np.eye(2)
    assert signal(slopes, noise) == signal(slopes, noise, some) == "clear"
    assert signal(slopes, noise, none) == "drowned"
    with pytest.warns(UnusableRowsWarning):
        fits = [discreet.LogisticRegression(**COMMON).fit(X, np.full(N, np.nan)) for _ in range(20)]
    assert {fit.signal_ for fit in fits} == {fit.results_.signal for fit in fits} == {"drowned"}


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_usable_rows_are_counted_and_half_of_them_too(make):
    y = Y.clip(0, 1).astype(int) if isinstance(make(), discreet.LogisticRegression) else Y
    half = np.where(np.arange(N)[:, np.newaxis] % 2, X, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnusableRowsWarning)
        whole, some = make().fit(X, y), make().fit(half, y)
    # The grid on which sums lie rounds a count by a share of its noise, which is about 30 and more
    # here.
    assert whole.n_used_ == pytest.approx(N, abs=5)
    assert some.n_used_ == pytest.approx(N / 2, abs=5)


@pytest.mark.parametrize("solver", ["auto", "iht", "frank_wolfe"])
def test_labels_that_are_always_missing_are_told_by_sparse_models(solver):
    with pytest.warns(UnusableRowsWarning, match="no row was usable"):
        discreet.SparseLogisticRegression(**COMMON, sparsity=1, solver=solver).fit(X, np.full(N, np.nan))


def test_an_exposure_that_is_always_missing_is_told():
    with pytest.warns(UnusableRowsWarning, match="no row was usable"):
        discreet.PoissonRegressor(**BOUNDED, bounds_exposure=(0.1, 2)).fit(X, Y, exposure=np.full(N, np.nan))


@pytest.mark.parametrize("cells", [["Basic", "Full"], ["BASIC", "FULL"], [" basic", "full "]])
def test_categories_in_another_spelling_are_told(cells, tmp_path):
    domain = Domain([Numeric("age", 0, 1), Categorical("plan", ["basic", "full"]), Numeric("cost", 0, 3)])
    frame = pd.DataFrame({"age": X[:, 0], "plan": RNG.choice(cells, N), "cost": Y})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = discreet.LinearRegression(epsilon=1.0, delta=1e-6, domain=domain)
    with pytest.warns(UnusableRowsWarning, match="no row was usable"):
        model.fit(frame[["age", "plan"]], frame["cost"])
    with pytest.warns(UnusableRowsWarning, match="no row was usable"):
        model.fit_table(tmp_path / "rows.csv", target="cost")


def test_numbers_with_separators_in_a_csv_file_are_told(tmp_path):
    domain = Domain([Numeric("income", 0, 5000), Numeric("cost", 0, 3)])
    lines = [f'"{1 + i % 4},{i % 1000:03d}.56",{y}' for i, y in enumerate(Y)]
    (tmp_path / "rows.csv").write_text("\n".join(["income,cost", *lines]))
    with pytest.warns(UnusableRowsWarning, match="no row was usable"):
        discreet.LinearRegression(epsilon=1.0, delta=1e-6, domain=domain).fit_table(
            tmp_path / "rows.csv", target="cost"
        )


def test_what_a_count_says():
    assert RowsUsed(900.0, 100.0, 1000).none is False
    assert "usable" not in str(RowsUsed(900.0, 100.0, 1000))
    assert RowsUsed(300.0, 100.0, 1000).none
    assert RowsUsed(300.0, 100.0, None).none
    assert "no row was usable, or at most 600 were" in str(RowsUsed(300.0, 100.0, 1000))
    # All 500 rows could have been used.
    assert not RowsUsed(300.0, 100.0, 500).none
    assert RowsUsed(300.0, 100.0, 500).unclear
    assert "too noisy to tell" in str(RowsUsed(300.0, 100.0, 500))
    assert RowsUsed.seen(-40.0, 100.0, 500).count == 0.0
    assert RowsUsed.seen(540.0, 100.0, 500).count == 500.0
