"""Forecasts from a public sample: they know tails, correlations and misfit, and are within a factor
of what is measured.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import discreet
from discreet import Public, plan
from discreet.planning.influence import apart
from discreet.planning.resampling import drawn
from discreet.planning.sample import Sample
from discreet.planning.simulation import central_estimator
from discreet.privacy import Budget

FAMILIES = ("linear", "logistic", "poisson")
BOUNDS = {"linear": (-40.0, 40.0), "logistic": None, "poisson": (0.0, 20.0)}


def heavy(family, n, rng):
    """Correlated lognormal columns; errors with three degrees of freedom, or labels of the model."""
    Z = 0.6 * rng.standard_normal((n, 1)) + 0.8 * rng.standard_normal((n, 6))
    X = np.exp(0.7 * np.clip(Z, -2.5, 2.5))
    eta = 0.5 * (Z[:, 0] - Z[:, 1] + Z[:, 2])
    if family == "linear":
        return X, X @ [1, -1, 1, 0, 0, 0] + 2 * rng.standard_t(3, n)
    if family == "logistic":
        return X, (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float)
    return X, np.minimum(rng.poisson(np.exp(0.5 * eta)), 20.0)


def bounds(family):
    declared = {"bounds_X": (0.0, 6.0)}
    return declared if BOUNDS[family] is None else {**declared, "bounds_y": BOUNDS[family]}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_sample_of_a_heavy_tailed_table_tells_its_noise_and_distance(family):
    """2,000 public rows and 12,000 private ones. Six coefficients of 12 fits, and of 20 in the
    forecast: the ratio of root mean squares spreads by about 12 %, so 1.5 is 3 sigma away if the
    forecast is right.
    """
    rng = np.random.default_rng(1)
    public, (X, y) = heavy(family, 2000, rng), heavy(family, 12_000, rng)
    told = plan(family, n=12_000, epsilon=1.0, sample=public, **bounds(family))
    people = Sample.of(family, (X, y), **bounds(family))
    fits = [central_estimator(people, 1.0, 1e-6, "replace_one").fit(people.X, people.y) for _ in range(12)]
    away = np.array([fit.results_.estimates[1:] for fit in fits]) - people.coefficients[1:]
    noise = math.sqrt(np.mean(np.var(away, axis=0, ddof=1)))
    assert told.method == "simulation"
    assert 1 / 1.5 < noise / told.noise < 1.5
    assert 1 / 1.6 < math.sqrt(np.mean(away**2)) / told.distance < 1.6


def test_tails_and_correlations_of_a_sample_give_a_larger_forecast_than_numbers_alone():
    told = plan("linear", n=12_000, epsilon=1.0, sample=heavy("linear", 1000, np.random.default_rng(2)))
    alone = plan("linear", n=12_000, d=6, epsilon=1.0, effect=told.effect)
    assert told.distance > 1.3 * alone.distance
    assert told.d == 6


@pytest.mark.parametrize("family", FAMILIES)
def test_a_sample_of_the_assumed_people_gives_about_the_forecast_without_one(family):
    from discreet.planning.design import Design

    design = Design.of(family, 5)
    sample = design.rows(3000, np.random.default_rng(3))
    ends = None if family == "logistic" else design.label_bounds
    told = plan(family, n=10_000, epsilon=2.0, sample=sample, bounds_X=(-4, 4), bounds_y=ends)
    alone = plan(family, n=10_000, d=5, epsilon=2.0)
    assert told.standard_error == pytest.approx(alone.standard_error, rel=0.35)
    assert told.plain_standard_error == pytest.approx(alone.plain_standard_error, rel=0.15)
    formula = plan(family, n=10_000, epsilon=2.0, sample=sample, bounds_X=(-4, 4), bounds_y=ends, simulate=False)
    assert formula.standard_error == pytest.approx(alone.standard_error, rel=0.25)
    assert not formula.sharp


def test_misfit_that_is_clear_of_chance_stays_in_the_tables_and_chance_does_not():
    rng, budget = np.random.default_rng(4), Budget.of(1.0, 1e-6)
    X = np.exp(0.8 * rng.standard_normal((2000, 3)).clip(-2.5, 2.5))
    noise = rng.standard_normal(2000)
    true = Sample.of("linear", (X, X @ [1, 1, 1] + noise))
    wrong = Sample.of("linear", (X, X @ [1, 1, 1] + 0.5 * X[:, 0] ** 2 + noise))
    assert apart(true, 20_000, budget, replaced=True).own < 0.5
    assert apart(wrong, 20_000, budget, replaced=True).own > 0.7


@pytest.mark.parametrize("family", FAMILIES)
def test_a_table_drawn_from_a_sample_has_its_columns_labels_and_fit(family):
    sample = Sample.of(family, heavy(family, 1000, np.random.default_rng(5)), **bounds(family))
    table = drawn(sample, 20_000, 0.0, np.random.default_rng(6))
    assert table.X.shape == (20_000, 6)
    assert np.corrcoef(table.X, rowvar=False) == pytest.approx(np.corrcoef(sample.X, rowvar=False), abs=1e-9)
    assert table.y.mean() == pytest.approx(sample.y.mean(), abs=0.05)
    assert table.y.std() == pytest.approx(sample.y.std(), rel=0.1)
    assert sample.label_bounds[0] <= table.y.min() <= table.y.max() <= sample.label_bounds[1]
    error = np.sqrt(np.diag(sample.per_row) / sample.rows)
    assert np.all(np.abs(table.coefficients - sample.coefficients) < 4 * error)


def test_errors_are_per_standard_deviation_in_any_units():
    X, y = heavy("linear", 600, np.random.default_rng(7))
    one = Sample.of("linear", (X, y), (0, 6), (-40, 40))
    other = Sample.of("linear", Public(rows=1000 * X - 5, y=y / 7), (-5, 5995), (-40 / 7, 40 / 7))
    np.testing.assert_allclose(one.X, other.X, atol=1e-9)
    assert one.coefficients == pytest.approx(other.coefficients, abs=1e-8)
    assert one.label_bounds == pytest.approx(other.label_bounds)


def test_n_and_epsilon_are_solved_for_with_a_sample():
    sample = heavy("linear", 500, np.random.default_rng(8))
    asked = {"sample": sample, "bounds_X": (0, 6), "bounds_y": (-40, 40)}
    whole = plan("linear", n=8000, epsilon=1.0, **asked)
    for found in (
        plan("linear", n=8000, error=whole.standard_error, **asked),
        plan("linear", epsilon=1.0, error=whole.standard_error, **asked),
    ):
        assert found.standard_error == pytest.approx(whole.standard_error, rel=0.3)
    levels = whole.along("n", 5)
    assert list(levels.private) == sorted(levels.private, reverse=True)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"sample": (np.ones((20, 2)), np.ones(20))}, "50 rows or more"),
        ({"sample": (np.ones((100, 2)), np.arange(100.0))}, "one value only"),
        ({"sample": (np.random.default_rng(0).random((100, 2)), np.arange(90.0))}, "as many labels as rows"),
        ({"sample": Public(rows=np.ones((100, 2)))}, "rows and labels"),
        ({"sample": (np.array([["a"]] * 100), np.arange(100.0))}, "encode categories"),
        ({"sample": (np.random.default_rng(0).random((100, 2)), np.arange(100.0)), "effect": 0.5}, "leave them out"),
        ({"sample": (np.random.default_rng(0).random((100, 2)), np.arange(100.0)), "d": 3}, "leave d out"),
        ({"sample": (np.random.default_rng(0).random((100, 2)), np.arange(100.0)), "trust": "parties"}, "central"),
        ({"d": 3, "bounds_X": (0, 1)}, "belong to a sample"),
        ({}, "give d"),
    ],
)
def test_a_sample_that_tells_nothing_is_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        discreet.plan("linear", n=5000, epsilon=1.0, **wrong)


def test_a_smaller_table_with_the_same_n_mu_represents_a_large_one(monkeypatch, recwarn):
    """Six coefficients of 20 fits each: the ratio spreads by about 10 %. Nobody is told that the
    small table's budget protects nobody.
    """
    from discreet.planning import question

    asked = {"n": 16_000, "epsilon": 1.0, "sample": heavy("linear", 1000, np.random.default_rng(9)), **bounds("linear")}
    whole = plan("linear", **asked)
    monkeypatch.setattr(question, "MOST_CELLS", 4000 * 6)
    small = plan("linear", **asked)
    assert small.method == "simulation"
    assert 1 / 1.5 < small.noise / whole.noise < 1.5
    assert small.standard_error == pytest.approx(whole.standard_error, rel=0.4)
    monkeypatch.setattr(question, "MOST_CELLS", 800 * 6)
    assert plan("linear", **asked).method == "simulation"
    assert not list(recwarn)
    # A small table would need a budget whose fits are another kind.
    assert plan("linear", **(asked | {"epsilon": 30.0})).method == "formula"


def test_plain_coefficients_of_nearly_separable_classes_are_not_shrunk():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(10)
    X = rng.standard_normal((400, 2))
    y = (X[:, 0] + 0.1 * rng.standard_normal(400) > 0).astype(float)
    sample = Sample.of("logistic", (X, y))
    plain = LogisticRegression(C=1e10, tol=1e-10, max_iter=10_000).fit(sample.X, y)
    assert sample.coefficients[1:] == pytest.approx(plain.coef_[0], rel=0.02)


def test_tables_of_nearly_separable_classes_are_as_separable():
    """Labels of neighbours in the order of predictors would blur the boundary: the slopes of such
    tables were a third of the sample's.
    """
    rng = np.random.default_rng(11)
    X = rng.standard_normal((400, 2))
    y = (rng.random(400) < 1 / (1 + np.exp(-15 * X[:, 0]))).astype(float)
    sample = Sample.of("logistic", (X, y))
    tables = [drawn(sample, 8000, 0.0, rng) for _ in range(5)]
    slopes = np.mean([table.coefficients[1] for table in tables])
    error = math.sqrt(sample.per_row[1, 1] / 8000 / 5)
    assert abs(slopes - sample.coefficients[1]) < 0.05 * sample.coefficients[1] + 4 * error
    # A row that keeps its own mean keeps its own label.
    np.testing.assert_array_equal(sample.kind.moved(sample.y, sample.means, sample.means, rng), sample.y)
