"""Releases of the curator: sums, parts, selections, passes row by row, and watches."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from curator_parts import LOOK, engine, loss

from discreet.curator import Curator
from discreet.curator.protocols import WHOLE, listening
from discreet.curator.walk import RowByRow, noise_of_rows, walk_noise, walk_scale
from discreet.curator.watch import answered, passed, watching, without_progress
from discreet.engines.progress import listener
from discreet.noise import SeededBits
from discreet.privacy import GDP, Perturbed, Pure, Repeated, Split
from discreet.rows import CrossMoment, Labels, LinearMap, PowerSums, Residues
from discreet.rows.walk import LONGEST, UNITS, Walk

SQUARE = CrossMoment(2, math.sqrt(2), True, False)
WALK = Walk(LinearMap(np.eye(3)), Labels(0.0, 1.0), 1.0)


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


def test_a_secret_pass_must_be_worth_its_cost(ledger):
    rows, secret = engine(500), (0.5, 1e-6)
    with pytest.raises(ValueError, match="too many to store: fit without job="):
        Curator(rows, ledger=ledger, job="fit").walk(WALK, GDP(0.1), secret)
    with pytest.raises(ValueError, match=r"500 shuffled answers of mu 0\.26 cost more than epsilon 0\.5 at 1e-06"):
        Curator(rows).walk(WALK, GDP(0.26), secret)
    curator = Curator(rows, bits=SeededBits(2))
    steps = curator.walk(WALK, GDP(0.25), secret)
    assert len(steps) == 500
    steps.step(np.zeros(3), lambda y, index: 1.0, 1.0)
    assert curator.guarantee.epsilon(1e-6) == 0.5


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
    steps = curator.walk(WALK, GDP(0.5))
    steps.step(np.zeros(3), lambda y, index: 1.0, 1.0)
    assert str(curator.guarantee.splits[0]) == "3 disjoint parts, at most mu 0.5 each"
