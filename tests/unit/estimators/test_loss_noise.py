"""Fits with a user's loss where noise is large: never far worse than the constant model, and
``signal_`` says so.
"""

from __future__ import annotations

import numpy as np
import pytest

from discreet import GeneralizedLinearRegressor, Loss, SparseRegressor, huber, negative_binomial_loss
from discreet.algorithms.steps.loss_descent import Trail, clip_norm, likely_mean, size_histogram
from discreet.rows import Answer, Labels, LinearMap

DISPERSION, LARGEST = 0.5, 30
COUNTS = {"delta": 1e-6, "loss": negative_binomial_loss(DISPERSION, LARGEST), "bounds_X": (-1, 1)}
COUNTS["bounds_y"] = (0, LARGEST)
pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")


def counts(n, slope, seed, columns=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, columns))
    mean = np.exp(slope * X[:, :3].sum(axis=1))
    y = rng.poisson(rng.gamma(1 / DISPERSION, mean * DISPERSION))
    return X, np.minimum(y, LARGEST).astype(float)


def deviance(y, mean):
    size, mean = 1 / DISPERSION, np.maximum(mean, 1e-3)
    logs = np.where(y > 0, y * np.log(np.maximum(y, 1) / mean), 0.0)
    return 2 * np.mean(logs - (y + size) * np.log((y + size) / (mean + size)))


def beside_constant(model, X, y):
    return deviance(y, model.predict(X)) / deviance(y, np.full_like(y, y.mean()))


# A seed fixes the noise of these fits, so they raise no false alarm.


@pytest.mark.parametrize("seed", range(3))
def test_a_wide_bound_of_the_slope_does_not_drown_a_dense_fit(seed):
    X, y = counts(4000, 1.0, seed)
    model = GeneralizedLinearRegressor(epsilon=1.0, **COUNTS, random_state=seed).fit(X, y)
    assert np.max(np.abs(model.coef_ - 1)) < 0.6
    assert beside_constant(model, X, y) < 0.7
    assert model.signal_ == "clear"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n", "epsilon"), [(1000, 0.3), (4000, 1.0)])
def test_a_sparse_fit_predicts_about_as_well_as_the_constant_model_or_better(n, epsilon, seed):
    X, y = counts(n, 1.0, seed, columns=30)
    model = SparseRegressor(epsilon=epsilon, sparsity=3, **COUNTS, random_state=seed).fit(X, y)
    assert beside_constant(model, X, y) < 1.3


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [GeneralizedLinearRegressor, SparseRegressor])
def test_slopes_of_noise_are_said_to_be_drowned_and_do_not_predict(kind, seed):
    X, y = counts(1000, 0.0, seed)
    more = {"sparsity": 3} if kind is SparseRegressor else {}
    model = kind(epsilon=0.3, **COUNTS, **more, random_state=seed).fit(X, y)
    assert model.signal_ == "drowned"
    assert model.results_.signal == "drowned"
    assert np.max(np.abs(model.coef_)) < 0.2
    assert beside_constant(model, X, y) < 1.3


def test_labels_far_from_the_middle_of_their_range_are_reached():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (4000, 2))
    y = 50 + X @ [1.0, 1.0] + rng.standard_t(3, 4000)
    asked = {"bounds_X": (-1, 1), "bounds_y": (-100, 100), "random_state": 0}
    model = GeneralizedLinearRegressor(epsilon=1.0, delta=1e-6, loss=huber(1.0), **asked).fit(X, y)
    assert abs(model.intercept_ - 50) < 0.5
    assert np.max(np.abs(model.coef_ - 1)) < 0.5


def test_a_curvature_declared_far_too_small_does_not_make_steps_overshoot():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (4000, 2))
    y = X @ [1.0, 1.0] + rng.standard_t(3, 4000)
    loss = Loss(lambda residual: 2 * np.tanh(residual / 2), bound=2.0, curvature=0.1)
    asked = {"bounds_X": (-1, 1), "bounds_y": (-10, 10), "random_state": 0}
    model = GeneralizedLinearRegressor(epsilon=1.0, delta=1e-6, loss=loss, **asked).fit(X, y)
    assert np.max(np.abs(model.coef_ - 1)) < 0.5


def test_steps_get_shorter_where_gradients_show_more_curvature_than_assumed():
    trail = Trail(np.zeros(2), assumed=1.0, noise_std=1e-6)
    for _ in range(20):
        trail.step(10 * (trail.here - 1), 1.0, 1e6)
    found, noise = trail.averaged()
    np.testing.assert_allclose(found, 1, atol=1e-3)
    assert np.all(np.linalg.eigvalsh(noise) >= 0)


def test_the_noise_of_a_flat_direction_is_larger():
    rng = np.random.default_rng(0)
    trail, curvature = Trail(np.zeros(2), assumed=1.0, noise_std=0.1), np.array([1.0, 0.05])
    for _ in range(40):
        trail.step(curvature * trail.here + rng.normal(0, 0.1, 2), 1.0, 1e6)
    noise = trail.averaged()[1]
    assert noise[1, 1] > 4 * noise[0, 0]


def sizes(counts_by_cell, noise_std):
    query = size_histogram(LinearMap(np.eye(2)), Labels(0.0, 1.0), lambda y, eta, length: length, 64.0)
    cells = np.zeros(query.shape)
    for cell, number in counts_by_cell.items():
        cells[cell, 0] = number
    return query, Answer(cells, noise_std)


def test_the_clip_is_where_rows_are_and_the_declared_bound_if_nothing_is_known():
    query, seen = sizes({5: 500.0, 6: 400.0}, 10.0)
    assert clip_norm(query, seen, 20.0) == query.edges[6]
    query, hidden = sizes({5: 5.0}, 10.0)
    assert clip_norm(query, hidden, 20.0) == query.edges[-1] == 64.0


def test_more_noise_gives_a_shorter_clip():
    query, seen = sizes({4: 500.0, 6: 60.0}, 10.0)
    clips = [clip_norm(query, seen, noise) for noise in (1.0, 100.0, 10_000.0)]
    assert clips == sorted(clips, reverse=True)
    assert clips[0] > clips[-1]


@pytest.mark.parametrize("seen", [-1e9, -3.0, -1.0, 0.3, 1.0, 50.0])
@pytest.mark.parametrize("noise_std", [0.0, 1e-9, 0.1, 1e6])
def test_a_likely_mean_is_in_the_range_and_exact_without_noise(seen, noise_std):
    mean = likely_mean(seen, noise_std)
    assert -1 <= mean <= 1
    if noise_std < 1e-6:
        assert mean == pytest.approx(np.clip(seen, -1, 1), abs=1e-6)
    elif noise_std == 0.1 and seen == -1.0:
        assert -0.95 < mean < -0.9
