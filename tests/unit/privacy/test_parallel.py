"""Questions to disjoint parts of the rows are paid for once, and nothing beyond that is given away."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Ledger
from discreet.curator import Curator
from discreet.domain import Domain, Encoder, Numeric
from discreet.engines import MemoryEngine
from discreet.errors import BudgetError
from discreet.privacy import GDP, Approximate, joint
from discreet.rows import CrossMoment, Labels, LinearMap, PowerSums, Residues
from discreet.rows.walk import Walk

ENCODER = Encoder(Domain.from_bounds(["a", "b"], (-1, 1)), Numeric("y", -1, 1))
QUERY = PowerSums(2, ENCODER.radius)
WALK = Walk(LinearMap(np.eye(3)), Labels(0.0, 1.0), 1.0)


def curator(rows: int = 60, **options) -> Curator:
    random = np.random.default_rng(0)
    engine = MemoryEngine(ENCODER.encode, random.uniform(-1, 1, (rows, 2)), random.uniform(-1, 1, rows))
    return Curator(engine, **options)


@given(widths=st.lists(st.integers(1, 5), min_size=1, max_size=6), rows=st.integers(0, 60), first=st.integers(0, 40))
def test_parts_side_by_side_hold_every_row_once(widths, rows, first):
    parts = Residues.side_by_side(widths)
    found = np.sort(np.concatenate([part.positions(rows, first) for part in parts]))
    assert np.array_equal(found, np.arange(rows))
    assert sum(part.count(rows) for part in parts) == rows
    for part in parts:
        assert len(part.positions(rows)) == part.count(rows)
        expected = [i for i in range(rows) if part.low <= (i + first) % part.modulus < part.high]
        assert part.positions(rows, first).tolist() == expected


@given(width=st.integers(1, 4), pieces=st.integers(1, 4), low=st.integers(0, 3), rows=st.integers(0, 50))
def test_pieces_of_a_part_are_the_part(width, pieces, low, rows):
    part = Residues(low + width * pieces + 1, low, low + width * pieces)
    found = np.sort(np.concatenate([piece.positions(rows) for piece in part.cut(pieces)]))
    assert np.array_equal(found, part.positions(rows))


def test_all_parts_together_cost_what_one_may():
    source = curator()
    for part in source.split([1, 2, 3], GDP(0.5)):
        part.sum(QUERY, GDP(0.3))
        part.sum(QUERY, GDP(0.4))
    assert source.guarantee.mu == 0.5
    assert len(source.guarantee.releases) == 6
    source.sum(QUERY, GDP(1.2))
    assert source.guarantee.mu == pytest.approx(1.3)
    assert "6 answers from 3 disjoint parts" in str(source.guarantee)


def test_a_part_gives_no_more_than_it_may():
    source = curator()
    part, other = source.split([1, 1], GDP(0.5))
    part.sum(QUERY, GDP(0.4))
    with pytest.raises(ValueError, match=r"may cost mu 0\.5 in all"):
        part.sum(QUERY, GDP(0.31))
    assert len(source.guarantee.releases) == 1
    other.sum(QUERY, GDP(0.5))


def test_splits_of_several_results_add_up():
    guarantees = []
    for _ in range(2):
        source = curator()
        for part in source.split([1, 1], GDP(3.0)):
            part.sum(QUERY, GDP(3.0))
        guarantees.append(source.guarantee)
    assert joint(guarantees).mu == pytest.approx(3 * np.sqrt(2))


def test_a_sum_of_pieces_asks_each_piece_its_own_question():
    source = curator(rows=400)
    (part,) = source.split([4], GDP(1e6))
    queries = [CrossMoment(2, ENCODER.radius, intercept=False, with_y=True)] * 2
    halves = source.split([2, 2], GDP(1e6))
    together = part.sum_each(queries, GDP(1e6)).value
    apart = sum(half.sum(queries[0], GDP(1e6)).value for half in halves)
    assert np.allclose(together, apart, atol=1e-3)
    with pytest.raises(ValueError, match="same shape and bounds"):
        source.split([2], GDP(1.0))[0].sum_each([queries[0], QUERY], GDP(1.0))


def test_a_row_in_secret_order_is_asked_once_and_the_whole_is_amplified():
    source = curator(rows=300)
    rows = source.walk(WALK, GDP(0.05), (0.5, 1e-6))
    for _ in range(300):
        rows.step(np.zeros(3), lambda y, index: 1.0, 1.0)
    with pytest.raises(ValueError, match="every row has already answered"):
        rows.step(np.zeros(3), lambda y, index: 1.0, 1.0)
    assert source.guarantee.splits[0].cost == Approximate(0.5, 1e-6)
    assert source.guarantee.epsilon(1e-6) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="cost more than epsilon"):
        source.walk(WALK, GDP(2.0), (0.5, 1e-6))


def test_a_secret_order_has_all_rows_and_is_another_each_time():
    orders = [curator(rows=200).walk(WALK, GDP(0.01), (0.5, 1e-6))._order for _ in range(2)]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(200))
    assert orders[0] != orders[1]  # equal once in 200! runs


@pytest.mark.parametrize("options", [{"neighbours": "add_or_remove_one"}, {"grouped": True}], ids=str)
def test_parts_by_position_are_refused_where_a_row_has_no_fixed_place(options):
    for ask in (lambda source: source.split([1, 1], GDP(1.0)), lambda source: source.walk(WALK, GDP(0.01))):
        with pytest.raises(ValueError, match="replace_one"):
            ask(curator(**options))


def test_more_parts_than_rows_are_refused():
    with pytest.raises(ValueError, match="too few to be split into 61 parts"):
        curator().split([1] * 61, GDP(1.0))


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    return Ledger.create(tmp_path / "budget.db", epsilon=2, delta=1e-6)


def test_a_split_is_charged_once_and_before_any_part_is_asked(ledger):
    source = curator(ledger=ledger)
    parts = source.split([1] * 10, GDP(0.2))
    assert [entry.cost for entry in ledger.history] == [GDP(0.2)]
    for part in parts:
        part.sum(QUERY, GDP(0.2))
    assert ledger.spent.mu == pytest.approx(0.2)
    with pytest.raises(BudgetError):
        source.split([1, 1], GDP(50.0))


def test_a_job_gives_the_parts_stored_answers_again(ledger):
    answers = []
    for _ in range(2):
        parts = curator(ledger=ledger, job="fit").split([1, 1], GDP(0.2))
        answers.append([part.sum(QUERY, GDP(0.2)).value for part in parts])
    assert np.array_equal(*answers)
    assert ledger.spent.mu == pytest.approx(0.2)
