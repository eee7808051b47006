"""Rows one by one with tight noise (method "dgm"), and what clipping leaves of a column."""

from __future__ import annotations

import numpy as np
import pytest
from small_plan import people, released, small_plan
from test_release import audited

from discreet.errors import DomainError
from discreet.parties import open_ledger, release
from discreet.parties.looks import kept_shares, shares
from discreet.parties.people import open_people
from discreet.parties.queries import Kept
from discreet.parties.signs import person_states, plan_state, slots
from discreet.parties.slots import MOST_CELLS, Rows, SlotCurator
from discreet.privacy import GDP
from discreet.rows import Answer


def test_each_slot_holds_its_peoples_rows_with_their_signs():
    plan, frame = small_plan(), people(300)
    state = plan_state(plan.seed)
    engine = open_people(frame, plan.party("a").domain, "id", state, workers=2)
    answer = SlotCurator(engine).scatter(Rows(50, np.zeros(2), np.ones(2), 2.0), GDP(1e4))
    where, plus = slots(person_states(state, [key.encode() for key in frame["id"]]), 50)
    expected = np.zeros((50, 2))
    np.add.at(expected, where, np.where(plus, 1, -1)[:, np.newaxis] * frame[["x0", "x1"]].to_numpy())
    # 100 normal numbers: all within six standard deviations, but for one run in 5 million.
    assert np.abs(answer.value - expected).max() < 6 * answer.noise_std + 1e-5
    assert answer.noise_std == pytest.approx(2 * 2.0 / 1e4, rel=0.01)


def test_worst_neighbour_loses_nearly_all_of_the_claim():
    """Two people in one slot with opposite signs: as far apart as the curator allows."""
    plan, frame = small_plan(method="dgm"), people(300)
    state = plan_state(plan.seed)
    where, plus = (part[0] for part in slots(person_states(state, [b"person 7"]), plan.mixes))
    others = [b"other %d" % i for i in range(2000)]
    slot, sign = slots(person_states(state, others), plan.mixes)
    chosen = others[int(np.flatnonzero((slot == where) & (sign != plus))[0])].decode()
    frame.loc[7, ["x0", "x1"]] = 1.0
    neighbour = frame.copy()
    neighbour.loc[7, "id"] = chosen
    report = audited(plan, "a", frame, neighbour)
    assert report.passed, str(report)
    loss = dict(zip(report.labels, report.losses, strict=True))["rows"]
    party = plan.party("a")
    cost = party.budget.split(shares(party, 300))[3].mu
    assert 0.95 * cost < loss <= cost * (1 + 1e-9)


def test_little_noise_gives_least_squares_whoever_is_missing():
    plan = small_plan(method="dgm", epsilon=2000.0, people=20_000)
    frame = people(20_000)
    joint = released(plan, frame)
    result = joint.regress("y").results_
    truth = [0.0, 0.4, 0.0, -0.3, 0.2]
    # Two in one slot disturb each other: about 1 / sqrt(20,000) in a correlation, and the standard
    # errors know it.
    assert np.all(np.abs(result.params - truth) < 5 * result.bse)
    assert np.all(result.bse < 0.02)
    fewer = released(plan, frame.iloc[:15_000]).releases[1]
    without = type(joint)(plan, (joint.releases[0], fewer, joint.releases[2])).regress("y").results_
    assert np.all(np.abs(without.params - truth) < 5 * without.bse)


@pytest.mark.parametrize("method", ["rmgm", "dgm"])
def test_as_many_slots_as_mixes_blur_alike(method):
    """Correlations of unrelated columns spread as they are said to: 30 show that to 13 %, and half
    is allowed.
    """
    seen, said = [], []
    for repeat in range(30):
        plan = small_plan(people=400, epsilon=30.0, method=method, mixes=50, seed=f"{repeat}")
        mixed = released(plan, people(400, seed=repeat)).mixed()
        seen.append(mixed.raw()[1, 2])
        said.append(mixed.typical_noise())
    assert np.sqrt(np.mean(np.square(seen))) == pytest.approx(np.mean(said), rel=0.5)


def test_mixing_all_is_better_than_a_row_each():
    assert small_plan(people=50_000).correlation_error(small_plan().parties[0], 50_000) < 0.3 * small_plan(
        people=50_000, method="dgm"
    ).correlation_error(small_plan().parties[0], 50_000)


def test_too_many_rows_are_refused_before_anything_is_spent(tmp_path):
    plan = small_plan(method="dgm", mixes=MOST_CELLS)
    ledger = open_ledger(plan, "a", tmp_path / "a.ledger")
    with pytest.raises(DomainError, match="use 'rmgm'"):
        release(plan, "a", people(150), ledger=ledger)
    assert ledger.history == []


def test_mixes_as_printed_are_the_rows_themselves():
    with pytest.raises(DomainError, match="one row for each person"):
        small_plan(method="dgm", calibration="paper", mixes=7)


def test_what_shortening_leaves_is_seen():
    plan, frame = small_plan(), people(4000)
    engine = open_people(frame, plan.party("a").domain, "id", plan_state(plan.seed), workers=1)
    scale = frame[["x0", "x1"]].std().to_numpy()
    query = Kept(np.zeros(2), 1 / scale, 1.2)
    answer = SlotCurator(engine).sum(query, GDP(1e3))
    u = frame[["x0", "x1"]].to_numpy() / scale
    norm = np.linalg.norm(u, axis=1, keepdims=True)
    expected = (np.minimum(1, 1.2 / norm) * u**2).mean(axis=0)
    assert kept_shares(query, answer, np.ones(2), 4000) == pytest.approx(expected, abs=2e-3)
    drowned = Answer(answer.value, 1e9)
    typical = kept_shares(query, drowned, np.ones(2), 4000)
    assert np.all((typical > 0.7) & (typical < 1.0))


def test_shortening_no_longer_weakens_relations():
    """Gaussian columns of two parties, shortened hard: their correlation of .7 comes back.

    The mean of 30 correlations is off by more than four of its standard errors in one run of
    16,000.
    """
    rng = np.random.default_rng(0)
    n, repeats = 3000, 30
    seen = []
    for repeat in range(repeats):
        z = rng.normal(size=(n, 2))
        z[:, 1] = 0.7 * z[:, 0] + np.sqrt(0.51) * z[:, 1]
        frame = people(n).assign(x2=np.clip(z[:, 0] / 4, -1, 1), y=np.clip(z[:, 1] / 4, -1, 1))
        joint = released(small_plan(people=n, epsilon=4.0, seed=str(repeat)), frame)
        seen.append(joint.mixed().raw()[2, 4])
    kept = np.concatenate([one.kept for one in joint.releases])
    error = 4 * np.std(seen) / np.sqrt(repeats)
    assert np.mean(seen) == pytest.approx(0.7, abs=error)
    # As they were mixed, the two columns would have shown less than that.
    assert 0.7 * kept[2] * kept[4] < 0.7 - error
