"""Clipped scores: unbiased at the true mean, bounded, increasing; plain fits equal other
libraries'.
"""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.linear_model as plain
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from discreet.glm import Bernoulli, ClippedScore, Gamma, Gaussian, Poisson, family, fit_plain, link
from discreet.glm.clipped_means import gamma_clipped, poisson_clipped, poisson_clipped_rise
from discreet.glm.families import FAMILIES

BOUNDS = st.floats(0.01, 30)


def expectation_of_counts(function, mean: float) -> float:
    """An exact sum over the Poisson mass, as far as it is above 1e-18."""
    counts = np.arange(int(mean + 40 + 12 * np.sqrt(mean)))
    return float(stats.poisson.pmf(counts, mean) @ function(counts.astype(float)))


# Expectations of cut variables.


@given(st.floats(1e-3, 200), st.floats(-20, 60), st.floats(0, 100))
@settings(max_examples=200, deadline=None)
def test_the_mean_of_a_cut_count_is_the_sum_over_its_mass(mean, low, width):
    high = width - low  # -low <= high
    got = poisson_clipped(np.array([mean]), np.array([low]), np.array([high]))[0]
    expected = expectation_of_counts(lambda y: np.clip(y - mean, -low, high), mean)
    assert got == pytest.approx(expected, rel=1e-9, abs=1e-9 * (1 + mean + abs(low) + abs(high)))


@given(st.floats(1e-3, 200), st.floats(-20, 60), st.floats(0, 100))
@settings(max_examples=200, deadline=None)
def test_one_more_expected_count_moves_the_mean_of_a_cut_one_by_the_chance_that_it_counts(mean, low, width):
    high = width - low
    got = poisson_clipped_rise(np.array([mean]), np.array([low]), np.array([high]))[0]
    expected = expectation_of_counts(
        lambda y: np.clip(y + 1, mean - low, mean + high) - np.clip(y, mean - low, mean + high), mean
    )
    assert got == pytest.approx(expected, abs=1e-9)


@given(st.floats(0.2, 50), st.floats(-2, 1), st.floats(0, 6))
@settings(max_examples=60, deadline=None)
def test_the_mean_of_a_cut_amount_is_the_integral_over_its_density(shape, low, width):
    high = width - low
    got = gamma_clipped(shape, np.array([low]), np.array([high]))[0]
    law = stats.gamma(shape, scale=1 / shape)
    bottom, top = max(1 - low, 0), max(1 + high, 0)
    # By parts: the mean of what is cut is the integral of the upper tail between the cuts.
    inner = integrate.quad(law.sf, bottom, top, epsabs=1e-10)[0] if top > bottom else 0.0
    expected = max(-low, -1.0) + inner if high > -1 else high
    assert got == pytest.approx(expected, abs=1e-6)


# At the true mean the expected score is 0.


@pytest.mark.parametrize("name", ["poisson", "gamma"])
def test_scores_that_nothing_clips_are_the_plain_ones_if_they_are_not_centred(name):
    """The model expects labels beyond the largest one declared; if there were none, its shift would
    be a bias.
    """
    one = family(name)
    y, eta, bound = np.array([1.0, 2.0, 4.0]), np.array([0.5, 1.2, 1.3]), np.full(3, 100.0)
    plain_score = one.score(y, eta, one.default_link)
    centred, as_it_is = (ClippedScore(one, one.default_link, 1.0, 4.0, 0.5, centred) for centred in (True, False))
    assert as_it_is.score(y, eta, bound) == pytest.approx(plain_score)
    assert as_it_is.slope(y, eta, bound) == pytest.approx(one.weight(eta, one.default_link))
    assert np.min(np.abs(centred.score(y, eta, bound) - plain_score)) > 0.01


@given(
    st.floats(-5, 5), BOUNDS, st.sampled_from([(0, 4), (0, 1000), (1, 8), (0, 1)]), st.sampled_from(["log", "softplus"])
)
@settings(max_examples=150, deadline=None)
def test_the_expected_score_of_a_count_is_0_at_its_mean(eta, bound, declared, name):
    low, high = declared
    clipped = ClippedScore(Poisson(), link(name), low, high)

    def score(y):
        cut = np.clip(y, low, high)
        return clipped.score(cut, np.full_like(cut, eta), np.full_like(cut, bound))

    mean = float(link(name).mean(eta))
    assert expectation_of_counts(score, mean) == pytest.approx(0, abs=1e-9 * (1 + bound))


@given(st.floats(-3, 3), BOUNDS, st.sampled_from([(1e-6, 1e6), (0.5, 3.0)]), st.sampled_from([0.1, 0.5, 1.0, 2.0]))
@settings(max_examples=60, deadline=None)
def test_the_expected_score_of_an_amount_is_0_at_its_mean(eta, bound, declared, dispersion):
    low, high = declared
    eta = min(eta, np.log(4 * high))  # farther beyond all labels a mean is treated as if it stood there
    clipped = ClippedScore(Gamma(), link("log"), low, high, dispersion)
    law = stats.gamma(1 / dispersion, scale=dispersion * np.exp(eta))
    # Quantiles in the middle of equal slices of probability; the uppermost slice holds most of the
    # error.
    y = np.clip(law.ppf((np.arange(10_000) + 0.5) / 10_000), low, high)
    mean = np.mean(clipped.score(y, np.full_like(y, eta), np.full_like(y, bound)))
    assert mean == pytest.approx(0, abs=5e-3)


@given(st.floats(-8, 8), st.floats(1e-3, 3), st.sampled_from(Bernoulli.allowed_links))
@settings(max_examples=150, deadline=None)
def test_the_expected_score_of_two_labels_is_0_at_their_mean(eta, bound, name):
    clipped = ClippedScore(Bernoulli(), link(name), 0, 1)
    at_0, at_1 = clipped.score(np.array([0.0, 1.0]), np.full(2, eta), np.full(2, bound))
    chance = float(link(name).mean(eta))
    assert (1 - chance) * at_0 + chance * at_1 == pytest.approx(0, abs=1e-12)


@given(st.floats(-3, 3), st.floats(0.01, 5))
def test_cutting_symmetric_residuals_biases_nothing(mean, bound):
    clipped = ClippedScore(Gaussian(), link("identity"), -100, 100)
    y = mean + stats.norm.ppf((np.arange(1000) + 0.5) / 1000)
    assert np.mean(clipped.score(y, np.full(1000, mean), np.full(1000, bound))) == pytest.approx(0, abs=1e-9)


# Bounds and order.


@given(st.sampled_from(sorted(FAMILIES)), st.floats(-20, 20), BOUNDS, st.floats(0.05, 2.0))
@settings(max_examples=200, deadline=None)
def test_no_score_leaves_its_bound(name, eta, bound, dispersion):
    """The sum clips such a score once more, on one side, and moves the mean that was corrected."""
    one = family(name)
    low, high = {"gaussian": (-9, 9), "bernoulli": (0, 1), "gamma": (0.01, 50)}.get(name, (0, 50))
    clipped = ClippedScore(one, one.default_link, low, high, dispersion)
    y = np.linspace(low, high, 41)
    score = clipped.score(y, np.full(41, eta), np.full(41, bound))
    assert (np.abs(score) <= bound * (1 + 1e-9)).all()
    slope = clipped.slope(y, np.full(41, eta), np.full(41, bound))
    assert ((slope >= 0) & (slope <= one.weight(np.array([eta]), one.default_link)[0] * (1 + 1e-12))).all()


@given(st.sampled_from(sorted(FAMILIES)), st.floats(-6, 6), BOUNDS)
@settings(max_examples=150, deadline=None)
def test_scores_fall_as_labels_rise(name, eta, bound):
    one = family(name)
    low, high = {"gaussian": (-9, 9), "bernoulli": (0, 1), "gamma": (0.01, 50)}.get(name, (0, 50))
    y = np.linspace(low, high, 101)
    score = ClippedScore(one, one.default_link, low, high).score(y, np.full(101, eta), np.full(101, bound))
    assert (np.diff(score) <= 1e-9 * (1 + bound)).all()


@pytest.mark.parametrize(("one", "low", "high"), [(Poisson(), 0, 4), (Gamma(), 0.1, 5.0)], ids=["poisson", "gamma"])
@pytest.mark.parametrize("bound", [0.1, 1.0, 10.0])
def test_a_mean_beyond_every_label_is_pulled_back(one, low, high, bound):
    """However far: a descent that noise has thrown out of the declared range must find its way
    home.
    """
    clipped = ClippedScore(one, link("log"), low, high)
    far = np.array([np.log(high) + 1, 5.0, 10.0, 20.0])
    middle = np.full(4, (low + high) / 2)
    assert (clipped.score(middle, far, np.full(4, bound)) > 0.05 * min(bound, 1)).all()


def test_a_wide_bound_leaves_the_score_as_it_is():
    rng = np.random.default_rng(0)
    eta = rng.normal(size=200)
    for name in sorted(FAMILIES):
        one = family(name)
        y = (rng.random(200) < 0.5) * 1.0 if name == "bernoulli" else rng.uniform(0.1, 9, 200)
        low, high = (0, 1) if name == "bernoulli" else (0, 1e6) if name != "gaussian" else (-1e6, 1e6)
        score = ClippedScore(one, one.default_link, low, high, 0.5).score(y, eta, np.full(200, 1e6))
        assert score == pytest.approx(one.score(y, eta, one.default_link), rel=1e-6, abs=1e-6)


# Plain fits, for public rows.


def public_rows(n: int = 400):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 3))
    eta = 0.3 + X @ np.array([0.6, -0.4, 0.0])
    y = {
        "bernoulli": (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float),
        "poisson": rng.poisson(np.exp(eta)).astype(float),
        "gamma": rng.gamma(2.0, np.exp(eta) / 2),
        "gaussian": eta + rng.normal(size=n),
    }
    return X, y


PEERS = {
    "bernoulli": lambda: plain.LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000),
    "poisson": lambda: plain.PoissonRegressor(alpha=0, tol=1e-10, max_iter=1000),
    "gamma": lambda: plain.GammaRegressor(alpha=0, tol=1e-10, max_iter=1000),
    "gaussian": plain.LinearRegression,
}


@pytest.mark.parametrize("name", list(PEERS))
def test_a_plain_fit_is_what_everybody_computes(name):
    X, labels = public_rows()
    one, y = family(name), labels[name]
    rows = np.column_stack([np.ones(len(X)), X])
    got = fit_plain(one, one.default_link, rows, y, np.zeros(4), np.zeros(4))
    expected = PEERS[name]().fit(X, y)
    assert got == pytest.approx([np.ravel(expected.intercept_)[0], *np.ravel(expected.coef_)], abs=1e-4)


def test_a_penalty_and_an_offset_are_scikit_learns_and_statsmodels():
    X, labels = public_rows()
    rows, y = np.column_stack([np.ones(len(X)), X]), labels["poisson"]
    penalty = np.array([0.0, 0.5, 0.5, 0.5])
    got = fit_plain(Poisson(), link("log"), rows, y, penalty, np.zeros(4))
    expected = plain.PoissonRegressor(alpha=0.5, tol=1e-10, max_iter=1000).fit(X, y)
    assert got == pytest.approx([expected.intercept_, *expected.coef_], abs=1e-5)
    offset = np.log(np.random.default_rng(2).uniform(0.1, 3, len(y)))
    statsmodels = pytest.importorskip("statsmodels.api")
    peer = statsmodels.GLM(y, rows, family=statsmodels.families.Poisson(), offset=offset).fit(tol=1e-12)
    assert fit_plain(Poisson(), link("log"), rows, y, np.zeros(4), np.zeros(4), offset) == pytest.approx(
        peer.params, abs=1e-6
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["bernoulli", "poisson", "gamma"])
def test_a_plain_fit_of_anything_is_finite(name):
    """Separable, constant, collinear and too wide tables, held by the least penalty."""
    rng = np.random.default_rng(3)
    one = family(name)
    tables = {
        "separable": (
            np.column_stack([np.ones(20), np.linspace(-1, 1, 20)]),
            np.repeat([0.0, 1.0], 10) + (name == "gamma"),
        ),
        "constant": (np.column_stack([np.ones(20), rng.normal(size=20)]), np.ones(20)),
        "collinear": (np.ones((20, 3)), rng.integers(0, 2, 20) + (name == "gamma") * 1.0),
        "wide": (rng.normal(size=(4, 30)), np.array([0.0, 1.0, 1.0, 0.0]) + (name == "gamma")),
    }
    for rows, y in tables.values():
        width = rows.shape[1]
        got = fit_plain(one, one.default_link, rows, y, np.full(width, 1e-6), np.zeros(width))
        assert np.isfinite(got).all()


@pytest.mark.parametrize("one", [Poisson(), Gaussian(), Bernoulli()])
def test_rows_at_a_bound_have_the_score_and_the_slope_of_the_law(one):
    clipped = ClippedScore(one, one.default_link, 0.0, 1.0)
    y, eta, bound = np.array([0.0, 1.0, 1.0]), np.array([-0.5, 0.0, 2.0]), np.array([0.1, 0.5, 3.0])
    rows = clipped.at(y, eta, bound)
    assert rows.slope.tolist() == clipped.slope(y, eta, bound).tolist()
    assert rows.score.tolist() == clipped.score(y, eta, bound).tolist()
    assert rows.score is rows.score
