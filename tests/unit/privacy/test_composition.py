"""The joint cost of several releases: exact for Gaussian ones, never below exact for others."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.privacy import GDP, ZCDP, Approximate, Budget, Composition, Pure, compose
from discreet.privacy.composition import ROUNDING, _composed_pld, _Numerical


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(1e-3, 3), min_size=2, max_size=30), st.floats(-12, -2))
def test_gaussian_releases_compose_exactly(mus, log_delta):
    together = compose(GDP(mu) for mu in mus)
    exact = math.sqrt(sum(Fraction(mu) ** 2 for mu in mus))
    assert together.mu == pytest.approx(exact, rel=1e-15)
    assert together.epsilon(10**log_delta) == pytest.approx(GDP(exact).epsilon(10**log_delta), rel=1e-9)


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 3.0])
def test_numerical_accountant_agrees_with_the_closed_form_and_is_never_below_it(mu):
    """On every processor: rounding in the convolutions is covered by a margin
    (composition.ROUNDING).
    """
    table = _Numerical(_composed_pld((GDP(mu * 0.6), GDP(mu * 0.8))), 2 * ROUNDING)
    for delta in (1e-3, 1e-6, 1e-8):
        exact = GDP(mu).epsilon(delta)
        assert exact <= table.epsilon(delta) <= exact * 1.003 + 2e-4
        assert delta <= table.delta(exact) <= delta * 1.05 + 1e-9


def test_a_table_promises_nothing_below_its_rounding():
    assert compose([GDP(0.1), Approximate(0.1, 0.0)]).delta(5.0) >= 0
    assert _Numerical(_composed_pld((GDP(0.1), GDP(0.2))), 2 * ROUNDING).epsilon(1e-10) == math.inf


def _randomised_responses(epsilon: float, times: int, at: float) -> float:
    """The exact delta of k pure releases at their worst: hockey stick of two binomials."""
    p = 1 / (1 + math.exp(-epsilon))
    ones = np.arange(times + 1)
    count = np.array([math.comb(times, int(k)) for k in ones], dtype=float)
    first = count * p**ones * (1 - p) ** (times - ones)
    return float(np.maximum(0, first - math.exp(at) * first[::-1]).sum())


@pytest.mark.parametrize(("epsilon", "times"), [(0.1, 10), (0.5, 4), (1.0, 2)])
def test_pure_releases_never_cost_less_than_exactly(epsilon, times):
    together = compose([Pure(epsilon)] * times)
    for at in np.linspace(0, epsilon * times, 7)[:-1]:
        exact = _randomised_responses(epsilon, times, float(at))
        assert exact * (1 - 1e-9) <= together.delta(float(at)) <= exact * 1.01 + 1e-3
    assert together.epsilon(0.0) <= epsilon * times * (1 + 1e-12)


@settings(max_examples=5, deadline=None)
@given(st.floats(0.05, 2), st.floats(0.05, 2))
def test_a_mixed_history_costs_more_than_each_part_and_no_more_than_their_sum(mu, epsilon):
    together = compose([GDP(mu), Pure(epsilon)])
    delta = 1e-6
    found = together.epsilon(delta)
    assert found >= max(GDP(mu).epsilon(delta), Pure(epsilon).epsilon(delta)) - 1e-9
    assert found <= GDP(mu).epsilon(delta) + epsilon + 1e-9
    assert together.delta(found) <= delta * (1 + 1e-6)


def test_a_mixed_history_never_costs_less_than_exactly():
    """Gaussian noise beside randomised response, whose joint profile is a mixture of two Gaussian
    ones.
    """
    mu, epsilon = 0.7, 0.9
    p = 1 / (1 + math.exp(-epsilon))
    for at in (0.2, 1.0, 2.0, 3.0):
        # Given response 1 the loss moves by +epsilon, given response 0 by -epsilon.
        low = at + epsilon
        below = GDP(mu).delta(low)
        high = at - epsilon
        above = GDP(mu).delta(high) if high >= 0 else 1 - math.exp(high) * (1 - GDP(mu).delta(-high))
        exact = p * above + (1 - p) * below
        assert exact * (1 - 1e-9) <= compose([GDP(mu), Pure(epsilon)]).delta(at) <= exact * 1.001 + 1e-4


@pytest.mark.parametrize("other", [Pure(0.1), ZCDP(0.001), Approximate(0.1, 1e-9)])
def test_delta_far_above_the_loss_is_found_at_once(other):
    start = time.monotonic()
    assert 0 <= compose([GDP(0.01), other]).delta(10.0) <= 1.1e-9
    assert time.monotonic() - start < 10


def test_a_huge_cost_in_a_mixed_history_is_accounted_without_huge_tables():
    start = time.monotonic()
    together = compose([GDP(100.0), Pure(1.0)])
    assert GDP(100.0).epsilon(1e-6) <= together.epsilon(1e-6) <= GDP(100.0).epsilon(1e-6) + 1.0
    assert time.monotonic() - start < 1


def test_the_order_of_releases_does_not_matter():
    parts = [GDP(0.3), Pure(0.2), GDP(0.4), Pure(0.1, bounded_range=True)]
    assert compose(parts).epsilon(1e-6) == compose(parts[::-1]).epsilon(1e-6)


def test_one_approximate_guarantee_in_a_history_keeps_the_sum_finite():
    together = compose([GDP(0.5), Approximate(0.5, 1e-7)])
    assert together.mu == math.inf
    assert together.epsilon(1e-6) < GDP(0.5).epsilon(9e-7) + 0.5 + 1e-6
    assert together.epsilon(1e-8) == math.inf


def test_nothing_released_costs_nothing():
    assert (Composition(()).epsilon(1e-6), Composition(()).delta(0.5), Composition(()).mu) == (0, 0, 0)


@given(
    st.floats(1e-4, 100),
    st.floats(1e-15, 0.1),
    st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=60),
)
@settings(max_examples=150, deadline=None)
def test_shares_of_a_budget_never_exceed_it_in_exact_arithmetic(epsilon, delta, shares):
    budget = Budget.of(epsilon, delta)
    costs = budget.split(shares)
    spent = sum(Fraction(cost.mu) ** 2 for cost in costs)
    assert spent <= Fraction(budget.mu) ** 2
    assert spent >= Fraction(budget.mu) ** 2 * (1 - Fraction(1, 10**12))
    assert costs[0].mu / costs[-1].mu == pytest.approx(math.sqrt(shares[0] / shares[-1]), rel=1e-12)


@pytest.mark.parametrize("shares", [[], [0.5, 0.0], [-1.0, 2.0], [math.nan]])
def test_shares_must_be_positive(shares):
    with pytest.raises(ValueError, match="must be"):
        Budget.of(1.0, 1e-6).split(shares)


def test_a_budget_needs_a_delta():
    with pytest.raises(ValueError, match="delta must be > 0"):
        Budget.of(1.0, 0.0)
