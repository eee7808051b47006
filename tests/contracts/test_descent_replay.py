"""Questions that the default descent asks only at some budgets stay within their cost on
neighbouring tables, too.
"""

from __future__ import annotations

import numpy as np
import pytest

from discreet import GammaRegressor, LinearRegression, LogisticRegression, PoissonRegressor, Public, Ridge
from discreet.algorithms.parts import one_predictor
from discreet.audit import replay

RELATIONS = ["replace_one", "add_or_remove_one"]
# A model, its lowest and highest label, and whether its rows have exposures.
CURVED = {
    "logistic": (LogisticRegression, {}, (0.0, 1.0), False),
    "poisson": (PoissonRegressor, {"bounds_y": (0, 20)}, (0.0, 20.0), False),
    "poisson, exposure": (PoissonRegressor, {"bounds_y": (0, 20), "bounds_exposure": (0.1, 2)}, (0.0, 20.0), True),
    "gamma": (GammaRegressor, {"bounds_y": (0.01, 60)}, (0.01, 60.0), False),
}
# What the row and its label become: the opposite corner, and cells that no domain foresees.
OTHERS = {"opposite": (-1.0, None), "missing": (np.nan, None), "endless": (np.inf, None), "no label": (1.0, np.nan)}


def labels(name, eta, rng):
    if name == "logistic":
        return (rng.random(len(eta)) < 1 / (1 + np.exp(-eta))) * 1.0
    return rng.poisson(np.exp(eta)) * 1.0 if name.startswith("poisson") else rng.gamma(2, np.exp(eta) / 2) + 0.02


def pair(X, y, times, x_other, y_other, neighbours):
    """Two tables that differ in row 7, each as the arguments of a fit."""
    X_other, y_changed = X.copy(), y.copy()
    X_other[7], y_changed[7] = x_other, y_other
    one, other = [X, y], [X_other, y_changed]
    if times is not None:
        changed = times.copy()
        changed[7] = 0.1
        one, other = [*one, {"exposure": times}], [*other, {"exposure": changed}]
    if neighbours == "add_or_remove_one":
        other = [np.delete(X, 7, axis=0), np.delete(y, 7)]
        if times is not None:
            other.append({"exposure": np.delete(times, 7)})
    return tuple(one), tuple(other)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("changed", list(OTHERS))
@pytest.mark.parametrize("name", list(CURVED))
def test_a_line_search_loses_no_more_than_it_costs(name, changed, neighbours, monkeypatch):
    """Counts and amounts have one only where a gradient has more noise: here they always do."""
    monkeypatch.setattr(one_predictor, "relative_noise", lambda *_: 0.0)
    kind, options, (low, high), exposed = CURVED[name]
    rng, (x_other, y_other) = np.random.default_rng(0), OTHERS[changed]
    X = rng.uniform(-1, 1, (2000, 3))
    y, times = labels(name, X @ [1, -0.5, 0], rng), rng.uniform(0.1, 2, 2000) if exposed else None
    X[7], y[7] = 1.0, high
    tables = pair(X, y, times, x_other, low if y_other is None else y_other, neighbours)
    model = kind(epsilon=20.0, delta=1e-6, bounds_X=(-1, 1), neighbours=neighbours, **options)
    report = replay(model, *tables)
    assert "labels along a direction" in report.labels
    assert report.passed, str(report)
    assert max(report.release_efficiencies) <= 1 + 1e-9, str(report)


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_a_second_look_at_labels_loses_no_more_than_it_costs(neighbours):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 3))
    y = np.clip(X[:, 0] + rng.normal(0, 0.3, 300), -2, 2)
    X[7], y[7] = 1.0, 2.0
    model = LinearRegression(epsilon=0.1, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-2, 2), neighbours=neighbours)
    report = replay(model, *pair(X, y, None, -1.0, -2.0, neighbours))
    assert report.labels.count("first look") == 3
    assert report.passed, str(report)
    assert max(report.release_efficiencies) <= 1 + 1e-9, str(report)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("other", [0.1, 100.0, np.nan])
def test_a_second_histogram_of_labels_loses_no_more_than_it_costs(other, neighbours):
    """Noise hides the first one."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1100, 3))
    y = rng.gamma(2.0, np.exp(1 + X[:, 0]) / 2)
    X[7], y[7] = 1.0, 8.0
    model = GammaRegressor(epsilon=0.6, delta=1e-6, bounds_X=(-1, 1), bounds_y=(0.01, 100), neighbours=neighbours)
    report = replay(model, *pair(X, y, None, -1.0, other, neighbours))
    assert report.labels.count("sizes of labels") == 2
    assert report.passed, str(report)
    assert max(report.release_efficiencies) <= 1 + 1e-9, str(report)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("name", ["linear", "logistic"])
def test_a_search_along_the_last_predictor_loses_no_more_than_it_costs(name, neighbours):
    """Noise hides the curvature of 60 columns; public rows show their coordinates."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1500, 60))
    y = labels("logistic", X[:, :5].sum(axis=1), rng)
    public = Public(rows=rng.uniform(-1, 1, (200, 60)))
    X[7], y[7] = 1.0, 1.0
    kind, options = (LinearRegression, {"bounds_y": (0, 1)}) if name == "linear" else (LogisticRegression, {})
    model = kind(epsilon=3.0, delta=1e-6, bounds_X=(-1, 1), neighbours=neighbours, public=public, **options)
    report = replay(model, *pair(X, y, None, -1.0, 0.0, neighbours))
    assert report.labels[-1] == "labels along a direction"
    assert report.passed, str(report)
    assert max(report.release_efficiencies) <= 1 + 1e-9, str(report)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("other", [-30.0, np.nan])
def test_a_mean_score_along_a_direction_loses_no_more_than_it_costs(other, neighbours):
    """Skewed errors whose spread grows with a column."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (6000, 3))
    y = np.clip(X[:, 1] + (rng.exponential(size=6000) - 1) * np.exp(X[:, 0]), -30, 30)
    X[7], y[7] = 1.0, 30.0
    model = LinearRegression(epsilon=2.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-30, 30), neighbours=neighbours)
    report = replay(model, *pair(X, y, None, -1.0, other, neighbours))
    assert report.labels.count("clipped rows by direction") == 2
    assert "mean score along a direction" in report.labels
    assert report.passed, str(report)
    assert max(report.release_efficiencies) <= 1 + 1e-9, str(report)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("other", [-1.0, np.nan])
@pytest.mark.parametrize("kind", [LinearRegression, Ridge, LogisticRegression, PoissonRegressor, GammaRegressor])
def test_a_filter_of_gradients_loses_no_more_than_it_costs(kind, other, neighbours):
    """Noise hides the curvature of 300 rows; the last gradient shares its pass with a histogram."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 4))
    two = kind is LogisticRegression
    y = (rng.random(300) < 0.5) * 1.0 if two else rng.gamma(2.0, 1.0, 300)
    X[7], y[7] = 1.0, 1.0 if two else 8.0
    options = {} if two else {"bounds_y": (0.01 if kind is GammaRegressor else 0, 8)}
    model = kind(epsilon=0.5, delta=1e-6, bounds_X=(-1, 1), neighbours=neighbours, **options)
    report = replay(model, *pair(X, y, None, -1.0, other, neighbours))
    assert report.labels.count("gradient") >= 4
    assert report.passed, str(report)
    assert max(report.release_efficiencies) <= 1 + 1e-9, str(report)
