"""Rules of the curator, one by one: noise of a release, who pays, parts of the rows, and the minimised objective."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from discreet.curator import Curator
from discreet.curator.accountant import Accountant, Rehearsal, Rehearsed, _fits_into, disclosure
from discreet.curator.minimum import (
    COUPLING_FAILURE,
    MOST_PENALTY,
    Minimum,
    ObjectiveNoise,
    find_minimum,
    ridge_strength,
    smoothed,
)
from discreet.curator.noise import GridNoise
from discreet.curator.passes import OnePass, sum_of
from discreet.curator.protocols import WHOLE, listening
from discreet.curator.walk import RowByRow, noise_of_rows, walk_noise, walk_scale
from discreet.curator.watch import answered, passed, watching, without_progress
from discreet.domain import Domain, Encoder, Numeric
from discreet.engines import MemoryEngine
from discreet.engines.progress import listener
from discreet.errors import BudgetError, GuaranteeError, StoredResultWarning, WeakGuaranteeWarning
from discreet.noise import SeededBits
from discreet.privacy import GDP, Approximate, Budget, Ledger, Perturbed, Pure, Repeated, Reservation, Split
from discreet.rows import Answer, CrossMoment, Labels, LinearMap, LogisticLoss, PowerSums, Residues, product_parts
from discreet.rows.grid import left_grid, right_grid
from discreet.rows.logistic_loss import WholeTheta
from discreet.rows.walk import LONGEST, UNITS, Walk

ENCODER = Encoder(Domain.from_bounds(["a", "b"], (-1, 1)), Numeric("y", -1, 1))
LOOK = PowerSums(2, math.sqrt(2))
SQUARE = CrossMoment(2, math.sqrt(2), True, False)
BUDGET = Budget.of(1.0, 1e-6)


def engine(rows: int = 12) -> MemoryEngine:
    rng = np.random.default_rng(0)
    return MemoryEngine(ENCODER.encode, rng.uniform(-1, 1, (rows, 2)), rng.uniform(-1, 1, rows))


@pytest.fixture
def ledger(tmp_path, monkeypatch) -> Ledger:
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    return Ledger.create(tmp_path / "budget.ledger", epsilon=10.0, delta=1e-6)


# The noise of one sum


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


# Who pays


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
    assert accountant.left.mu == BUDGET.mu
    assert accountant.payment is None
    assert ledger.charges == 0
    key = accountant.pay("look", [("look", GDP(0.1))], "0")
    assert accountant.pay("more", [("more", GDP(0.05))], "1") == key
    assert [(entry.label, entry.costs) for entry in ledger.history] == [("my fit", (GDP(BUDGET.mu),))]
    assert accountant.left.mu == pytest.approx(math.sqrt(BUDGET.mu**2 - 0.1**2 - 0.05**2))
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
    assert accountant.left.mu == 0.1


def test_parts_are_paid_by_the_whole(ledger):
    whole = Accountant(ledger, asked=BUDGET, job="search")
    first, second = whole.part("first", [GDP(0.1)]), whole.part("second", [GDP(0.1)])
    assert whole.left.mu == pytest.approx(math.sqrt(BUDGET.mu**2 - 0.02))
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


# The curator


def test_a_row_of_several_records_moves_sums_by_all_of_them():
    curator, plain = Curator(engine()), Curator(engine(), rows_per_person=3)
    curator.expand(3)
    assert curator.noise_std(LOOK, GDP(0.5)) == plain.noise_std(LOOK, GDP(0.5))
    assert curator.noise_std(LOOK, GDP(0.5)) == pytest.approx(3 * Curator(engine()).noise_std(LOOK, GDP(0.5)), rel=1e-6)
    assert curator.public_rows is None
    assert not curator.one_row_each
    curator.sum(LOOK, GDP(0.5))
    with pytest.raises(ValueError, match="the number of records of a row must be declared before the first release"):
        curator.expand(2)
    with pytest.raises(ValueError, match="number of records"):
        Curator(engine()).expand(0)
    one = Curator(engine())
    one.expand(1)
    assert (one.public_rows, one.one_row_each) == (12, True)


def test_what_a_curator_counts_as_public():
    assert Curator(engine()).replaces_rows
    assert not Curator(engine(), neighbours="add_or_remove_one").replaces_rows
    assert Curator(engine(), weighted=True).public_rows is None
    assert not Curator(engine(), rows_per_person=2).one_row_each
    assert Curator(engine(), job="fit").job == "fit"
    grouped = Curator(engine(), grouped=True, rows_per_person=2).guarantee
    assert (grouped.grouped, grouped.rows_per_person, grouped.seeded) == (True, 2, False)
    assert Curator(engine(), bits=SeededBits(0)).guarantee.seeded


def test_several_sums_come_from_one_pass():
    class Counted:
        rows, ordered, passes = 12, True, 0

        def sum_rows(self, function, part=None):
            self.passes += 1
            return engine().sum_rows(function, part)

    counted = Counted()
    together = Curator(counted, bits=SeededBits(4)).sums([(LOOK, GDP(0.5)), (SQUARE, GDP(0.25))])
    assert counted.passes == 1
    apart = Curator(engine(), bits=SeededBits(4))
    for answer, (query, mu) in zip(together, ((LOOK, 0.5), (SQUARE, 0.25)), strict=True):
        assert np.array_equal(answer.value, apart.sum(query, GDP(mu)).value)
    parts = [product_parts(LOOK, ENCODER.encode(np.zeros((3, 2)), np.zeros(3))) for _ in range(3)]
    assert np.array_equal(sum_of(parts), 3 * parts[0])
    one = OnePass(lambda function: function(ENCODER.encode(np.zeros((3, 2)), np.zeros(3))), [LOOK, LOOK])
    assert np.array_equal(one.parts(1), parts[0])


def test_parts_of_the_rows_answer_for_themselves():
    curator = Curator(engine())
    first, second = curator.split([1, 2], GDP(0.5))
    assert (first.public_rows, second.public_rows) == (4, 8)
    assert first.noise_std(LOOK, GDP(0.5)) == curator.noise_std(LOOK, GDP(0.5))
    one, two = second.sums([(LOOK, GDP(0.3)), (LOOK, GDP(0.4))])
    assert (one.noise_std, two.noise_std) == (curator.noise_std(LOOK, GDP(0.3)), curator.noise_std(LOOK, GDP(0.4)))
    releases = curator.guarantee.releases
    assert [(release.part, release.split.number) for release in releases] == [(1, 0), (1, 0)]
    assert curator.guarantee.mu == 0.5
    other = PowerSums(2, 1.0)
    with pytest.raises(ValueError, match="queries whose sums are added must have the same shape and bounds"):
        Curator(engine()).split([2], GDP(0.5))[0].sum_each([LOOK, other], GDP(0.1))
    huge = Curator(engine()).split([2, 2], GDP(1e6))[0]
    exact = [Curator(engine()).split([1, 1, 2], GDP(1e6))[number].sum(LOOK, GDP(1e6)).value for number in (0, 1)]
    np.testing.assert_allclose(huge.sum_each([LOOK, LOOK], GDP(1e6)).value, exact[0] + exact[1], atol=1e-3)


def test_parts_need_as_many_rows_and_rows_with_positions():
    assert len(Curator(engine()).split([1] * 12, GDP(0.5))) == 12
    with pytest.raises(ValueError, match="n_samples=12 rows are too few to be split into 13 parts"):
        Curator(engine()).split([1] * 13, GDP(0.5))
    loose = SimpleNamespace(rows=12, ordered=False)
    with pytest.raises(ValueError, match="the rows of this table have no fixed order: use the default solver"):
        Curator(loose).split([1, 1], GDP(0.5))
    Curator(engine()).require_positions()


def test_a_shuffled_pass_must_be_worth_its_cost(ledger):
    rows = engine(500)
    with pytest.raises(ValueError, match="too many to store: fit without job="):
        Curator(rows, ledger=ledger, job="fit").shuffle(GDP(0.1), 0.5, 1e-6)
    with pytest.raises(ValueError, match=r"500 shuffled answers of mu 0\.26 cost more than epsilon 0\.5 at 1e-06"):
        Curator(rows).shuffle(GDP(0.26), 0.5, 1e-6)
    curator = Curator(rows, bits=SeededBits(2))
    parts = curator.shuffle(GDP(0.25), 0.5, 1e-6)
    assert len(parts) == 500
    assert all(part.public_rows == 1 for part in parts)
    parts[3].sum(LOOK, GDP(0.25))
    assert curator.guarantee.epsilon(1e-6) == 0.5
    with pytest.raises(ValueError, match="in one answer"):
        parts[3].sum(LOOK, GDP(0.01))


def test_a_selection_states_its_scale_and_refuses_what_cannot_be_picked():
    ranking = SimpleNamespace(
        width=4, excluded=np.zeros(0, dtype=np.int64), sides="both", label="pick", weight_bound=2.0, cell_bound=1.0
    )
    curator = Curator(engine())
    cost = Repeated(Pure(0.5, bounded_range=True), 2)
    assert curator.selection_scale(ranking, cost) == pytest.approx(2 * 2 * 2.0 / 0.5, rel=1e-6)
    more = Curator(engine(), rows_per_person=2)
    more.expand(3)
    assert more.selection_scale(ranking, cost) == pytest.approx(6 * 16.0, rel=1e-6)
    with pytest.raises(ValueError, match="cannot pick 5 of 4 columns"):
        curator.select(ranking, Repeated(Pure(0.5), 5))


def test_a_minimisation_is_about_single_rows_of_the_curators_neighbours():
    query = loss()
    for curator, replaced in (
        (Curator(engine()), False),
        (Curator(engine(), neighbours="add_or_remove_one"), True),
        (Curator(engine(), rows_per_person=2), True),
    ):
        with pytest.raises(ValueError, match="with one row per person"):
            curator.minimise(query, Perturbed(0.3, 0.1, 0.01, replaced, 1e-15))


# A pass row by row


def test_the_noise_of_a_row_is_that_of_a_row_replaced():
    assert walk_scale(GDP(0.5)) == math.sqrt((2 * LONGEST / 0.5 * (1 + 1e-12)) ** 2 + 4)
    walk = Walk(LinearMap(np.eye(3)), Labels(0.0, 1.0), 1.0)
    noise = walk_noise(walk, GDP(0.5), 0.25)
    assert noise.scales.tolist() == [[walk_scale(GDP(0.5))]] * 3
    assert (noise.shift, noise.unit, noise.reach, noise.geometry) == (0, 0.25 / UNITS, 2 * LONGEST, "free")
    drawn = list(noise_of_rows(walk, GDP(0.5), 5000, SeededBits(1)))
    assert len(drawn) == 5000
    assert all(one.shape == (3,) for one in drawn)
    assert len(list(noise_of_rows(walk, GDP(0.5), 4096, SeededBits(1)))) == 4096
    spread = np.array(drawn, dtype=float).std() / walk_scale(GDP(0.5))
    assert spread == pytest.approx(1, rel=0.05)  # 15,000 draws know it to 0.6 percent


@pytest.mark.parametrize("whole", [True, False])
def test_every_row_is_asked_once_in_its_order(whole):
    rows = engine(3)
    held = rows if whole else SimpleNamespace(sum_rows=rows.sum_rows)
    walk = Walk(LinearMap(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])), Labels(0.0, 1.0), 4.0, "step")
    heard = []

    def release(release, noise, exact, drawn):
        heard.append((release, exact()))
        return exact() + drawn

    split = Split(0, 3, GDP(0.5), GDP(0.5))
    steps = RowByRow(walk, GDP(0.5), split, [2, 0, 1], held, SeededBits(1), release)
    assert len(steps) == 3
    encoded = np.empty((2, 3))
    block = rows.whole_block()
    block.write_x(encoded)
    for row in (2, 0, 1):
        answer = steps.step(np.array([0.5, 0.25]), lambda y, index: y - index, 4.0)
        made, exact = heard[-1]
        z = encoded[:, row]
        expected = (float(block.y[row]) - z @ [0.5, 0.25]) * z
        assert exact[:, 0].astype(float) * 4.0 / UNITS == pytest.approx(expected, abs=1e-5)
        assert (made.label, made.cost, made.split, made.part) == ("step", GDP(0.5), split, len(heard) - 1)
        assert made.sensitivity == 2 * LONGEST * 4.0 / UNITS
        assert made.noise_std == walk_scale(GDP(0.5)) * 4.0 / UNITS == answer.noise_std
    with pytest.raises(ValueError, match="every row has already answered"):
        steps.step(np.zeros(2), lambda y, index: 1.0, 4.0)


# Who looks on


def test_a_watch_hears_of_passes_and_answers_and_of_nothing_unheard():
    heard = []
    passed()
    answered()
    token = watching.set(SimpleNamespace(passed=lambda: heard.append("pass"), answered=lambda: heard.append("answer")))
    listen = listener.set(lambda *facts: heard.append("rows"))
    try:
        passed()
        answered()
        with without_progress():
            assert listener.get() is None
        assert listener.get() is not None
    finally:
        watching.reset(token)
        listener.reset(listen)
    assert heard == ["pass", "answer"]


def test_answers_are_kept_as_whole_numbers():
    whole = np.array([[2**80, -3]], dtype=object)
    assert WHOLE.pack(whole) == {"whole": [[2**80, -3]]}
    assert WHOLE.unpack(WHOLE.pack(whole)).tolist() == whole.tolist()
    assert listening.get() is None


# The minimised objective


def loss(size: int = 2, penalty: float = 0.0) -> LogisticLoss:
    linear = LinearMap(np.eye(size))
    return LogisticLoss(linear, Labels(0.5, 0.5), 3.0, penalty * np.eye(size), np.full(size, 0.25))


COST = Perturbed(0.5, 0.2, 0.02, True, 1e-15)


@pytest.mark.parametrize("public_rows", [None, 0, 1, 1000, 2**20, 2**30])
@pytest.mark.parametrize("penalty", [0.0, 3.0])
def test_numbers_of_a_minimised_objective_are_those_of_its_proof(public_rows, penalty):
    query = loss(2, penalty)
    noise = ObjectiveNoise.covering(query, COST, public_rows)
    bound, root = query.bound, math.sqrt(2)
    assert noise.strength == ridge_strength(bound, COST) == bound**2 / (4 * 0.2) * (1 + 1e-12)
    assert noise.noise_unit == bound / 0.5 / math.sqrt(2.0**76 - 4) * (1 + 1e-12)
    assert noise.noise_std == 2.0**38 * noise.noise_unit
    share = 2.0**-22 if public_rows is None else max(2.0**-30, 2.0**-46 * public_rows)
    assert noise.tolerance == share * bound
    apart = 2 * (noise.tolerance + 20 * root * noise.noise_unit) / noise.strength
    assert noise.smoothing_unit <= apart / 0.02 / 2.0**24 < 2 * noise.smoothing_unit
    assert math.log2(noise.smoothing_unit).is_integer()
    reach = apart / noise.smoothing_unit + 2 * root
    assert noise.smoothing_scale == math.sqrt((reach / 0.02 * (1 + 1e-12)) ** 2 + 4)
    assert noise.smoothing_std == noise.smoothing_scale * noise.smoothing_unit
    rows = 2.0**24 if public_rows is None else max(public_rows, 1)
    curvature = penalty + noise.strength + rows * bound**2 / 4
    finest = noise.tolerance / (16 * root * curvature)
    assert noise.theta_unit <= finest < 2 * noise.theta_unit
    assert math.log2(noise.theta_unit).is_integer()
    for neighbours, rows_moved in (("replace_one", 2), ("add_or_remove_one", 1)):
        release = noise.release(neighbours)
        assert (release.label, release.sensitivity) == ("perturbed objective", rows_moved * bound)
        assert (release.noise_std, release.cost) == (noise.noise_std, COST)
    answer = noise.answer(np.array([3, -4], dtype=object))
    assert isinstance(answer, Answer)
    assert answer.value.tolist() == [[3 * noise.smoothing_unit], [-4 * noise.smoothing_unit]]
    assert answer.noise_std == noise.smoothing_std


def test_an_objective_needs_slack_for_its_coupling_and_no_endless_penalty():
    assert COUPLING_FAILURE == 1e-21
    assert MOST_PENALTY == 2.0**44
    ObjectiveNoise.covering(loss(), Perturbed(0.5, 0.2, 0.02, True, 2e-21), 100)
    with pytest.raises(ValueError, match=r"the cost's slack must be at least 2e-21, got 1.9e-21"):
        ObjectiveNoise.covering(loss(), Perturbed(0.5, 0.2, 0.02, True, 1.9e-21), 100)
    strength = ridge_strength(loss().bound, COST)
    ObjectiveNoise.covering(loss(2, 2.0**44 * strength), COST, 100)
    with pytest.raises(ValueError, match=r"the penalty must be at most 1\.76e\+13 times the ridge, got"):
        ObjectiveNoise.covering(loss(2, 2.0**44 * strength * 1.001), COST, 100)


def test_the_quadratic_part_is_above_penalty_and_ridge_where_there_is_a_penalty():
    query = LogisticLoss(
        LinearMap(np.eye(3)), Labels(0.5, 0.5), 1.0, np.array([[0.0, 0, 0], [0, 2.0, 1.0], [0, 0.0, 4.0]]), np.ones(3)
    )
    noise = ObjectiveNoise.covering(query, COST, 100)
    margin, strength = 1e-12 * 6.0, noise.strength
    expected = [[strength, 0, 0], [0, 2.0 + (strength + margin), 0.5], [0, 0.5, 4.0 + (strength + margin)]]
    assert noise.quadratic.tolist() == expected
    theta = WholeTheta.near(np.array([0.3, -0.2, 0.1]), noise.theta_unit)
    linear = np.array([5, -6, 7], dtype=object)
    exact = [
        sum(Fraction(a) * int(b) * Fraction(noise.theta_unit) for a, b in zip(row, theta.whole, strict=True))
        + int(term) * Fraction(noise.noise_unit)
        - Fraction(strength * 1.0)
        for row, term in zip(noise.quadratic.tolist(), linear, strict=True)
    ]
    assert noise.outside_gradient(theta, linear).tolist() == [float(entry) for entry in exact]


@pytest.mark.parametrize("centre", [0.25, 3.0])
def test_a_minimum_without_rows_is_where_ridge_and_linear_term_balance(centre):
    """And the point is released on its own grid, with the noise that was planned."""
    query = LogisticLoss(LinearMap(np.eye(2)), Labels(0.5, 0.5), 1.0, np.zeros((2, 2)), np.full(2, centre))
    noise = ObjectiveNoise.covering(query, COST, 100)
    looks = []

    def look(theta):
        looks.append(theta)
        return np.zeros(2), np.zeros((2, 2))

    found = find_minimum(noise.release("replace_one"), noise, look, SeededBits(5))
    expected = centre - found.linear.astype(float) * noise.noise_unit / noise.strength
    assert found.theta.value == pytest.approx(expected, rel=1e-6)
    assert len(looks) == 2  # one step of Newton's is exact here
    spread = np.array([find_minimum(None, noise, look, SeededBits(seed)).linear for seed in range(60)], dtype=float)
    assert spread.std() / 2.0**38 == pytest.approx(1, rel=0.3)
    ratio = Fraction(found.theta.unit) / Fraction(noise.smoothing_unit)
    assert found.whole.tolist() == [round(Fraction(int(entry)) * ratio) for entry in found.theta.whole]
    released = smoothed(found, SeededBits(6))
    assert released.shape == (2,)
    assert 0 < np.abs((released - found.whole).astype(float)).max() < 6 * noise.smoothing_scale
    assert isinstance(found, Minimum)


def test_steps_that_lengthen_the_gradient_are_halved_until_they_do_not():
    """A look whose gradient saturates: Newton's full step overshoots."""
    query = LogisticLoss(LinearMap(np.eye(1)), Labels(0.5, 0.5), 1.0, np.zeros((1, 1)), np.zeros(1))
    noise = ObjectiveNoise.covering(query, Perturbed(50.0, 1.0, 0.02, True, 1e-15), 1000)

    seen = []

    def look(theta):
        seen.append(theta.value[0])
        bent = math.tanh(3 * (theta.value[0] - 1.0))
        return np.array([2 * bent]), np.array([[6 * (1 - bent**2)]])

    found = find_minimum(None, noise, look, SeededBits(1))
    gradient = look(found.theta)[0] + noise.outside_gradient(found.theta, found.linear)
    assert abs(gradient[0]) <= noise.tolerance / 2
    assert [seen[2], seen[3]] == pytest.approx([seen[1] / 2, seen[1] / 4], rel=1e-9)
    assert len(seen) < 12

    def hopeless(theta):
        looks.append(1)
        return np.array([1.0]), np.array([[1.0]])

    looks = []
    with pytest.raises(GuaranteeError, match="could not be certified; nothing was released"):
        find_minimum(None, noise, hopeless, SeededBits(1))
    assert len(looks) == 500


def test_a_split_is_remembered_by_its_number(ledger):
    curator = Curator(engine(), ledger=ledger)
    curator.split([1, 1], GDP(0.1))
    second = curator.split([1, 2], GDP(0.2))
    assert [entry.label for entry in ledger.history] == [
        "2 disjoint parts, at most mu 0.1 each",
        "2 disjoint parts, at most mu 0.2 each",
    ]
    second[0].sum(LOOK, GDP(0.2))
    assert curator.guarantee.releases[0].split.number == 1
    assert isinstance(second[1]._rows, Residues)


def test_a_pass_in_plain_order_does_not_call_it_secret():
    curator = Curator(engine(3))
    steps = curator.walk(Walk(LinearMap(np.eye(3)), Labels(0.0, 1.0), 1.0), GDP(0.5))
    steps.step(np.zeros(3), lambda y, index: 1.0, 1.0)
    assert str(curator.guarantee.splits[0]) == "3 disjoint parts, at most mu 0.5 each"
