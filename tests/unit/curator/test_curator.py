"""The curator charges first, answers with known noise, and is paid once for one answer."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2

from discreet.curator import Curator
from discreet.curator.accountant import Accountant
from discreet.curator.noise import GridNoise
from discreet.domain import Domain, Encoder, Numeric
from discreet.engines import MemoryEngine
from discreet.errors import BudgetError
from discreet.noise import SeededBits
from discreet.privacy import GDP, Budget, Ledger
from discreet.rows import CrossMoment, LinearMap, PowerSums, SecondMoment, grid_scale
from discreet.rows.truncated import TruncatedMoment

FALSE_ALARM = 1e-9
ENCODER = Encoder(Domain.from_bounds(["a", "b"], (-1, 1)), Numeric("y", -1, 1))
MOMENT = SecondMoment(np.zeros(2), 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0)
FIRST_LOOK = PowerSums(2, math.sqrt(2))
CROSS = CrossMoment(2, math.sqrt(2), True, True)
PRINTED = CrossMoment(2, math.sqrt(2), True, False)


@pytest.fixture(autouse=True)
def state_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger.create(tmp_path / "budget.ledger", epsilon=10.0, delta=1e-6)


def engine(rows: int = 200, seed: int = 0, **options) -> MemoryEngine:
    rng = np.random.default_rng(seed)
    return MemoryEngine(ENCODER.encode, rng.uniform(-1, 1, (rows, 2)), rng.uniform(-1, 1, rows), **options)


class Broken:
    """An engine that must not be reached, or fails as a crash would."""

    rows = 10

    def __init__(self, watched: Ledger | None = None) -> None:
        self.watched = watched

    def sum_rows(self, function, part=None):
        if self.watched is not None:
            assert len(self.watched.history) == 1, "rows were touched before the charge was on disk"
        raise ConnectionError("power failure")


def test_the_charge_is_on_disk_before_rows_are_touched(ledger):
    curator = Curator(Broken(ledger), ledger=ledger)
    with pytest.raises(ConnectionError):
        curator.sum(MOMENT, GDP(0.5))
    assert [entry.cost for entry in Ledger(ledger.path).history] == [GDP(0.5)]
    assert curator.guarantee.mu == 0.5


def test_rows_are_not_touched_when_the_budget_is_empty(ledger):
    curator = Curator(Broken(), ledger=ledger)
    with pytest.raises(BudgetError):
        curator.sum(MOMENT, GDP(100.0))
    assert ledger.history == []
    assert curator.guarantee.releases == ()


def test_one_job_gives_one_answer_and_pays_once(ledger):
    answers = [Curator(engine(), ledger=ledger, job="fit").sum(MOMENT, GDP(0.5)) for _ in range(3)]
    assert len(ledger.history) == 1
    assert all((answer.value == answers[0].value).all() for answer in answers)
    assert Curator(Broken(), ledger=ledger, job="fit").sum(MOMENT, GDP(0.5)).noise_std == answers[0].noise_std


def test_a_job_that_crashed_after_its_charge_answers_at_no_further_cost(ledger):
    with pytest.raises(ConnectionError):
        Curator(Broken(), ledger=ledger, job="fit").sum(MOMENT, GDP(0.5))
    again = Curator(engine(), ledger=ledger, job="fit")
    first = again.sum(MOMENT, GDP(0.5))
    assert len(ledger.history) == 1
    assert again.guarantee.mu == 0.5
    later = Curator(engine(), ledger=ledger, job="fit").sum(MOMENT, GDP(0.5))
    assert (first.value == later.value).all()


def test_without_a_job_every_answer_is_paid_and_fresh(ledger):
    curator = Curator(engine(), ledger=ledger)
    first, second = curator.sum(MOMENT, GDP(0.5)), curator.sum(MOMENT, GDP(0.5))
    assert len(ledger.history) == 2
    assert (first.value != second.value).all()


def test_the_guarantee_adds_up_all_answers():
    curator = Curator(engine())
    assert curator.guarantee.mu == 0
    curator.sum(MOMENT, GDP(0.3))
    curator.sum(CROSS, GDP(0.4))
    assert curator.guarantee.mu == pytest.approx(0.5)
    assert [release.label for release in curator.guarantee.releases] == [MOMENT.label, CROSS.label]
    assert not curator.guarantee.seeded
    assert Curator(engine(), bits=SeededBits(1)).guarantee.seeded


@pytest.mark.parametrize("query", [MOMENT, FIRST_LOOK, CROSS, PRINTED], ids=lambda query: query.label)
@pytest.mark.parametrize("mu", [0.3, 3.0])
def test_an_answer_knows_its_noise(query, mu):
    """Chi-square of the noise over its stated variances, two-sided; false alarms 1e-9 in each of
    eight cases.
    """
    curator = Curator(engine(20))
    # What remains at a huge budget is the sum itself: its noise is a millionth of the other.
    exact = Curator(engine(20)).sum(query, GDP(1e6)).value
    draws = [curator.sum(query, GDP(mu)) for _ in range(300)]
    square = query.geometry in ("square", "printed_square")
    entries = np.triu(np.ones(query.shape, dtype=bool)) if square else np.ones(query.shape, dtype=bool)
    variance = draws[0].noise_variance[entries]
    statistic = sum((((draw.value - exact)[entries]) ** 2 / variance).sum() for draw in draws)
    degrees = 300 * int(entries.sum())
    assert chi2.ppf(FALSE_ALARM, degrees) < statistic < chi2.isf(FALSE_ALARM, degrees)
    assert curator.noise_std(query, GDP(mu)) == draws[0].noise_std
    if square:
        assert all((draw.value == draw.value.T).all() for draw in draws)


def test_the_smallest_square_has_half_the_variance_off_its_diagonal():
    noise = GridNoise.covering(TruncatedMoment(LinearMap(np.eye(2)), 1.0), GDP(1.0), "replace_one", 1)
    bits = SeededBits(3)
    variance = np.var([noise.draw(bits).astype(float) for _ in range(4000)], axis=0)
    # 4,000 draws know a variance to 2.2 percent.
    assert variance[0, 1] / variance[0, 0] == pytest.approx(0.5, rel=0.12)
    assert variance[1, 0] == variance[0, 1]


def test_a_symmetric_answer_has_the_same_noise_in_every_direction():
    answer = Curator(engine()).sum(MOMENT, GDP(1.0))
    assert answer.isotropic
    off_diagonal = ~np.eye(4, dtype=bool)
    assert answer.noise_variance[off_diagonal] == pytest.approx(answer.noise_std**2 / 2)
    assert np.diag(answer.noise_variance) == pytest.approx(answer.noise_std**2)
    assert not Curator(engine()).sum(PRINTED, GDP(1.0)).isotropic


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("rows_per_person", [1, 4])
@pytest.mark.parametrize("mu", [1e-4, 0.01, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("query", [MOMENT, FIRST_LOOK, CROSS], ids=lambda query: query.label)
def test_noise_covers_the_reach_and_hardly_more(query, mu, rows_per_person, neighbours):
    noise = GridNoise.covering(query, GDP(mu), neighbours, rows_per_person)
    factor = {"add_or_remove_one": 1, "replace_one": 2 if query.geometry == "free" else math.sqrt(2)}[neighbours]
    needed = rows_per_person * factor * query.left_norm * query.right_norm
    assert noise.reach * noise.unit == pytest.approx(needed, rel=1e-5)
    assert noise.reach * noise.unit >= needed
    # docs/papers/discrete_gaussian.md: s^2 >= (D / mu)^2 + 4, and half of the variance off a
    # square's diagonal.
    weight = np.ones(query.shape)
    if query.geometry == "square":
        weight[~np.eye(len(weight), dtype=bool)] = 0.5
    assert (noise.scales**2 >= weight * (noise.reach / mu) ** 2 + 4).all()
    assert (noise.scales**2 <= (weight * (noise.reach / mu) ** 2 + 4) * (1 + 1e-11)).all()


@pytest.mark.parametrize("mu", [1e-4, 1e-2, 1.0, 1e2, 1e4])
def test_tiny_and_huge_costs_both_work(mu):
    curator = Curator(engine())
    answer = curator.sum(MOMENT, GDP(mu))
    assert np.isfinite(answer.value).all()
    assert answer.noise_std == pytest.approx(math.sqrt(2) * MOMENT.left_norm**2 / mu, rel=1e-5)


def test_answers_lie_on_the_public_grid():
    query = MOMENT
    answer = Curator(engine()).sum(query, GDP(1.0))
    noise = GridNoise.covering(query, GDP(1.0), "replace_one", 1)
    assert noise.unit == 2.0**noise.shift / grid_scale(query.left_norm, 4) ** 2
    whole = answer.value / noise.unit
    assert (whole == np.round(whole)).all()


@pytest.mark.parametrize("mu", [0.0, math.inf])
def test_a_release_without_noise_or_without_end_is_refused(mu, ledger):
    with pytest.raises(ValueError, match="finite mu > 0"):
        Curator(Broken(), ledger=ledger).sum(MOMENT, GDP(mu))
    assert ledger.history == []


def test_the_number_of_rows_is_public_where_a_row_is_replaced():
    for curator in (Curator(engine(), neighbours="add_or_remove_one"), Curator(engine(), grouped=True)):
        assert curator.public_rows is None
        with pytest.raises(ValueError, match="replace_one"):
            curator.split([1, 1], GDP(1.0))
    assert Curator(engine()).public_rows == 200


def test_neighbours_are_checked_before_anything_else():
    with pytest.raises(ValueError, match="neighbours must be one of"):
        Curator(engine(), neighbours="any")


class Repeated:
    """One block of rows that stands for very many: its exact sum times 2^24, as so many equal
    blocks would give.
    """

    rows = 2**38

    def sum_rows(self, function, part=None):
        return engine(16384).sum_rows(function) * np.int64(2**24)


def test_very_many_rows_do_not_overflow():
    answer = Curator(Repeated()).sum(MOMENT, GDP(1.0))
    once = Curator(engine(16384)).sum(MOMENT, GDP(1e6)).value
    np.testing.assert_allclose(answer.value, once * 2**24, rtol=1e-3, atol=2**24 * 1e-3)


def test_workers_and_blocks_do_not_change_the_answer():
    answers = [
        Curator(engine(5000, block_rows=block_rows, workers=workers), bits=SeededBits(3)).sum(MOMENT, GDP(1.0)).value
        for block_rows, workers in [(16384, 1), (100, 2), (1, 3), (4999, 8)]
    ]
    assert all((answer == answers[0]).all() for answer in answers)


def test_a_fit_that_was_never_charged_writes_nothing(ledger):
    Accountant(ledger, asked=Budget.of(1.0, 1e-6)).finish()
    Accountant(None, asked=Budget.of(1.0, 1e-6)).finish()
    assert ledger.verify() == 1


@pytest.mark.parametrize("mu", [1e-9, 0.3, 1e3, 1e20])
def test_noise_is_drawn_on_a_grid_that_is_never_finer_than_the_sum(mu):
    noise = GridNoise.covering(FIRST_LOOK, GDP(mu), "replace_one", 1)
    assert noise.shift >= 0
    assert (noise.shift == 0) == (mu == 1e20)
    one = np.array([[1, -1]], dtype=object) << 60
    assert np.all(np.abs(noise.coarse(one).astype(object) * 2**noise.shift - one) <= 2**noise.shift)
