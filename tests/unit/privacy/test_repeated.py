"""Several picks: what they cost together, and the Gaussian that dominates one of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr, ndtr, ndtri

from discreet.privacy import GDP, ZCDP, Pure, Repeated, compose, picks_within, unit_from_dict

ranges = st.floats(1e-3, 20)


@given(ranges, st.floats(0, 1))
@settings(max_examples=300, deadline=None)
def test_a_pick_is_dominated_by_its_gaussian(width, share):
    """Losses in [t - e, t] are those of two points with a kink at (q e^-t, 1 - q); the Gaussian
    curve is below.
    """
    t = share * width
    q = -math.expm1(t - width) / -math.expm1(-width)
    false_alarm, missed = q * math.exp(-t), 1 - q
    if not (1e-12 < missed < 1 - 1e-12 and 1e-12 < false_alarm < 1 - 1e-12):
        return
    needed = -ndtri(false_alarm) - ndtri(missed)
    assert needed <= Pure(width, bounded_range=True).mu + 1e-7


def test_the_middle_is_the_worst_so_the_gaussian_is_the_least_one():
    width = 0.8
    q = -math.expm1(-width / 2) / -math.expm1(-width)
    needed = -ndtri(q * math.exp(-width / 2)) - ndtri(1 - q)
    assert needed == pytest.approx(Pure(width, bounded_range=True).mu, rel=1e-9)


@given(st.floats(1e-5, 20), st.integers(1, 200))
@settings(max_examples=200, deadline=None)
def test_picks_for_a_gaussian_cost_stay_within_it_and_hardly_below(mu, picks):
    cost = picks_within(GDP(mu), picks)
    assert cost.times == picks
    assert mu * (1 - 1e-8) <= cost.mu <= mu


@given(ranges, st.integers(1, 50), st.booleans())
@settings(max_examples=100, deadline=None)
def test_a_repeated_cost_comes_back_from_the_ledger_as_it_was(width, times, gumbel):
    unit = Repeated(Pure(width, bounded_range=gumbel), times)
    assert unit_from_dict(unit.to_dict()) == unit


def test_picks_together_cost_less_than_one_by_one():
    unit, delta = Repeated(Pure(0.1, bounded_range=True), 10), 1e-6
    parts = compose([Pure(0.1, bounded_range=True)] * 10)
    assert 0.89 * parts.mu < unit.mu < 0.91 * parts.mu
    assert unit.rho == pytest.approx(parts.rho)
    assert unit.epsilon(delta) <= min(GDP(unit.mu).epsilon(delta), ZCDP(unit.rho).epsilon(delta), 1.0 + 1e-12)
    assert unit.delta(unit.epsilon(delta)) <= delta * (1 + 1e-6)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.01, 0.5), st.integers(2, 30))
def test_an_exact_selection_never_loses_more_than_is_claimed(width, candidates):
    """The worst pair of score vectors: one rises while the others fall. Its exact profile stays
    below the claim's.
    """
    up = np.zeros(candidates)
    up[0] = width
    p, q = (np.exp(v) / np.exp(v).sum() for v in (np.zeros(candidates), up))
    claim = Repeated(Pure(width, bounded_range=True), 1)
    for epsilon in (0.0, width / 4, width / 2):
        for one, other in ((p, q), (q, p)):
            exact = float(np.maximum(one - math.exp(epsilon) * other, 0).sum())
            assert exact <= claim.delta(epsilon) * (1 + 1e-9) + 1e-15


def profile(epsilons, mu):
    """The profile of mu-GDP at any epsilon, in closed form."""
    return ndtr(-epsilons / mu + mu / 2) - np.exp(epsilons + log_ndtr(-epsilons / mu - mu / 2))


def after_one_pick(later, epsilons, width, loss):
    """The profile of two points with the losses t and t - e, before what has the profile ``later``."""
    high = -math.expm1(loss - width) / -math.expm1(-width)
    return high * later(epsilons - loss) + (1 - high) * later(epsilons - loss + width)


@given(st.floats(1e-2, 6), st.floats(0.51, 30), st.floats(0.001, 0.999))
@settings(max_examples=300, deadline=None)
def test_a_pick_before_gaussian_noise_is_dominated_by_a_little_more_of_it(width, ratio, share):
    """For each pair of two points, at all epsilons where the profile is not rounding error."""
    mu = ratio * width
    cost = Repeated(Pure(width, bounded_range=True), 1, followed_by=mu)
    epsilons = np.linspace(-6 * mu, 6 * mu, 201)
    exact = after_one_pick(lambda at: profile(at, mu), epsilons, width, share * width)
    assert np.all(exact <= profile(epsilons, math.hypot(mu, cost.mu)) * (1 + 1e-9) + 1e-13)


def test_a_pick_before_much_gaussian_noise_costs_no_more_than_its_variance():
    """In the middle, t = e / 2, a loss of +-e / 2 has the variance e^2 / 4: nothing less would do."""
    width, mu = 0.1, 2.0
    cost = Repeated(Pure(width, bounded_range=True), 1, followed_by=mu)
    assert cost.mu == pytest.approx(width / 2, rel=1e-3)
    assert cost.mu < 0.8 * cost.alone.mu
    exact = after_one_pick(lambda at: profile(at, mu), np.array([mu**2 / 2]), width, width / 2)
    assert exact > profile(mu**2 / 2, math.hypot(mu, 0.99 * width / 2))


@given(st.floats(0.05, 3), st.lists(st.floats(0.001, 0.999), min_size=3, max_size=3), st.floats(0, 4))
@settings(max_examples=200, deadline=None)
def test_picks_that_depend_on_earlier_ones_stay_within_their_joint_cost(width, shares, later):
    """The second pick's losses depend on the first pick; so does nothing in the claim."""
    first, if_high, if_low = (share * width for share in shares)
    rest = (lambda at: profile(at, later)) if later > 0.01 else lambda at: np.maximum(-np.expm1(at), 0.0)
    epsilons = np.linspace(-6, 6, 301) * (width + later)
    high = -math.expm1(first - width) / -math.expm1(-width)
    exact = high * after_one_pick(rest, epsilons - first, width, if_high)
    exact += (1 - high) * after_one_pick(rest, epsilons - first + width, width, if_low)
    cost = Repeated(Pure(width, bounded_range=True), 2, followed_by=later if later > 0.01 else 0.0)
    assert np.all(exact <= profile(epsilons, math.hypot(cost.followed_by, cost.mu)) * (1 + 1e-9) + 1e-13)


@given(st.floats(1e-3, 10), st.integers(1, 50), st.floats(0, 20))
@settings(max_examples=200, deadline=None)
def test_picks_before_other_releases_are_wider_within_the_same_cost(mu, picks, later):
    cost = picks_within(GDP(mu), picks, [GDP(later)] if later else [])
    assert mu * (1 - 1e-8) <= cost.mu <= mu
    assert cost.each.parameter >= picks_within(GDP(mu), picks).each.parameter * (1 - 1e-11)
    assert unit_from_dict(cost.to_dict()) == cost


def test_picks_that_count_on_releases_that_are_not_made_count_these_as_made():
    picks = picks_within(GDP(0.5), 3, [GDP(1.0)])
    whole = math.hypot(0.5, 1.0)
    assert compose([picks, GDP(1.0)]).mu == pytest.approx(whole, rel=1e-8)
    assert compose([GDP(1.0), picks]).mu == pytest.approx(math.hypot(1.0, whole), rel=1e-8)
    assert compose([picks]).mu == pytest.approx(whole, rel=1e-8)
    assert compose([picks, GDP(0.6), picks_within(GDP(0.8), 2)]).mu == pytest.approx(whole, rel=1e-8)
    assert compose([picks]).epsilon(1e-6) == picks.alone.epsilon(1e-6) < GDP(whole).epsilon(1e-6)


def test_only_picks_can_count_on_later_releases():
    for later in (-1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="later releases"):
            Repeated(Pure(0.1, bounded_range=True), 2, followed_by=later)
    with pytest.raises(ValueError, match="later releases"):
        Repeated(Pure(0.1), 2, followed_by=1.0)


@pytest.mark.parametrize("times", [0, -1])
def test_nothing_cannot_be_repeated(times):
    with pytest.raises(ValueError, match="times"):
        Repeated(Pure(1.0), times)


@pytest.mark.parametrize("mu", [0.0, math.inf])
def test_a_selection_must_cost_something_finite(mu):
    with pytest.raises(ValueError, match="selection"):
        picks_within(GDP(mu), 3)


@pytest.mark.parametrize("mu", [60.0, 80.0, 1e3, 1e6])
def test_picks_of_a_huge_budget_are_found_and_stay_within_it(mu):
    """From epsilon 745 on 1/(1 + e^epsilon) is no float: its mu must still be finite."""
    made = picks_within(GDP(mu), 3)
    assert mu * (1 - 1e-9) < made.mu <= mu
