"""Persons, seeds, declarations and odd values, as linear models take them."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as plain
from linear_rows import BOUNDS, FREE, PRIVATE, rows
from sklearn.base import clone

from discreet import (
    Domain,
    DomainError,
    LinearRegression,
    Numeric,
    PrivacyLeakWarning,
    Ridge,
)
from discreet.errors import UnusableRowsWarning

# Persons.


def test_at_most_so_many_complete_rows_of_each_person_are_used():
    X, y = rows(600)
    groups = np.random.default_rng(2).integers(0, 100, 600)
    first = pd.Series(groups).groupby(groups).cumcount().to_numpy() < 3
    # Rows that miss something come last, so nobody's three complete rows are pushed out by them.
    model = LinearRegression(**FREE, **BOUNDS, rows_per_person=3).fit(X, np.where(first, y, np.nan), groups=groups)
    expected = plain.LinearRegression().fit(X[first], y[first])
    assert model.coef_ == pytest.approx(expected.coef_, abs=1e-3)
    assert model.privacy_.unit == "person"
    assert "per person" in str(model.privacy_)
    assert "at most 3 rows of each person were used" in str(model.privacy_)


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
@pytest.mark.parametrize("k", [1, 3])
def test_a_persons_rows_are_chosen_by_what_that_person_has(k):
    X, y = rows(600)
    groups = np.random.default_rng(2).integers(0, 100, 600)
    model = LinearRegression(**PRIVATE, **BOUNDS, rows_per_person=k, random_state=1)
    expected = clone(model).fit(X, y, groups=groups)
    order = np.random.default_rng(3).permutation(600)
    assert np.array_equal(clone(model).fit(X[order], y[order], groups=groups[order]).coef_, expected.coef_)
    # With each person's rows twice there are twice as many to choose from, and the least are the
    # same.
    twice = np.concatenate([order, np.arange(600)])
    again = clone(model).fit(X[twice], y[twice], groups=np.char.mod("%d", groups[twice]))
    if k == 1:
        assert np.array_equal(again.results_.estimates, expected.results_.estimates)
    else:
        assert not np.array_equal(again.results_.estimates, expected.results_.estimates)


def test_noise_is_for_all_rows_of_a_person():
    X, y = rows(600)
    groups = np.repeat(np.arange(200), 3)
    sensitivities = [
        LinearRegression(**PRIVATE, **BOUNDS, rows_per_person=k)
        .fit(X, y, groups=groups)
        .privacy_.releases[0]
        .sensitivity
        for k in (1, 3)
    ]
    assert sensitivities[1] == pytest.approx(3 * sensitivities[0], rel=1e-5)


def test_several_rows_per_person_need_ids():
    X, y = rows(100)
    with pytest.raises(ValueError, match="rows_per_person needs fit"):
        LinearRegression(**PRIVATE, **BOUNDS, rows_per_person=2).fit(X, y)


@pytest.mark.parametrize("odd", [None, math.nan, 7, "x", pd.NA])
def test_no_persons_id_raises(odd):
    X, y = rows(100)
    groups = np.array(["a", "b"] * 50, dtype=object)
    groups[3] = odd
    LinearRegression(**PRIVATE, **BOUNDS, rows_per_person=2).fit(X, y, groups=groups)


# Seeds.


def test_a_seed_reproduces_the_fit_with_a_warning_and_a_mark():
    X, y = rows(500)
    with pytest.warns(PrivacyLeakWarning, match="not private"):
        first = LinearRegression(**PRIVATE, **BOUNDS, random_state=1).fit(X, y)
    with pytest.warns(PrivacyLeakWarning):
        second = LinearRegression(**PRIVATE, **BOUNDS, random_state=1).fit(X, y)
    assert (first.coef_ == second.coef_).all()
    assert first.privacy_.seeded
    assert "NOT PRIVATE" in str(first.summary())


def test_without_a_seed_every_fit_differs_and_is_not_marked():
    X, y = rows(500)
    first, second = (LinearRegression(**PRIVATE, **BOUNDS, solver="moments").fit(X, y) for _ in range(2))
    assert (first.moments_.answer.value != second.moments_.answer.value).all()
    assert not first.privacy_.seeded


# Declarations and special values.


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"bounds_y": (0, 1)}, "no bounds were declared for 3 columns"),
        ({"bounds_X": (0, 1)}, "no range was declared for y"),
        (
            {"bounds_X": (0, 1), "domain": Domain((Numeric("x0", 0, 1),)), "bounds_y": (0, 1)},
            "either domain or bounds_X",
        ),
        ({"domain": Domain((Numeric("x0", 0, 1),)), "bounds_y": (0, 1)}, "column 'x1' is not declared"),
        ({"bounds_X": (0, 1), "bounds_y": (0, 1), "public": [[1]]}, "public must be a discreet.Public, got list"),
    ],
)
def test_missing_declarations_are_refused(declared, message):
    X, y = rows(10)
    with pytest.raises(DomainError, match=message):
        LinearRegression(**PRIVATE, **declared).fit(X, y)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epsilon": 0.0}, "epsilon must be"),
        ({"delta": 0.0}, "delta must be > 0"),
        ({"alpha": -1.0}, "alpha must be finite and >= 0"),
        ({"alpha": math.inf}, "alpha must be finite and >= 0"),
        ({"solver": "sgd"}, "solver must be one of auto, gd, moments"),
        ({"calibration": "loose"}, "calibration must be one of tight, paper"),
        ({"neighbours": "both"}, "neighbours must be one of"),
        ({"rows_per_person": 0}, "rows_per_person must be a whole number >= 1"),
    ],
)
def test_wrong_parameters_are_refused_before_anything_is_paid(changed, message, ledger):
    X, y = rows(10)
    with pytest.raises(ValueError, match=message):
        Ridge(**PRIVATE | BOUNDS | {"ledger": ledger} | changed).fit(X, y)
    assert ledger.history == []


SPECIAL = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0]


@pytest.mark.parametrize("calibration", ["tight", "paper"])
@pytest.mark.parametrize("value", SPECIAL)
@pytest.mark.parametrize("place", ["X", "y", "both", "column"])
def test_no_value_shows_in_a_warning_or_breaks_the_fit(place, value, calibration):
    X, y = rows(200)
    X[3, 1] = value if place in ("X", "both") else X[3, 1]
    y[3] = value if place in ("y", "both") else y[3]
    if place == "column":
        X[:, 2] = value
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LinearRegression(**PRIVATE, **BOUNDS, calibration=calibration).fit(X, y)
    # A noisy count, which is released, may say that no row was usable.
    assert [one for one in caught if one.category is not UnusableRowsWarning] == []
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_)


def test_a_row_with_a_missing_value_contributes_nothing():
    X, y = rows()
    X[::3, 0] = np.nan
    y[1::7] = np.nan
    complete = np.isfinite(X).all(axis=1) & np.isfinite(y)
    for calibration in ("tight", "paper"):
        model = LinearRegression(**FREE, **BOUNDS, calibration=calibration).fit(X, y)
        expected = plain.LinearRegression().fit(X[complete], y[complete])
        assert model.coef_ == pytest.approx(expected.coef_, abs=1e-3)


@pytest.mark.parametrize("odd", ["text", None, math.nan, "0.5"])
def test_lists_with_odd_cells_are_fitted(odd):
    X, y = rows(100)
    cells, labels = X.tolist(), y.tolist()
    cells[3][1] = labels[5] = odd
    assert np.isfinite(LinearRegression(**PRIVATE, **BOUNDS).fit(cells, labels).coef_).all()


def test_nothing_of_a_message_is_a_data_value():
    """Wrong shapes raise; their messages speak of shapes only."""
    X, y = rows(50)
    X[:] = 1234.5678
    y[:] = 8765.4321
    model = LinearRegression(**PRIVATE, **BOUNDS)
    for bad_X, bad_y in [(X, y[:-1]), (X[:, 0], y), (X, np.column_stack([y, y])), (X, None), (X.astype(complex), y)]:
        with pytest.raises(ValueError) as caught:
            model.fit(bad_X, bad_y)
        assert "1234.5" not in str(caught.value)
        assert "8765.4" not in str(caught.value)
