"""Charges in a burst: one sync each, and nothing that a crash, a power cut or an alteration could
take back.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from discreet.errors import BudgetError, LedgerError, LedgerRolledBack
from discreet.privacy import GDP, Ledger, ledger_file, ledger_tail

COST = GDP(0.001)
ALWAYS, NEVER = 0, 10**9


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(ledger_file, "_LOOKS", 1)  # nobody else writes: a second look would see the same
    monkeypatch.setattr(ledger_tail, "BURST", NEVER)


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger.create(tmp_path / "cohort.ledger", epsilon=1, delta=1e-6)


@pytest.fixture
def in_tail(ledger, monkeypatch) -> Ledger:
    """Two charges in the tables; two more and a result in the tail."""
    charge(ledger, "a", "b")
    monkeypatch.setattr(ledger_tail, "BURST", ALWAYS)
    charge(ledger, "c", "d")
    ledger.store("d", {"value": 4})
    return ledger


def charge(ledger: Ledger, *keys: str) -> None:
    for key in keys:
        ledger.charge(COST, label=f"label {key}", key=key)


def keys(ledger: Ledger) -> list[str]:
    return [entry.key for entry in ledger.history]


def beside(ledger: Ledger, ending: str) -> Path:
    return ledger.path.with_name(ledger.path.name + ending)


def in_tables(ledger: Ledger) -> int:
    with closing(sqlite3.connect(f"{ledger.path.as_uri()}?mode=ro", uri=True)) as connection:
        return connection.execute("SELECT count(*) FROM entries").fetchone()[0]


def test_a_charge_of_a_burst_waits_for_one_sync_which_comes_before_its_marks(in_tail, monkeypatch):
    calls = []
    for name in ("fdatasync", "fsync"):
        if real := getattr(os, name, None):
            monkeypatch.setattr(os, name, lambda *args, real=real: (calls.append("sync"), real(*args))[1])
    real_mark = ledger_file.write_mark
    monkeypatch.setattr(ledger_file, "write_mark", lambda *args: (calls.append("mark"), real_mark(*args))[1])
    tables = in_tail.path.read_bytes(), in_tail.path.stat().st_mtime_ns
    charge(in_tail, "e", "f")
    assert calls == ["sync", "mark", "mark"] * 2
    assert (in_tail.path.read_bytes(), in_tail.path.stat().st_mtime_ns) == tables  # SQLite had nothing to sync


def test_many_charges_in_a_few_seconds_are_a_burst_and_few_are_none(ledger, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(ledger_tail, "BURST", 8)
    monkeypatch.setattr(ledger_tail.time, "monotonic", lambda: now[0])
    for number in range(20):
        now[0] += 0.6
        charge(ledger, f"slow {number}")
    assert not beside(ledger, ".tail").exists()
    for number in range(20):
        now[0] += 0.01
        charge(ledger, f"fast {number}")
    assert in_tables(ledger) < 1 + 40
    now[0] += 5
    charge(ledger, "after the burst")
    assert in_tables(ledger) == 1 + 41 == ledger.verify()
    assert not any(beside(ledger, ".tail").read_bytes())


def test_what_lies_in_the_tail_counts_like_any_other_entry(in_tail):
    assert keys(in_tail) == ["a", "b", "c", "d"]
    assert in_tables(in_tail) == 3
    assert beside(in_tail, ".tail").stat().st_mode & 0o777 == 0o600
    assert (in_tail.charges, in_tail.verify()) == (4, 6)
    assert in_tail.spent.mu == pytest.approx(2 * COST.mu)
    assert in_tail.stored("d") == {"value": 4}
    assert Ledger.read_only(in_tail.path).charges == 4
    charge(in_tail, "c")  # paid already
    assert in_tail.store("d", {"value": 5}) == {"value": 4}
    assert in_tail.charges == 4
    with pytest.raises(BudgetError, match="nothing was spent"):
        in_tail.charge(GDP(1.0), label="too much")
    with pytest.raises(LedgerError, match="is the key of another release"):
        in_tail.charge(COST, label="another", key="c")


def test_the_end_of_a_fit_leaves_nothing_in_the_tail(in_tail):
    in_tail.finish("d", (("answer", COST),))
    assert in_tables(in_tail) == 7 == in_tail.verify()
    assert not any(beside(in_tail, ".tail").read_bytes())
    assert in_tail.history[-1].releases == (("answer", COST),)


def test_a_full_tail_and_a_long_result_go_into_the_tables(in_tail):
    in_tail.store("c", {"value": "x" * ledger_tail.SIZE})
    assert in_tables(in_tail) == 7 == in_tail.verify()
    for number in range(150):
        charge(in_tail, f"more {number}")
    assert in_tables(in_tail) > 50
    assert in_tail.charges == 154
    assert in_tail.verify() == 157


@pytest.mark.parametrize("seed", range(6))
def test_bursts_and_single_charges_in_any_order_add_up(ledger, monkeypatch, seed):
    chance, paid = random.Random(seed), []
    monkeypatch.setattr(ledger_tail, "SIZE", 3000)
    for number in range(25):
        monkeypatch.setattr(ledger_tail, "BURST", chance.choice((ALWAYS, ALWAYS, NEVER)))
        charge(ledger, f"{number}")
        paid.append(f"{number}")
        if chance.random() < 0.3:
            ledger.store(f"{number}", {"value": number})
            assert ledger.stored(f"{number}") == {"value": number}
    assert keys(ledger) == paid
    assert ledger.charges == len(paid)
    ledger.verify()


def test_a_power_cut_after_the_fold_brings_back_entries_that_are_passed_over(in_tail, monkeypatch):
    """The tail is blanked without a sync, and marks are not synced: old ones may be there again."""
    tail, marks = beside(in_tail, ".tail").read_bytes(), beside(in_tail, ".mark").read_bytes()
    second = next((in_tail.path.parent / "state" / "marks").glob("*.json"))
    old_second = second.read_bytes()
    monkeypatch.setattr(ledger_tail, "BURST", NEVER)
    charge(in_tail, "e")
    for old_mark in (False, True):
        for kept in (tail, tail[:700] + bytes(len(tail) - 700), bytes(700) + tail[700:]):
            beside(in_tail, ".tail").write_bytes(kept)
            if old_mark:
                beside(in_tail, ".mark").write_bytes(marks)
                second.write_bytes(old_second)
            assert keys(in_tail) == ["a", "b", "c", "d", "e"]
            in_tail.verify()
    monkeypatch.setattr(ledger_tail, "BURST", ALWAYS)
    beside(in_tail, ".tail").write_bytes(tail)
    charge(in_tail, "f", "g")
    assert keys(in_tail) == ["a", "b", "c", "d", "e", "f", "g"]
    in_tail.verify()


def test_half_an_entry_was_never_returned_for_and_is_written_over(in_tail):
    before = beside(in_tail, ".tail").read_bytes()
    marks = {path: path.read_bytes() for path in in_tail.path.parent.rglob("*") if ".mark" in path.name}
    marks |= {path: path.read_bytes() for path in (in_tail.path.parent / "state" / "marks").glob("*.json")}
    charge(in_tail, "lost")
    after = beside(in_tail, ".tail").read_bytes()
    start, stop = before.index(b"\0"), after.index(b"\0")
    for cut in range(start + 1, stop, 97):
        beside(in_tail, ".tail").write_bytes(after[:cut] + bytes(len(after) - cut))
        for path, text in marks.items():
            path.write_bytes(text)
        assert keys(in_tail) == ["a", "b", "c", "d"]
        charge(in_tail, "next")
        assert keys(in_tail) == ["a", "b", "c", "d", "next"]
        in_tail.verify()


def test_an_entry_whose_writer_died_before_the_sync_is_synced_before_it_is_used(in_tail, monkeypatch):
    marks = {path: path.read_bytes() for path in (beside(in_tail, ".mark"),)}
    charge(in_tail, "no mark knows it")
    for path, text in marks.items():
        path.write_bytes(text)
    synced = []
    real = ledger_tail.Tail.sync
    monkeypatch.setattr(ledger_tail.Tail, "sync", lambda tail: (synced.append(1), real(tail)))
    assert in_tail.paid("no mark knows it") is not None
    assert synced == [1]
    charge(in_tail, "no mark knows it")
    assert len(synced) >= 2


def test_a_flip_in_the_tail_is_refused(in_tail):
    whole, chance = beside(in_tail, ".tail").read_bytes(), random.Random(3)
    used = whole.index(b"\0")
    for position in chance.sample(range(used), 100):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << chance.randrange(8)
        beside(in_tail, ".tail").write_bytes(damaged)
        with pytest.raises(LedgerError) as refusal:
            keys(in_tail)
        assert "label" not in str(refusal.value)
        with pytest.raises(LedgerError):
            charge(in_tail, "must not pass")


@pytest.mark.parametrize("harm", ["gone", "empty", "shorter", "that of another ledger"])
def test_a_tail_that_lacks_an_entry_which_the_mark_knows_is_refused(in_tail, tmp_path, harm):
    tail = beside(in_tail, ".tail")
    if harm == "gone":
        tail.unlink()
    elif harm == "that of another ledger":
        other = Ledger.create(tmp_path / "other.ledger", epsilon=1, delta=1e-6)
        charge(other, "a", "b", "c", "d", "e")
        shutil.copy2(beside(other, ".tail"), tail)
    else:
        tail.write_bytes(tail.read_bytes()[: 800 if harm == "shorter" else 0])
    with pytest.raises(LedgerRolledBack, match=r"cohort\.ledger\.tail"):
        charge(in_tail, "must not pass")
    assert Ledger.repair(in_tail.path).left
    with pytest.raises(LedgerRolledBack):
        in_tail.charges


def test_ledger_mark_and_tail_move_together(in_tail, tmp_path):
    (tmp_path / "moved").mkdir()
    for ending in ("", ".mark", ".tail"):
        shutil.copy2(beside(in_tail, ending), tmp_path / "moved")
    moved = Ledger(tmp_path / "moved" / in_tail.path.name)
    charge(moved, "e")
    assert keys(moved) == ["a", "b", "c", "d", "e"]
    with pytest.raises(LedgerRolledBack):
        charge(in_tail, "on the copy that stayed behind")


def test_all_files_of_an_older_copy_together_are_refused(in_tail, tmp_path):
    shutil.copytree(tmp_path, tmp_path.with_name("backup"), ignore=shutil.ignore_patterns("state"))
    charge(in_tail, "after the backup")
    for path in tmp_path.with_name("backup").iterdir():
        shutil.copy2(path, tmp_path)
    with pytest.raises(LedgerRolledBack):
        charge(in_tail, "must not pass")


def test_a_lost_mark_and_damaged_totals_are_mended_with_a_tail_beside_them(in_tail):
    with closing(sqlite3.connect(in_tail.path)) as connection, connection:
        connection.execute("UPDATE checkpoint SET state = '{}'")
    beside(in_tail, ".mark").unlink()
    with pytest.raises(LedgerError):
        charge(in_tail, "must not pass")
    repaired = Ledger.repair(in_tail.path)
    assert (len(repaired.mended), repaired.left) == (2, [])
    charge(in_tail, "e")
    assert keys(in_tail) == ["a", "b", "c", "d", "e"]
    in_tail.verify()


def test_a_full_disk_spends_nothing_and_does_no_harm(in_tail, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full)
        with pytest.raises(LedgerError, match="No space left"):
            charge(in_tail, "no room")
    assert keys(in_tail) == ["a", "b", "c", "d"]
    charge(in_tail, "room again")
    assert in_tail.verify() == 7


def test_readers_never_see_less_than_was_paid_while_another_process_charges(ledger, monkeypatch):
    monkeypatch.setattr(ledger_file, "_LOOKS", 25)
    monkeypatch.setattr(ledger_tail, "BURST", 2)
    monkeypatch.setattr(ledger_tail, "SIZE", 4000)  # folded every few charges
    child = os.fork()
    if not child:
        with suppress(BaseException):
            charge(ledger, *(f"{number}" for number in range(150)))
            os._exit(0)
        os._exit(1)
    seen = []
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        seen.append(ledger.charges)
    assert seen == sorted(seen)
    assert ledger.charges == 150
    ledger.verify()


def test_what_a_commit_left_half_written_is_read_as_it_was_before(ledger):
    """Pages of an unfinished transaction are in the file, and its journal knows how they were."""
    charge(ledger, "a", "b")
    journal = beside(ledger, "-journal")
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size = 1")  # what does not fit is written at once
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE entries SET facts = facts || hex(zeroblob(20000))")
        torn, undo = ledger.path.read_bytes(), journal.read_bytes()
        connection.execute("ROLLBACK")
    assert undo[:8] != bytes(8)
    ledger.path.write_bytes(torn)
    journal.write_bytes(undo)
    assert keys(ledger) == ["a", "b"]
    assert ledger.path.read_bytes() == torn  # reading writes nothing
    charge(ledger, "c")
    assert keys(ledger) == ["a", "b", "c"]


def test_what_a_crash_left_of_a_creation_does_not_hinder_the_next_one(tmp_path):
    for ending in (".new", ".new-journal"):
        (tmp_path / f"again.ledger{ending}").write_bytes(b"left over")
    assert Ledger.create(tmp_path / "again.ledger", epsilon=1, delta=1e-6).charges == 0
