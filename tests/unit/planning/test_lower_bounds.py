"""The minimax lower bounds: their identities by simulation, and that no private method falls below
them.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from discreet.planning import glm_lower_bound, relu_lower_bound, sparse_glm_lower_bound
from discreet.planning.lower_bounds import Closeness, relu_excess_risk
from discreet.planning.sparse_bounds import log_packing
from discreet.privacy import GDP, ZCDP, Approximate, Pure

LINEAR = {"dispersion": 1.0, "curvature": 1.0, "x_variance": 1.0, "x_norm": 2.0}


@pytest.mark.parametrize("mu", [0.1, 1.0, 2.0])
def test_distance_of_gaussian_noise_is_its_chi_square(mu):
    density = quad(lambda x: norm.pdf(x, mu) ** 2 / norm.pdf(x), -12, 12 + 2 * mu)[0]
    assert Closeness.of(GDP(mu)).distance == pytest.approx(math.sqrt(density - 1), rel=1e-6)
    assert Closeness.of(ZCDP(mu**2 / 2)).distance == Closeness.of(GDP(mu)).distance


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_distance_of_pure_privacy_is_that_of_randomised_response(epsilon):
    kept = math.exp(epsilon) / (1 + math.exp(epsilon))
    chi_square = kept**2 / (1 - kept) + (1 - kept) ** 2 / kept - 1
    assert Closeness.of(Pure(epsilon)).distance <= math.sqrt(chi_square) * (1 + 1e-12)
    # The papers' 2 epsilon, where it holds, is never better.
    if epsilon <= 1:
        assert Closeness.of(Pure(epsilon)).distance <= 2 * epsilon


def test_the_prior_has_the_completeness_and_the_information_that_the_proof_uses():
    half_width = 0.7
    scale = math.pi / (2 * half_width)
    density = lambda b: math.cos(scale * b) ** 2 / half_width  # noqa: E731
    slope = lambda b: -2 * scale * math.cos(scale * b) * math.sin(scale * b) / half_width  # noqa: E731
    ends = (-half_width, half_width)
    assert quad(density, *ends)[0] == pytest.approx(1)
    assert quad(lambda b: -b * slope(b), *ends)[0] == pytest.approx(1)
    assert quad(lambda b: slope(b) ** 2 / density(b), *ends)[0] == pytest.approx((math.pi / half_width) ** 2, rel=1e-6)


def test_completeness_and_soundness_of_the_score_attack_in_a_linear_model():
    """Least squares has d E M_j / d beta_j = 1, so attacks on members sum to d; a false alarm is 6
    deviations away.
    """
    rng = np.random.default_rng(1)
    n, d, repeats = 40, 5, 4000
    members, outsiders = np.zeros(repeats), np.zeros(repeats)
    errors = np.zeros(repeats)
    for turn in range(repeats):
        X, noise = rng.normal(size=(n, d)), rng.normal(size=n)
        error = np.linalg.solve(X.T @ X, X.T @ noise)  # M - beta, whatever beta is
        members[turn] = np.sum((X @ error) * noise)
        errors[turn] = error @ error
        outsiders[turn] = (rng.normal(size=d) @ error) * rng.normal()
    assert abs(members.mean() - d) < 6 * members.std() / math.sqrt(repeats)
    assert abs(outsiders.mean()) < 6 * outsiders.std() / math.sqrt(repeats)
    assert abs(np.mean(outsiders**2) - errors.mean()) < 6 * np.std(outsiders**2) / math.sqrt(repeats)


def test_information_of_a_relu_model_is_a_sixth():
    """E x x^T 1(<w, x> > 0) = I / 6 for x uniform on [-1, 1]^d: symmetry halves the variance of
    1/3.
    """
    rng = np.random.default_rng(2)
    x = rng.uniform(-1, 1, (400_000, 3))
    active = x[x @ np.array([0.3, -0.5, 0.2]) > 0]
    assert np.allclose(active.T @ active / len(x), np.eye(3) / 6, atol=0.003)  # 7 standard deviations


def test_relu_excess_risk_is_at_least_a_quarter_of_the_squared_error():
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, (100_000, 4))
    for _ in range(50):
        w, other = rng.normal(size=(2, 4)) / 2
        excess = np.mean((np.maximum(x @ w, 0) - np.maximum(x @ other, 0)) ** 2)
        # Equality only where w and other are opposite; the sample's own error is far below a tenth.
        assert excess >= np.sum((w - other) ** 2) / 12 * 0.9


def test_attack_on_a_sparse_estimate_with_known_support_sums_to_s_and_not_to_s_log_d():
    """What contradicts the printed proof of COST's Theorem 6."""
    rng = np.random.default_rng(4)
    d, s, n, repeats = 2000, 4, 60, 400
    sums = np.zeros(repeats)
    for turn in range(repeats):
        beta = rng.normal(size=d)
        support = np.argsort(-np.abs(beta))[:s]
        X, noise = rng.normal(size=(n, s)), rng.normal(size=n)
        error = np.linalg.lstsq(X, noise, rcond=None)[0]  # (M - beta) on the support
        sums[turn] = np.sum((X @ error) * noise)
        assert len(support) == s
    assert abs(sums.mean() - s) < 6 * sums.std() / math.sqrt(repeats)
    assert sums.mean() < 0.5 * s * math.log(d / s)


def cosine_prior(rng, half_width, size):
    """Draws from cos^2(pi b / 2 w) / w on [-w, w], by rejection."""
    draws = np.empty(0)
    while len(draws) < size:
        tried = rng.uniform(-half_width, half_width, 3 * size)
        kept = rng.random(3 * size) < np.cos(math.pi * tried / (2 * half_width)) ** 2
        draws = np.concatenate([draws, tried[kept]])
    return draws[:size]


@pytest.mark.parametrize(("n", "mu"), [(50, 0.2), (50, 2.0), (2000, 0.05)])
def test_a_nearly_best_private_mean_stays_above_the_bound(n, mu):
    """y = beta + noise, x = 1, d = 1: the clipped mean with Gaussian noise, shrunk to the prior, at
    its best clip.
    """
    rng = np.random.default_rng(5)
    half_width, repeats = 1.0, 20_000
    beta = cosine_prior(rng, half_width, repeats)
    y = beta[:, None] + rng.normal(size=(repeats, n)) if n <= 50 else None
    bound = glm_lower_bound(n, 1, GDP(mu), **{**LINEAR, "x_norm": 1.0}, coef_bound=half_width)
    risks = []
    for clip in (0.05, 0.2, 1.0, 2.0, 3.0):
        if y is None:
            sample = np.clip(rng.normal(size=(400, n)) + beta[:400, None], -clip, clip).mean(axis=1)
        else:
            sample = np.clip(y, -clip, clip).mean(axis=1)
        truth = beta[: len(sample)]
        released = sample + rng.normal(size=len(sample)) * 2 * clip / (n * mu)
        slope = np.cov(released, truth)[0, 1] / released.var()  # the best linear use of the release, told by an oracle
        risks.append(np.mean((slope * released - truth) ** 2))
    assert bound.value <= min(risks)
    assert min(risks) <= 60 * bound.value  # and it is no empty bound


def test_more_rows_more_budget_fewer_columns_lower_the_bound():
    def bound(n, d, mu):
        return glm_lower_bound(n, d, GDP(mu), **LINEAR)

    for (n, d, mu), (n2, d2, mu2) in [
        ((100, 5, 0.5), (200, 5, 0.5)),
        ((100, 5, 0.5), (100, 4, 0.5)),
        ((100, 5, 0.5), (100, 5, 0.6)),
    ]:
        assert bound(n, d, mu).privacy > bound(n2, d2, mu2).privacy
        assert bound(n, d, mu).value >= bound(n, d, mu).statistics
    # The rate of Theorem 5, with its constant: c(sigma) d^2 / (n^2 mu^2) for small mu.
    assert bound(1000, 10, 0.01).privacy == pytest.approx(10**2 / (1000**2 * 0.01**2), rel=1e-3)


def test_add_or_remove_counts_as_two_steps():
    one = glm_lower_bound(500, 3, GDP(0.4), **LINEAR, neighbours="add_or_remove_one")
    assert one.privacy == glm_lower_bound(500, 3, GDP(0.8), **LINEAR).privacy
    pair = Closeness.of(Approximate(0.5, 1e-6), "add_or_remove_one")
    assert pair.distance == Closeness.of(Pure(1.0)).distance or pair.distance == pytest.approx(2 * math.sinh(0.5))
    assert pair.slack == pytest.approx(1e-6 * (1 + math.exp(0.5)))


def test_delta_weakens_the_bound_and_needs_a_bounded_box():
    with pytest.raises(ValueError, match="coef_bound"):
        glm_lower_bound(100, 2, Approximate(1.0, 1e-6), **LINEAR)
    bounds = [
        glm_lower_bound(1000, 5, Approximate(0.5, delta), **LINEAR, coef_bound=1.0).privacy
        for delta in (1e-9, 1e-5, 1e-3, 1e-1)
    ]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] == pytest.approx(glm_lower_bound(1000, 5, Pure(0.5), **LINEAR, coef_bound=1.0).privacy, rel=0.05)
    assert bounds[-1] < bounds[0] / 3


@pytest.mark.parametrize(("d", "s", "apart"), [(8, 2, 1), (8, 2, 2), (9, 3, 2), (9, 3, 3)])
def test_a_packing_of_that_size_exists(d, s, apart):
    """Greedily: take a set, strike out what is too near, go on."""
    left = [frozenset(items) for items in itertools.combinations(range(d), s)]
    taken = 0
    while left:
        centre = left[0]
        left = [other for other in left if len(centre - other) >= apart]
        taken += 1
    assert math.log(taken) >= log_packing(d, s, apart) - 1e-9


def test_sparse_bound_grows_with_the_number_of_columns_to_choose_from():
    def bound(d, s):
        return sparse_glm_lower_bound(10_000, d, s, GDP(0.1), **LINEAR)

    assert bound(10_000, 2).privacy > bound(100, 2).privacy
    assert bound(100, 100).privacy >= glm_lower_bound(10_000, 100, GDP(0.1), **LINEAR).privacy
    with pytest.raises(ValueError, match="sparsity"):
        bound(10, 11)


def test_relu_bound_has_the_rate_of_theorem_7():
    small = relu_lower_bound(10_000, 5, GDP(0.01), noise_std=0.5)
    smaller = relu_lower_bound(20_000, 5, GDP(0.01), noise_std=0.5)
    # Privacy's share of the denominator: n mu / (sqrt(6) sigma) = 81.6 against pi d = 15.7.
    assert 2.5 < small.privacy / smaller.privacy < 4
    assert relu_excess_risk(small).value == pytest.approx(small.value / 12)
    rate = 6 * 0.5**2 * 5**2 / (10_000 * 1.0) ** 2
    assert relu_lower_bound(10_000, 5, GDP(0.83), noise_std=0.5).privacy == pytest.approx(rate, rel=0.02)
