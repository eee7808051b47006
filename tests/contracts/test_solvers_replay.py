"""Every solver keeps its promise on neighbouring data sets, under both neighbour relations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from discreet import Ledger, LinearRegression, Public
from discreet.audit import replay
from discreet.audit.replay import Recorder, Replayer, fit_listening
from discreet.curator.minimum import ObjectiveNoise
from discreet.estimators import LogisticRegression, PoissonRegressor

RELATIONS = ["replace_one", "add_or_remove_one"]
ROWS, COLUMNS = 3000, 3


def table(seed=0):
    rng = np.random.default_rng(seed)
    X = np.clip(rng.normal(0.05, 0.3, size=(ROWS, COLUMNS)), -1, 1)
    eta = 0.2 + X @ np.array([2.0, -1.0, 0.5])
    return X, eta, rng


def labels(kind):
    X, eta, rng = table()
    if kind is LogisticRegression:
        return X, (rng.random(ROWS) < 1 / (1 + np.exp(-eta))).astype(float)
    if kind is PoissonRegressor:
        return X, np.minimum(rng.poisson(np.exp(eta)), 10).astype(float)
    return X, np.clip(eta + rng.normal(size=ROWS), -5, 5)


BOUNDS_Y = {PoissonRegressor: {"bounds_y": (0, 10)}, LinearRegression: {"bounds_y": (-5, 5)}, LogisticRegression: {}}
# What a new row may be: far out, at a corner, with the least likely label, missing, without a
# bound.
ODD = {
    "corner and unlikely label": (np.array([1.0, -1.0, 1.0]), 0.0),
    "opposite corner": (np.array([-1.0, 1.0, -1.0]), 1.0),
    "outside": (np.full(COLUMNS, 50.0), 77.0),
    "missing x": (np.full(COLUMNS, np.nan), 1.0),
    "missing label": (np.full(COLUMNS, 0.3), np.nan),
    "infinite": (np.full(COLUMNS, -np.inf), np.inf),
}


def pair(kind, neighbours, odd):
    X, y = labels(kind)
    x_odd, y_odd = ODD[odd]
    if neighbours == "add_or_remove_one":
        return (np.vstack([X, x_odd]), np.append(y, y_odd)), (X, y)
    X_other, y_other = X.copy(), y.copy()
    X_other[7], y_other[7] = x_odd, y_odd
    X, y = X.copy(), y.copy()
    X[7], y[7] = -np.sign(np.nan_to_num(x_odd)), 1.0 - min(max(np.nan_to_num(y_odd), 0.0), 1.0)
    return (X, y), (X_other, y_other)


def public(solver):
    X, _, _ = table(seed=5)
    return Public(rows=X[:100]) if solver.endswith("public") else None


CASES = [
    (LogisticRegression, "newton", "tight"),
    (LogisticRegression, "newton public", "tight"),
    (LogisticRegression, "newton public", "paper"),
    (LogisticRegression, "newton", "paper"),
    (LogisticRegression, "cost_gd", "tight"),
    (LogisticRegression, "gd", "paper"),
    (LogisticRegression, "dp_gd", "tight"),
    (LinearRegression, "dp_gd public", "tight"),
    (LogisticRegression, "objective", "tight"),
    (LogisticRegression, "objective public", "tight"),
    (PoissonRegressor, "newton", "tight"),
    (PoissonRegressor, "newton public", "tight"),
    (PoissonRegressor, "newton public", "paper"),
    (PoissonRegressor, "cost_gd", "tight"),
    (LinearRegression, "pmt public", "tight"),
    (LinearRegression, "pmt public", "paper"),
]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize(("kind", "solver", "calibration"), CASES)
def test_no_row_tells_more_than_was_claimed(kind, solver, calibration, neighbours, odd):
    if calibration == "paper" and neighbours == "add_or_remove_one":
        pytest.skip("the papers' noise needs a public number of rows")
    estimator = kind(
        epsilon=1.0,
        delta=1e-6,
        bounds_X=(-1, 1),
        solver=solver.split()[0],
        calibration=calibration,
        neighbours=neighbours,
        public=public(solver),
        **BOUNDS_Y[kind],
    )
    data, neighbour = pair(kind, neighbours, odd)
    for first, second in ((data, neighbour), (neighbour, data)):
        report = replay(estimator, first, second)
        assert report.passed, str(report)


def objective(neighbours, **more):
    more = {"epsilon": 2.0, "public": public("public"), **more}
    return LogisticRegression(delta=1e-6, bounds_X=(-1, 1), solver="objective", neighbours=neighbours, **more)


def worst_rows(neighbours, rows=ROWS):
    """A row about at the radius, where none has more weight, with an unlikely label; replaced, by
    the other label.
    """
    X, y = (part[:rows] for part in labels(LogisticRegression))
    far = 0.05 + 0.3 * np.array([1.0, -1.0, 1.0])
    unlikely = np.vstack([X, far]), np.append(y, 0.0)
    return unlikely, (np.vstack([X, far]), np.append(y, 1.0)) if neighbours == "replace_one" else (X, y)


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_the_worst_row_for_an_objective_loses_about_what_is_claimed(neighbours):
    """With one x, the two labels' gradients are apart by |x| together: half of what any two rows
    might be.
    """
    report = replay(objective(neighbours), *worst_rows(neighbours))
    assert report.passed, str(report)
    assert 0.35 < report.losses[0] / report.releases[0].cost.gradient_mu <= 1 + 1e-6


@pytest.mark.parametrize(
    ("part", "factor", "rows", "said"),
    [("noise_unit", 0.3, ROWS, "moves the gradient"), ("strength", 0.2, 3, "moves the curvature")],
)
def test_too_little_noise_or_ridge_in_an_objective_is_found(part, factor, rows, said, monkeypatch):
    honest = ObjectiveNoise.covering

    def planted(query, cost, public_rows):
        noise = honest(query, cost, public_rows)
        return replace(noise, **{part: factor * getattr(noise, part)})

    monkeypatch.setattr(ObjectiveNoise, "covering", planted)
    for _ in range(40):  # the curvature's bug shows where the output happens to leave the row undecided
        report = replay(objective("add_or_remove_one"), *worst_rows("add_or_remove_one", rows))
        if not report.passed:
            break
    assert said in str(report)


def test_an_objective_is_paid_for_and_kept_under_its_job(tmp_path):
    ledger = Ledger.create(tmp_path / "budget.db", epsilon=3, delta=1e-6)
    X, y = labels(LogisticRegression)
    first = objective("replace_one", ledger=ledger).fit(X, y, job="one")
    again = objective("replace_one", ledger=ledger).fit(X, y, job="one")
    assert np.array_equal(first.coef_, again.coef_)
    (entry,) = ledger.history
    assert [label for label, _ in entry.releases] == ["perturbed objective", "information"]
    assert first.privacy_.epsilon(1e-6) <= 2.0
    assert ledger.spent.epsilon <= 2.0


@pytest.mark.parametrize(("kind", "solver"), [(LogisticRegression, "newton"), (LogisticRegression, "gd")])
def test_printed_noise_is_refused_where_the_number_of_rows_is_private(kind, solver):
    X, y = labels(kind)
    estimator = kind(
        epsilon=1.0,
        delta=1e-6,
        bounds_X=(-1, 1),
        solver=solver,
        calibration="paper",
        neighbours="add_or_remove_one",
    )
    with pytest.raises(ValueError, match="public number of rows"):
        estimator.fit(X, y)


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_losses_of_an_objectives_outputs_stay_within_the_claimed_profile(neighbours):
    """E[(1 - e^(epsilon - loss))+] over 100 fits, exact losses; five standard errors: false alarms
    below 1e-6.
    """
    here, there = worst_rows(neighbours, rows=40)
    estimator = objective(neighbours, epsilon=4.0)
    losses = []
    for _ in range(100):
        recorder = Recorder()
        fit_listening(clone(estimator), here, recorder)
        replayer = Replayer(recorder.heard)
        fitted, _ = fit_listening(clone(estimator), there, replayer)
        losses.append(recorder.heard[0].privacy_loss(replayer.heard[0]))
    for epsilon in (0.0, 0.5, 1.0):
        exceeding = np.maximum(0.0, 1 - np.exp(epsilon - np.array(losses)))
        margin = 5 * (exceeding.std() + 0.02) / np.sqrt(len(losses))
        assert exceeding.mean() <= fitted.privacy_.delta(epsilon) + margin


def test_an_objective_refuses_people_with_several_rows_before_it_spends(tmp_path):
    ledger = Ledger.create(tmp_path / "budget.db", epsilon=3, delta=1e-6)
    X, y = labels(LogisticRegression)
    with pytest.raises(ValueError, match="rows_per_person=1"):
        objective("replace_one", ledger=ledger, public=None, rows_per_person=2).fit(X, y, np.arange(ROWS) // 2)
    assert list(ledger.history) == []
