"""The models of the page of lower bounds: the information that their bounds use, and that measured
errors are above the bounds.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from experiments.attack_lower_bound_models import (
    ALPHA,
    MODELS,
    POWER,
    X_VARIANCE,
    negative_binomial_information,
    tilted,
    tweedie_labels,
)
from experiments.attack_lower_bounds import Cell


@pytest.mark.parametrize(("d", "box", "growth"), [(2, 0.7, 1.0), (3, 1 / math.sqrt(3), 0.5), (1, 2.0, 1.0)])
def test_information_of_exponential_weights_is_largest_in_the_corner(d, box, growth):
    """By Gauss's rule, exact to rounding; random vectors of the box have less."""
    points, weights = np.polynomial.legendre.leggauss(20)
    x = np.stack(np.meshgrid(*[points] * d), axis=-1).reshape(-1, d)
    chance = np.prod(np.stack(np.meshgrid(*[weights / 2] * d), axis=-1).reshape(-1, d), axis=1)

    def information(beta, weight):
        return np.linalg.eigvalsh((x.T * (chance * weight(np.exp(growth * (x @ beta))))) @ x)[-1]

    most = tilted(d, box, growth)
    assert information(np.full(d, box), lambda mean: mean) == pytest.approx(most)
    rng = np.random.default_rng(0)
    for beta in rng.uniform(-box, box, (50, d)):
        assert information(beta, lambda mean: mean) <= most
        if growth == 1:
            less = information(beta, lambda mean: mean / (1 + ALPHA * mean))
            assert less <= negative_binomial_information(d, box, ALPHA)


def test_information_of_equal_weights_is_the_variance_of_x():
    assert tilted(5, 1e-3) == pytest.approx(X_VARIANCE, rel=1e-5)


def test_tweedie_labels_have_their_mean_and_variance():
    """A false alarm is 6 standard errors away."""
    rng = np.random.default_rng(1)
    for eta in (-1.0, 0.5):
        y = tweedie_labels(np.full(400_000, eta), rng)
        mean = math.exp(eta)
        squares = (y - mean) ** 2
        assert abs(y.mean() - mean) < 6 * y.std() / math.sqrt(len(y))
        assert abs(squares.mean() - mean**POWER) < 6 * squares.std() / math.sqrt(len(y))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_measured_errors_are_above_the_bound(model):
    """Where a bound is near: the mean of 20 errors, with 6 of its standard errors. An error at the
    bound itself fails in less than one of 100,000 runs.
    """
    cell = Cell.of(model, 2000, model.columns[0], 4.0)
    cell.measure(20 if model.heights == (0.0,) else 5)
    mean, spread = cell.error
    assert mean + 6 * spread > cell.bound.value
    assert cell.bound.value > 0
