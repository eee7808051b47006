"""Tracing attacks have the means that their papers prove, and stay under the curve that a guarantee
allows.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import trapezoid

from discreet.audit import relu_tracing_attack, score_attack, sparse_score_attack, trace_members
from discreet.audit.membership import (
    Membership,
    allowed_hits,
    area_under_curve,
    gaussian_allowed_area,
    gaussian_allowed_hits,
)
from discreet.glm import Bernoulli, Gaussian
from discreet.privacy import GDP


def simulated(attack, fit, draw, rows, repeats, seed=0):
    """Sums over members and over fresh rows, one each per repeat."""
    rng = np.random.default_rng(seed)
    members, outsiders = [], []
    for _ in range(repeats):
        X, y = draw(rng, rows)
        estimate = fit(X, y)
        members.append(attack(X, y, estimate).sum())
        outsiders.append(attack(*draw(rng, rows), estimate).sum())
    return np.array(members), np.array(outsiders)


def near(values, expected, deviations=5.0):
    """Within so many standard errors: a false alarm in 1.7 million."""
    return abs(values.mean() - expected) < deviations * values.std() / math.sqrt(len(values))


def test_members_of_least_squares_sum_to_the_number_of_coefficients():
    truth = np.array([0.3, -0.2, 0.0])

    def draw(rng, rows):
        X = rng.normal(size=(rows, 3))
        return X, X @ truth + rng.normal(0, 0.5, rows)

    def attack(X, y, estimate):
        return score_attack(X, y, estimate, truth, Gaussian(), dispersion=0.25)

    members, outsiders = simulated(attack, lambda X, y: np.linalg.lstsq(X, y, rcond=None)[0], draw, 30, 1500)
    assert near(members, 3)
    assert near(outsiders, 0)


def test_a_constant_estimate_shows_nothing_about_logistic_rows():
    truth = np.array([1.0, -0.5])

    def draw(rng, rows):
        X = rng.normal(size=(rows, 2))
        return X, (rng.random(rows) < 1 / (1 + np.exp(-X @ truth))).astype(float)

    def attack(X, y, estimate):
        return score_attack(X, y, estimate, truth, Bernoulli())

    members, outsiders = simulated(attack, lambda X, y: np.array([0.2, 0.2]), draw, 50, 1500)
    assert near(members, 0)
    assert near(outsiders, 0)


def test_the_sparse_attack_looks_at_the_support_only():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(10, 4)), rng.normal(size=10)
    truth, estimate = np.array([1.0, 0.0, -1.0, 0.0]), rng.normal(size=4)
    on_support = np.where(truth != 0, estimate, 0.0)
    expected = score_attack(X, y, on_support, truth, Gaussian())
    assert np.allclose(sparse_score_attack(X, y, estimate, truth, Gaussian()), expected)
    assert not np.allclose(score_attack(X, y, estimate, truth, Gaussian()), expected)


def test_relu_members_score_high_and_need_the_lost_factor():
    truth = np.full(4, 0.5)

    def draw(rng, rows):
        X = rng.uniform(-1, 1, (rows, 4))
        return X, np.maximum(X @ truth, 0) + rng.normal(0, 0.2, rows)

    def fit(X, y):
        active = X @ truth > 0  # least squares on the rows that show anything, by an oracle
        return np.linalg.lstsq(X[active], y[active], rcond=None)[0]

    def attack(X, y, estimate):
        return relu_tracing_attack(X, y, estimate, truth)

    members, outsiders = simulated(attack, fit, draw, 60, 1000)
    assert near(members, 0.2**2 * 4)  # sigma^2 times the trace of d E M / d w
    assert near(outsiders, 0)
    # A row that the true model maps to 0 shows nothing.
    assert relu_tracing_attack([[-1.0] * 4], [5.0], truth + 1, truth)[0] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        (np.ones(3), [1.0], [1.0], [1.0]),
        (np.ones((2, 3)), [1.0], np.ones(3), np.ones(3)),
        (np.ones((2, 3)), [1.0, 1.0], np.ones(4), np.ones(3)),
        (np.ones(3), np.ones((2, 3)), [1.0, 1.0], np.ones(3)),
    ],
)
def test_shapes_that_do_not_fit_are_refused(arguments):
    with pytest.raises(ValueError, match="estimate and truth a number for each of its columns"):
        relu_tracing_attack(*arguments)


def test_the_allowed_curves_belong_together():
    rates = np.linspace(0, 1, 2001)
    for mu in (0.3, 1.0, 3.0):
        curve = gaussian_allowed_hits(rates, mu)
        assert trapezoid(curve, rates) == pytest.approx(gaussian_allowed_area(mu), abs=2e-3)
        for delta in (1e-6, 1e-2):
            # mu-GDP implies each of its (epsilon, delta) points, so its curve lies below.
            assert np.all(curve <= allowed_hits(rates, GDP(mu).epsilon(delta), delta) + 1e-12)


def test_area_counts_ties_half():
    assert area_under_curve([1, 1], [1, 1]) == 0.5
    assert area_under_curve([2, 3], [0, 1]) == 1.0
    assert area_under_curve([0, 2], [1, 1]) == 0.5


def test_the_curve_of_tied_scores_is_straight_and_has_the_area_that_counts_ties_half():
    rng = np.random.default_rng(6)
    members = np.where(rng.random(4000) < 0.5, 0.0, rng.normal(0.5, 1, 4000))
    outsiders = np.where(rng.random(4000) < 0.5, 0.0, rng.normal(0.0, 1, 4000))
    area = area_under_curve(members, outsiders)
    rates, hits = Membership(members, outsiders, 1, area, 0.0, math.inf, math.inf, 0.0).curve()
    assert trapezoid(hits, rates) == pytest.approx(area, abs=2e-3)
    assert hits[0] < 0.01
    assert hits[-1] == 1


def test_tracing_a_gaussian_mechanism_stays_within_what_it_allows():
    """A sum with exactly the claimed noise, and the strongest rows: the curve nearly meets the
    bound.
    """
    mu = 1.5

    def draw(rng, rows):
        return rng.choice([-0.5, 0.5], size=(rows, 1)), np.zeros(rows)

    rng = np.random.default_rng(5)
    found = trace_members(
        lambda X, y: X.sum(axis=0) + rng.normal(0, 1 / mu, 1),
        draw,
        lambda X, y, estimate: X[:, 0] * estimate[0],
        rows=1,
        data_sets=4000,
        mu=mu,
    )
    assert found.within_bound, str(found)
    assert found.area > 0.6
    rates, hits = found.curve()
    assert np.all(hits <= found.allowed_curve()[1] + 0.06)
    assert np.all(np.diff(hits) >= 0)
    assert np.all(np.diff(rates) > 0)
