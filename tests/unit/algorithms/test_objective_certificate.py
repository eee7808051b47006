"""The minimum in objective perturbation is certified for every penalty, and the penalty has its
effect.
"""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as PlainLogistic

import discreet.curator.curator
from discreet import LogisticRegression, Public
from discreet.curator import minimum
from discreet.curator.minimum import find_minimum
from discreet.errors import GuaranteeError
from discreet.noise import SeededBits
from discreet.privacy import Perturbed
from discreet.rows import Labels, LinearMap
from discreet.rows.logistic_loss import LogisticLoss, WholeTheta


def rows(n=2000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)) * [1, 0.3, 0.03, 0.01]
    return X, (rng.random(n) < 1 / (1 + np.exp(-1 - X.sum(axis=1)))).astype(int)


@pytest.mark.parametrize("public", [None, Public(rows=rows(200)[0])])
@pytest.mark.parametrize("alpha", [0.0, 1e3, 1e7, 1e9, 1e13, 1e20, 1e300])
def test_the_gradient_is_within_tolerance_for_every_penalty(alpha, public, monkeypatch):
    """From alpha = 1e7 on, the minimum was not found and yet released."""
    left = []

    def watched(release, noise, look, bits):
        found = find_minimum(release, noise, look, bits)
        gradient = look(found.theta)[0] + noise.outside_gradient(found.theta, found.linear)
        left.append(float(np.linalg.norm(gradient)) / noise.tolerance)
        return found

    monkeypatch.setattr(discreet.curator.curator, "find_minimum", watched)
    X, y = rows()
    model = LogisticRegression(
        epsilon=1, delta=1e-6, bounds_X=(-4, 4), solver="objective", alpha=alpha, public=public
    ).fit(X, y)
    assert left[0] <= 0.5
    if alpha >= 1e13:
        assert np.max(np.abs(model.coef_)) < 1e-2
        # 2,000 labels, and noise of about as much as 30: 0.4 is six standard deviations.
        assert abs(model.intercept_[0] - PlainLogistic(C=1e-9).fit(X, y).intercept_[0]) < 0.4


@pytest.mark.parametrize("unit", [2.0**-80, 2.0**-3, 8.0])
def test_products_of_whole_coefficients_and_whole_rows_are_exact(unit):
    rng = np.random.default_rng(1)
    values = rng.integers(-99, 99, 5).tolist()
    whole = np.array([value << shift for value, shift in zip(values, (0, 70, 3, 40, 1), strict=True)])
    z = rng.integers(-(2**22), 2**22, (5, 50)).astype(np.float64)
    exact = [sum(int(a) * int(b) for a, b in zip(whole, column, strict=True)) * unit for column in z.T]
    assert WholeTheta(whole.astype(object), unit).times(z) == pytest.approx(exact, rel=2**-51, abs=0)


def test_a_penalty_that_the_steps_cannot_be_computed_with_is_refused_at_the_door():
    from discreet.curator.minimum import ObjectiveNoise
    from discreet.privacy import Perturbed
    from discreet.rows import Labels, LinearMap, LogisticLoss

    query = LogisticLoss(LinearMap(np.eye(3)), Labels(0.5, 0.5), 1.0, np.diag([0.0, 1.0, 1e16]), np.zeros(3))
    with pytest.raises(ValueError, match="the penalty must be at most"):
        ObjectiveNoise.covering(query, Perturbed(0.1, 0.1, 0.01, True, 1e-19), 1000)


@pytest.mark.parametrize("public_rows", [None, 1000])
@pytest.mark.parametrize("gradient_mu", [0.05, 0.3, 1.7])
def test_both_noises_are_at_least_what_the_proof_needs_in_exact_arithmetic(gradient_mu, public_rows):
    """Each bound with a whole share of noise beside the two grid units that rounding may take."""
    query = LogisticLoss(LinearMap(np.eye(3)), Labels(0.0, 1.0), 1.3, np.zeros((3, 3)), np.zeros(3))
    cost = Perturbed(gradient_mu, 0.1, 0.05 * gradient_mu, True, 1e-15)
    noise = minimum.ObjectiveNoise.covering(query, cost, public_rows)
    units = Fraction(noise.noise_unit) ** 2 * (Fraction(minimum._NOISE_UNITS) ** 2 - 4)
    assert units >= (Fraction(query.bound) / Fraction(gradient_mu)) ** 2
    root = Fraction(math.sqrt(query.size)) * (1 - Fraction(1, 2**52))
    apart = 2 * (Fraction(noise.tolerance) + Fraction(minimum._COUPLED_WITHIN) * root * Fraction(noise.noise_unit))
    reach = apart / Fraction(noise.strength) / Fraction(noise.smoothing_unit) + 2 * root
    assert Fraction(noise.smoothing_scale) ** 2 - 4 >= (reach / Fraction(cost.smoothing_mu)) ** 2


@pytest.mark.parametrize(("left", "certified"), [(0.4, True), (0.75, False)])
def test_a_gradient_above_half_of_the_tolerance_is_never_released(left, certified):
    """The other half is for what a pass may be off by."""
    stuck = SimpleNamespace(
        query=SimpleNamespace(size=2),
        theta_unit=2.0**-20,
        tolerance=1e-3,
        quadratic=np.eye(2),
        outside_gradient=lambda theta, linear: np.zeros(2),
    )

    def look(theta):
        return np.array([left * stuck.tolerance, 0.0]), np.zeros((2, 2))

    if certified:
        assert find_minimum(None, stuck, look, SeededBits(0)).theta is not None
    else:
        with pytest.raises(GuaranteeError, match="could not be certified"):
            find_minimum(None, stuck, look, SeededBits(0))
