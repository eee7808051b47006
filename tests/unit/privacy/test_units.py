"""Each unit's profile, and what it is worth in the other currencies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from discreet.privacy import GDP, ZCDP, Approximate, Pure, unit_from_dict

parameters = st.floats(-6, 1.5).map(lambda power: 10.0**power)
deltas = st.floats(-12, -1).map(lambda power: 10.0**power)
units = st.one_of(
    st.builds(GDP, st.floats(0, 1e3)),
    st.builds(Pure, parameters, bounded_range=st.booleans()),
    st.builds(ZCDP, st.floats(0, 1e3)),
    st.builds(Approximate, parameters, deltas),
)


@given(units)
def test_a_unit_survives_being_written_down(unit):
    assert unit_from_dict(unit.to_dict()) == unit


@settings(max_examples=60, deadline=None)
@given(units, deltas)
def test_delta_at_the_reported_epsilon_is_no_larger_than_asked(unit, delta):
    epsilon = unit.epsilon(delta)
    assume(math.isfinite(epsilon))
    assert unit.delta(epsilon) <= delta * (1 + 1e-6) + 1e-15


@settings(max_examples=60, deadline=None)
@given(units, deltas)
def test_a_smaller_delta_needs_a_larger_epsilon(unit, delta):
    assert unit.epsilon(delta / 3) >= unit.epsilon(delta) - 1e-12


@settings(max_examples=100, deadline=None)
@given(st.floats(-8, 2.5).map(lambda power: 10.0**power))
def test_gaussian_curve_of_a_pure_guarantee_lies_below_it_everywhere(epsilon):
    """T(alpha), the least type II error at type I error alpha: the dominating unit's must be the
    lower one.
    """
    alphas = np.concatenate([np.linspace(1e-6, 1 - 1e-6, 400), np.geomspace(1e-300, 0.5, 200)])
    pure = np.maximum(0, np.maximum(1 - np.exp(epsilon) * alphas, np.exp(-epsilon) * (1 - alphas)))
    gaussian = ndtr(-ndtri(alphas) - Pure(epsilon).mu)
    assert np.all(gaussian <= pure * (1 + 1e-11) + 1e-300)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-6, 1e-4, 1e-2])
def test_gaussian_cost_of_a_small_pure_guarantee_is_not_lost_in_rounding(epsilon):
    # -2 Phi^-1(1/(1 + e^epsilon)) as a power series.
    series = math.sqrt(2 * math.pi) * epsilon / 2 * (1 - epsilon**2 * (1 / 12 - math.pi / 48))
    assert series * (1 - epsilon**4) <= Pure(epsilon).mu <= series * (1 + epsilon**4 + 1e-13)


@pytest.mark.parametrize(("rho", "delta"), [(0.01, 1e-6), (0.1, 1e-5), (1.0, 1e-6), (5.0, 1e-9)])
def test_zcdp_conversion_is_the_best_order_of_the_published_formula(rho, delta):
    """Canonne, Kamath and Steinke (2020), Proposition 12, minimised on a dense grid of orders."""
    order = 1 + np.geomspace(1e-3, 1e5, 400_000)
    published = np.min(order * rho + np.log1p(-1 / order) - np.log(delta * order) / (order - 1))
    assert ZCDP(rho).epsilon(delta) == pytest.approx(published, rel=1e-8)


@settings(max_examples=60, deadline=None)
@given(st.floats(1e-4, 10), deltas)
def test_zcdp_never_promises_more_than_the_gaussian_noise_that_has_it(mu, delta):
    assert ZCDP(GDP(mu).rho).epsilon(delta) >= GDP(mu).epsilon(delta) * (1 - 1e-9)


@settings(max_examples=40, deadline=None)
@given(st.floats(0.01, 20), deltas)
def test_zcdp_for_an_epsilon_keeps_it_and_hardly_more(epsilon, delta):
    unit = ZCDP.from_epsilon(epsilon, delta)
    assert unit.epsilon(delta) <= epsilon * (1 + 1e-9)
    assert unit.epsilon(delta) >= epsilon * (1 - 1e-6)


def test_zcdp_of_an_infinite_epsilon_is_infinite():
    assert ZCDP.from_epsilon(math.inf, 1e-6).rho == math.inf


@settings(max_examples=40, deadline=None)
@given(st.floats(0.01, 50), deltas)
def test_gdp_for_an_epsilon_keeps_it_and_hardly_more(epsilon, delta):
    unit = GDP.from_epsilon(epsilon, delta)
    assert unit.epsilon(delta) <= epsilon * (1 + 1e-15)
    assert unit.epsilon(delta) == pytest.approx(epsilon, rel=1e-9)
    assert unit.rho == unit.mu**2 / 2


def test_selection_costs_a_quarter_of_a_pure_release_in_zcdp():
    assert Pure(1.0, bounded_range=True).rho == Pure(1.0).rho / 4 == 1 / 8


def test_an_approximate_guarantee_promises_nothing_below_its_delta():
    unit = Approximate(1.0, 1e-6)
    assert unit.epsilon(9e-7) == math.inf
    assert unit.epsilon(1e-6) == pytest.approx(1.0)
    assert (unit.mu, unit.rho) == (math.inf, math.inf)


@pytest.mark.parametrize(
    "make",
    [
        lambda: GDP(-1.0),
        lambda: GDP(math.nan),
        lambda: ZCDP(-1.0),
        lambda: Pure(0.0),
        lambda: Approximate(1, 2),
        lambda: Approximate(-1.0, 1e-6),
        lambda: Approximate(math.nan, 1e-6),
        lambda: ZCDP(1.0).epsilon(2.0),
        lambda: ZCDP(0.0).epsilon(2.0),
        lambda: GDP(1.0).epsilon(math.nan),
    ],
)
def test_impossible_costs_are_refused(make):
    with pytest.raises(ValueError, match="must be"):
        make()


@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.3])
@pytest.mark.parametrize("epsilon", [0.7, 2.0])
def test_the_epsilon_of_a_pure_release_is_where_its_delta_is_the_one_asked_for(epsilon, delta):
    at = Pure(epsilon).epsilon(delta)
    if at > 0:
        assert Pure(epsilon).delta(at) == pytest.approx(delta, rel=1e-9)
    else:
        assert Pure(epsilon).delta(0.0) <= delta
