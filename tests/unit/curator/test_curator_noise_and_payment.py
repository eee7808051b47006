"""The noise of one sum, and which releases are charged."""

from __future__ import annotations

import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from curator_parts import LOOK

from discreet.curator.accountant import Accountant, Rehearsal, Rehearsed, _fits_into, disclosure
from discreet.curator.noise import GridNoise
from discreet.errors import BudgetError, GuaranteeError, StoredResultWarning, WeakGuaranteeWarning
from discreet.noise import SeededBits
from discreet.privacy import GDP, Approximate, Budget, Reservation
from discreet.rows.grid import left_grid, right_grid

BUDGET = Budget.of(1.0, 1e-6)


@pytest.mark.parametrize("mu", [1e-6, 1e-4, 0.3, 1e12, 1e30])
def test_the_grid_is_as_fine_as_noise_of_39_bits_allows(mu):
    noise = GridNoise.covering(LOOK, GDP(mu), "replace_one", 2)
    (left_unit, left), (right_unit, right) = left_grid(LOOK), right_grid(LOOK)
    fine = 4 * left * right
    assert noise.shift == max(0, math.ceil(math.log2(fine / mu)) - 38)
    assert noise.reach == fine / 2**noise.shift + math.sqrt(6)
    assert noise.unit == 2.0**noise.shift / (left_unit * right_unit)
    assert noise.scales[0, 0] == math.sqrt((noise.reach / mu * (1 + 1e-12)) ** 2 + 4)
    assert noise.scales[0, 0] <= 2.0**40
    release = noise.release("look", GDP(mu))
    assert (release.label, release.sensitivity, release.cost) == ("look", noise.reach * noise.unit, GDP(mu))
    assert release.noise_std == noise.scales[0, 0] * noise.unit


def test_sums_are_rounded_to_the_nearest_unit():
    noise = GridNoise(np.ones((1, 5)), 3, 0.5, 1.0, "free")
    exact = np.array([[-4, -5, 3, 4, 12]], dtype=object)
    assert noise.coarse(exact).tolist() == [[0, -1, 0, 1, 2]]
    assert GridNoise(np.ones((1, 2)), 0, 0.5, 1.0, "free").coarse(exact).tolist() == exact.tolist()
    answer = noise.answer(np.array([[2, -3]], dtype=object))
    assert (answer.value.tolist(), answer.noise_std, answer.isotropic) == ([[1.0, -1.5]], 0.5, False)


@pytest.mark.parametrize("geometry", ["square", "printed_square", "free", "nonnegative"])
def test_a_square_has_noise_of_its_own_in_its_upper_triangle(geometry):
    noise = GridNoise(np.full((3, 3), 1e9), 0, 1.0, 1.0, geometry)
    square = geometry in ("square", "printed_square")
    assert noise.independent.tolist() == (np.triu(np.ones((3, 3))) if square else np.ones((3, 3))).astype(bool).tolist()
    drawn = noise.draw(SeededBits(1))
    assert (drawn == drawn.T).all() == square
    assert len({int(entry) for entry in drawn.ravel()}) == (6 if square else 9)
    assert noise.answer(drawn).isotropic == (geometry == "square")
    one = GridNoise(np.full((1, 1), 100.0), 0, 1.0, 1.0, geometry).draw(SeededBits(1))
    assert one.shape == (1, 1)


def test_without_a_budget_every_release_is_a_charge(ledger):
    accountant = Accountant(ledger)
    assert accountant.grant([GDP(0.1)]) == [GDP(0.1)]
    assert not accountant.keeps
    accountant.reserve([GDP(100.0)])  # there is nothing to take it from
    key = accountant.pay("look", [("look", GDP(0.1)), ("more", GDP(0.2))], "0")
    assert [(entry.key, entry.label, entry.costs) for entry in ledger.history] == [(key, "look", (GDP(0.1), GDP(0.2)))]
    assert accountant.payment is None
    assert Accountant(None).pay("look", [("look", GDP(0.1))], "0") is None
    assert Accountant(ledger, job="fit").keeps
    assert not Accountant(None, job="fit").keeps
    assert Accountant(ledger, job="fit").pay("look", [("look", GDP(0.1))], "3") == "fit/3"


def test_a_fit_is_reserved_once_and_before_its_first_release(ledger):
    accountant = Accountant(ledger, asked=BUDGET, label="my fit")
    assert accountant._reservation.left.mu == BUDGET.mu
    assert accountant.payment is None
    assert ledger.charges == 0
    key = accountant.pay("look", [("look", GDP(0.1))], "0")
    assert accountant.pay("more", [("more", GDP(0.05))], "1") == key
    assert [(entry.label, entry.costs) for entry in ledger.history] == [("my fit", (GDP(BUDGET.mu),))]
    assert accountant._reservation.left.mu == pytest.approx(math.sqrt(BUDGET.mu**2 - 0.1**2 - 0.05**2))
    paid = accountant.payment
    assert (paid.ledger, paid.file, paid.key, paid.total) == (ledger.id, "budget.ledger", key, ledger.total)
    assert paid.before.mu == ledger.total.mu
    assert paid.after == ledger.remaining
    with pytest.raises(ValueError, match="the cost of a fit must be reserved before its first release"):
        accountant.reserve([GDP(0.1)])
    accountant.finish()
    assert ledger.history[0].releases == (("look", GDP(0.1)), ("more", GDP(0.05)))
    free = Accountant(None, asked=BUDGET)
    assert free.pay("look", [("look", GDP(0.1))], "0") is None
    assert free.payment is None
    with pytest.raises(ValueError, match="reserved before its first release"):
        free.reserve([GDP(0.1)])
    with pytest.raises(BudgetError):
        free.pay("look", [("look", GDP(BUDGET.mu))], "1")


def test_costs_in_the_place_of_the_budget_must_fit_into_it():
    accountant = Accountant(asked=BUDGET)
    accountant.reserve([Approximate(1.0, 1e-6)])
    accountant.reserve([Approximate(1.0 + 0.5e-9, 1e-6)])  # what a composition may be off by
    with pytest.raises(GuaranteeError, match=r"cost epsilon 1\.1 at delta 1e-06, more than the 1 asked for"):
        accountant.reserve([Approximate(1.1, 1e-6)])
    with pytest.raises(GuaranteeError, match="nothing was spent"):
        accountant.reserve([Approximate(1.0 + 2e-9, 1e-6)])
    accountant.reserve([GDP(0.1), Approximate(0.2, 1e-8)])
    assert accountant._reservation.left.mu == 0.1


def test_parts_are_paid_by_the_whole(ledger):
    whole = Accountant(ledger, asked=BUDGET, job="search")
    first, second = whole.part("first", [GDP(0.1)]), whole.part("second", [GDP(0.1)])
    assert whole._reservation.left.mu == pytest.approx(math.sqrt(BUDGET.mu**2 - 0.02))
    with pytest.raises(GuaranteeError, match="first would cost more than its part of the fit"):
        first.reserve([GDP(0.11)])
    first.reserve([GDP(0.1)])
    assert first.pay("look", [("look", GDP(0.06))], "0") == "search"
    assert second.pay("look", [("look", GDP(0.06))], "0") == "search"
    assert whole._made == [("first/look", GDP(0.06)), ("second/look", GDP(0.06))]
    assert first._made == [("look", GDP(0.06))]
    assert ledger.charges == 1
    assert (first.payment, first.keeps) == (None, True)
    first.finish()
    assert ledger.history[0].releases == ()
    release = SimpleNamespace(label="look", cost=GDP(0.06))
    assert first.stored("search", "0", [release]) is None
    assert first.keep("search", "0", [release], {"value": 1}) == {"value": 1}
    assert second.stored("search", "0", [release]) is None
    assert first.stored("search", "0", [release]) == {"value": 1}
    assert whole._asked_for == [False, False, True]
    with pytest.warns(StoredResultWarning, match="1 of 3 answers come from ledger"):
        whole.finish()
    with pytest.raises(BudgetError):
        Accountant(asked=BUDGET).part("too much", [GDP(2 * BUDGET.mu)])
    assert Accountant(None).stored("key", "0", [release]) is None
    assert Accountant(ledger).stored("search", "0", [release]) is None
    assert Accountant(ledger, job="search").stored(None, "0", [release]) is None


def test_a_quiet_accountant_leaves_the_warning_to_others(ledger, recwarn):
    for quiet in (False, True):
        accountant = Accountant(ledger, asked=BUDGET, job="fit", quiet=quiet)
        key = accountant.pay("look", [("look", GDP(0.1))], "0")
        release = SimpleNamespace(label="look", cost=GDP(0.1))
        if accountant.stored(key, "0", [release]) is None:
            accountant.keep(key, "0", [release], {"value": 1})
        accountant.finish()
    assert not [warning for warning in recwarn if warning.category is StoredResultWarning]


def test_a_rehearsal_stops_before_anything_is_paid():
    rehearsal = Rehearsal(BUDGET)
    assert rehearsal.costs == (GDP(BUDGET.mu),)
    assert not rehearsal.keeps
    assert Rehearsal(BUDGET, keeps=True).keeps
    with pytest.raises(Rehearsed):
        rehearsal.pay("look", [("look", GDP(0.1))], "0")


def test_a_weak_guarantee_is_doubted_once_by_the_whole():
    weak = Accountant(asked=Budget.of(60.0, 1e-6))
    with pytest.warns(WeakGuaranteeWarning, match="e\\^60"):
        weak.warn_if_weak(10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weak.part("part", [GDP(0.1)]).warn_if_weak(10)
        Accountant().warn_if_weak(10)
    with pytest.warns(WeakGuaranteeWarning):
        Accountant(asked=BUDGET).warn_if_weak(10**7)


def test_costs_fit_into_what_covers_them():
    assert disclosure(1e-9) == Approximate(1e-12, 1e-9)
    assert _fits_into([GDP(0.1)], Reservation([GDP(0.1)]))
    assert not _fits_into([GDP(0.11)], Reservation([GDP(0.1)]))
    cost = Approximate(0.2, 1e-9)
    assert not _fits_into([cost], Reservation([GDP(1.0)]))
    assert _fits_into([cost], Reservation([GDP(1.0), disclosure(1e-8)]))
    assert not _fits_into([cost], Reservation([GDP(0.1), disclosure(1e-8)]))
    assert not _fits_into([cost], Reservation([GDP(1.0), disclosure(1e-10)]))
    assert _fits_into([cost], Reservation([GDP(1.0), disclosure(0.6e-9), disclosure(0.6e-9)]))
