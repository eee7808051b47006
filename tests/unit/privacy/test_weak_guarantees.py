"""Warnings about guarantees that protect next to nobody, and refusals of those that protect nobody."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from discreet import Ledger, LinearRegression, dp_threshold
from discreet.errors import WeakGuaranteeWarning
from discreet.privacy import Budget

X = np.random.default_rng(0).uniform(-1, 1, (200, 2))
Y = np.clip(X @ [0.5, 0.2], -1, 1)


def model(**changes) -> LinearRegression:
    return LinearRegression(**{"epsilon": 1.0, "delta": 1e-6, "bounds_X": (-1, 1), "bounds_y": (-1, 1), **changes})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"delta": 1 / 200}, r"delta 0\.005 is not below 1 / number of rows = 1 / 200"),
        ({"delta": 0.02, "neighbours": "add_or_remove_one"}, "with a probability of 2%"),
        ({"epsilon": 51.0}, "e\\^51, so it protects nobody"),
    ],
    ids=["delta of one row", "large delta", "large epsilon"],
)
def test_a_weak_guarantee_is_fitted_with_a_warning_that_points_to_the_fit(changes, said):
    with pytest.warns(WeakGuaranteeWarning, match=said) as seen:
        model(**changes).fit(X, Y)
    assert [warning.filename for warning in seen] == [__file__]


def test_a_private_number_of_rows_does_not_show_in_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error", WeakGuaranteeWarning)
        model(delta=1 / 200, neighbours="add_or_remove_one").fit(X, Y)
        model(delta=1 / 200).fit(X, Y, groups=np.arange(200))
        model(delta=0.9 / 200, epsilon=50.0).fit(X, Y)


def test_functions_and_ledgers_warn_as_well(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    with pytest.warns(WeakGuaranteeWarning, match="1 / 200"):
        dp_threshold(Y, epsilon=1.0, delta=0.01, smallest=0.01, largest=1.0)
    with pytest.warns(WeakGuaranteeWarning, match="e\\^60"):
        Ledger.create(tmp_path / "b.ledger", epsilon=60, delta=1e-6)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"epsilon": math.inf}, "epsilon must be a finite number > 0, got inf"),
        ({"epsilon": math.nan}, "epsilon must be a number > 0"),
        ({"delta": 1}, "delta must be below 1: it is the probability with which the guarantee may fail"),
        ({"delta": 1.5}, "delta must be a number between 0 and 1"),
        ({"delta": math.nan}, "delta must be a number between 0 and 1"),
        ({"delta": 0}, "delta must be > 0"),
    ],
    ids=str,
)
def test_no_guarantee_is_an_error_in_the_users_terms(changes, said):
    with pytest.raises(ValueError, match=said):
        model(**changes).fit(X, Y)


def test_a_pure_guarantee_is_refused_with_the_reason():
    with pytest.raises(ValueError, match="adds Gaussian noise, which no pure guarantee covers"):
        Budget.of(1.0, 0.0)


def test_usual_budgets_raise_no_doubts():
    assert Budget.of(1.0, 1e-6).doubts(10_000) == []
    assert Budget.of(50.0, 0.0099).doubts() == []
    assert len(Budget.of(51.0, 0.02).doubts()) == 2
    assert len(Budget.of(1.0, 0.02).doubts(10)) == 1  # below 1/10, and still large
