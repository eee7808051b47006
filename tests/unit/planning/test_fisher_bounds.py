"""The lower bound for any model with a likelihood: what it needs of a family, by sums and simulation,
and that it is the known one where both apply.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma, nbinom

from discreet import huber
from discreet.audit import score_attack
from discreet.glm import Bernoulli, Gamma, NegativeBinomial, Poisson, Tweedie, family, link
from discreet.planning import family_information, fisher_lower_bound, glm_lower_bound, sparse_glm_lower_bound
from discreet.privacy import GDP, ZCDP, Approximate, Pure

COUNTS = np.arange(4000)


def near(values, expected, deviations=6.0):
    """Within so many standard errors: a false alarm in 500 million."""
    return abs(np.mean(values) - expected) < deviations * np.std(values) / math.sqrt(len(values))


def nb(mean, alpha):
    return nbinom(1 / alpha, 1 / (1 + alpha * mean))


@pytest.mark.parametrize("eta", [-2.0, 0.0, 1.5])
def test_information_is_the_variance_of_the_score(eta):
    """By integration for gamma labels, by a sum for negative binomial and Bernoulli ones."""
    shape, alpha, mean = 2.0, 0.5, math.exp(eta)
    own = gamma(shape, scale=mean / shape)
    squared = quad(lambda y: (shape * (y / mean - 1)) ** 2 * own.pdf(y), 0, 60 * mean)[0]
    assert squared == pytest.approx(family_information("gamma", "log", dispersion=1 / shape, predictor=(eta, eta)))

    score = (COUNTS - mean) / (1 + alpha * mean)
    chances = nb(mean, alpha).pmf(COUNTS)
    assert np.sum(chances * score) == pytest.approx(0, abs=1e-9)
    found = family_information(NegativeBinomial(alpha), predictor=(eta, eta))
    assert np.sum(chances * score**2) == pytest.approx(found)

    for name in ("logit", "probit", "cloglog"):
        chance, slope = float(link(name).mean(eta)), float(link(name).slope(eta))
        squared = chance * (slope / chance) ** 2 + (1 - chance) * (slope / (1 - chance)) ** 2
        assert squared == pytest.approx(family_information("bernoulli", name, predictor=(eta, eta)))


def test_largest_information_of_the_families():
    assert family_information("gaussian", dispersion=0.25) == pytest.approx(4)
    assert family_information("bernoulli") == pytest.approx(1 / 4)
    assert family_information("bernoulli", "probit") == pytest.approx(2 / math.pi)
    # u^2 / (e^u - 1) at its peak.
    assert family_information("bernoulli", "cloglog") == pytest.approx(0.64761, rel=1e-4)
    assert family_information("gaussian", "logit", dispersion=0.09) == pytest.approx(1 / 16 / 0.09)
    assert family_information("gamma", dispersion=0.5) == pytest.approx(2)
    assert family_information(NegativeBinomial(0.5)) == pytest.approx(2)
    assert family_information("poisson", predictor=(-3, 2)) == pytest.approx(math.exp(2))
    assert family_information(Tweedie(1.5), dispersion=2.0, predictor=(-3, 2)) == pytest.approx(math.exp(1) / 2)
    assert family_information(Tweedie(3.0), predictor=(-3, 2)) == pytest.approx(math.exp(3))
    assert family_information("gamma", "negative_inverse", predictor=(-4, -0.5)) == pytest.approx(4)


@pytest.mark.parametrize("one", ["gaussian", "bernoulli", "poisson", "gamma", "negative_binomial", "tweedie"])
def test_largest_information_is_that_of_the_best_of_many_predictors(one):
    for name in family(one).allowed_links:
        low, high = (-4.0, -0.3) if name == "negative_inverse" else (-2.0, 3.0)
        found = family_information(one, name, predictor=(low, high))
        values = family(one).weight(np.linspace(low, high, 100_001), link(name))
        assert found == pytest.approx(values.max(), rel=1e-8)
        assert found <= family(one).weight_bound(low, high, link(name))


@pytest.mark.parametrize("privacy", [GDP(0.1), GDP(2.0), ZCDP(0.1), Pure(0.5)])
@pytest.mark.parametrize(
    ("one", "curvature", "dispersion", "predictor"),
    [
        ("gaussian", 1.0, 0.3, (-math.inf, math.inf)),
        ("bernoulli", 0.25, 1.0, (-math.inf, math.inf)),
        ("poisson", math.exp(1.2), 1.0, (-1.2, 1.2)),
    ],
)
def test_it_is_the_known_bound_where_the_link_is_canonical(privacy, one, curvature, dispersion, predictor):
    information = 0.4 * family_information(one, dispersion=dispersion, predictor=predictor)
    found = fisher_lower_bound(800, 6, privacy, information=information, coef_bound=0.7)
    known = glm_lower_bound(
        800, 6, privacy, dispersion=dispersion, curvature=curvature, x_variance=0.4, x_norm=2.0, coef_bound=0.7
    )
    assert found.privacy == pytest.approx(known.privacy)
    assert found.statistics == pytest.approx(known.statistics)


def test_a_negative_binomial_model_with_little_alpha_has_the_bound_of_a_poisson_model():
    poisson = family_information(Poisson(), predictor=(-1, 1))
    assert family_information(NegativeBinomial(1e-9), predictor=(-1, 1)) == pytest.approx(poisson)
    assert family_information(NegativeBinomial(1.0), predictor=(-1, 1)) < poisson


def test_sparse_bound_is_the_known_one_where_privacy_costs_the_most():
    more = {"dispersion": 1.0, "curvature": 1.0, "x_variance": 0.5, "x_norm": 1.0}
    for mu in (0.001, 0.01, 0.1, 1.0):
        for d, s in ((50, 4), (10_000, 2)):
            found = fisher_lower_bound(2000, d, GDP(mu), information=0.5, sparsity=s)
            known = sparse_glm_lower_bound(2000, d, s, GDP(mu), **more)
            assert found.privacy <= known.privacy * (1 + 1e-9)
            assert found.statistics <= known.statistics * (1 + 1e-9)
            if mu <= 0.01:
                assert found.privacy == pytest.approx(known.privacy)
    all_of_them = fisher_lower_bound(2000, 5, GDP(0.1), information=0.5, sparsity=5)
    assert all_of_them.value == fisher_lower_bound(2000, 5, GDP(0.1), information=0.5).value


def test_a_delta_weakens_the_bound():
    bounds = [
        fisher_lower_bound(1000, 5, Approximate(0.5, delta), information=0.5, coef_bound=1.0).privacy
        for delta in (1e-9, 1e-5, 1e-3, 1e-1)
    ]
    assert bounds == sorted(bounds, reverse=True)
    pure = fisher_lower_bound(1000, 5, Pure(0.5), information=0.5, coef_bound=1.0).privacy
    assert bounds[0] <= pure
    assert bounds[0] == pytest.approx(pure, rel=0.05)
    # x in [-1, 1]^5 with variance 1/3: the mean of |score| is below that of the longest row.
    known = {"dispersion": 1.0, "curvature": 1.0, "x_variance": 1 / 3, "x_norm": math.sqrt(5), "coef_bound": 1.0}
    private = Approximate(0.5, 1e-3)
    found = fisher_lower_bound(1000, 5, private, information=1 / 3, coef_bound=1.0)
    assert found.privacy > glm_lower_bound(1000, 5, private, **known).privacy


def test_score_attacks_on_gamma_labels_with_the_log_link_sum_to_the_number_of_coefficients():
    """Least squares of log y is unbiased, so that its completeness is d; outsiders have mean 0 and
    the mean square of the proof.
    """
    rng = np.random.default_rng(11)
    n, d, shape, repeats = 60, 3, 2.0, 4000
    truth = np.array([0.4, -0.3, 0.1])
    shift = quad(lambda g: np.log(g) * gamma(shape, scale=1 / shape).pdf(g), 0, 40)[0]
    information = family_information("gamma", "log", dispersion=1 / shape) / 3
    members, outsiders, excess = np.zeros(repeats), np.zeros(repeats), np.zeros(repeats)
    for turn in range(repeats):
        X, other = rng.uniform(-1, 1, (2, n, d))
        y, fresh = (rng.gamma(shape, np.exp(rows @ truth) / shape) for rows in (X, other))
        estimate = np.linalg.lstsq(X, np.log(y) - shift, rcond=None)[0]
        members[turn] = score_attack(X, y, estimate, truth, Gamma(), link="log", dispersion=1 / shape).sum()
        away = score_attack(other, fresh, estimate, truth, Gamma(), link="log", dispersion=1 / shape)
        outsiders[turn] = away.mean()
        excess[turn] = np.mean(away**2) - information * np.sum((estimate - truth) ** 2)
    assert near(members, d)
    assert near(outsiders, 0)
    assert near(excess, 0)


def test_score_attacks_on_negative_binomial_labels_have_the_completeness_of_the_proof():
    """Of M = mean of x y: the derivative of E M in beta is E x^2 exp(x beta)."""
    rng = np.random.default_rng(12)
    n, alpha, beta, repeats = 50, 0.5, 0.6, 6000
    members = np.zeros(repeats)
    for turn in range(repeats):
        x = rng.uniform(-1, 1, (n, 1))
        mean = np.exp(beta * x[:, 0])
        y = rng.poisson(mean * rng.gamma(1 / alpha, alpha, n))
        estimate = [float(np.mean(x[:, 0] * y))]
        members[turn] = score_attack(x, y, estimate, [beta], NegativeBinomial(alpha)).sum()
    assert near(members, quad(lambda x: x**2 * math.exp(beta * x) / 2, -1, 1)[0])


def test_information_of_a_row_of_a_survival_model_is_its_chance_of_an_event():
    rng = np.random.default_rng(13)
    hazard, end = 0.8, 1.5
    time = rng.exponential(1 / hazard, 400_000)
    score = (time < end) - hazard * np.minimum(time, end)
    assert near(score, 0)
    assert near(score**2, 1 - math.exp(-hazard * end))


@pytest.mark.parametrize("apart", [0.01, 0.5, 2.0])
def test_hellinger_distance_is_at_most_what_the_information_allows(apart):
    """What Fano's part needs of a model without a canonical link."""
    shape, alpha = 2.0, 0.5
    from_gamma = 2 - 2 / math.cosh(apart / 2) ** shape
    assert from_gamma <= family_information("gamma", "log", dispersion=1 / shape) * apart**2 / 4
    one, other = (nb(math.exp(eta), alpha).pmf(COUNTS) for eta in (0.0, apart))
    most = family_information(NegativeBinomial(alpha), predictor=(0.0, apart))
    distance = np.sum((np.sqrt(one) - np.sqrt(other)) ** 2)
    assert distance <= most * apart**2 / 4
    assert np.abs(one - other).sum() / 2 <= math.sqrt(distance)


def cosine_prior(rng, half_width, size):
    tried = rng.uniform(-half_width, half_width, 4 * size)
    return tried[rng.random(4 * size) < np.cos(math.pi * tried / (2 * half_width)) ** 2][:size]


@pytest.mark.parametrize("mu", [0.2, 2.0])
@pytest.mark.parametrize("one", ["gamma", "negative_binomial"])
def test_a_nearly_best_private_mean_stays_above_the_bound(one, mu):
    """x = 1, d = 1: a noisy mean of clipped labels, used as well as a line allows."""
    rng = np.random.default_rng(14)
    n, repeats, spread = 50, 20_000, 0.5
    beta = cosine_prior(rng, 1.0, repeats)[:, None]
    mean = np.exp(beta)
    if one == "gamma":
        values = np.log(rng.gamma(1 / spread, spread * mean, (repeats, n)))
        information = family_information("gamma", "log", dispersion=spread)
        clips = [(-1.0, 1.0), (-2.0, 1.5), (-4.0, 2.0)]
    else:
        values = rng.poisson(mean * rng.gamma(1 / spread, spread, (repeats, n)))
        information = family_information(NegativeBinomial(spread), predictor=(-1, 1))
        clips = [(0.0, 1.0), (0.0, 3.0), (0.0, 8.0)]
    risks = []
    for low, high in clips:
        released = np.clip(values, low, high).mean(axis=1) + rng.normal(size=repeats) * (high - low) / (n * mu)
        slope = np.cov(released, beta[:, 0])[0, 1] / released.var()
        risks.append(np.mean((slope * (released - released.mean()) - (beta[:, 0] - beta.mean())) ** 2))
    bound = fisher_lower_bound(n, 1, GDP(mu), information=information, coef_bound=1.0)
    assert bound.value <= min(risks)
    assert min(risks) <= 60 * bound.value


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"family": "poisson"}, "information of poisson labels with the link log has no limit.*grows.*finite range"),
        ({"family": Tweedie(3.0)}, "has no limit as the linear predictor falls"),
        ({"family": Tweedie(6.0)}, "has no limit as the linear predictor falls"),
        ({"family": huber(1.0)}, "a loss is no distribution of labels"),
        ({"family": "cauchy"}, "family must be one of"),
        ({"family": "gamma", "link": "logit"}, "gamma allows the links log, softplus, negative_inverse"),
        ({"family": "gamma", "link": "negative_inverse"}, "predictor must be below 0 for the link negative_inverse"),
        ({"family": "gamma", "dispersion": 0}, "dispersion must be a finite number > 0"),
        ({"family": Bernoulli(), "dispersion": 2.0}, "bernoulli labels have dispersion 1, got 2.0"),
        ({"family": "gamma", "predictor": (2, 1)}, "predictor must be a pair of numbers, low <= high"),
        ({"family": "gamma", "predictor": 3}, "predictor must be a pair of numbers"),
        ({"family": "gamma", "predictor": ("a", "b")}, "predictor must be a pair of numbers"),
    ],
)
def test_wrong_families_are_refused_in_the_users_words(given, words):
    with pytest.raises(ValueError, match=words):
        family_information(**given)


@pytest.mark.parametrize("wrong", ["abc", None, math.nan, -1, [1, 2], True])
@pytest.mark.parametrize("name", ["n", "n_features", "information", "coef_bound"])
def test_wrong_numbers_are_refused(name, wrong):
    good = {"n": 1000, "n_features": 5, "privacy": GDP(0.2), "information": 1.0, "coef_bound": 1.0}
    with pytest.raises(ValueError, match=f"{name} must be"):
        fisher_lower_bound(**(good | {name: wrong}))


def test_other_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="sparsity must be at most n_features, got 6 of 5"):
        fisher_lower_bound(1000, 5, GDP(0.2), information=1.0, sparsity=6)
    with pytest.raises(ValueError, match="finite coef_bound"):
        fisher_lower_bound(1000, 5, Approximate(1.0, 1e-6), information=1.0)
    with pytest.raises(TypeError, match="privacy must be a guarantee"):
        fisher_lower_bound(1000, 5, 0.2, information=1.0)
