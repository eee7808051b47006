"""A reservation: its releases never exceed it, rounding never makes one fail, and other costs keep
their places.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BudgetError
from discreet.privacy import GDP, Approximate, Budget, Perturbed, Pure, Repeated, Reservation, picks_within

shares = st.lists(st.floats(1e-4, 1.0), min_size=1, max_size=60)


def draw(reservation: Reservation, cost):
    (granted,) = reservation.grant([cost])
    reservation.draw(granted)
    return granted


@settings(max_examples=300, deadline=None)
@given(shares, st.floats(1e-8, 1e4), st.booleans())
def test_shares_that_add_up_to_the_whole_always_fit_and_never_exceed_it(parts, mu, selections):
    """Costs as solvers compute them, mu sqrt(share), without any margin of their own."""
    whole = math.fsum(parts)
    reservation = Reservation([GDP(mu)])
    drawn = []
    for number, part in enumerate(parts):
        cost = GDP(mu * math.sqrt(part / whole))
        drawn.append(draw(reservation, picks_within(cost, 3) if selections and number % 2 else cost))
        assert drawn[-1].mu == pytest.approx(cost.mu, rel=1e-8)
    assert sum(Fraction(cost.mu) ** 2 for cost in drawn) <= Fraction(mu) ** 2


def test_the_last_part_takes_what_is_left():
    """sqrt(.1) ten times: the squares add up to more than the whole, by one rounding."""
    mu = Budget.of(1.0, 1e-6).mu
    asked = [GDP(mu * math.sqrt(0.1)) for _ in range(10)]
    assert sum(Fraction(cost.mu) ** 2 for cost in asked) > Fraction(mu) ** 2
    reservation = Reservation([GDP(mu)])
    drawn = [draw(reservation, cost) for cost in asked]
    assert drawn[:9] == asked[:9]
    assert drawn[9].mu < asked[9].mu
    assert reservation.left.mu < 1e-8 * mu


def test_more_than_a_hair_too_much_is_refused_and_draws_nothing():
    reservation = Reservation([GDP(1.0)])
    draw(reservation, GDP(0.8))
    with pytest.raises(BudgetError, match=r"mu 0.600001 .* 0.6 is left"):
        reservation.grant([GDP(0.600001)])
    assert draw(reservation, GDP(0.6 * (1 + 1e-12))).mu == pytest.approx(0.6)
    with pytest.raises(BudgetError):
        reservation.grant([GDP(1e-3)])


def test_several_releases_are_granted_one_after_another():
    reservation = Reservation([GDP(1.0)])
    with pytest.raises(BudgetError):
        reservation.grant([GDP(0.8), GDP(0.8)])
    assert reservation.grant([GDP(0.8), GDP(0.5)]) == [GDP(0.8), GDP(0.5)]
    assert reservation.left == GDP(1.0)  # nothing was drawn


def test_a_cost_that_was_not_granted_cannot_be_drawn():
    reservation = Reservation([GDP(0.5)])
    with pytest.raises(BudgetError, match="granted"):
        reservation.draw(GDP(math.nextafter(0.5, 1)))


def test_a_minimisation_takes_its_own_place_and_no_other():
    cost = Perturbed(0.3, 0.1, 0.01, replaced=True)
    reservation = Reservation([GDP(0.2), cost])
    with pytest.raises(BudgetError):
        reservation.grant([Perturbed(0.31, 0.1, 0.01, replaced=True)])
    with pytest.raises(BudgetError):
        reservation.grant([cost, cost])
    assert draw(reservation, cost) == cost
    assert draw(reservation, GDP(0.2)) == GDP(0.2)
    with pytest.raises(BudgetError):
        reservation.grant([cost])


@pytest.mark.parametrize("cost", [Approximate(1.1, 1e-6), Approximate(1.0, 2e-6), GDP(0.1), Pure(0.1)], ids=str)
def test_a_shuffled_pass_is_covered_by_no_smaller_epsilon_and_delta(cost):
    with pytest.raises(BudgetError):
        Reservation([Approximate(1.0, 1e-6)]).grant([cost])
    assert Reservation([Approximate(1.0, 1e-6)]).grant([Approximate(0.9, 1e-6)]) == [Approximate(0.9, 1e-6)]


def test_a_selection_is_cut_to_what_is_left_by_its_range():
    cost = Repeated(Pure(0.3), 4)
    reservation = Reservation([GDP(cost.mu * (1 - 1e-11))])
    (granted,) = reservation.grant([cost])
    assert granted.times == 4
    assert granted.mu <= reservation.left.mu
    assert granted.each.parameter == pytest.approx(0.3, rel=1e-9)


def test_picks_are_granted_only_if_what_they_count_on_is_left():
    reservation = Reservation([GDP(1.0)])
    picks = picks_within(GDP(0.6), 3, [GDP(0.8)])
    with pytest.raises(BudgetError, match=r"count on later releases of mu 0\.8 .* 0\.793725 would be left"):
        reservation.grant([GDP(0.1), picks])
    assert reservation.grant([picks, GDP(0.1)]) == [picks, GDP(0.1)]
    draw(reservation, picks)
    draw(reservation, GDP(0.8))
    with pytest.raises(BudgetError):
        Reservation([GDP(0.6)]).grant([picks])


def test_picks_of_a_part_may_count_on_what_is_left_of_the_whole():
    whole = Reservation([GDP(1.0)])
    draw(whole, GDP(0.6))
    part, picks = Reservation([GDP(0.6)], within=whole), picks_within(GDP(0.6), 3, [GDP(0.8)])
    assert draw(part, picks) == picks
    draw(whole, GDP(0.5))
    with pytest.raises(BudgetError, match="count on"):
        Reservation([GDP(0.6)], within=whole).grant([picks])


def test_a_pure_release_is_cut_to_what_is_left():
    cost = Pure(0.3)
    reservation = Reservation([GDP(cost.mu * (1 - 1e-11))])
    (granted,) = reservation.grant([cost])
    assert isinstance(granted, Pure)
    assert granted.mu <= reservation.left.mu
    assert granted.parameter == pytest.approx(0.3, rel=1e-9)
