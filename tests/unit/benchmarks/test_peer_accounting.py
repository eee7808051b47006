"""The benchmark's peers keep the guarantees that they are compared at."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.peers.gradient_descent import Choice, gradient_descent
from benchmarks.peers.objective_perturbation import failure, gradient_to_noise
from benchmarks.peers.setting import Privacy, Rows
from scipy.stats import norm

RELATIONS = ("replace_one", "add_or_remove_one")


@pytest.mark.parametrize(("epsilon", "ratio"), [(1.0, 0.5), (0.3, 0.1), (3.0, 0.8)])
def test_objective_perturbation_failure_is_the_integral_of_its_privacy_loss(epsilon, ratio):
    z = np.linspace(-12, 12, 400_001)
    loss = ratio * np.abs(z) + ratio**2 / 2
    integral = np.trapezoid(norm.pdf(z) * np.maximum(0, 1 - np.exp(epsilon - loss)), z)
    assert failure(epsilon, ratio, "add_or_remove_one") == pytest.approx(integral, rel=1e-4)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_replacing_a_row_needs_at_least_the_noise_of_adding_one_twice_as_long(epsilon):
    """The worst pair of rows lies along one line, where it acts as one row of twice the length."""
    one, two = (gradient_to_noise(epsilon, 1e-6, relation) for relation in reversed(RELATIONS))
    assert two <= one / 2 * 1.001


@pytest.mark.parametrize("seed", range(20))
def test_a_newton_direction_moves_by_no_more_than_double_noise_newton_assumes(seed):
    rng = np.random.default_rng(seed)
    size, radius, floor = 5, 2.0, rng.uniform(0.01, 3)
    rest = rng.standard_normal((rng.integers(0, 20), size))
    added, replaced = (radius * row / np.linalg.norm(row) for row in rng.standard_normal((2, size)))
    curvature = radius**2 / 4
    gradient = rng.standard_normal(size)

    def direction(row: np.ndarray) -> np.ndarray:
        return np.linalg.solve(rest.T @ rest + floor * np.eye(size) + np.outer(row, row) / 4, gradient)

    bound = np.linalg.norm(gradient) * curvature / (floor**2 + floor * curvature)
    assert np.linalg.norm(direction(added) - direction(replaced)) <= bound
    assert np.linalg.norm(direction(added) - direction(0 * added)) <= bound


@pytest.mark.parametrize("relation", RELATIONS)
def test_gradient_descent_adds_the_noise_of_its_clip_and_steps(relation):
    """Rows without a gradient leave the noise alone; 8,000 draws of it: a false alarm is a
    deviation of 6 sigma.
    """
    rows = Rows(np.ones((10, 4)), np.zeros(10), radius=2.0, y_bound=1.0)
    privacy = Privacy(1.0, 1e-6, relation)
    # The step is so small that the four steps add up: noise of one release times sqrt(4) in sum.
    weights = gradient_descent(
        "linear", rows, (3.0, 1e9), privacy, [Choice(0.5, 1.0, 4)], 2_000, np.random.default_rng(0)
    )
    expected = 1e-9 * 3.0 * 0.5 * privacy.rows_moved * math.sqrt(4) / privacy.mu * math.sqrt(4)
    assert weights[0].std() == pytest.approx(expected, rel=6 / math.sqrt(2 * 8_000))
