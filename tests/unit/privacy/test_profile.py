"""Calibration: exact, on the private side, over the whole range that users ask for."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from exact_profile import exact_delta
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from discreet import gaussian_noise_std
from discreet.privacy import classical_noise_std, gaussian_delta, gaussian_epsilon, gaussian_mu

EPSILONS = [0.1, 0.3, 1, 4, 10, 20]
epsilons = st.floats(-4, 2).map(lambda power: 10.0**power)
deltas = st.floats(-15, -1).map(lambda power: 10.0**power)
mus = st.floats(-6, 1).map(lambda power: 10.0**power)


@pytest.mark.parametrize(
    ("delta", "table"),
    [
        (1e-6, [36.305, 12.992, 4.2247, 1.1935, 0.5411, 0.3091]),
        (1e-5, [30.750, 11.238, 3.7306, 1.0812, 0.4999, 0.2900]),
    ],
)
def test_noise_is_that_of_the_papers_page(delta, table):
    for epsilon, noise_std in zip(EPSILONS, table, strict=True):
        assert gaussian_noise_std(epsilon, delta) == pytest.approx(noise_std, rel=2e-4)


def test_printed_noise_is_that_of_the_papers_page():
    printed = [52.988, 17.663, 5.2988, 1.3247, 0.5299, 0.2649]
    assert [classical_noise_std(epsilon, 1e-6) for epsilon in EPSILONS] == pytest.approx(printed, rel=2e-4)
    assert gaussian_delta(10, 1 / classical_noise_std(10, 1e-6)) == pytest.approx(1.9e-6, rel=0.03)
    assert gaussian_delta(20, 1 / classical_noise_std(20, 1e-6)) == pytest.approx(1.6e-4, rel=0.03)


def test_printed_noise_stops_being_private_at_epsilon_8_78():
    assert classical_noise_std(8.77, 1e-6) > gaussian_noise_std(8.77, 1e-6)
    assert classical_noise_std(8.79, 1e-6) < gaussian_noise_std(8.79, 1e-6)


@settings(max_examples=150, deadline=None)
@given(epsilons, deltas)
@example(1e-4, 1e-15)
@example(1e-4, 0.1)
@example(100.0, 1e-15)
@example(100.0, 0.1)
def test_noise_is_private_by_exact_arithmetic_and_hardly_more_than_needed(epsilon, delta):
    noise_std = gaussian_noise_std(epsilon, delta)
    assert exact_delta(epsilon, float(1 / noise_std)) <= Decimal(delta) * (1 + Decimal("1e-13"))
    assert exact_delta(epsilon, gaussian_mu(epsilon, delta)) <= Decimal(delta)
    assert exact_delta(epsilon, gaussian_mu(epsilon, delta) * (1 + 1e-10)) > Decimal(delta)


@settings(max_examples=150, deadline=None)
@given(mus, st.floats(0, 15))
@example(1e-6, 0.0)
@example(0.4999999, 0.0)
@example(0.5, 0.5)
def test_delta_is_rounded_up_by_no_more_than_the_stated_error(mu, deviations):
    epsilon = deviations * mu
    exact = exact_delta(epsilon, mu)
    assert exact <= Decimal(gaussian_delta(epsilon, mu)) <= exact * (1 + Decimal("2e-12"))


@settings(max_examples=80, deadline=None)
@given(deltas, mus)
def test_epsilon_is_rounded_up(delta, mu):
    epsilon = gaussian_epsilon(delta, mu)
    assert exact_delta(epsilon, mu) <= Decimal(delta)
    assume(epsilon > 0)
    assert exact_delta(epsilon * (1 - 1e-9), mu) > Decimal(delta)


@settings(max_examples=80, deadline=None)
@given(epsilons, deltas)
@example(10.0**-0.375, 0.07950430125161576)
def test_epsilon_comes_back_from_mu(epsilon, delta):
    assert gaussian_epsilon(delta, gaussian_mu(epsilon, delta)) == pytest.approx(epsilon, rel=1e-9)
    # The profile's own rounding, far below PROFILE_ERROR, which every delta already is above the
    # true one.
    assert gaussian_epsilon(delta, gaussian_mu(epsilon, delta)) <= epsilon * (1 + 1e-13)


@settings(max_examples=100, deadline=None)
@given(epsilons, deltas, st.floats(1e-9, 10), st.floats(1e-6, 1e6))
def test_noise_falls_with_epsilon_and_delta_and_is_proportional_to_sensitivity(epsilon, delta, more, sensitivity):
    noise_std = gaussian_noise_std(epsilon, delta)
    assert gaussian_noise_std(epsilon * (1 + more), delta) < noise_std
    assert gaussian_noise_std(epsilon, min(0.9, delta * (1 + more))) < noise_std
    assert gaussian_noise_std(epsilon, delta, sensitivity) == pytest.approx(noise_std * sensitivity, rel=1e-14)


@settings(max_examples=100, deadline=None)
@given(epsilons, mus, st.floats(1e-9, 10))
def test_delta_falls_with_epsilon_and_rises_with_mu(epsilon, mu, more):
    delta = gaussian_delta(epsilon, mu)
    assume(1e-300 < delta < 0.999)
    assert gaussian_delta(epsilon * (1 + more), mu) <= delta
    assert gaussian_delta(epsilon, mu * (1 + more)) >= delta


def test_gaussian_noise_never_claims_a_delta_of_zero():
    assert gaussian_delta(10.0, 0.01) > 0
    assert gaussian_epsilon(0.0, 0.01) == math.inf


def test_no_cost_has_no_loss_and_no_noise_has_no_privacy():
    assert gaussian_delta(1.0, 0.0) == 0
    assert gaussian_epsilon(1e-6, 0.0) == 0
    assert gaussian_delta(1.0, math.inf) == 1
    assert gaussian_epsilon(1e-6, math.inf) == math.inf
    assert gaussian_noise_std(math.inf, 1e-6) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 1e-6), "epsilon must be a number > 0, got 0.0"),
        ((-1.0, 1e-6), "epsilon must be a number > 0, got -1.0"),
        ((math.nan, 1e-6), "epsilon must be a number > 0, got nan"),
        (("1", 1e-6), "epsilon must be a number > 0, got '1'"),
        ((1.0, 0.0), "delta must be > 0"),
        ((1.0, -1e-6), "delta must be a number between 0 and 1, got -1e-06"),
        ((1.0, 1.5), "delta must be a number between 0 and 1, got 1.5"),
        ((1.0, math.nan), "delta must be a number between 0 and 1, got nan"),
        ((1.0, 1e-6, 0.0), "sensitivity must be finite and > 0, got 0.0"),
        ((1.0, 1e-6, math.inf), "sensitivity must be finite and > 0, got inf"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        gaussian_noise_std(*arguments)


def test_negative_costs_are_refused():
    with pytest.raises(ValueError, match="mu must be >= 0, got -1"):
        gaussian_delta(1.0, -1.0)
    with pytest.raises(ValueError, match="epsilon must be >= 0, got -1"):
        gaussian_delta(-1.0, 1.0)
