"""Several picks: what they cost together, and the Gaussian that dominates one of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

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


def test_repetition_costs_what_its_parts_cost_one_by_one():
    unit, delta = Repeated(Pure(0.1, bounded_range=True), 10), 1e-6
    parts = compose([Pure(0.1, bounded_range=True)] * 10)
    assert unit.mu == pytest.approx(parts.mu, rel=1e-12)
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
