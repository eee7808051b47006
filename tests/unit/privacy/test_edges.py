"""Limits of rules: the last value that is accepted, the first that is refused, and the message."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BudgetError, GuaranteeError
from discreet.privacy import (
    GDP,
    ZCDP,
    Approximate,
    Budget,
    Composition,
    Cover,
    Guarantee,
    Perturbed,
    Pure,
    Release,
    Repeated,
    Reservation,
    Spending,
    Split,
    amplified,
    classical_noise_std,
    clones_delta,
    clones_epsilon,
    compose,
    gaussian_cover,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
    gaussian_noise_std,
    joint,
    shuffled_mu,
    unit_from_dict,
)
from discreet.privacy.composition import _composed_pld, _largest_loss, _Sum
from discreet.privacy.perturbed import connected
from discreet.privacy.profile import check_delta, check_epsilon, check_finite_epsilon
from discreet.privacy.shuffling import largest_local
from discreet.privacy.squares import root_above, root_below, sum_of_squares


def test_gaussian_noise_at_the_ends():
    assert gaussian_delta(10.0, 0.01) == 5e-324
    assert gaussian_delta(0.0, 1e-300) > 0
    assert gaussian_delta(math.inf, 3.0) == 0.0
    assert gaussian_delta(0.0, 100.0) == 1.0
    assert gaussian_mu(1.0, 1.0) == gaussian_mu(math.inf, 1e-6) == math.inf
    assert gaussian_epsilon(1.0, 3.0) == gaussian_epsilon(1.0, math.inf) == 0.0
    assert gaussian_epsilon(0.0, 0.0) == 0.0
    assert gaussian_noise_std(1.0, 1.0) == 0.0
    # Noise is rounded up: the exact quotient is below it, and the float before it is not above the
    # quotient.
    mu, noise = gaussian_mu(1.0, 1e-6), gaussian_noise_std(1.0, 1e-6, 3.0)
    assert noise == math.nextafter(3.0 / mu, math.inf)
    assert classical_noise_std(2.0, 1e-6, 3.0) == pytest.approx(math.sqrt(2 * math.log(1.25e6)) * 3 / 2)
    for arguments in ((math.nan, 1.0), (1.0, math.nan)):
        with pytest.raises(ValueError, match="must be >= 0, got nan"):
            gaussian_delta(*arguments)


@pytest.mark.parametrize("check", [check_epsilon, check_finite_epsilon, check_delta])
def test_numbers_of_any_type_are_checked(check):
    for fine in (1, 1.0, np.float32(0.5), np.int64(1), 5e-324):
        check(fine)
    for bad in ("1", None, -1, math.nan):
        with pytest.raises(ValueError, match="must be a number"):
            check(bad)


def test_which_ends_are_numbers_of_their_own():
    check_delta(0)
    check_delta(1)
    check_epsilon(math.inf)
    with pytest.raises(
        ValueError, match="epsilon must be a finite number > 0, got inf: an infinite one gives no guarantee"
    ):
        check_finite_epsilon(math.inf)
    for check, value in ((check_epsilon, 0), (check_delta, -5e-324), (check_delta, math.nextafter(1, 2))):
        with pytest.raises(ValueError, match="must be a number"):
            check(value)
    with pytest.raises(ValueError, match="delta must be > 0 for Gaussian noise, got 0"):
        gaussian_mu(1.0, 0)
    with pytest.raises(ValueError, match="delta must be a number"):
        classical_noise_std(1.0, 2.0)
    with pytest.raises(ValueError, match="epsilon must be a number"):
        classical_noise_std(0.0, 1e-6)


def test_free_and_worthless_units():
    assert (GDP(0.0).mu, GDP(0.0).rho, GDP(0.0).epsilon(0.0), GDP(0.0).delta(0.0)) == (0, 0, 0, 0)
    assert (ZCDP(0.0).mu, ZCDP(0.0).epsilon(0.0), ZCDP(0.0).delta(0.0)) == (0, 0, 0)
    assert (ZCDP(1e-9).mu, ZCDP(1e-9).epsilon(0.0)) == (math.inf, math.inf)
    assert ZCDP(1e3).delta(0.0) == 1.0
    assert ZCDP(0.1).epsilon(1.0) == 0.0
    nothing = Approximate(1.0, 1.0)
    assert (nothing.epsilon(1.0), nothing.epsilon(0.5), nothing.delta(3.0)) == (0.0, math.inf, 1.0)
    assert Approximate(1.0, 0.0).epsilon(0.0) == 1.0
    assert ZCDP(0.1).loss_distribution() is None
    assert ZCDP.from_epsilon(1.0, 1.0).rho == pytest.approx(1.0)


def test_units_say_what_they_are():
    assert GDP(0.5).to_dict() == {"unit": "GDP", "mu": "0x1.0000000000000p-1"}
    assert Pure(0.5).to_dict() == {"unit": "pure", "epsilon": "0x1.0000000000000p-1"}
    assert Pure(0.5, bounded_range=True).to_dict()["unit"] == "selection"
    assert ZCDP(0.5).to_dict() == {"unit": "zCDP", "rho": "0x1.0000000000000p-1"}
    two = Repeated(Pure(0.5), 2).to_dict()
    assert two == {"unit": "repeated pure", "epsilon": "0x1.0000000000000p-1", "times": "2"}
    for replaced in (False, True):
        cost = Perturbed(0.1, 0.2, 0.3, replaced, 1e-9, 0.4)
        assert unit_from_dict(cost.to_dict()) == cost
        assert cost.to_dict()["replaced"] == str(replaced)
    assert (Perturbed(0.1, 0.2, 0.3, False).mu, Perturbed(0.1, 0.2, 0.3, False).rho) == (math.inf, math.inf)
    assert Repeated(Pure(0.5, bounded_range=True), 2).loss_distribution() is None
    assert Pure(0.5).bounded_range is False
    with pytest.raises(KeyError):
        unit_from_dict({"unit": "another"})


def test_repetitions_at_the_ends():
    assert Repeated(Pure(0.1), 1).times == 1
    with pytest.raises(ValueError, match="times must be a whole number >= 1, got 0"):
        Repeated(Pure(0.1), 0)
    with pytest.raises(ValueError, match="delta must be a number"):
        Repeated(Pure(0.1), 2).epsilon(2.0)
    three = Repeated(Pure(0.5), 3)
    assert three.epsilon(0.0) == 1.5
    assert three.delta(math.nextafter(1.5, 0.0)) > 0 == three.delta(1.5)
    assert three.mu > math.sqrt(3) * Pure(0.5).mu


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30))
@settings(max_examples=100, deadline=None)
def test_roots_are_the_nearest_floats_on_their_sides(square):
    below, above = root_below(square), root_above(square)
    assert Fraction(below) ** 2 <= square < Fraction(math.nextafter(below, math.inf)) ** 2
    assert Fraction(above) ** 2 >= square > Fraction(math.nextafter(above, 0.0)) ** 2


def test_exact_squares_have_exact_roots():
    assert root_below(Fraction(0)) == root_above(Fraction(0)) == 0.0
    assert root_below(Fraction(9, 4)) == root_above(Fraction(9, 4)) == 1.5
    assert root_below(Fraction(5e-324) ** 2) == root_above(Fraction(5e-324) ** 2) == 5e-324
    assert sum_of_squares([]) == 0
    assert sum_of_squares([GDP(0.5), GDP(1.5)]) == Fraction(5, 2)


def test_a_hair_is_a_billionth():
    left = Reservation([GDP(1.0)])
    a_hair_more = GDP(math.sqrt(1 + 0.99e-9))
    assert left.grant([a_hair_more]) == [GDP(1.0)]
    with pytest.raises(BudgetError, match="a release of mu 1 was asked for, but 1 is left of what was reserved"):
        left.grant([GDP(math.sqrt(1 + 1.02e-9))])
    with pytest.raises(BudgetError, match=r"must be drawn at the cost that was granted, got mu 1\.00"):
        left.draw(a_hair_more)
    with pytest.raises(BudgetError, match="cannot be made slightly smaller"):
        Reservation([GDP(1.0)]).grant([SimpleNamespace(mu=1.0 + 1e-10)])


def test_a_part_of_the_rows_says_what_it_may_cost():
    split = Split(0, 4, GDP(0.5), GDP(0.5))
    assert str(split) == "4 disjoint parts, at most mu 0.5 each"
    assert str(Split(0, 4, GDP(0.5), GDP(0.5), True)) == "4 disjoint parts, in secret order, at most mu 0.5 each"
    spending = Spending(split)
    assert spending.spend(GDP(0.3)) == GDP(0.3)
    with pytest.raises(ValueError, match=r"may cost mu 0\.5 in all; an answer of mu 0\.5 is too much after 1 others"):
        spending.spend(GDP(0.5))
    assert spending.spend(GDP(0.4)).mu == pytest.approx(0.4)


def test_what_a_budget_doubts():
    assert Budget.of(1.0, 0.0099).doubts() == []
    (large,) = Budget.of(1.0, 0.01).doubts()
    assert large == (
        "with delta 0.01 the guarantee may fail with a probability of 1%; choose it well below one over the "
        "number of people, such as 1e-6"
    )
    assert Budget.of(1.0, 1e-6).doubts(0) == []
    assert Budget.of(1.0, 0.0005).doubts(1999) == []
    (rows,) = Budget.of(1.0, 0.0005).doubts(2000)
    assert "1 / 2,000: publishing one row, picked at random, would satisfy such a guarantee" in rows
    assert rows.endswith("such as 5e-06")
    assert len(Budget.of(1.0, 0.5).doubts(1)) == 1
    assert Budget.of(50.0, 1e-6).doubts() == []
    (epsilon,) = Budget.of(50.5, 1e-6).doubts()
    assert epsilon.startswith("epsilon 50.5 lets the odds of any guess about a person change by a factor of e^50.5")
    with pytest.raises(ValueError, match=r"delta must be below 1: .* got 1"):
        Budget.of(1.0, 1.0)
    assert Budget.of(1.0, math.nextafter(1.0, 0.0)).mu > 10
    with pytest.raises(ValueError, match=r"shares must be positive numbers, got \[1\.0, 0\.0\]"):
        Budget.of(1.0, 1e-6).split([1.0, 0.0])


def release(label: str, cost, split=None, part=0) -> Release:
    return Release(label, 1.0, 2.0, cost, split, part)


def test_a_guarantee_of_parts_is_that_of_their_splits():
    split = Split(0, 3, GDP(0.5), GDP(0.5))
    parts = tuple(release("gradient", GDP(0.2), split, part) for part in range(3))
    guarantee = Guarantee((release("look", GDP(0.1)), *parts), "replace_one")
    assert guarantee.splits == (split,)
    assert guarantee.mu == pytest.approx(math.hypot(0.5, 0.1))
    assert str(guarantee).splitlines()[1:] == [
        "  look: sensitivity 1, noise std 2, mu 0.1",
        "  gradient: 3 answers from 3 disjoint parts, at most mu 0.5 each",
    ]
    three = joint([guarantee, Guarantee((release("look", GDP(0.1)),), "replace_one"), guarantee])
    assert [one.number for one in three.splits] == [0, 1]
    assert three.mu == pytest.approx(math.hypot(0.5, 0.5, 0.1, 0.1, 0.1))
    assert three.rows_per_person == 1
    assert joint([Guarantee((), "replace_one", 3), Guarantee((), "replace_one", 2)]).rows_per_person == 3
    assert not three.seeded


def test_a_guarantee_in_one_line():
    one = Guarantee((release("look", GDP(0.5)),), "replace_one")
    assert repr(one) == f"Guarantee(epsilon {GDP(0.5).epsilon(1e-6):.4g} at delta 1e-06, replace one row, 1 release)"
    several = Guarantee((release("look", GDP(0.5)),) * 2, "add_or_remove_one", 2, grouped=True, seeded=True)
    assert repr(several).endswith("add or remove one person, 2 releases, NOT PRIVATE)")
    split = Split(0, 9, Approximate(1.0, 1e-5), GDP(0.5), True)
    shuffled = Guarantee((release("step", GDP(0.5), split),), "replace_one")
    assert repr(shuffled).startswith("Guarantee(epsilon 1 at delta 1e-05")
    assert str(shuffled).startswith("(epsilon 1 at delta 1e-05), per row")
    assert str(one).startswith("0.5-GDP (epsilon ")


def test_plain_addition_shares_delta_among_those_that_need_one():
    parts = [Approximate(0.5, 1e-7), Pure(0.25), GDP(0.3), ZCDP(0.01)]
    share = (1e-6 - 1e-7) / 2
    expected = 0.75 + GDP(0.3).epsilon(share) + ZCDP(0.01).epsilon(share)
    assert _Sum(parts).epsilon(1e-6) == pytest.approx(expected, rel=1e-12)
    assert _Sum(parts).epsilon(9e-8) == math.inf
    assert _Sum(parts).delta(0.5) == 1.0
    found = _Sum(parts).delta(2.5)
    assert _Sum(parts).epsilon(found) <= 2.5 < _Sum(parts).epsilon(found * (1 - 1e-9))
    assert _Sum([Pure(0.1), Pure(0.2)]).epsilon(0.0) == pytest.approx(0.3)
    assert _Sum([Pure(0.1), Approximate(0.2, 0.0)]).delta(0.4) <= 1.1e-300


def test_how_far_losses_go_decides_whether_a_table_is_made():
    assert _largest_loss(Pure(3.0)) == _largest_loss(Approximate(3.0, 0.1)) == 3.0
    assert _largest_loss(GDP(2.0)) == 22.0
    assert _composed_pld((GDP(0.1), ZCDP(0.1))) is None
    assert _composed_pld((GDP(0.1), Repeated(Pure(0.1, bounded_range=True), 2))) is None
    assert _composed_pld((Pure(60.0), Pure(40.5))) is None
    assert _composed_pld((Pure(99.5),)) is not None
    assert _composed_pld((Approximate(0.1, 0.0), Pure(0.2))) is not None
    assert _composed_pld(()) is None


def test_a_composition_has_parts_in_one_order_and_its_gaussians_first():
    parts = (Pure(0.2), GDP(0.3), Pure(0.1), GDP(0.4))
    assert compose(parts).merged == (GDP(compose([GDP(0.3), GDP(0.4)]).mu), Pure(0.1), Pure(0.2))
    assert compose([Pure(0.2)]).merged == (Pure(0.2),)
    assert compose(parts).rho == pytest.approx(0.125 + 0.005 + 0.02)
    with pytest.raises(ValueError, match="delta must be a number"):
        compose(parts).epsilon(-1.0)
    single = Composition((Approximate(1.0, 1e-6),))
    assert (single.epsilon(1e-7), single.delta(2.0)) == (math.inf, 1e-6)


def test_shuffling_at_the_ends():
    assert clones_delta(1.0, 10, 1.0) == 0.0 < clones_delta(1.0, 10, 0.999)
    assert largest_local(10, 1e-6) == 0.0
    assert largest_local(10**6, 1.0) == 0.0
    most = largest_local(10_000, 1e-6)
    assert clones_epsilon(most, 10_000, 1e-6) > 0
    with pytest.raises(GuaranteeError, match=f"= {most:.3g} for n = 10000 and delta = 1e-06, got {most * 1.01:.4g}"):
        clones_epsilon(most * 1.01, 10_000, 1e-6)
    with pytest.raises(GuaranteeError, match="closed form"):
        clones_epsilon(0.0, 10_000, 1e-6)
    with pytest.raises(
        ValueError, match="shuffling needs n >= 1, 0 < delta < 1 and a finite mu > 0, got 0, 1e-06 and 1"
    ):
        amplified(1.0, 0, 1e-6)
    with pytest.raises(GuaranteeError) as refused:
        shuffled_mu(8.0, 1e-6, 1000)
    assert "(it helps up to about epsilon 2.5)" in str(refused.value)


def test_a_cover_of_what_has_none():
    assert Cover(0.5).slack == 0.0
    assert gaussian_cover([]) == Cover(0.0)
    assert gaussian_cover([Approximate(200.0, 1e-8)]).mu == math.inf
    # Nothing of less than mu 33 covers this one, and the next that is tried is beyond 50.
    assert gaussian_cover([Perturbed(30.0, 1.0, 0.1, True, 1e-19)]).mu == math.inf


def test_a_perturbed_objective_at_the_ends():
    for numbers in ((0.1, math.inf, 0.1), (0.1, 0.1, math.nan)):
        with pytest.raises(ValueError, match="must be finite and positive, got Perturbed"):
            Perturbed(*numbers, False)
    cost = Perturbed(0.3, 0.1, 0.02, False)
    assert (cost.slack, cost.besides_mu) == (0.0, 0.0)
    assert cost.beside(0.0) is cost
    assert cost.beside(0.3).beside(0.4).besides_mu == pytest.approx(0.5, rel=1e-12)
    assert cost.beside(0.3).besides_mu > 0.3
    assert cost.epsilon(1.0) == 0.0
    with pytest.raises(ValueError, match="delta must be a number"):
        cost.epsilon(2.0)
    # One by one or many at once, by the formula or by a table of chords: never below, and hardly
    # above.
    epsilons = np.linspace(0.01, 1.0, 25)
    alone = np.array([cost.delta(float(epsilon)) for epsilon in epsilons])
    many = cost.deltas(epsilons)
    assert np.all(many >= alone * (1 - 1e-9))
    assert np.all(many <= alone * (1 + 1e-3) + 1e-12)


def test_a_hull_skips_points_that_are_no_corners():
    losses = np.log(np.array([0.5, 1.0, 2.0, 4.0]))
    masses, infinite = connected(losses, np.array([0.9, 0.5, 0.45, 0.1]))
    # (0, 1), (1, 0.5), (4, 0.1) are the corners; slopes -0.5, -0.4 / 3 and then 0.
    assert masses == pytest.approx([0.0, 1.0 * (-0.4 / 3 + 0.5), 0.0, 4.0 * 0.4 / 3])
    assert infinite == pytest.approx(0.1, rel=1e-8)
    masses, infinite = connected(losses[:2], np.array([1.5, 1.2]))
    assert masses == pytest.approx([0.0, 0.0])
    assert infinite == pytest.approx(1.0, rel=1e-8)
