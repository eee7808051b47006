"""Families agree with statsmodels, stay finite, and never exceed the bounds that set the noise."""

from __future__ import annotations

import itertools
import math
import pickle
import warnings

import numpy as np
import pytest
import statsmodels.api as statsmodels
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import DomainError
from discreet.glm import (
    Bernoulli,
    Family,
    Gamma,
    Gaussian,
    Link,
    NegativeBinomial,
    Poisson,
    Tweedie,
    family,
    link,
)

sm = statsmodels.families
FAMILIES: list[Family] = [
    Gaussian(),
    Bernoulli(),
    Poisson(),
    Gamma(),
    NegativeBinomial(0.7),
    Tweedie(1.5),
    Tweedie(1.0),
    Tweedie(2.0),
    Tweedie(3.0),
]
PEERS = [
    sm.Gaussian(),
    sm.Binomial(),
    sm.Poisson(),
    sm.Gamma(),
    sm.NegativeBinomial(alpha=0.7),
    sm.Tweedie(var_power=1.5),
    sm.Tweedie(var_power=1.0),
    sm.Tweedie(var_power=2.0),
    sm.Tweedie(var_power=3.0),
]
PAIRS = [(one, link(name)) for one in FAMILIES for name in one.allowed_links]
pairs = pytest.mark.parametrize(("one", "by"), PAIRS, ids=[f"{one!r}-{by.name}" for one, by in PAIRS])
ETA = np.linspace(-4.0, -0.2, 101)  # all links allow it
EXTREMES = np.array([0.0, 1.0, 40.0, 300.0, 700.0, 800.0, 1e5, 1e100, 1.7e308, np.inf])


def labels(one: Family) -> np.ndarray:
    """Labels that suit the family, zero among them where it is one."""
    if isinstance(one, Gaussian):
        return np.array([-3.0, 0.0, 0.4, 7.0])
    if isinstance(one, Bernoulli):
        return np.array([0.0, 0.3, 1.0])
    zero = [] if isinstance(one, Gamma) or one in (Tweedie(2.0), Tweedie(3.0)) else [0.0]
    return np.array([*zero, 0.2, 1.0, 9.0])


@pytest.mark.parametrize(("one", "peer"), list(zip(FAMILIES, PEERS, strict=True)), ids=map(repr, FAMILIES))
def test_variance_and_deviance_are_those_of_statsmodels(one: Family, peer: object) -> None:
    mean = np.linspace(0.03, 0.97, 53) if isinstance(one, Bernoulli) else np.geomspace(0.01, 50.0, 53)
    np.testing.assert_allclose(one.variance(mean), peer.variance(mean), rtol=1e-10)
    for y in labels(one):
        with np.errstate(divide="ignore", invalid="ignore"):
            theirs = peer._resid_dev(np.full_like(mean, y), mean)
        np.testing.assert_allclose(one.deviance(y, mean), theirs, rtol=1e-10, atol=1e-12)


@pairs
def test_score_and_weight_are_their_formulas(one: Family, by: Link) -> None:
    mean, slope = by.mean(ETA), by.slope(ETA)
    np.testing.assert_allclose(one.weight(ETA, by), slope**2 / one.variance(mean), rtol=1e-10)
    for y in labels(one):
        formula = (mean - y) * slope / one.variance(mean)
        np.testing.assert_allclose(one.score(y, ETA, by), formula, rtol=1e-10, atol=1e-13)


@pairs
def test_score_is_half_the_slope_of_the_deviance(one: Family, by: Link) -> None:
    step = 1e-3
    for y in labels(one):
        far = [one.deviance(y, by.mean(ETA + k * step)) for k in (-2, -1, 1, 2)]
        slope = (8 * (far[2] - far[1]) - (far[3] - far[0])) / (12 * step)
        score = one.score(y, ETA, by)
        # The truncation error is step^4 times a fifth derivative, which is large for strongly
        # curved deviances.
        np.testing.assert_allclose(slope / 2, score, rtol=1e-7, atol=1e-9 * np.abs(score).max() + 1e-10)


@pytest.mark.parametrize("one", [Gaussian(), Bernoulli(), Poisson(), Gamma()], ids=repr)
def test_the_canonical_score_is_exactly_mean_minus_label(one: Family) -> None:
    by = one.canonical_link
    for y in labels(one):
        np.testing.assert_array_equal(one.score(y, ETA, by), by.mean(ETA) - y)
    np.testing.assert_array_equal(one.weight(ETA, by), by.slope(ETA))


@pairs
def test_extremes_are_finite_without_a_warning(one: Family, by: Link) -> None:
    eta = np.concatenate([-EXTREMES, EXTREMES])
    with warnings.catch_warnings(), np.errstate(over="raise", divide="raise", invalid="raise"):
        warnings.simplefilter("error")
        for y in labels(one):
            assert np.all(np.isfinite(one.score(y, eta, by)))
            assert np.all(np.isfinite(one.deviance(y, by.mean(eta))))
        weight = one.weight(eta, by)
        assert np.all(np.isfinite(weight) & (weight >= 0.0))
        assert np.all(np.isfinite(one.variance(by.mean(eta))))
        top = -1e-3 if by.name == "negative_inverse" else np.inf
        assert math.isfinite(one.score_bound(labels(one)[0], labels(one)[-1], -np.inf, top, by))
        assert math.isfinite(one.weight_bound(-np.inf, top, by))


@pairs
def test_a_value_does_not_depend_on_its_neighbours(one: Family, by: Link) -> None:
    rng = np.random.default_rng(1)
    eta, y = -np.abs(rng.normal(size=501)) * 4, rng.choice(labels(one), size=501)
    score, weight, deviance = one.score(y, eta, by), one.weight(eta, by), one.deviance(y, by.mean(eta))
    for step in (1, 7, 64):
        cuts = [slice(start, start + step) for start in range(0, 501, step)]
        np.testing.assert_array_equal(np.concatenate([one.score(y[c], eta[c], by) for c in cuts]), score)
        np.testing.assert_array_equal(np.concatenate([one.weight(eta[c], by) for c in cuts]), weight)
        parts = np.concatenate([one.deviance(y[c], by.mean(eta[c])) for c in cuts])
        np.testing.assert_array_equal(parts, deviance)


@given(data=st.data())
@settings(max_examples=400, deadline=None)
def test_no_row_exceeds_the_bounds(data: st.DataObject) -> None:
    one, by = data.draw(st.sampled_from(PAIRS))
    low, high = sorted(data.draw(st.tuples(st.floats(-40, 40), st.floats(-40, 40))))
    if by.name == "negative_inverse":
        low, high = low - 40.5, high - 40.5
    limit = 1.0 if isinstance(one, Bernoulli) else 1e4
    least = -limit if isinstance(one, Gaussian) else 0.0 if 0.0 in labels(one) else 1e-6
    y_low, y_high = sorted(data.draw(st.tuples(st.floats(least, limit), st.floats(least, limit))))
    shares = st.lists(st.floats(0, 1), min_size=1, max_size=30)
    eta = np.clip(low + np.array(data.draw(shares)) * (high - low), low, high)
    y = np.clip(y_low + data.draw(st.floats(0, 1)) * (y_high - y_low), y_low, y_high)
    score = np.abs(one.score(y, eta, by))
    assert np.all(score <= one.score_bound(y_low, y_high, low, high, by))
    assert np.all(one.weight(eta, by) <= one.weight_bound(low, high, by))


@pairs
@pytest.mark.parametrize(
    ("low", "high"), [(-5.0, 5.0), (-5.0, -1.0), (0.5, 3.0), (-20.0, 20.0), (-0.1, 0.1), (1.0, 1.0), (-300.0, 300.0)]
)
def test_bounds_are_close_to_what_rows_attain(one: Family, by: Link, low: float, high: float) -> None:
    if by.name == "negative_inverse":
        low, high = low - 301.0, high - 301.0
    eta = np.linspace(low, high, 40001)
    y_low, y_high = labels(one)[0], labels(one)[-1]
    attained = max(np.abs(one.score(y, eta, by)).max() for y in (y_low, y_high))
    assert attained <= one.score_bound(y_low, y_high, low, high, by) <= 1.04 * attained
    heaviest = one.weight(eta, by).max()
    assert heaviest <= one.weight_bound(low, high, by) <= 1.04 * heaviest


@pairs
def test_convex_links_have_a_rising_score(one: Family, by: Link) -> None:
    eta = np.linspace(-9.0, -0.01, 4001) if by.name == "negative_inverse" else np.linspace(-9.0, 9.0, 4001)
    rising = []
    for y in labels(one):
        score = one.score(y, eta, by)
        rising.append(np.all(np.diff(score) >= -1e-13 * (1 + np.abs(score[1:]))))
    if by.name in one.convex_links:
        assert all(rising)
    elif one != Tweedie(1.0):  # poisson under another name: convex with softplus too, which it does not claim
        assert not all(rising)


def test_logistic_rows_have_a_score_of_at_most_one_whatever_eta() -> None:
    assert 1.0 <= Bernoulli().score_bound(0.0, 1.0, -np.inf, np.inf, link("logit")) <= 1.0 + 1e-11
    assert Bernoulli().weight_bound(-np.inf, np.inf, link("logit")) == pytest.approx(0.25, rel=1e-11)
    assert [(one.name, by.name) for one, by in PAIRS if one.is_logistic(by)] == [("bernoulli", "logit")]


PROBABILITIES = {
    Gaussian(): lambda y, mean: stats.norm.cdf(y, mean, np.sqrt(0.3)),
    Poisson(): lambda y, mean: stats.poisson.cdf(y, mean),
    Gamma(): lambda y, mean: stats.gamma.cdf(y, 1 / 0.3, scale=0.3 * mean),
    NegativeBinomial(0.7): lambda y, mean: stats.nbinom.cdf(y, 1 / 0.7, 1 / (1 + 0.7 * mean)),
}


@pytest.mark.parametrize("one", PROBABILITIES, ids=repr)
def test_probabilities_of_labels_are_those_of_scipy(one: Family) -> None:
    y, mean = np.array([[-1.0], [0.0], [0.5], [2.0], [7.9]]), np.geomspace(0.1, 20.0, 9)
    np.testing.assert_allclose(one.distribution(y, mean, 0.3), PROBABILITIES[one](y, mean), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("one", FAMILIES, ids=repr)
def test_a_family_allows_labels_below_0_unless_it_says_no(one: Family) -> None:
    if one.nonnegative:
        with pytest.raises(DomainError):
            one.check_range(-1.0, 1.0)
    else:
        one.check_range(-1.0, 1.0)


@pairs
def test_means_of_declared_labels_have_a_finite_predictor(one: Family, by: Link) -> None:
    low, high = (0.0, 1.0) if isinstance(one, Bernoulli) else (0.0, 9.0)
    least, greatest = one.mean_range(low, high, by)
    assert low <= least < greatest <= high
    assert np.all(np.abs(by.predictor([least, greatest])) < 1e6)


@pytest.mark.parametrize("one", [Gaussian(), Bernoulli(), Poisson(), Gamma()], ids=repr)
def test_cumulant_derivatives_follow_each_other(one: Family) -> None:
    step, natural = 1e-3, one.canonical_link
    assert natural is not None
    chain = [one.cumulant, one.cumulant_slope, natural.slope]
    for value, derivative in itertools.pairwise(chain):
        far = [value(ETA + k * step) for k in (-2, -1, 1, 2)]
        slope, truth = (8 * (far[2] - far[1]) - (far[3] - far[0])) / (12 * step), derivative(ETA)
        np.testing.assert_allclose(slope, truth, rtol=1e-6, atol=1e-10 * (1 + np.abs(truth).max()))
    np.testing.assert_allclose(natural.slope(ETA), one.variance(one.cumulant_slope(ETA)), rtol=1e-11)


@pytest.mark.parametrize("one", [NegativeBinomial(), Tweedie()], ids=repr)
def test_families_without_a_canonical_link_have_no_cumulant(one: Family) -> None:
    with pytest.raises(ValueError, match=f"{one.name} has no canonical link"):
        one.cumulant(0.0)


@pytest.mark.parametrize(
    ("one", "low", "high"),
    [
        (Bernoulli(), -0.1, 1.0),
        (Bernoulli(), 0.0, 2.0),
        (Poisson(), -1.0, 4.0),
        (Gamma(), 0.0, 4.0),
        (NegativeBinomial(), -1.0, 4.0),
        (Tweedie(1.5), -1.0, 4.0),
        (Tweedie(2.5), 0.0, 4.0),
        (Gaussian(), 1.0, 0.0),
        (Gaussian(), 0.0, math.inf),
        (Poisson(), math.nan, 1.0),
    ],
)
def test_label_ranges_outside_the_family_are_refused(one: Family, low: float, high: float) -> None:
    with pytest.raises(DomainError):
        one.check_range(low, high)
    with pytest.raises(DomainError):
        one.score_bound(low, high, -1.0, 1.0, one.default_link)


@pytest.mark.parametrize("one", FAMILIES, ids=repr)
def test_the_default_link_is_allowed_and_proper_ranges_pass(one: Family) -> None:
    one.check_link(one.default_link)
    one.check_range(labels(one)[0], labels(one)[-1])
    assert one.canonical_link is None or one.canonical_link.name in one.allowed_links
    assert pickle.loads(pickle.dumps(one)) == one


def test_a_link_the_family_does_not_allow_is_refused() -> None:
    with pytest.raises(ValueError, match=r"poisson allows the links log, softplus, got 'logit'"):
        Poisson().weight_bound(-1.0, 1.0, link("logit"))


def test_lookup_by_name() -> None:
    assert family("poisson") == Poisson()
    assert family(Tweedie(1.7)) == Tweedie(1.7)
    assert family("tweedie") == Tweedie(1.5) != Tweedie(1.7)
    names = "gaussian, bernoulli, poisson, gamma, negative_binomial, tweedie"
    with pytest.raises(ValueError, match=f"family must be one of {names}, got 'poison'"):
        family("poison")


@pytest.mark.parametrize(
    ("make", "value"),
    [(NegativeBinomial, 0.0), (NegativeBinomial, math.inf), (Tweedie, 0.5), (Tweedie, math.nan)],
)
def test_parameters_are_checked(make: type, value: float) -> None:
    with pytest.raises(ValueError, match="must be"):
        make(value)


@given(eta=st.floats(-700, 700), share=st.floats(0, 1))
def test_the_deviance_is_never_negative(eta: float, share: float) -> None:
    for one in FAMILIES:
        mean = float(one.default_link.mean(eta))
        y = one.default_link.mean(eta * share)
        assume(math.isfinite(mean))
        assert one.deviance(y, mean) >= 0.0


@pytest.mark.parametrize("one", FAMILIES, ids=repr)
@pytest.mark.parametrize("mean", [0.01, 0.3, 0.7, 5.0, 400.0])
def test_a_choice_cuts_losses_above_those_of_usual_labels_and_not_far_above(one: Family, mean: float) -> None:
    """Usual: what labels drawn from the family with this mean have on average, and the mean of
    those that are not 0.
    """
    if isinstance(one, Bernoulli):
        mean = min(mean, 1 - 0.01)
    rng = np.random.default_rng(0)
    draws = {
        "gaussian": lambda: rng.normal(mean, 1.0, 20_000),
        "bernoulli": lambda: (rng.random(20_000) < mean).astype(float),
        "poisson": lambda: rng.poisson(mean, 20_000).astype(float),
        "gamma": lambda: rng.gamma(1.0, mean, 20_000),
        "negative_binomial": lambda: rng.poisson(rng.gamma(1 / 0.7, 0.7 * mean, 20_000)).astype(float),
    }
    if one.name not in draws:
        pytest.skip("its labels are drawn in the test of searches")
    losses = one.deviance(draws[one.name](), np.full(20_000, mean))
    bound = one.loss_bound(mean, 1.0)
    assert bound is not None
    assert 2 * losses.mean() < bound < max(12.0, 12 * losses.mean(), 2.1 * losses.max())


def test_bounds_of_losses_follow_the_unit_of_y() -> None:
    """Costs in cents are cut where the same costs in euros are."""
    for power in (1.2, 1.5, 1.8, 2.0, 3.0):
        one = Tweedie(power)
        unit = 100.0 ** (2 - power)
        assert one.loss_bound(700.0, 3.0 * unit) == pytest.approx(unit * one.loss_bound(7.0, 3.0))
        # Noise can make a dispersion of anything.
        assert one.loss_bound(7.0, 1e9) <= 130 * 7.0 ** (2 - power) * 3
        assert one.loss_bound(1e-300, 1e-300) > 0
