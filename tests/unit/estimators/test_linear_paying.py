"""What a linear fit costs: the printed noise, jobs, folds and candidates."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.linear_model as plain
from linear_rows import BOUNDS, FREE, PRIVATE, rows
from sklearn.model_selection import GridSearchCV, cross_val_score

from discreet import (
    BudgetError,
    DomainError,
    GuaranteeError,
    LinearRegression,
    Ridge,
)
from discreet.errors import PrivacyLeakWarning

# The printed noise.


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_paper_calibration_releases_the_printed_noise_and_reports_what_it_gives(fit_intercept):
    X, y = rows()
    model = LinearRegression(
        **PRIVATE, data_norm=4.0, bounds_y=(-4, 4), calibration="paper", fit_intercept=fit_intercept
    ).fit(X, y)
    asked = LinearRegression(**PRIVATE, **BOUNDS)._check_parameters()
    mu = asked.mu / math.sqrt(2)  # of each of the two releases, as GDP composes
    radius = math.sqrt(1 + fit_intercept)
    gram, cross = model.privacy_.releases
    assert gram.noise_std == pytest.approx(2 * radius**2 / mu, rel=1e-9)
    assert cross.noise_std == pytest.approx(2 * radius / mu, rel=1e-9)
    for release in (gram, cross):
        assert release.cost.mu >= release.sensitivity / release.noise_std * (1 - 1e-9)
    # sigma_1 is sqrt(2) times what is needed, so 3/4 of mu^2 is used.
    assert model.privacy_.mu == pytest.approx(asked.mu * math.sqrt(0.75), rel=1e-5)
    assert model.privacy_.epsilon(1e-6) <= 1.0


def test_paper_calibration_is_refused_where_it_is_weaker_than_asked(ledger):
    X, y = rows(300)
    model = LinearRegression(**PRIVATE, **BOUNDS, calibration="paper", rows_per_person=2, ledger=ledger)
    with pytest.raises(GuaranteeError, match="weaker than the 1 asked for"):
        model.fit(X, y, groups=np.arange(300) // 2)
    assert ledger.history == []


def test_at_an_endless_budget_paper_calibration_is_ridge():
    X, y = rows()
    model = Ridge(**FREE, **BOUNDS, alpha=10.0, calibration="paper").fit(X, y)
    expected = plain.Ridge(10.0).fit(X, y)
    assert model.coef_ == pytest.approx(expected.coef_, abs=1e-3)
    assert model.intercept_ == pytest.approx(expected.intercept_, abs=1e-3)


# Paying.


def test_one_job_is_paid_once_and_gives_one_model(ledger):
    X, y = rows(500)
    first, second = (LinearRegression(**PRIVATE, **BOUNDS, ledger=ledger).fit(X, y, job="monday") for _ in range(2))
    assert (first.coef_ == second.coef_).all()
    (entry,) = ledger.history  # a fit is one entry, with its releases under it
    assert len(entry.releases) == len(first.privacy_.releases)
    assert ledger.spent.epsilon <= 1.0


def test_a_job_with_another_penalty_asks_other_questions_and_pays_for_them(ledger):
    X, y = rows(500)
    for alpha in (1.0, 5.0):
        Ridge(**PRIVATE, **BOUNDS, alpha=alpha, ledger=ledger).fit(X, y, job="monday")
    assert len(ledger.history) == 2


@pytest.mark.parametrize(
    "changed", [{"bounds_y": (-40, 40)}, {"bounds_X": (-3, 2)}, {"bounds_X": None, "data_norm": 4.0}]
)
def test_a_job_under_other_declarations_is_another_job(ledger, changed):
    X, y = rows(500)
    LinearRegression(**PRIVATE, **BOUNDS, ledger=ledger, solver="moments").fit(X, y, job="monday")
    LinearRegression(**PRIVATE | BOUNDS | changed, ledger=ledger, solver="moments").fit(X, y, job="monday")
    assert len(ledger.history) == 2


def test_a_seeded_result_is_never_handed_out_as_private(ledger):
    X, y = rows(500)
    with pytest.warns(PrivacyLeakWarning):
        seeded = LinearRegression(**PRIVATE, **BOUNDS, ledger=ledger, random_state=1).fit(X, y, job="monday")
    private = LinearRegression(**PRIVATE, **BOUNDS, ledger=ledger).fit(X, y, job="monday")
    assert seeded.privacy_.seeded
    assert not private.privacy_.seeded
    assert (seeded.coef_ != private.coef_).all()


def test_a_job_needs_a_ledger():
    X, y = rows(10)
    with pytest.raises(ValueError, match="pass ledger= as well"):
        LinearRegression(**PRIVATE, **BOUNDS).fit(X, y, job="monday")


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
def test_every_fold_and_candidate_pays_from_one_ledger_until_it_is_empty(ledger):
    X, y = rows(600)
    model = Ridge(epsilon=1.0, delta=1e-6, **BOUNDS, ledger=str(ledger.path), solver="moments")
    cross_val_score(model, X, y, cv=3, error_score="raise")
    assert len(ledger.history) == 3
    fold = ledger.spent.mu / math.sqrt(3)
    assert ledger.spent.mu == pytest.approx(fold * math.sqrt(3))
    with pytest.raises(BudgetError):
        GridSearchCV(model, {"alpha": [0.1, 1.0, 10.0]}, cv=5, error_score="raise").fit(X, y)
    assert ledger.spent.mu <= ledger.total.mu
    before = len(ledger.history)
    with pytest.raises(BudgetError):
        model.fit(X, y)
    assert len(ledger.history) == before


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
def test_a_grid_search_pays_for_every_candidate_fold_and_the_last_fit(ledger):
    X, y = rows(600)
    model = Ridge(epsilon=0.3, delta=1e-6, **BOUNDS, ledger=ledger, solver="moments")
    GridSearchCV(model, {"alpha": [0.1, 1.0]}, cv=2, error_score="raise").fit(X, y)
    assert len(ledger.history) == 2 * 2 + 1


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
def test_the_guarantee_is_the_one_asked_for(neighbours):
    X, y = rows(500)
    model = LinearRegression(**PRIVATE, **BOUNDS, neighbours=neighbours).fit(X, y)
    assert 0.999 < model.privacy_.epsilon(1e-6) <= 1.0
    assert model.privacy_.neighbours == neighbours


def test_an_empty_table_is_no_news_where_the_number_of_rows_is_private():
    X, y = rows(10)
    model = LinearRegression(**PRIVATE, **BOUNDS, neighbours="add_or_remove_one").fit(X[:0], y[:0])
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_text_in_a_column_declared_with_bounds_is_refused_before_anything_is_paid(library):
    frame = library({"age": [30.0, 40.0], "smoker": ["no", "yes"]})
    model = LinearRegression(epsilon=1, delta=1e-6, bounds_X=(0, 100), bounds_y=(0, 1))
    with pytest.raises(DomainError, match="column 2 of the features is declared with bounds but holds"):
        model.fit(frame, [0.1, 0.2])
