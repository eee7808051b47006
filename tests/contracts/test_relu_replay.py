"""Every solver of ReLU and single-index regression keeps its promise on neighbouring data sets."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import discreet.curator.curator
from discreet import Public, ReLURegressor, SingleIndexRegressor
from discreet.audit import replay
from discreet.privacy import GDP

ROWS, COLUMNS = 600, 3
RELATIONS = ["replace_one", "add_or_remove_one"]
PARTS = ["minibatch", "tree", "sgd", "glmtron"]


def rows(count: int = ROWS, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(count, COLUMNS))
    return X, np.maximum(X @ np.full(COLUMNS, 0.5), 0) + 0.3 * random.normal(size=count)


def make(kind=ReLURegressor, **more):
    public = rows(50, seed=1)
    defaults = {"epsilon": 0.5, "delta": 1e-6, "data_norm": 6.0, "bounds_y": (-2, 4), "public": Public(*public)}
    return kind(**{**defaults, **more})


@pytest.fixture(autouse=True)
def fixed_order(monkeypatch):
    """Both fits of an audit must use the same secret order."""
    monkeypatch.setattr(
        discreet.curator.curator, "random_order", lambda count, bits: np.random.default_rng(7).permutation(count)
    )


def pairs():
    """Neighbours that differ at the first and at a middle row, in ways that no domain foresees."""
    X, y = rows()
    odd_rows = {
        "a corner": (np.full(COLUMNS, 3.0), -2.0),
        "outside the bounds": (np.full(COLUMNS, -50.0), 50.0),
        "NaN in x": (np.full(COLUMNS, np.nan), 0.0),
        "NaN in y": (X[5], np.nan),
        "infinite": (np.full(COLUMNS, np.inf), -np.inf),
        "near the largest float": (np.full(COLUMNS, 1e308), -1e308),
        "zero": (np.zeros(COLUMNS), 0.0),
    }
    for name, (x_odd, y_odd) in odd_rows.items():
        for place in (0, 251):
            X_odd, y_with = X.copy(), y.copy()
            X_odd[place], y_with[place] = x_odd, y_odd
            added = (np.insert(X, place, x_odd, axis=0), np.insert(y, place, y_odd))
            yield pytest.param((X_odd, y_with), added, id=f"{name}, row {place}")


@pytest.mark.parametrize(("replaced", "added"), list(pairs()))
@pytest.mark.parametrize("solver", ["auto", "pgd"])
def test_full_batch_solvers_stay_within_the_claim(solver, replaced, added):
    for neighbours, other in (("replace_one", replaced), ("add_or_remove_one", added)):
        for public in (make().public, None):
            estimator = make(solver=solver, neighbours=neighbours, public=public, epsilon=1.0)
            for pair in ((rows(), other), (other, rows())):
                report = replay(estimator, *pair)
                assert report.passed, str(report)


@pytest.mark.parametrize(("replaced", "added"), [p for p in pairs() if "row 0" in p.id or "corner" in p.id])
@pytest.mark.parametrize("solver", ["minibatch", "tree"])
def test_solvers_over_disjoint_parts_stay_within_the_claim(solver, replaced, added):
    report = replay(make(solver=solver), rows(), replaced)
    assert report.passed, str(report)


@pytest.mark.parametrize("solver", ["glmtron", "sgd"])
def test_a_shuffled_row_loses_at_most_what_one_answer_costs(solver):
    """Given the order, one answer differs, by at most its own mu; the theorem covers the secret
    order.
    """
    X, y = rows(250)
    X_odd, y_odd = X.copy(), y.copy()
    X_odd[3], y_odd[3] = 3.0, -2.0
    estimator = make(solver=solver)
    report = replay(estimator, (X, y), (X_odd, y_odd))
    assert report.passed, str(report)
    felt = [loss for loss in report.losses if loss > 0]
    assert len(felt) <= 1  # none where the gate is shut for both rows
    fitted = clone(estimator).fit(X, y)
    (split,) = fitted.privacy_.splits
    assert split.shuffled
    assert sum(felt) <= split.each.mu
    assert fitted.privacy_.epsilon(1e-6) == pytest.approx(0.5)


def test_a_row_is_felt_in_one_gradient_or_one_threshold_of_a_pass():
    X, y = rows()
    for place in range(12):
        X_odd, y_odd = X.copy(), y.copy()
        X_odd[place], y_odd[place] = 3.0, -2.0
        report = replay(make(solver="minibatch"), (X, y), (X_odd, y_odd))
        in_parts = [loss for label, loss in zip(report.labels, report.losses, strict=True) if label != "first look"]
        assert sum(loss > 0 for loss in in_parts) <= 1, str(report)


@pytest.mark.parametrize("link", ["relu", "leaky_relu", "sigmoid", "softplus", "cubic"])
@pytest.mark.parametrize("neighbours", RELATIONS)
def test_every_link_stays_within_the_claim(link, neighbours):
    X, y = rows()
    extreme = (np.vstack([X, np.full(COLUMNS, 3.0)]), np.append(y, -2.0))
    other = (np.vstack([X, np.full(COLUMNS, -3.0)]), np.append(y, -2.0)) if neighbours == "replace_one" else (X, y)
    report = replay(make(SingleIndexRegressor, link=link, neighbours=neighbours), extreme, other)
    assert report.passed, str(report)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("epsilon", [0.3, 5.0])
def test_the_worst_neighbour_loses_much_of_what_is_claimed(epsilon, neighbours):
    """Rows at opposite ends reach the clip in nearly all gradients: noise far beyond what is needed
    would show.
    """
    X, y = rows(3000)
    x = np.full(COLUMNS, 2.0)
    extreme = (np.vstack([X, x]), np.append(y, 4.0))
    other = (np.vstack([X, x]), np.append(y, -2.0)) if neighbours == "replace_one" else (X, y)
    report = replay(make(epsilon=epsilon, neighbours=neighbours, fit_intercept=False), extreme, other)
    assert report.passed, str(report)
    assert 0.7 <= report.efficiency <= 1, str(report)


def test_the_printed_noise_is_reported_for_what_it_gives():
    X, y = rows()
    fitted = make(solver="minibatch", calibration="paper").fit(X, y)
    assert fitted.privacy_.mu < GDP.from_epsilon(0.5, 1e-6).mu
    report = replay(make(solver="minibatch", calibration="paper"), (X, y), (np.vstack([X[:-1], [3, 3, 3]]), y))
    assert report.passed, str(report)
