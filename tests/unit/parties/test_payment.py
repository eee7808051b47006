"""A plan's release is paid for once, from one ledger, wherever it is asked for."""

from __future__ import annotations

import multiprocessing
import os
import shutil

import pytest
from small_plan import people, small_plan

from discreet.errors import BudgetError, LedgerError, PrivacyLeakWarning
from discreet.parties import PartyRelease, open_ledger, payment, release
from discreet.parties.payment import ledger_of
from discreet.privacy import Ledger

PLAN = small_plan()


def new_ledger(path, epsilon=5.0):
    return Ledger.create(path, epsilon=epsilon, delta=1e-5)


def test_a_second_ledger_is_refused_and_the_first_one_named(tmp_path):
    first, second = new_ledger(tmp_path / "first.ledger"), new_ledger(tmp_path / "second.ledger")
    made = release(PLAN, "a", people(200), ledger=first)
    with pytest.raises(LedgerError, match=r"paid from ledger .*first\.ledger.*must not pay for it a second time"):
        release(PLAN, "a", people(200), ledger=second)
    assert second.history == []
    assert ledger_of(PLAN, "a") == first
    assert release(PLAN, "a", people(200), ledger=ledger_of(PLAN, "a")).to_bytes() == made.to_bytes()


def test_other_plans_and_other_parties_pay_where_they_like(tmp_path):
    first, second = new_ledger(tmp_path / "first.ledger"), new_ledger(tmp_path / "second.ledger")
    release(PLAN, "a", people(200), ledger=first)
    release(PLAN, "b", people(200), ledger=second)
    release(small_plan(seed="t"), "a", people(200), ledger=second)
    assert ledger_of(small_plan(seed="u"), "a") is None


def test_a_ledger_that_is_gone_is_asked_for(tmp_path):
    first = new_ledger(tmp_path / "first.ledger")
    release(PLAN, "a", people(200), ledger=first)
    first.path.rename(tmp_path / "away")
    other = new_ledger(tmp_path / "other.ledger")
    for ask in (lambda: ledger_of(PLAN, "a"), lambda: release(PLAN, "a", people(200), ledger=other)):
        with pytest.raises(LedgerError, match="missing there: put it back, or name its new place with --ledger"):
            ask()
        assert other.history == []


def test_a_ledger_that_was_moved_pays_on(tmp_path):
    first = new_ledger(tmp_path / "first.ledger")
    made = release(PLAN, "a", people(200), ledger=first)
    (tmp_path / "new").mkdir()
    for end in ("", ".mark"):
        shutil.move(f"{first.path}{end}", tmp_path / "new" / f"first.ledger{end}")
    moved = Ledger(tmp_path / "new" / "first.ledger")
    assert release(PLAN, "a", people(200), ledger=moved).to_bytes() == made.to_bytes()
    assert ledger_of(PLAN, "a") == moved


def test_a_ledger_that_cannot_pay_is_not_remembered(tmp_path):
    poor, rich = new_ledger(tmp_path / "poor.ledger", epsilon=0.9), new_ledger(tmp_path / "rich.ledger")
    with pytest.raises(BudgetError, match="nothing was spent"):
        release(PLAN, "a", people(200), ledger=poor)
    assert poor.history == []
    assert ledger_of(PLAN, "a") is None
    poor.path.unlink()
    assert release(PLAN, "a", people(200), ledger=rich)


def test_a_ledger_that_was_bound_but_never_charged_binds_nobody(tmp_path):
    """Killed between the record and the first charge: nothing was drawn, so any ledger may pay."""
    bound, other = new_ledger(tmp_path / "bound.ledger"), new_ledger(tmp_path / "other.ledger")
    record = payment._record_path(PLAN, "a")
    record.parent.mkdir(parents=True)
    payment._Record(PLAN.hash, PLAN.name, "a", str(bound.path)).write(record)
    assert ledger_of(PLAN, "a") is None
    assert release(PLAN, "a", people(200), ledger=other)
    assert ledger_of(PLAN, "a") == other


def test_bad_data_is_refused_before_a_ledger_is_bound(tmp_path):
    first, second = new_ledger(tmp_path / "first.ledger"), new_ledger(tmp_path / "second.ledger")
    with pytest.raises(ValueError, match="needs at least 100"):
        release(PLAN, "a", people(50), ledger=first)
    assert release(PLAN, "a", people(200), ledger=second)


def test_another_number_of_rows_is_not_the_stored_release(tmp_path):
    ledger = new_ledger(tmp_path / "first.ledger")
    release(PLAN, "a", people(200), ledger=ledger)
    spent = ledger.spent
    with pytest.raises(LedgerError, match="200 rows"):
        release(PLAN, "a", people(201), ledger=ledger)
    assert ledger.spent == spent


def test_a_seeded_release_is_never_handed_out_as_private(tmp_path):
    ledger = new_ledger(tmp_path / "first.ledger")
    with pytest.warns(PrivacyLeakWarning):
        made = release(PLAN, "a", people(200), ledger=ledger, random_state=1)
    assert PartyRelease.from_bytes(made.to_bytes()).privacy.seeded
    with pytest.raises(LedgerError, match="with random_state"):
        release(PLAN, "a", people(200), ledger=ledger)


def test_a_ledger_is_made_once(tmp_path):
    path = tmp_path / "a.ledger"
    assert open_ledger(PLAN, "a", path) == open_ledger(PLAN, "a", path)
    for end in ("", ".mark", ".lock"):
        os.unlink(f"{path}{end}")
    with pytest.raises(LedgerError, match=r"was created before and is missing.*discreet budget create"):
        open_ledger(small_plan(seed="t"), "a", path)
    assert not path.exists()


def test_without_a_state_folder_nothing_is_spent(tmp_path, monkeypatch):
    ledger = new_ledger(tmp_path / "first.ledger")
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "file" / "state"))
    with pytest.raises(LedgerError, match="DISCREET_STATE"):
        open_ledger(PLAN, "a", tmp_path / "a.ledger")
    assert not (tmp_path / "a.ledger").exists()
    with pytest.raises(LedgerError, match=r"could not be recorded.*nothing was spent"):
        release(PLAN, "a", people(200), ledger=ledger)


def test_an_altered_record_spends_nothing(tmp_path):
    ledger = new_ledger(tmp_path / "first.ledger")
    release(PLAN, "a", people(200), ledger=ledger)
    (record,) = (tmp_path / "state" / "parties").glob("*.json")
    for text in ("", "[]", '{"plan": 1}', "[" * 10_000):
        record.write_text(text)
        with pytest.raises(LedgerError):
            release(PLAN, "a", people(200), ledger=ledger)


def _race(path, start, results):
    start.wait()
    try:
        results.put(release(PLAN, "a", people(200), ledger=path).to_bytes())
    except LedgerError as error:
        results.put(str(error))


def test_of_two_processes_with_two_ledgers_one_pays(tmp_path):
    context = multiprocessing.get_context("fork")
    paths = [new_ledger(tmp_path / f"{name}.ledger").path for name in ("first", "second")]
    start, results = context.Event(), context.Queue()
    racing = [context.Process(target=_race, args=(path, start, results)) for path in paths]
    for process in racing:
        process.start()
    start.set()
    found = [results.get(timeout=120) for _ in racing]
    for process in racing:
        process.join()
    assert sum(isinstance(one, bytes) for one in found) == 1
    assert any("must not pay for it a second time" in one for one in found if isinstance(one, str))
    assert sorted(bool(Ledger(path).history) for path in paths) == [False, True]
