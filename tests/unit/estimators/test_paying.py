"""A fit reserves all it costs before it looks: all of it or nothing, one entry, and the same job
goes on.
"""

from __future__ import annotations

import threading

import numpy as np
import pytest

from discreet import Ledger, LinearRegression, LogisticRegression, PrivateGridSearchCV, ReLURegressor, Ridge
from discreet.engines import MemoryEngine
from discreet.errors import BudgetError, DomainError, LedgerError
from discreet.privacy import GDP, Approximate, Budget, Perturbed

BOUNDS = {"delta": 1e-6, "bounds_X": (-1, 1), "bounds_y": (-1, 1)}


def rows(n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).uniform(-1, 1, (n, 3))
    return X, np.clip(X @ [0.5, 0.2, 0.0], -1, 1)


@pytest.mark.parametrize("n", [500, 20_000])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_exactly_what_a_ledger_holds_is_enough(tmp_path, n, epsilon):
    ledger = Ledger.create(tmp_path / "exact.ledger", epsilon=epsilon, delta=1e-6)
    model = LinearRegression(epsilon=epsilon, ledger=ledger, **BOUNDS).fit(*rows(n))
    assert ledger.remaining.mu == 0
    assert ledger.remaining.epsilon == 0
    assert ledger.spent == ledger.total
    assert model.privacy_.mu <= ledger.total.mu


def test_two_fits_with_budget_for_one_give_one_model(tmp_path):
    ledger = Ledger.create(tmp_path / "one.ledger", epsilon=1, delta=1e-6)
    models, refused, together = [], [], threading.Barrier(2)

    def fit() -> None:
        model = LinearRegression(epsilon=1, ledger=ledger, **BOUNDS)
        together.wait()
        try:
            models.append(model.fit(*rows()))
        except BudgetError as error:
            refused.append(error)

    threads = [threading.Thread(target=fit) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(models), len(refused)) == (1, 1)
    assert "nothing was spent" in str(refused[0])
    assert len(ledger.history) == 1


def test_a_fit_is_one_entry_with_its_releases_under_it(ledger):
    model = LinearRegression(epsilon=1, ledger=ledger, **BOUNDS).fit(*rows())
    (entry,) = ledger.history
    assert entry.label == "LinearRegression of y"
    assert entry.costs == (GDP(Budget.of(1, 1e-6).mu),)
    assert entry.releases == tuple((release.label, release.cost) for release in model.privacy_.releases)


def test_bad_input_that_is_found_before_the_first_look_spends_nothing(ledger):
    model = ReLURegressor(epsilon=1, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-2, -1), ledger=ledger)
    with pytest.raises(DomainError):
        model.fit(*rows())
    assert ledger.history == []


def test_what_is_not_gaussian_is_reserved_as_what_it_is(ledger):
    X, y = rows()
    LogisticRegression(epsilon=1, delta=1e-6, bounds_X=(-1, 1), classes=(0, 1), solver="objective", ledger=ledger).fit(
        X, (y > 0).astype(int)
    )
    (entry,) = ledger.history
    assert [type(cost) for cost in entry.costs] == [GDP, Perturbed]
    assert [type(cost) for _, cost in entry.releases] == [GDP, GDP, Perturbed, GDP]
    assert entry.cost.epsilon(1e-6) <= 1


def test_a_shuffled_pass_reserves_epsilon_and_delta(tmp_path):
    ledger = Ledger.create(tmp_path / "shuffled.ledger", epsilon=0.1, delta=1e-6)
    ReLURegressor(epsilon=0.1, solver="sgd", ledger=ledger, **BOUNDS).fit(*rows(3000))
    (entry,) = ledger.history
    assert entry.costs == (Approximate(0.1, 1e-6),)


class Dies(Exception):
    pass


def dying_after(monkeypatch, passes: int) -> None:
    """The engine fails, as a process that is killed does, after so many passes over the rows."""
    real, done = MemoryEngine.sum_rows, []

    def sum_rows(self, *arguments, **options):
        if len(done) == passes:
            raise Dies
        done.append(1)
        return real(self, *arguments, **options)

    monkeypatch.setattr(MemoryEngine, "sum_rows", sum_rows)


@pytest.mark.parametrize("passes", [0, 1, 3])
def test_a_crash_leaves_the_reservation_spent_and_the_same_job_resumes_it(ledger, monkeypatch, passes):
    model = Ridge(epsilon=1, ledger=ledger, **BOUNDS)
    with monkeypatch.context() as patched:
        dying_after(patched, passes)
        with pytest.raises(Dies):
            model.fit(*rows(), job="nightly")
    (crashed,) = ledger.history
    assert len(crashed.releases) >= passes
    spent = ledger.spent
    resumed = model.fit(*rows(), job="nightly")
    (entry,) = ledger.history
    assert ledger.spent == spent
    assert entry.releases[: len(crashed.releases)] == crashed.releases
    assert len(entry.releases) == len(resumed.privacy_.releases) > len(crashed.releases)
    with monkeypatch.context() as patched:
        dying_after(patched, 0)  # not one more look at the rows
        again = Ridge(epsilon=1, ledger=ledger, **BOUNDS).fit(*rows(), job="nightly")
    assert np.array_equal(again.coef_, resumed.coef_)


def test_a_search_is_one_entry_with_all_its_fits_under_it(tmp_path, monkeypatch):
    ledger = Ledger.create(tmp_path / "search.ledger", epsilon=1, delta=1e-6)
    search = PrivateGridSearchCV(Ridge(epsilon=1, ledger=ledger, **BOUNDS), {"alpha": [0.0, 1.0]})
    with monkeypatch.context() as patched:
        dying_after(patched, 9)
        with pytest.raises(Dies):
            search.fit(*rows(), job="search")
    resumed = search.fit(*rows(), job="search")
    (entry,) = ledger.history
    assert ledger.remaining.mu == 0
    assert {label.split("/")[0] for label, _ in entry.releases} == {"candidate 0", "candidate 1", "choice", "refit"}
    assert len(entry.releases) == len(resumed.privacy_.releases)
    assert resumed.privacy_.epsilon(1e-6) <= 1
    assert resumed.best_estimator_.ledger == ledger
    with monkeypatch.context() as patched:
        dying_after(patched, 0)
        assert np.array_equal(search.fit(*rows(), job="search").best_estimator_.coef_, resumed.best_estimator_.coef_)


def test_an_answer_that_was_stored_for_another_question_is_refused(ledger, monkeypatch):
    """As after an update of discreet that asks otherwise: its plan must not read the old plan's
    numbers.
    """
    LinearRegression(epsilon=1, ledger=ledger, solver="moments", **BOUNDS).fit(*rows(), job="j")
    monkeypatch.setattr("discreet.algorithms.moments.FIRST_LOOK_SHARE", 0.31)
    with pytest.raises(LedgerError, match="another version"):
        LinearRegression(epsilon=1, ledger=ledger, solver="moments", **BOUNDS).fit(*rows(), job="j")
