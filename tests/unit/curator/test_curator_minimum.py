"""The minimised objective of the curator, and its proof's numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from curator_parts import loss

from discreet.curator.minimum import (
    COUPLING_FAILURE,
    MOST_PENALTY,
    Minimum,
    ObjectiveNoise,
    find_minimum,
    ridge_strength,
    smoothed,
)
from discreet.errors import GuaranteeError
from discreet.noise import SeededBits
from discreet.privacy import Perturbed
from discreet.rows import Answer, Labels, LinearMap, LogisticLoss
from discreet.rows.logistic_loss import WholeTheta

COST = Perturbed(0.5, 0.2, 0.02, True, 1e-15)


@pytest.mark.parametrize("public_rows", [None, 0, 1, 1000, 2**20, 2**30])
@pytest.mark.parametrize("penalty", [0.0, 3.0])
def test_numbers_of_a_minimised_objective_are_those_of_its_proof(public_rows, penalty):
    query = loss(2, penalty)
    noise = ObjectiveNoise.covering(query, COST, public_rows)
    bound, root = query.bound, math.sqrt(2)
    assert noise.strength == ridge_strength(bound, COST) == bound**2 / (4 * 0.2) * (1 + 1e-12)
    assert noise.noise_unit == bound / 0.5 / math.sqrt(2.0**76 - 4) * (1 + 1e-12)
    assert noise.noise_std == 2.0**38 * noise.noise_unit
    share = 2.0**-22 if public_rows is None else max(2.0**-30, 2.0**-46 * public_rows)
    assert noise.tolerance == share * bound
    apart = 2 * (noise.tolerance + 20 * root * noise.noise_unit) / noise.strength
    assert noise.smoothing_unit <= apart / 0.02 / 2.0**24 < 2 * noise.smoothing_unit
    assert math.log2(noise.smoothing_unit).is_integer()
    reach = apart / noise.smoothing_unit + 2 * root
    assert noise.smoothing_scale == math.sqrt((reach / 0.02 * (1 + 1e-12)) ** 2 + 4)
    assert noise.smoothing_std == noise.smoothing_scale * noise.smoothing_unit
    rows = 2.0**24 if public_rows is None else max(public_rows, 1)
    curvature = penalty + noise.strength + rows * bound**2 / 4
    finest = noise.tolerance / (16 * root * curvature)
    assert noise.theta_unit <= finest < 2 * noise.theta_unit
    assert math.log2(noise.theta_unit).is_integer()
    for neighbours, rows_moved in (("replace_one", 2), ("add_or_remove_one", 1)):
        release = noise.release(neighbours)
        assert (release.label, release.sensitivity) == ("perturbed objective", rows_moved * bound)
        assert (release.noise_std, release.cost) == (noise.noise_std, COST)
    answer = noise.answer(np.array([3, -4], dtype=object))
    assert isinstance(answer, Answer)
    assert answer.value.tolist() == [[3 * noise.smoothing_unit], [-4 * noise.smoothing_unit]]
    assert answer.noise_std == noise.smoothing_std


def test_an_objective_needs_slack_for_its_coupling_and_no_endless_penalty():
    assert COUPLING_FAILURE == 1e-21
    assert MOST_PENALTY == 2.0**44
    ObjectiveNoise.covering(loss(), Perturbed(0.5, 0.2, 0.02, True, 2e-21), 100)
    with pytest.raises(ValueError, match=r"the cost's slack must be at least 2e-21, got 1.9e-21"):
        ObjectiveNoise.covering(loss(), Perturbed(0.5, 0.2, 0.02, True, 1.9e-21), 100)
    strength = ridge_strength(loss().bound, COST)
    ObjectiveNoise.covering(loss(2, 2.0**44 * strength), COST, 100)
    with pytest.raises(ValueError, match=r"the penalty must be at most 1\.76e\+13 times the ridge, got"):
        ObjectiveNoise.covering(loss(2, 2.0**44 * strength * 1.001), COST, 100)


def test_the_quadratic_part_is_above_penalty_and_ridge_where_there_is_a_penalty():
    query = LogisticLoss(
        LinearMap(np.eye(3)), Labels(0.5, 0.5), 1.0, np.array([[0.0, 0, 0], [0, 2.0, 1.0], [0, 0.0, 4.0]]), np.ones(3)
    )
    noise = ObjectiveNoise.covering(query, COST, 100)
    margin, strength = 1e-12 * 6.0, noise.strength
    expected = [[strength, 0, 0], [0, 2.0 + (strength + margin), 0.5], [0, 0.5, 4.0 + (strength + margin)]]
    assert noise.quadratic.tolist() == expected
    theta = WholeTheta.near(np.array([0.3, -0.2, 0.1]), noise.theta_unit)
    linear = np.array([5, -6, 7], dtype=object)
    exact = [
        sum(Fraction(a) * int(b) * Fraction(noise.theta_unit) for a, b in zip(row, theta.whole, strict=True))
        + int(term) * Fraction(noise.noise_unit)
        - Fraction(strength * 1.0)
        for row, term in zip(noise.quadratic.tolist(), linear, strict=True)
    ]
    assert noise.outside_gradient(theta, linear).tolist() == [float(entry) for entry in exact]


@pytest.mark.parametrize("centre", [0.25, 3.0])
def test_a_minimum_without_rows_is_where_ridge_and_linear_term_balance(centre):
    """And the point is released on its own grid, with the noise that was planned."""
    query = LogisticLoss(LinearMap(np.eye(2)), Labels(0.5, 0.5), 1.0, np.zeros((2, 2)), np.full(2, centre))
    noise = ObjectiveNoise.covering(query, COST, 100)
    looks = []

    def look(theta):
        looks.append(theta)
        return np.zeros(2), np.zeros((2, 2))

    found = find_minimum(noise.release("replace_one"), noise, look, SeededBits(5))
    expected = centre - found.linear.astype(float) * noise.noise_unit / noise.strength
    assert found.theta.value == pytest.approx(expected, rel=1e-6)
    assert len(looks) == 2  # one step of Newton's is exact here
    spread = np.array([find_minimum(None, noise, look, SeededBits(seed)).linear for seed in range(60)], dtype=float)
    assert spread.std() / 2.0**38 == pytest.approx(1, rel=0.3)
    ratio = Fraction(found.theta.unit) / Fraction(noise.smoothing_unit)
    assert found.whole.tolist() == [round(Fraction(int(entry)) * ratio) for entry in found.theta.whole]
    released = smoothed(found, SeededBits(6))
    assert released.shape == (2,)
    assert 0 < np.abs((released - found.whole).astype(float)).max() < 6 * noise.smoothing_scale
    assert isinstance(found, Minimum)


def test_steps_that_lengthen_the_gradient_are_halved_until_they_do_not():
    """A look whose gradient saturates: Newton's full step overshoots."""
    query = LogisticLoss(LinearMap(np.eye(1)), Labels(0.5, 0.5), 1.0, np.zeros((1, 1)), np.zeros(1))
    noise = ObjectiveNoise.covering(query, Perturbed(50.0, 1.0, 0.02, True, 1e-15), 1000)

    seen = []

    def look(theta):
        seen.append(theta.value[0])
        bent = math.tanh(3 * (theta.value[0] - 1.0))
        return np.array([2 * bent]), np.array([[6 * (1 - bent**2)]])

    found = find_minimum(None, noise, look, SeededBits(1))
    gradient = look(found.theta)[0] + noise.outside_gradient(found.theta, found.linear)
    assert abs(gradient[0]) <= noise.tolerance / 2
    assert [seen[2], seen[3]] == pytest.approx([seen[1] / 2, seen[1] / 4], rel=1e-9)
    assert len(seen) < 12

    def hopeless(theta):
        looks.append(1)
        return np.array([1.0]), np.array([[1.0]])

    looks = []
    with pytest.raises(GuaranteeError, match="could not be certified; nothing was released"):
        find_minimum(None, noise, hopeless, SeededBits(1))
    assert len(looks) == 500
