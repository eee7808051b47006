"""Every estimator keeps its promise on neighbouring data sets, and uses the noise that the promise needs."""

from __future__ import annotations

import numpy as np
import pytest
from worst_neighbours import COLUMNS, background, worst_pair

from discreet import LinearRegression, Ridge
from discreet.audit import replay

ESTIMATORS = [LinearRegression, Ridge]
EPSILONS = [0.5, 5.0]
RELATIONS = ["replace_one", "add_or_remove_one"]


def make(kind, epsilon, neighbours, **more):
    """The moments solver: of its two releases one row can fill both, so its worst neighbours are known."""
    bounds = {"bounds_X": (-1, 1), "bounds_y": (-1, 1)}
    return kind(epsilon=epsilon, delta=1e-6, neighbours=neighbours, **bounds, **{"solver": "moments"} | more)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_worst_neighbour_loses_all_that_is_claimed_and_no_more(kind, epsilon, neighbours):
    estimator = make(kind, epsilon, neighbours)
    report = replay(estimator, *worst_pair(estimator))
    assert report.passed, str(report)
    assert 0.9 <= report.efficiency <= 1, str(report)


def _pairs():
    """Neighbours that change x, y, both, and in ways that no domain foresees."""
    X, y = (part[:500] for part in background())
    odd_rows = {
        "x moved": (np.full(COLUMNS, 0.9), y[5]),
        "y moved": (X[5], -1.0),
        "both at a corner": (np.full(COLUMNS, -1.0), 1.0),
        "outside the bounds": (np.full(COLUMNS, 50.0), -50.0),
        "NaN in x": (np.full(COLUMNS, np.nan), y[5]),
        "NaN in y": (X[5], np.nan),
        "infinite": (np.full(COLUMNS, np.inf), -np.inf),
        "near the largest float": (np.full(COLUMNS, 1e308), -1e308),
        "zero": (np.zeros(COLUMNS), 0.0),
        "subnormal": (np.full(COLUMNS, 5e-324), 5e-324),
    }
    for name, (x_odd, y_odd) in odd_rows.items():
        X_odd, y_with = X.copy(), y.copy()
        X_odd[5], y_with[5] = x_odd, y_odd
        yield pytest.param("replace_one", (X, y), (X_odd, y_with), id=f"replaced: {name}")
        yield pytest.param(
            "add_or_remove_one", (np.vstack([X, x_odd]), np.append(y, y_odd)), (X, y), id=f"added: {name}"
        )


@pytest.mark.parametrize("solver", ["moments", "gd"])
@pytest.mark.parametrize(("neighbours", "data", "neighbour"), list(_pairs()))
def test_any_other_row_stays_within_the_claim(neighbours, data, neighbour, solver):
    report = replay(make(LinearRegression, 1.0, neighbours, solver=solver), data, neighbour)
    assert report.passed, str(report)
    report = replay(make(LinearRegression, 1.0, neighbours, solver=solver), neighbour, data)
    assert report.passed, str(report)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_a_person_with_many_rows_stays_within_the_claim(epsilon, neighbours):
    """One person's canary is repeated in every row that she has, and in more rows than may count."""
    estimator = make(LinearRegression, epsilon, neighbours, rows_per_person=3)
    single = make(LinearRegression, epsilon, neighbours)
    (X, y), (X_other, y_other) = worst_pair(single)
    if neighbours == "replace_one":
        ids = np.concatenate([np.arange(len(y)), np.full(4, 17)])
        data = (np.vstack([X, *[X[17]] * 4]), np.append(y, [y[17]] * 4), ids)
        neighbour = (np.vstack([X_other, *[X_other[17]] * 4]), np.append(y_other, [y_other[17]] * 4), ids)
    else:
        ids = np.arange(len(y))
        data = (np.vstack([X, *[X[-1]] * 4]), np.append(y, [y[-1]] * 4), np.append(ids, [ids[-1]] * 4))
        neighbour = (X_other, y_other, ids[:-1])
    report = replay(estimator, data, neighbour)
    assert report.passed, str(report)
    # The pilot's radius is that of single rows; what counts here is that three rows, not five, were felt.
    assert 0.5 <= report.efficiency <= 1, str(report)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("epsilon", [0.3, 5.0])
def test_printed_noise_gives_at_least_the_guarantee_that_is_reported(epsilon, neighbours):
    X, y = background()
    estimator = make(LinearRegression, epsilon, neighbours, calibration="paper")
    corner = np.ones(COLUMNS)
    data = (np.vstack([X, corner]), np.append(y, 1.0))
    neighbour = (np.vstack([X, -corner]), np.append(y, 1.0)) if neighbours == "replace_one" else (X, y)
    report = replay(estimator, data, neighbour)
    assert report.passed, str(report)
    # The two printed releases have different worst rows, so no pair reaches the sum of both.
    assert 0.7 <= report.efficiency <= 1, str(report)


def test_replay_charges_the_ledger_for_what_it_releases(tmp_path, monkeypatch):
    from discreet import Ledger

    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    ledger = Ledger.create(tmp_path / "budget.db", epsilon=10, delta=1e-6)
    estimator = make(LinearRegression, 0.5, "replace_one", ledger=ledger)
    report = replay(estimator, *worst_pair(make(LinearRegression, 0.5, "replace_one")))
    assert report.passed, str(report)
    assert [entry.label for entry in ledger.history] == list(report.labels) * 2
