"""Selections: charged first, with exact probabilities, and paid once for one answer."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from math import exp, prod

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.curator import Curator
from discreet.engines import MemoryEngine
from discreet.errors import BudgetError
from discreet.noise import SeededBits
from discreet.privacy import GDP, Ledger, Pure, Repeated, picks_within
from discreet.rows import Labels, LinearMap, ResidualRanking, WideEncoding

FALSE_ALARM = 1e-6
WIDTH = 4
CODE = WideEncoding(np.full(WIDTH, -1.0), np.full(WIDTH, 1.0), -1.0, 1.0)


def ranking(**more) -> ResidualRanking:
    """Scores are |sum of y x_j|."""
    start = (LinearMap(np.zeros((1, 1))), np.zeros(0, dtype=np.int64), Labels(0.0, 1.0), lambda y, eta: eta - y)
    return ResidualRanking(WIDTH, *start, 1.0, 1.0, **more)


def engine() -> MemoryEngine:
    """Sums 6, -4, 2 and 0."""
    table = np.zeros((10, WIDTH))
    table[:6, 0], table[:4, 1], table[:2, 2] = 1, -1, 1
    return MemoryEngine(CODE.encode, table, np.ones(10))


class Broken:
    rows = 10

    def __init__(self, watched: Ledger | None = None) -> None:
        self.watched = watched

    def sum_rows(self, function, part=None):
        if self.watched is not None:
            assert len(self.watched.history) == 1, "rows were touched before the charge was on disk"
        raise ConnectionError("power failure")


@pytest.fixture
def ledger(tmp_path, monkeypatch) -> Ledger:
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    return Ledger.create(tmp_path / "budget.ledger", epsilon=10.0, delta=1e-6)


@pytest.mark.parametrize("picks", [1, 2])
def test_picks_follow_the_peeled_exponential_mechanism(picks):
    """Chi-square over all ordered choices of 3,000 runs; a false alarm once in a million runs of
    this test.
    """
    width = 1.5
    cost = Repeated(Pure(width, bounded_range=True), picks)
    curator = Curator(engine())
    scale = curator.selection_scale(ranking(), cost)
    assert scale == pytest.approx(2 * 2 / width, rel=1e-6)  # replacing a row moves a sum by up to 2
    seen = Counter(tuple(curator.select(ranking(), cost).indices.tolist()) for _ in range(3_000))
    weight = [exp(score / scale) for score in (6, 4, 2, 0)]
    law = {}
    for chosen in permutations(range(WIDTH), picks):
        rest = [sum(weight) - sum(weight[j] for j in chosen[:i]) for i in range(picks)]
        law[chosen] = prod(weight[j] / left for j, left in zip(chosen, rest, strict=True))
    observed = [seen[chosen] for chosen in law]
    assert chisquare(observed, 3_000 * np.array(list(law.values()))).pvalue > FALSE_ALARM


def test_the_charge_is_on_disk_before_rows_are_touched(ledger):
    cost = picks_within(GDP(0.5), 2)
    curator = Curator(Broken(ledger), ledger=ledger)
    with pytest.raises(ConnectionError):
        curator.select(ranking(), cost)
    assert [entry.cost for entry in Ledger(ledger.path).history] == [cost]
    assert curator.guarantee.mu == pytest.approx(0.5)


def test_picks_that_nothing_is_reserved_after_are_charged_by_themselves(ledger):
    cost = picks_within(GDP(0.5), 2, [GDP(1.0)])
    Curator(engine(), ledger=ledger).select(ranking(), cost)
    assert [entry.cost for entry in ledger.history] == [cost.alone]
    assert cost.alone.mu > 1.1 * cost.mu


def test_rows_are_not_touched_when_the_budget_is_empty(ledger):
    curator = Curator(Broken(), ledger=ledger)
    with pytest.raises(BudgetError):
        curator.select(ranking(), picks_within(GDP(100.0), 2))
    assert ledger.history == []


def test_one_job_gives_one_choice_and_pays_once(ledger):
    cost = picks_within(GDP(0.01), 2)
    picked = [Curator(engine(), ledger=ledger, job="fit").select(ranking(), cost).indices for _ in range(4)]
    assert len(ledger.history) == 1
    assert all(np.array_equal(one, picked[0]) for one in picked)
    again = Curator(Broken(), ledger=ledger, job="fit").select(ranking(), cost)
    assert np.array_equal(again.indices, picked[0])


def test_values_are_paid_for_and_stored_with_the_choice(ledger):
    picks, values = Repeated(Pure(0.2), 2), Repeated(Pure(0.1), 2)
    curator = Curator(engine(), ledger=ledger, job="printed")
    first = curator.select(ranking(), picks, values=values)
    later = Curator(Broken(), ledger=ledger, job="printed").select(ranking(), picks, values=values)
    assert np.array_equal(first.values, later.values)
    assert [entry.costs for entry in ledger.history] == [(picks, values)]
    assert [release.cost for release in curator.guarantee.releases] == [picks, values]
    assert first.values.shape == (2,)


def test_with_little_noise_the_largest_are_picked_and_their_values_are_right():
    curator = Curator(engine(), neighbours="add_or_remove_one")
    picked = curator.select(ranking(), Repeated(Pure(50.0), 3), values=Repeated(Pure(1e5), 3))
    assert sorted(picked.indices.tolist()) == [0, 1, 2]
    assert picked.values[np.argsort(picked.indices)] == pytest.approx([6, -4, 2], abs=1e-3)
    signed = curator.select(ranking(sides="both"), Repeated(Pure(50.0, bounded_range=True), 3))
    assert signed.indices[:3].tolist() == [0, WIDTH + 1, 2]


def test_excluded_columns_are_never_picked():
    picked = Curator(engine()).select(ranking(excluded=np.array([0, 2])), picks_within(GDP(0.1), 2))
    assert sorted(picked.indices.tolist()) == [1, 3]


@pytest.mark.parametrize("picks", [5, 3])
def test_more_picks_than_columns_are_refused_before_anything_is_paid(ledger, picks):
    excluded = np.array([0, 1]) if picks == 3 else np.zeros(0, dtype=np.int64)
    with pytest.raises(ValueError, match="cannot pick"):
        Curator(Broken(), ledger=ledger).select(ranking(excluded=excluded), picks_within(GDP(0.1), picks))
    assert ledger.history == []


def test_values_of_a_ranking_by_sign_are_refused_before_anything_is_paid(ledger):
    with pytest.raises(ValueError, match="ranking by absolute value"):
        Curator(Broken(), ledger=ledger).select(
            ranking(sides="both"), Repeated(Pure(0.1), 1), values=Repeated(Pure(0.1), 1)
        )
    assert ledger.history == []


def test_the_guarantee_adds_selections_and_sums_up():
    curator = Curator(engine())
    curator.select(ranking(), picks_within(GDP(0.3), 2))
    curator.select(ranking(), picks_within(GDP(0.4), 3))
    assert curator.guarantee.mu == pytest.approx(0.5)
    assert curator.guarantee.epsilon(1e-6) <= GDP(0.5).epsilon(1e-6) * (1 + 1e-9)


def test_seeded_choices_repeat():
    chosen = [Curator(engine(), bits=SeededBits(7)).select(ranking(), picks_within(GDP(0.1), 3)) for _ in range(2)]
    assert np.array_equal(chosen[0].indices, chosen[1].indices)


def test_the_reach_follows_the_relation_and_the_rows_of_a_person():
    cost = picks_within(GDP(1.0), 1)
    scales = {
        (neighbours, rows): Curator(engine(), neighbours=neighbours, rows_per_person=rows).selection_scale(
            ranking(), cost
        )
        for neighbours in ("replace_one", "add_or_remove_one")
        for rows in (1, 3)
    }
    one = scales["add_or_remove_one", 1]
    assert scales["replace_one", 1] == pytest.approx(2 * one, rel=1e-6)
    assert scales["replace_one", 3] == pytest.approx(6 * one, rel=1e-6)
