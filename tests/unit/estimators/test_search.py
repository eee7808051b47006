"""PrivateGridSearchCV: what it costs, what it chooses, how it parts rows."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from discreet import (
    Domain,
    Ledger,
    LinearRegression,
    LogisticRegression,
    Numeric,
    PiecewiseExponentialRegressor,
    PoissonRegressor,
    PrivateGridSearchCV,
    Ridge,
    price_of_search,
)
from discreet.errors import BudgetError, DomainError
from discreet.estimators.held_out import held_out_rows
from discreet.privacy import Budget


def rows(n=20_000):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 4)).clip(-3, 3)
    return X, np.clip(X @ [1.0, -0.5, 0.5, 0.0] + 0.5 * rng.normal(size=n), -5, 5)


def ridge(**more):
    return Ridge(**{"epsilon": 2.0, "delta": 1e-6, "bounds_X": (-3, 3), "bounds_y": (-5, 5), **more})


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
def test_the_useful_candidate_is_chosen_and_all_costs_the_budget(neighbours):
    """The other two predict the mean; their held-out losses are 4,000 rows' worth apart: no luck is
    involved.
    """
    X, y = rows()
    found = PrivateGridSearchCV(ridge(neighbours=neighbours), {"alpha": [1e9, 1.0, 1e8]}).fit(X, y)
    assert found.best_params_ == {"alpha": 1.0}
    assert found.best_index_ == 1
    assert found.score(X, y) > 0.8
    assert 1.999 < found.privacy_.epsilon(1e-6) <= 2.0
    assert found.privacy_.neighbours == neighbours


def test_a_choice_among_equals_is_as_good_as_random():
    """40 searches among two equal candidates; 5 to 35 of one kind but for 1 in 5 million under a
    fair coin.
    """
    X, y = rows(60)
    search = PrivateGridSearchCV(ridge(solver="moments"), {"alpha": [1.0, 1.0]})
    first = sum(search.fit(X, y).best_index_ == 0 for _ in range(40))
    assert 5 <= first <= 35


def test_a_frame_with_names_and_a_classifier():
    X, y = rows(3000)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = LogisticRegression(epsilon=3.0, delta=1e-6, bounds_X=(-3, 3), classes=("no", "yes"))
    found = PrivateGridSearchCV(model, {"alpha": [0.0, 1e9]}).fit(frame, np.where(y > 0, "yes", "no"))
    assert list(found.feature_names_in_) == list("abcd")
    assert found.predict_proba(frame).shape == (3000, 2)
    assert set(found.predict(frame)) <= {"no", "yes"}
    assert not hasattr(PrivateGridSearchCV(ridge(), {"alpha": [0, 1]}), "predict_proba")
    clone(found)


def test_a_ledger_pays_once_for_everything_or_refuses_before_the_first_release(tmp_path):
    X, y = rows(500)
    path = tmp_path / "budget"
    Ledger.create(path, epsilon=2.5, delta=1e-6)
    search = PrivateGridSearchCV(ridge(ledger=str(path)), {"alpha": [0.0, 1.0]})
    fitted = search.fit(X, y)
    spent = math.sqrt(math.fsum(entry.cost.mu**2 for entry in Ledger(path).history))
    assert spent == pytest.approx(fitted.privacy_.mu, rel=1e-6)
    before = len(Ledger(path).history)
    with pytest.raises(BudgetError):
        search.fit(X, y)
    assert len(Ledger(path).history) == before


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"alpha": [1.0]}, "at least two"),
        ({"epsilon": [1.0, 2.0]}, "must not vary epsilon"),
        ({"bounds_X": [(-1, 1), (-2, 2)]}, "must not vary bounds_X"),
        ({"alpha": [1.0, -1.0]}, "alpha must be finite"),
        ({"formula": ["x0", "x0 + x1"]}, "must not vary formula"),
    ],
)
def test_a_wrong_grid_is_refused_before_anything_is_spent(grid, message, tmp_path):
    Ledger.create(tmp_path / "budget", epsilon=5.0, delta=1e-6)
    with pytest.raises(ValueError, match=message):
        PrivateGridSearchCV(ridge(ledger=str(tmp_path / "budget")), grid).fit(*rows(100))
    assert not Ledger(tmp_path / "budget").history


def test_survival_models_have_no_loss_to_compare(tmp_path):
    ledger = Ledger.create(tmp_path / "budget", epsilon=5.0, delta=1e-6)
    model = PiecewiseExponentialRegressor(epsilon=1.0, delta=1e-6, bounds_X=(-1, 1), breaks=(1, 2), ledger=ledger)
    X, y = rows(100)
    with pytest.raises(TypeError, match="no loss to compare PiecewiseExponentialRegressor"):
        PrivateGridSearchCV(model, {"alpha": [0.1, 1.0]}).fit(X, np.abs(y))
    assert not ledger.history


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
def test_a_formula_may_have_the_labels_among_the_columns(neighbours):
    X, y = rows(500)
    frame = pd.DataFrame({"a": X[:, 0].clip(-3, 3), "b": X[:, 1].clip(-3, 3), "y": y.clip(-5, 5)})
    domain = Domain([Numeric("a", -3, 3), Numeric("b", -3, 3), Numeric("y", -5, 5)])
    made = Ridge(epsilon=1.0, delta=1e-6, domain=domain, formula="y ~ a * b", neighbours=neighbours)
    found = PrivateGridSearchCV(made, {"alpha": [0.1, 1.0]}).fit(frame)
    assert found.results_.target == "y"
    assert list(found.results_.names) == ["const", "a", "b", "a:b"]
    assert found.predict(frame).shape == (500,)


def test_parts_depend_on_one_row_at_a_time():
    X, y = rows(2000)
    model = ridge(neighbours="add_or_remove_one")
    aside = held_out_rows(model, X, y, None, 5)
    assert 320 < aside.sum() < 480  # 400 with a standard deviation of 18: outside once in 10^5
    order = np.random.default_rng(0).permutation(2000)
    np.testing.assert_array_equal(held_out_rows(model, X[order], y[order], None, 5), aside[order])
    frame = pd.DataFrame(X.astype(object), columns=list("abcd"))
    np.testing.assert_array_equal(held_out_rows(model, frame, y, None, 5), aside)
    ids = np.arange(2000) // 4
    by_person = held_out_rows(model, X, y, ids, 5).reshape(-1, 4)
    assert (by_person.all(axis=1) | ~by_person.any(axis=1)).all()
    np.testing.assert_array_equal(held_out_rows(model, X, y, ids.astype(str), 5), by_person.ravel())
    assert held_out_rows(ridge(), X, y, None, 5)[4::5].all()


def counts(n=3000):
    rng = np.random.default_rng(2)
    X, times = rng.uniform(-1, 1, (n, 2)), rng.uniform(0.2, 2.0, n)
    return X, np.minimum(rng.poisson(times * np.exp(0.5 + X @ [1.0, -0.5])), 10), times


def poisson(**more):
    declared = {"bounds_X": (-1, 1), "bounds_y": (0, 10), "bounds_exposure": (0.2, 2.0)}
    return PoissonRegressor(epsilon=4.0, delta=1e-6, **declared, **more)


def test_exposures_count_in_the_fits_and_in_the_choice():
    """At alpha 0 the model is right; the choice would see it as bad as the flat one if times were
    left out.
    """
    X, y, times = counts()
    found = PrivateGridSearchCV(poisson(), {"alpha": [1e7, 0.0]}).fit(X, y, exposure=times)
    assert found.best_params_ == {"alpha": 0.0}
    np.testing.assert_allclose(found.best_estimator_.coef_, [1.0, -0.5], atol=0.3)  # 6 standard errors
    with pytest.raises(TypeError, match="Ridge has no exposure"):
        PrivateGridSearchCV(ridge(), {"alpha": [0, 1]}).fit(X, y, exposure=times)
    with pytest.raises(DomainError, match="bounds_exposure"):
        PrivateGridSearchCV(poisson().set_params(bounds_exposure=None), {"alpha": [0, 1]}).fit(X, y, exposure=times)


def test_a_job_is_paid_once_and_gives_the_same_answer_again(tmp_path):
    X, y, times = counts(400)
    path = tmp_path / "budget"
    Ledger.create(path, epsilon=4.5, delta=1e-6)
    first, again = (
        PrivateGridSearchCV(poisson(ledger=str(path)), {"alpha": [0.0, 1e7]}).fit(X, y, exposure=times, job="rates")
        for _ in range(2)
    )
    assert np.array_equal(first.best_estimator_.coef_, again.best_estimator_.coef_)
    assert first.best_index_ == again.best_index_
    assert Ledger(path).spent.epsilon <= 4.0
    assert str(path) in str(price_of_search(PrivateGridSearchCV(poisson(ledger=str(path)), {"alpha": [0, 1]})))
    with pytest.raises(BudgetError):  # another grid is another search
        PrivateGridSearchCV(poisson(ledger=str(path)), {"alpha": [0.0, 1.0]}).fit(X, y, exposure=times, job="rates")
    with pytest.raises(ValueError, match="pass ledger="):
        PrivateGridSearchCV(poisson(), {"alpha": [0, 1]}).fit(X, y, exposure=times, job="rates")


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("table", [lambda X: X, lambda X: pd.DataFrame(X, columns=list("abcd"))])
def test_persons_are_parted_whole(neighbours, table):
    X, y = rows(20_000)
    model = ridge(neighbours=neighbours, rows_per_person=3)
    found = PrivateGridSearchCV(model, {"alpha": [1e9, 1.0]}).fit(
        table(X), pd.Series(y, name="y"), np.arange(20_000) // 4
    )
    assert found.best_params_ == {"alpha": 1.0}
    assert found.privacy_.grouped
    assert 1.999 < found.privacy_.epsilon(1e-6) <= 2.0


def test_the_price_is_known_before_anything_runs(capsys):
    model = LinearRegression(epsilon=1.0, delta=1e-6, bounds_X=(-3, 3), bounds_y=(-5, 5))
    each = Budget.of(1.0, 1e-6)
    plain = price_of_search(GridSearchCV(model, {"alpha": [0, 1, 2]}, cv=5))
    assert plain.fits == 16
    assert plain.total.mu == pytest.approx(4 * each.mu)
    assert "NOT COUNTED" in str(plain)
    assert price_of_search(model, cv=4).total.mu == pytest.approx(2 * each.mu)
    private = PrivateGridSearchCV(model, {"alpha": [0, 1, 2]}, verbose=1)
    assert price_of_search(private).total.mu == pytest.approx(each.mu)
    with pytest.raises(TypeError):
        price_of_search(model)
    private.fit(*rows(200))
    assert "together epsilon 1 " in capsys.readouterr().out
