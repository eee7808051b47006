"""The parts of a ledger one by one: where each rule begins and ends, what is said, and which error is met."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import sqlite3
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import BudgetError, LedgerBusy, LedgerCorrupt, LedgerError, LedgerRolledBack
from discreet.privacy import (
    GDP,
    Approximate,
    Budget,
    Composition,
    Ledger,
    Pure,
    ledger_chain,
    ledger_file,
    ledger_lock,
    ledger_mark,
    ledger_tail,
)
from discreet.privacy.ledger_account import (
    PART,
    Account,
    Charge,
    opening_entry,
    releases_entry,
    releases_of,
    result_entry,
    result_key,
)
from discreet.privacy.ledger_entry import Entry, digest, link
from discreet.privacy.ledger_file import LedgerFile
from discreet.privacy.ledger_lock import _condition, _holder, _is_at, _patience, locked
from discreet.privacy.ledger_mark import Mark, canonical_json, mark_elsewhere, mark_key, read_mark, sha256, write_mark
from discreet.privacy.ledger_repair import LenientFile
from discreet.privacy.ledger_tail import Tail, continued

TOTAL = Budget.of(1.0, 1e-6)


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger.create(tmp_path / "cohort.ledger", epsilon=1, delta=1e-6, note="of May")


def beside(ledger: Ledger, ending: str) -> Path:
    return ledger.path.with_name(ledger.path.name + ending)


# The account


def account() -> Account:
    return Account.opened("open", opening_entry(TOTAL, ledger_id="id", note="a note", time="now").fields)


def test_an_account_begins_empty_and_counts_charges():
    opened = account()
    assert (opened.charges, opened.square, opened.others, opened.note) == (0, 0, (), "a note")
    assert opened.total == TOTAL
    after = opened.charged((GDP(0.1), GDP(0.2), Pure(0.01))).charged((Pure(0.01), Approximate(0.1, 1e-9)))
    assert after.charges == 2
    assert after.square == Fraction(0.1) ** 2 + Fraction(0.2) ** 2
    assert after.others == ((Approximate(0.1, 1e-9), 1), (Pure(0.01), 2))
    assert Account.read(after.text) == after
    with pytest.raises(ValueError, match="it has no opening entry"):
        Account.opened("charge", opened.opening)
    charge = Charge("then", "label", (GDP(0.1), Pure(0.2)), "key")
    assert Charge.read(charge.entry.facts) == charge
    assert opened.after("charge", charge.entry.fields) == opened.charged((GDP(0.1), Pure(0.2)))
    assert opened.after("result", {}) is opened


def test_what_is_left_beside_mixed_costs_is_found_to_16_bits():
    mixed = account().charged((Approximate(0.2, 1e-8),))
    left = mixed.remaining.mu
    step = TOTAL.mu / 2**16
    assert left / step == pytest.approx(round(left / step), abs=1e-6)
    assert mixed.fits(GDP(left))
    assert not mixed.fits(GDP(left + 1.01 * step))
    assert mixed.spent.mu == pytest.approx((TOTAL.mu**2 - left**2) ** 0.5, rel=1e-12)
    assert Fraction(mixed.spent.mu) ** 2 + Fraction(left) ** 2 >= Fraction(TOTAL.mu) ** 2
    assert mixed.spent.epsilon == Composition((Approximate(0.2, 1e-8),)).epsilon(1e-6)
    assert not account().fits(GDP(TOTAL.mu), GDP(1e-9))
    assert account().fits(GDP(TOTAL.mu))
    assert not account().charged((Approximate(0.2, 1e-5),)).fits()


def test_releases_and_results_are_found_under_their_keys():
    made = (("look", GDP(0.1)), ("pick", Pure(0.2)))
    entry = releases_entry("key", made, "now")
    assert (entry.kind, entry.key, entry.fields["time"], entry.payload) == ("releases", "key", "now", None)
    assert releases_of(entry.facts) == made
    result = result_entry(result_key("key", "3"), made, {"b": 1, "a": 2}, "now")
    assert (result.key, result.payload) == (f"key{PART}3", '{"a":2,"b":1}')
    assert releases_of(result.facts) == made
    assert result_key("key", "") == "key"


def test_an_entry_is_linked_by_what_it_says():
    entry = Entry.of("charge", "k", {"b": 1, "a": 2}, "payload")
    assert entry.facts == '["charge","k",{"a":2,"b":1}]'
    assert entry.place == '["charge","k"'
    assert entry.fields == {"a": 2, "b": 1}
    assert Entry.read(entry.facts, "payload") == entry
    assert entry.digest == digest(entry.facts, "payload") == sha256(f"{entry.facts}\npayload")
    assert digest("facts", None) == digest("facts", "") == sha256("facts\n")
    assert link("before", "digest", "state") == sha256(f"before\ndigest\n{sha256('state')}")
    assert Entry.of("a", "b", {}).payload is None


def test_a_history_has_the_releases_of_each_fit(ledger):
    ledger.reserve([GDP(0.1)], label="fit", key="job")
    ledger.store("job", {"v": 1}, part="0", releases=(("look", GDP(0.05)),))
    ledger.store("job", {"v": 2}, part="1", releases=(("more", GDP(0.06)),))
    ledger.reserve([GDP(0.01), Pure(0.01)], label="other", key="other")
    one, two = ledger.history
    assert one.releases == (("look", GDP(0.05)), ("more", GDP(0.06)))
    assert (one.stored, two.stored, two.releases) == (True, False, ())
    assert one.cost == GDP(0.1)
    assert two.cost == Composition((GDP(0.01), Pure(0.01)))
    ledger.finish("job", (("all", GDP(0.1)),))
    ledger.finish("job", (("again", GDP(0.1)),))  # written down once
    assert ledger.history[0].releases == (("all", GDP(0.1)),)
    assert ledger.stored("job", part="0", releases=(("look", GDP(0.05)),)) == {"v": 1}
    assert ledger.stored("job", part="2") is None
    with pytest.raises(LedgerError, match="is not an answer to 'look' at this cost"):
        ledger.stored("job", part="0", releases=(("look", GDP(0.04)),))
    assert (ledger.paid("none"), ledger.paid("job")) == (None, ledger.history[0].time)
    assert ledger.opened_account().remaining.mu == ledger.total.mu
    assert (len(ledger.id), ledger.note) == (32, "of May")


def test_a_ledger_in_one_line(ledger):
    assert repr(ledger) == f"Ledger({str(ledger.path)!r}, 100% left of epsilon 1 at delta 1e-06)"
    ledger.charge(GDP(ledger.total.mu * 0.5), label="a quarter")
    assert "75% left of" in repr(ledger)
    ledger.charge(ledger.total.split([0.75, 0.25])[0], label="nearly all")
    assert "nothing left of" in repr(ledger)
    same, other = Ledger(ledger.path), Ledger.create(ledger.path.with_name("other"), epsilon=1, delta=1e-6)
    assert (ledger == same, ledger == other, ledger == str(ledger.path)) == (True, False, False)
    assert hash(ledger) == hash(same)
    ledger.path.unlink()
    assert repr(ledger) == f"Ledger({str(ledger.path)!r})"


def test_keys_are_made_where_none_is_given(ledger):
    first, second = (ledger.charge(GDP(0.01), label="x") for _ in range(2))
    assert first != second
    assert len(first) == 32
    assert ledger.charge(GDP(0.01), label=7, key=8) == "8"
    assert ledger.history[-1].label == "7"


# Marks


def test_a_mark_is_one_line_of_512_bytes():
    mark = Mark("ledger", 3, "head", "stamp")
    for key in (None, b"k" * 16):
        text = mark.to_text(key)
        assert (len(text), text[-1]) == (512, "\n")
        assert Mark.from_text(text, key) == mark
        fields = json.loads(text)
        assert (fields["format"], fields["keyed"]) == (2, key is not None)
        for altered in (text.replace(" \n", "\n "), text.replace('"head":"head"', '"head":"haed"'), text[:-1] + " "):
            with pytest.raises(ValueError, match="the checksum does not match"):
                Mark.from_text(altered, key)
    with pytest.raises(ValueError, match="this is no mark of this format"):
        Mark.from_text(mark.to_text(None).replace('"format":2', '"format":3'), None)
    assert Mark("a", 1, "b").stamp == ""
    with pytest.raises(ValueError, match="checksum"):
        Mark.from_text(mark.to_text(b"k" * 16), b"l" * 16)
    # One that looks a little like those of an earlier version is none of them.
    with pytest.raises(KeyError):
        Mark.from_text(json.dumps({"digest": ""}), None)


@pytest.mark.parametrize("content", ["[]", "{}", "1", '{"format":2}', "[" * 100_000, '"text"'])
def test_what_is_no_mark_is_altered(tmp_path, content):
    path = tmp_path / "mark"
    path.write_text(content)
    with pytest.raises(ValueError):
        read_mark(path, None)
    path.unlink()
    assert read_mark(path, None) is None


def test_keys_of_marks_come_from_the_environment_first(tmp_path, monkeypatch):
    assert mark_key() is None
    path = tmp_path / "key"
    path.write_bytes(b"  0123456789abcdef\n")
    monkeypatch.setenv("DISCREET_LEDGER_KEY_FILE", str(path))
    assert mark_key() == b"0123456789abcdef"
    monkeypatch.setenv("DISCREET_LEDGER_KEY", "fedcba9876543210")
    assert mark_key() == b"fedcba9876543210"
    monkeypatch.setenv("DISCREET_LEDGER_KEY", "0" * 15)
    with pytest.raises(LedgerError, match="must have at least 16 characters, got 15"):
        mark_key()
    monkeypatch.delenv("DISCREET_LEDGER_KEY")
    path.unlink()
    with pytest.raises(LedgerError, match=f"cannot be read from {path}: No such file"):
        mark_key()


def test_marks_are_put_and_written_over(tmp_path, monkeypatch):
    path, mark = tmp_path / "mark", Mark("ledger", 1, "head")
    write_mark(path, mark, None)
    assert read_mark(path, None) == mark
    assert path.stat().st_mode & 0o777 == 0o600
    inode = path.stat().st_ino
    write_mark(path, Mark("ledger", 2, "head"), None)
    assert (read_mark(path, None).seq, path.stat().st_ino) == (2, inode)
    path.write_text("of another length")
    write_mark(path, mark, None)
    assert read_mark(path, None) == mark
    assert sorted(tmp_path.iterdir()) == [path]
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
    for _ in range(5):
        write_mark(path, mark, None)
        path.unlink()
        write_mark(path, mark, None)
        ledger_mark.sync_directory(tmp_path)
    if before:
        assert len(os.listdir("/proc/self/fd")) == before
    # On macOS a sync that stops at the drive's own cache is not enough.
    calls = []
    monkeypatch.setattr(ledger_mark, "fcntl", type("F", (), {"F_FULLFSYNC": 51, "fcntl": lambda *a: calls.append(a)}))
    ledger_mark.sync(7)
    assert calls == [(7, 51)]


def test_second_marks_lie_in_the_state_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "chosen"))
    assert mark_elsewhere("abc") == tmp_path / "chosen" / "marks" / "abc.json"
    monkeypatch.delenv("DISCREET_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    assert mark_elsewhere("abc") == tmp_path / "xdg" / "discreet" / "marks" / "abc.json"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    assert mark_elsewhere("abc") == tmp_path / "home" / ".local" / "state" / "discreet" / "marks" / "abc.json"
    assert canonical_json({"b": [1, "é"], "a": None}) == '{"a":null,"b":[1,"\\u00e9"]}'


# Locks


def test_who_holds_a_lock_is_said_as_far_as_it_is_known(tmp_path):
    def said(facts) -> str:
        path = tmp_path / "lock"
        path.write_text(facts if isinstance(facts, str) else json.dumps(facts))
        descriptor = os.open(path, os.O_RDONLY)
        try:
            return _holder(descriptor)
        finally:
            os.close(descriptor)

    here = {"process": os.getpid(), "host": socket.gethostname(), "since": "then", "program": "fit.py"}
    assert said(here) == f"process {os.getpid()} (fit.py), since then"
    assert said({**here, "program": ""}) == f"process {os.getpid()}, since then"
    assert said({**here, "host": "elsewhere"}) == f"process {os.getpid()} (fit.py) on elsewhere, since then"
    for odd in ("", "[]", "{}", "no json", {**here, "process": "x"}, {**here, "process": None}):
        assert said(odd) == "another process"
    assert _holder(10**6) == "another process"
    assert _condition(os.getpid(), socket.gethostname()) == ""
    assert _condition(os.getpid(), "elsewhere") == ""
    assert _condition(2**22 + 5, socket.gethostname()) == ""


def test_patience_is_half_a_minute_unless_said(monkeypatch):
    monkeypatch.delenv("DISCREET_LOCK_SECONDS", raising=False)
    assert _patience() == 30.0
    monkeypatch.setenv("DISCREET_LOCK_SECONDS", "1.5")
    assert _patience() == 1.5
    monkeypatch.setenv("DISCREET_LOCK_SECONDS", "soon")
    assert _patience() == 30.0


def test_a_lock_is_signed_and_waits_grow_to_20_ms(tmp_path, monkeypatch):
    path = tmp_path / "a.lock"
    monkeypatch.setattr(sys, "argv", ["/somewhere/fit.py"])
    pauses, now = [], [0.0]

    def sleep(seconds):
        pauses.append(seconds)
        now[0] += 1.0

    monkeypatch.setattr(ledger_lock.random, "uniform", lambda low, high: (low + high) / 2)
    monkeypatch.setattr(ledger_lock.time, "sleep", sleep)
    monkeypatch.setattr(ledger_lock.time, "monotonic", lambda: now[0])
    monkeypatch.setenv("DISCREET_LOCK_SECONDS", "7")
    path.write_text("x" * 5000)
    before = set(ledger_lock._open_locks)
    with locked(path):
        facts = json.loads(path.read_text())
        assert (facts["process"], facts["host"], facts["program"]) == (os.getpid(), socket.gethostname(), "fit.py")
        assert facts["since"].endswith("+00:00")
        assert path.stat().st_mode & 0o077 == 0o044 & path.stat().st_mode & 0o077
        assert len(ledger_lock._open_locks) == len(before) + 1
        with pytest.raises(LedgerBusy) as refusal, locked(path, "this thing"):
            pass
    assert str(refusal.value).startswith(f"this thing has been in use by process {os.getpid()} (fit.py), since ")
    assert "for more than 7 seconds" in str(refusal.value)
    assert pauses == [0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.02, 0.02]
    assert ledger_lock._open_locks == before
    with locked(path), pytest.raises(LedgerBusy, match=f"^{path} has been in use"), locked(path):
        pass
    with locked(path):  # free again
        assert path.exists()
    monkeypatch.setattr(sys, "argv", [])
    with locked(path):
        assert json.loads(path.read_text())["program"] == ""


def test_a_lock_counts_at_its_path_only(tmp_path):
    path = tmp_path / "a.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        assert _is_at(descriptor, path)
        path.rename(tmp_path / "moved")
        assert not _is_at(descriptor, path)  # deleted
        path.write_text("")
        assert not _is_at(descriptor, path)  # another one
    finally:
        os.close(descriptor)


def test_every_append_moves_both_marks(ledger):
    """Within a burst and outside of one; what adds nothing moves none."""
    marks = [beside(ledger, ".mark"), mark_elsewhere(read_mark(beside(ledger, ".mark"), None).ledger)]
    for burst in (10**9, 0):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(ledger_tail, "BURST", burst)
            seq = read_mark(marks[0], None).seq
            ledger.charge(GDP(0.001), label="x", key=f"key {burst}")
            assert [read_mark(mark, None).seq for mark in marks] == [seq + 1] * 2
            assert read_mark(marks[0], None).head == read_mark(marks[1], None).head
            assert read_mark(marks[1], None).stamp == ""
            before = [mark.read_bytes() for mark in marks]
            ledger.charge(GDP(0.001), label="x", key=f"key {burst}")
            assert [mark.read_bytes() for mark in marks] == before
    ledger.finish("key 0", ())
    assert read_mark(marks[0], None).seq == 3
    facts = ledger.path.stat()
    assert read_mark(marks[0], None).stamp == f"{facts.st_size} {facts.st_mtime_ns}"


def test_an_error_while_locking_leaves_no_file_open(tmp_path, monkeypatch):
    before = set(ledger_lock._open_locks)

    def broken(descriptor, operation):
        raise OSError(errno.ENOLCK, "no locks")

    real = ledger_lock.fcntl.flock
    monkeypatch.setattr(ledger_lock.fcntl, "flock", broken)
    with pytest.raises(OSError, match="no locks"), locked(tmp_path / "a.lock"):
        pass
    assert ledger_lock._open_locks == before
    monkeypatch.setattr(ledger_lock.fcntl, "flock", real)
    # A lock that cannot be signed is held all the same.
    monkeypatch.setattr(ledger_lock.os, "pwrite", lambda *arguments: broken(*arguments[:2]))
    with locked(tmp_path / "a.lock"):
        assert len(ledger_lock._open_locks) == len(before) + 1


def test_a_child_closes_locks_that_are_gone_already(monkeypatch):
    monkeypatch.setattr(ledger_lock, "_open_locks", {10**6})
    monkeypatch.setattr(ledger_lock, "no_fork", ledger_lock.ForkGate())
    ledger_lock._close_in_child()
    assert ledger_lock._open_locks == set()


# The file


def test_a_reader_looks_twenty_times_five_milliseconds_apart(ledger, monkeypatch):
    """As between a writer's commit and its mark: an older mark, then still the same."""
    old = beside(ledger, ".mark").read_bytes()
    ledger.charge(GDP(0.01), label="x")
    beside(ledger, ".mark").write_bytes(old)
    pauses = []
    monkeypatch.setattr(ledger_file.time, "sleep", pauses.append)
    assert ledger.charges == 1  # beyond its mark: it can only have spent more
    assert pauses == [0.005] * 19
    pauses.clear()
    beside(ledger, ".mark").write_bytes(b"half a mark")
    with pytest.raises(LedgerCorrupt, match="was altered; put back the copy that belongs to ledger"):
        _ = ledger.charges
    assert pauses == [0.005] * 19


def test_a_mark_that_becomes_whole_is_read(ledger, monkeypatch):
    whole = beside(ledger, ".mark").read_bytes()
    beside(ledger, ".mark").write_bytes(whole[:100])
    monkeypatch.setattr(ledger_file.time, "sleep", lambda seconds: beside(ledger, ".mark").write_bytes(whole))
    assert ledger.charges == 0


def test_connections_read_or_write_and_wait_so_long(ledger, monkeypatch):
    made, real = [], sqlite3.connect

    def connect(*arguments, **options):
        if "timeout" in options:  # as ours all have; a tool that measures coverage has files of its own
            made.append((arguments[0].rpartition("?")[2], options["timeout"]))
        return real(*arguments, **options)

    monkeypatch.setattr(ledger_chain.sqlite3, "connect", connect)
    _ = ledger.charges
    assert made == [("mode=ro", 5)]
    ledger.charge(GDP(0.01), label="x")
    assert made[1:] == [("mode=rw", 60)]
    with ledger_chain.writing(ledger.path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("persist",)
        assert connection.in_transaction
    with ledger_chain.reading(ledger.path) as connection:
        assert connection.in_transaction
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute("DELETE FROM entries")


def test_a_file_that_sqlite_cannot_open_is_no_crash(ledger, monkeypatch):
    """Where nothing was left half written, the error is told; where a journal is hot, a settled copy is read."""

    def refuse(path):
        raise sqlite3.OperationalError("disk I/O error")

    file = LedgerFile(ledger.path, Account)
    assert not file._hot()
    monkeypatch.setattr(ledger_file, "reading", refuse)
    for journal in (None, bytes(512), bytes(8) + b"beyond"):
        beside(ledger, "-journal").unlink(missing_ok=True)
        if journal is not None:
            beside(ledger, "-journal").write_bytes(journal)
        with pytest.raises(LedgerError, match="cannot be used: disk I/O error"):
            _ = ledger.charges
    beside(ledger, "-journal").write_bytes(bytes(7) + b"x")
    assert file._hot()
    assert ledger.charges == 0


def test_the_state_folder_is_the_owners_alone(ledger, tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "deep" / "er" / "state"))
    ledger.charge(GDP(0.01), label="x")
    assert (tmp_path / "deep" / "er" / "state" / "marks").stat().st_mode & 0o777 == 0o700
    fresh = Ledger.create(tmp_path / "fresh.ledger", epsilon=1, delta=1e-6)
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "an" / "other"))
    Ledger.repair(fresh.path)
    assert (tmp_path / "an" / "other" / "marks").stat().st_mode & 0o777 == 0o700


def test_a_creation_that_was_cut_short_can_be_made_again(tmp_path):
    """Before the file has its name, its mark says that nothing was charged."""
    path = tmp_path / "again.ledger"
    write_mark(path.with_name("again.ledger.mark"), Mark("head", -1, ""), None)
    path.with_name("again.ledger.tail").write_bytes(b"left over")
    assert Ledger.create(path, epsilon=1, delta=1e-6).charges == 0
    assert not any(path.with_name("again.ledger.tail").read_bytes())
    path.unlink()
    with pytest.raises(LedgerError, match=r"belongs to a ledger that is gone from here; put again\.ledger back"):
        Ledger.create(path, epsilon=1, delta=1e-6)


def test_a_ledger_that_is_gone_or_without_mark_is_named(ledger, tmp_path):
    beside(ledger, ".mark").unlink()
    with pytest.raises(LedgerRolledBack, match=r"has no mark: cohort\.ledger\.mark is missing"):
        ledger.charge(GDP(0.01), label="x")
    ledger.path.unlink()
    for use in (lambda: ledger.charge(GDP(0.01), label="x"), lambda: ledger.charges, ledger.verify):
        with pytest.raises(LedgerError, match=r"no ledger at .*cohort\.ledger; make one with Ledger\.create"):
            use()
    for use in (Ledger.repair, Ledger.sign, Ledger.read_only):
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("DISCREET_LEDGER_KEY", "0123456789abcdef")
            with pytest.raises(LedgerError, match="no ledger at"):
                use(ledger.path)


def test_a_copy_elsewhere_is_locked_with_the_original(ledger, tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_LOCK_SECONDS", "0")
    mark = read_mark(beside(ledger, ".mark"), None)
    with (
        locked(mark_elsewhere(mark.ledger).with_suffix(".lock")),
        pytest.raises(LedgerBusy, match="a copy of ledger"),
    ):
        ledger.charge(GDP(0.01), label="x")
    assert ledger.charges == 0


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("DELETE FROM entries", "it has no checkpoint at its end"),
        ("DELETE FROM checkpoint", "it has no checkpoint at its end"),
        ("UPDATE checkpoint SET seq = 7", "it has no checkpoint at its end"),
        ("UPDATE checkpoint SET state = 'x'", "its newest entry and its checkpoint do not belong together"),
        ("DROP TABLE entries", "its entries cannot be read"),
        ("UPDATE entries SET hash = NULL", "its newest entry and its checkpoint do not belong together"),
    ],
)
def test_damage_is_named(ledger, damage, said):
    ledger.charge(GDP(0.01), label="x")
    with sqlite3.connect(ledger.path) as connection:
        connection.execute(damage)
    connection.close()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ledger_file, "_LOOKS", 1)
        with pytest.raises(LedgerCorrupt, match=f"was altered: {said}; put back the newest intact copy"):
            _ = ledger.charges


def test_damage_that_only_verification_meets_is_named(ledger, monkeypatch):
    ledger.charge(GDP(0.01), label="x", key="k")
    ledger.charge(GDP(0.01), label="y", key="l")
    monkeypatch.setattr(ledger_file, "_LOOKS", 1)
    real = ledger.path.read_bytes()
    for damage, said in (
        ("UPDATE entries SET place = 'x' WHERE seq = 1", "entry 1 is not the one that was written"),
        ("UPDATE entries SET seq = 9 WHERE seq = 0", "."),
        ("UPDATE entries SET facts = '[1,2]' WHERE seq = 1", "."),
        ('UPDATE entries SET facts = \'["charge","k",{}]\' WHERE seq = 1', "."),
    ):
        ledger.path.write_bytes(real)
        with sqlite3.connect(ledger.path) as connection:
            connection.execute(damage)
        connection.close()
        with pytest.raises(LedgerError, match=said):
            ledger.verify()
    ledger.path.write_bytes(real)
    assert ledger.verify() == 3
    with ledger_chain.reading(ledger.path) as connection:
        view = ledger_chain.View(connection)
        assert (view.seq, view.hash_of(99), view.tail) == (2, "", [])
        assert view.find("charge", "none") is None
        assert len(list(view.facts())) == 3
        assert view.contains(Mark(view.ledger, -1, "whatever"))
        assert not view.contains(Mark(view.ledger, 1, "whatever"))
        assert not view.contains(Mark("another", -1, ""))
        assert not view.fold()


def test_an_entry_under_the_place_of_another_is_noticed(ledger, monkeypatch):
    ledger.charge(GDP(0.01), label="x", key="k")
    with sqlite3.connect(ledger.path) as connection:
        connection.execute('UPDATE entries SET place = \'["charge","z"\' WHERE seq = 1')
    connection.close()
    with ledger_chain.reading(ledger.path) as connection:
        view = ledger_chain.View(connection)
        with pytest.raises(ValueError, match="an entry is not the one that was written"):
            view.find("charge", "z")
    with pytest.raises(ValueError, match="it has no entry"):
        ledger_chain.recomputed([], Account)


def test_looking_at_a_doubtful_ledger_tells_the_doubt(ledger):
    beside(ledger, ".mark").unlink()
    file = LenientFile(ledger.path, Account)
    assert file.doubts == ""
    assert file.read(lambda view: view.seq) == 0
    assert "has no mark" in file.doubts
    seen = Ledger.read_only(ledger.path)
    with pytest.raises(LedgerError, match="was opened for reading only; nothing was spent"):
        seen.store("k", {})


# The tail


def test_bursts_are_eight_appends_within_four_seconds(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(ledger_tail, "_appends", {})
    monkeypatch.setattr(ledger_tail.time, "monotonic", lambda: now[0])
    assert (ledger_tail.BURST, ledger_tail.SECONDS, ledger_tail.SIZE) == (8, 4.0, 32768)
    tail = Tail(tmp_path / "a.ledger")
    assert tail.path == tmp_path / "a.ledger.tail"
    found = []
    for _ in range(8):
        found.append(tail.in_burst())
        now[0] += 0.49
    assert not any(found)
    assert tail.in_burst()  # 3.92 seconds after the first
    now[0] += 0.57
    assert not tail.in_burst()  # 4.0 seconds after the second
    assert not Tail(tmp_path / "b.ledger").in_burst()


def test_a_tail_takes_entries_as_long_as_they_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger_tail, "SIZE", 400)
    tail = Tail(tmp_path / "a.ledger")
    assert tail.read() == b""
    tail.clear()
    tail.sync()  # nothing is there yet
    entry = Entry.of("charge", "k", {})
    state = "s"
    head = link("before", entry.digest, state)
    length = len(canonical_json([5, entry.facts, None, state, head])) + 1
    assert not tail.append(5, entry, state, head, 400 - length + 1)
    assert not tail.path.exists()
    assert tail.append(5, entry, state, head, 0)
    assert len(tail.read()) == 400
    (found,) = continued(tail.read(), 4, "before")
    assert (found.seq, found.facts, found.payload, found.state, found.head) == (5, entry.facts, None, state, head)
    assert (found.end, found.entry) == (length, entry)
    assert found.row == (5, entry.place, entry.facts, None, entry.digest, head)
    assert tail.append(6, entry, state, link(head, entry.digest, state), 400 - length)
    assert continued(tail.read(), 4, "another") == []
    assert continued(tail.read(), 5, head) == []
    assert continued(tail.read(), 3, "before") == []
    tail.clear()
    assert tail.read() == bytes(400)
    tail.sync()
    for odd in (b"no json\n", b"[1]\n", b"\xff\n", b"[" * 100_000 + b"\n", b'["5",1,2,3,4]\n', b"null\n"):
        assert continued(odd, 4, "before") == []


def test_a_new_tail_is_synced_with_its_folder(tmp_path, monkeypatch):
    calls = []
    real_sync, real_folder = ledger_tail.sync, ledger_tail.sync_directory
    monkeypatch.setattr(ledger_tail, "sync", lambda descriptor: (calls.append("file"), real_sync(descriptor)))
    monkeypatch.setattr(ledger_tail, "sync_directory", lambda path: (calls.append(path), real_folder(path)))
    tail, entry = Tail(tmp_path / "a.ledger"), Entry.of("charge", "k", {})
    tail.append(1, entry, "s", "h", 0)
    assert calls == ["file", tmp_path, "file"]
    tail.append(2, entry, "s", "h", 500)
    assert calls[3:] == ["file"]
    tail.sync()
    assert calls[4:] == ["file"]
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
    for _ in range(5):
        tail.append(2, entry, "s", "h", 500)
        tail.clear()
        tail.sync()
    if before:
        assert len(os.listdir("/proc/self/fd")) == before


# Repair


def test_repair_says_what_was_mended(ledger, tmp_path):
    ledger.charge(GDP(0.01), label="x")
    shutil.copy2(ledger.path, tmp_path / "copy")
    shutil.copy2(tmp_path / "copy", ledger.path)
    os.utime(ledger.path)
    assert Ledger.repair(ledger.path).mended == [
        "cohort.ledger.mark was of another state of the file; the file verifies in full"
    ]
    assert Ledger.repair(ledger.path).mended == []
    beside(ledger, ".mark").unlink()
    assert Ledger.repair(ledger.path).mended == [
        "cohort.ledger.mark was missing, and was recreated: the second mark shows that nothing is missing"
    ]
    content = bytearray(beside(ledger, ".mark").read_bytes())
    content[40] ^= 1
    beside(ledger, ".mark").write_bytes(content)
    assert Ledger.repair(ledger.path).mended[0].startswith("cohort.ledger.mark was altered, and was recreated")
    with sqlite3.connect(ledger.path) as connection:
        connection.execute("DROP TABLE entries")
    connection.close()
    (hopeless,) = Ledger.repair(ledger.path).left
    assert hopeless.startswith(
        "its entries cannot be read: what was spent can no longer be determined; put back the newest"
    )
    ledger.path.write_bytes(b"no database at all, but long enough to be looked at" * 40)
    (hopeless,) = Ledger.repair(ledger.path).left
    assert hopeless.startswith("its entries cannot be read")


def test_a_damaged_index_is_made_anew(ledger):
    ledger.charge(GDP(0.01), label="x")
    with sqlite3.connect(ledger.path) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, '(place)', '(facts)') WHERE name = 'by_place'")
    connection.close()
    found = Ledger.repair(ledger.path)
    assert "the index of its entries was damaged, and was rebuilt" in found.mended
    assert found.left == []


def test_a_key_signs_a_ledger_that_verifies(ledger, monkeypatch):
    ledger.charge(GDP(0.01), label="x")
    with pytest.raises(LedgerError, match="there is no key to sign with: set DISCREET_LEDGER_KEY or"):
        Ledger.sign(ledger.path)
    monkeypatch.setenv("DISCREET_LEDGER_KEY", "0123456789abcdef")
    Ledger.sign(ledger.path)
    mark = read_mark(beside(ledger, ".mark"), b"0123456789abcdef")
    assert (mark.seq, ledger.charges) == (1, 1)
    with pytest.raises(BudgetError):
        ledger.charge(GDP(9.0), label="too much")
