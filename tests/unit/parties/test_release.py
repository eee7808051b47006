"""A release keeps its promise, is made once, and travels whole or not at all."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from small_plan import people, released, small_plan

from discreet.audit import replay
from discreet.curator import listening
from discreet.errors import BudgetError, DomainError, ReleaseError
from discreet.parties import PartyRelease, join, open_ledger, release
from discreet.parties.mixing import ask
from discreet.parties.people import check_keys, open_people
from discreet.parties.signs import plan_state
from discreet.parties.slots import SlotCurator


@pytest.fixture
def ledger(tmp_path):
    return open_ledger(small_plan(), "a", tmp_path / "a.ledger")


class OneParty:
    """A party's release in the shape that the replay audit fits."""

    def __init__(self, plan, party):
        self.plan, self.party = plan, party
        self.epsilon, self.delta = plan.party(party).budget.epsilon, plan.delta

    def fit(self, frame):
        party = self.plan.party(self.party)
        engine = open_people(frame, party.domain, self.plan.key, plan_state(self.plan.seed), workers=1)
        made = ask(SlotCurator(engine), self.plan, party, len(frame))
        self.privacy_, self.release_ = made.privacy, made.to_bytes()
        return self


def audited(plan, party, frame, neighbour):
    return replay(OneParty(plan, party), (frame,), (neighbour,), clone=lambda made: OneParty(made.plan, made.party))


@pytest.mark.parametrize("method", ["rmgm", "dgm"])
@pytest.mark.parametrize("calibration", ["tight", "paper"])
def test_replaced_people_stay_within_the_claim(calibration, method):
    plan, frame = small_plan(calibration=calibration, method=method), people(300)
    changes = {
        "values": {"x0": 1.0, "x1": -1.0},
        "key": {"id": "somebody else"},
        "both": {"id": "x", "x0": -1.0, "x1": -1.0},
        "nothing known": {"x0": np.nan},
        "far outside": {"x0": 1e300, "x1": -np.inf},
    }
    if (calibration, method) == ("paper", "dgm"):  # who is in the data is public there
        changes = {name: change for name, change in changes.items() if "id" not in change}
    for change in changes.values():
        neighbour = frame.copy()
        for name, value in change.items():
            neighbour.loc[7, name] = value
        report = audited(plan, "a", frame, neighbour)
        assert report.passed, str(report)


def test_worst_neighbour_loses_nearly_all_of_the_printed_claim():
    plan, frame = small_plan(calibration="paper"), people(300)
    frame.loc[7, ["x0", "x1"]] = 1.0
    table = frame.copy()
    state = plan_state(plan.seed)
    from discreet.parties.signs import person_states, signs

    # The worst replacement has as opposite signs as can be found.
    own = signs(person_states(state, [b"person 7"]), plan.mixes)[:, 0]
    others = signs(person_states(state, [b"other %d" % i for i in range(20000)]), plan.mixes)
    agreement = (others == own[:, None]).sum(axis=0)
    table.loc[7, "id"] = f"other {int(agreement.argmin())}"
    report = audited(plan, "a", frame, table)
    assert report.passed, str(report)
    assert report.efficiency > 0.9, str(report)


@pytest.mark.parametrize("method", ["rmgm", "dgm"])
def test_row_order_and_file_format_change_no_bit(tmp_path, method):
    plan, frame = small_plan(method=method), people(500)
    sums = []

    class Listener:
        def release(self, release, noise, exact, noisy):
            sums.append((release.label, exact.tolist()))
            return exact

    frame["id"] = np.arange(500) * 10**15 + 7
    frame.to_csv(tmp_path / "one.csv", index=False)
    frame.sample(frac=1, random_state=1).to_parquet(tmp_path / "two.parquet")
    token = listening.set(Listener())
    try:
        for data in (frame, tmp_path / "one.csv", tmp_path / "two.parquet"):
            engine = open_people(data, plan.party("a").domain, "id", plan_state(plan.seed))
            ask(SlotCurator(engine), plan, plan.party("a"), 500)
    finally:
        listening.reset(token)
    assert len(sums) == 12
    assert sums[:4] == sums[4:8] == sums[8:]


@pytest.mark.parametrize("more", [{}, {"method": "dgm"}, {"method": "dgm", "calibration": "paper"}])
def test_second_release_gives_the_stored_one_and_costs_nothing(ledger, more):
    plan = small_plan(**more)
    first = release(plan, "a", people(200), ledger=ledger)
    spent = ledger.spent
    again = release(plan, "a", people(200).iloc[::-1], ledger=ledger.path)
    assert again.to_bytes() == first.to_bytes()
    assert ledger.spent == spent
    assert spent.mu <= plan.party("a").budget.mu


@pytest.mark.parametrize("asked", [0, 1, 2, 3])
def test_crash_after_any_charge_costs_no_more_and_the_retry_ends_with_one_release(ledger, monkeypatch, asked):
    """Killed as the answer of the asked-th sum is about to be stored: it was paid, and nothing was
    shown.
    """
    plan = small_plan()
    store = type(ledger).store

    def killed(self, key, result, **options):
        if options["part"] == str(asked):
            raise KeyboardInterrupt
        return store(self, key, result, **options)

    with monkeypatch.context() as patch:
        patch.setattr(type(ledger), "store", killed)
        with pytest.raises(KeyboardInterrupt):
            release(plan, "a", people(200), ledger=ledger)
    (entry,) = ledger.history
    assert len(entry.releases) == asked
    spent = ledger.spent
    first = release(plan, "a", people(200), ledger=ledger)
    assert release(plan, "a", people(200), ledger=ledger).to_bytes() == first.to_bytes()
    (entry,) = ledger.history
    assert len(entry.releases) == 4
    assert ledger.spent == spent
    assert ledger.spent.mu <= plan.party("a").budget.mu


def test_release_under_another_seed_does_not_fit_into_the_ledger(ledger):
    release(small_plan(), "a", people(200), ledger=ledger)
    with pytest.raises(BudgetError):
        release(small_plan(seed="t"), "a", people(200), ledger=ledger)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda frame: frame.iloc[:99], "needs at least 100"),
        (lambda frame: frame.drop(columns="x1"), "no column 'x1'"),
        (lambda frame: frame.drop(columns="id"), "no column 'id'"),
        (lambda frame: frame.assign(x1="0,5"), "'x1' is declared with bounds but holds"),
        (lambda frame: frame.assign(x1=pd.Timestamp("2020-01-01")), "'x1' has the type|declared with bounds but"),
        (lambda frame: frame.assign(id=["same", "same", *frame["id"][2:]]), "1 rows repeat a key"),
        (lambda frame: frame.assign(id=[None, *frame["id"][1:]]), "1 rows have no key"),
        (lambda frame: frame.assign(id=np.arange(len(frame)) + 0.5), "texts or whole numbers"),
    ],
)
def test_bad_files_are_refused_before_anything_is_spent(ledger, spoil, message):
    with pytest.raises(DomainError, match=message):
        release(small_plan(), "a", spoil(people(150)), ledger=ledger)
    assert ledger.history == []


def test_wrong_party_is_refused(ledger):
    with pytest.raises(DomainError, match="has no party 'd'; it has a, b, c"):
        release(small_plan(), "d", people(150), ledger=ledger)


def test_file_comes_back_as_it_was(tmp_path, ledger):
    made = release(small_plan(), "a", people(200), ledger=ledger)
    made.save(tmp_path / "a.release")
    back = PartyRelease.load(tmp_path / "a.release")
    assert back.to_bytes() == made.to_bytes()
    assert np.array_equal(back.mixes.value, made.mixes.value)
    assert back.privacy.mu == made.privacy.mu
    assert [path.name for path in tmp_path.iterdir() if "release" in path.name] == ["a.release"]


def test_truncated_and_altered_files_are_refused(tmp_path, ledger):
    data = release(small_plan(), "a", people(200), ledger=ledger).to_bytes()
    for end in range(0, len(data) - 1, 97):
        with pytest.raises(ReleaseError, match="cut short"):
            PartyRelease.from_bytes(data[:end])
    content = json.loads(data)
    content["rows"] += 1
    with pytest.raises(ReleaseError, match="altered"):
        PartyRelease.from_bytes(json.dumps(content).encode())
    with pytest.raises(ReleaseError, match="cannot read"):
        PartyRelease.load(tmp_path / "nowhere.release")


def test_different_plans_and_repeated_parties_are_not_joined():
    one, other = released(small_plan(), people(200)), released(small_plan(seed="t"), people(200))
    with pytest.raises(ReleaseError, match="different plans"):
        join([one.releases[0], other.releases[1]])
    with pytest.raises(ReleaseError, match="given twice"):
        join([one.releases[0], one.releases[0]])
    with pytest.raises(ReleaseError, match="no release"):
        join([])


def test_release_holds_no_key_and_no_value():
    text = released(small_plan(), people(200)).releases[0].to_bytes().decode()
    assert "person" not in text.replace("parties", "")


def test_duplicates_are_found_across_batches(tmp_path):
    frame = pd.DataFrame({"id": np.arange(200_000), "x2": 0.0})
    frame.loc[199_999, "id"] = 3
    frame.to_parquet(tmp_path / "b.parquet", row_group_size=20_000)
    engine = open_people(tmp_path / "b.parquet", small_plan().party("b").domain, "id", plan_state("s"))
    with pytest.raises(DomainError, match="1 rows repeat a key"):
        check_keys(engine)
