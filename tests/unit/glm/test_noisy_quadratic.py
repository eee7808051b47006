"""Least squares on a noisy second moment: unbiased loss, known covariance, and plain least squares
without noise.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

from discreet.glm import NoisyQuadratic

WIDTH = 3
SIZE = WIDTH + 2
# z-scores below are two-sided with false alarms of 2e-9 each.
LIMIT = 6.0


def table(rows: int = 400, seed: int = 0) -> np.ndarray:
    """Rows (1, x, y) of a linear model with an intercept."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, WIDTH)) @ np.array([[1.0, 0.3, 0.0], [0.0, 0.9, 0.2], [0.0, 0.0, 0.8]]) + 0.3
    y = 0.5 + x @ np.array([0.6, -0.4, 0.2]) + 0.5 * rng.normal(size=rows)
    return np.column_stack([np.ones(rows), x, y])


def quadratic(moment: np.ndarray, noise_std: float, alpha: float = 0.0, intercept: bool = True) -> NoisyQuadratic:
    features = np.eye(SIZE)[(0 if intercept else 1) : WIDTH + 1]
    penalised = np.array([False] * intercept + [True] * WIDTH)
    return NoisyQuadratic(moment, noise_std, features, penalised, np.eye(SIZE)[-1], alpha * penalised, 400.0)


def isotropic(rng: np.random.Generator, noise_std: float) -> np.ndarray:
    """Symmetric noise with half the variance off the diagonal."""
    draw = rng.normal(size=(SIZE, SIZE)) * noise_std / math.sqrt(2)
    return (draw + draw.T) / math.sqrt(2)


@pytest.mark.parametrize("intercept", [True, False])
def test_one_decomposition_gives_the_loss_of_every_ridge(intercept):
    rows = table()
    moment = rows.T @ rows + isotropic(np.random.default_rng(2), 8.0)
    noisy, ridges = quadratic(moment, 8.0, alpha=5.0, intercept=intercept), [0.0, 0.5, 30.0, 1e4, math.inf]
    losses, spreads = noisy._losses(ridges)
    constant = np.outer(noisy._loss(math.inf)[1], noisy._loss(math.inf)[1])
    for ridge, loss, spread in zip(ridges, losses, spreads, strict=True):
        expected, residual = noisy._loss(ridge)
        assert loss == pytest.approx(expected, rel=1e-10)
        between = 8.0 * np.linalg.norm(np.outer(residual, residual) - constant)
        assert spread == pytest.approx(between, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("ridge", [0.0, 30.0, 1000.0, math.inf])
def test_the_loss_estimate_is_unbiased(ridge):
    """Stein's identity: over the noise, the estimated loss of a fitted model averages to its true
    loss.
    """
    rng = np.random.default_rng(1)
    rows = table()
    moment, noise_std = rows.T @ rows, 8.0
    errors = []
    corrections = []
    for _ in range(4000):
        noisy = quadratic(moment + isotropic(rng, noise_std), noise_std)
        estimate, residual = noisy._loss(ridge)
        errors.append(estimate - residual @ moment @ residual)
        corrections.append(estimate - residual @ noisy.moment @ residual)
    standard_error = np.std(errors) / math.sqrt(len(errors))
    assert abs(np.mean(errors)) < LIMIT * standard_error
    # The test has power: without the correction it would fail, where that is not small beside a
    # large ridge.
    if ridge < 100:
        assert np.mean(corrections) > LIMIT * standard_error


def test_the_noise_covariance_is_that_of_repeated_noise():
    """4,000 repetitions: a variance is known to 2.2 percent, so 14 percent is more than six
    standard errors.
    """
    rng = np.random.default_rng(2)
    rows = table()
    moment, noise_std = rows.T @ rows, 4.0
    noisy = [quadratic(moment + isotropic(rng, noise_std), noise_std) for _ in range(4000)]
    solutions = [problem._unbiased(0.0) for problem in noisy]  # the safe ridge is 0 here; choosing one takes long
    assert noisy[0]._ridges()[0] == 0
    estimates = np.array([estimate for estimate, _, _, _ in solutions])
    stated = np.mean([covariance for _, covariance, _, _ in solutions], axis=0)
    seen = np.cov(estimates.T)
    scale = np.sqrt(np.outer(np.diag(seen), np.diag(seen)))
    assert np.abs((stated - seen) / scale).max() < 0.14
    exact = LinearRegression().fit(rows[:, 1:-1], rows[:, -1])
    z = (estimates.mean(axis=0) - [exact.intercept_, *exact.coef_]) / np.sqrt(np.diag(seen) / 4000)
    assert np.abs(z).max() < LIMIT


def test_an_infinite_ridge_is_the_constant_model():
    rows = table()
    coef, _ = quadratic(rows.T @ rows, 1.0)._restricted(math.inf)
    assert coef == pytest.approx([rows[:, -1].mean(), 0, 0, 0])


def test_where_noise_hides_everything_most_models_are_the_constant_one():
    """Of pure noise, 4 in 5 models are constant and none is wild (measured: 0.80, largest
    coefficient 1.1).
    """
    rng = np.random.default_rng(3)
    sizes = []
    for _ in range(100):
        moment = isotropic(rng, 1e6)
        moment[0, 0] = 1.5 * math.sqrt(2 * SIZE) * 1e6
        solution = quadratic(moment, 1e6).solve()
        assert np.isfinite(solution.noise_covariance).all()
        sizes.append(np.linalg.norm(solution.coef[1:]))
    assert np.mean(np.array(sizes) < 0.1) > 0.6
    assert max(sizes) < 2


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 50.0])
def test_without_noise_it_is_least_squares_or_ridge(alpha, intercept):
    rows = table()
    solution = quadratic(rows.T @ rows, 1e-9, alpha, intercept).solve()
    plain = Ridge(alpha, fit_intercept=intercept) if alpha else LinearRegression(fit_intercept=intercept)
    plain.fit(rows[:, 1:-1], rows[:, -1])
    expected = [plain.intercept_, *plain.coef_] if intercept else plain.coef_
    assert solution.coef == pytest.approx(expected, abs=1e-8)
    assert solution.estimate == pytest.approx(expected, abs=1e-8)


def test_without_noise_the_sampling_covariance_is_the_textbook_one():
    rows = table()
    solution = quadratic(rows.T @ rows, 1e-9).solve()
    design, y = rows[:, :-1], rows[:, -1]
    residual = y - design @ solution.coef
    expected = residual @ residual / 400 * np.linalg.inv(design.T @ design)
    assert solution.sampling_covariance == pytest.approx(expected, rel=1e-6)
    assert solution.residual_variance == pytest.approx(residual @ residual / 400)
