"""The file of a ledger: reading, creation, copies and damage."""

from __future__ import annotations

import sqlite3

import pytest
from ledger_parts import beside

from discreet.errors import LedgerBusy, LedgerCorrupt, LedgerError, LedgerRolledBack
from discreet.privacy import (
    GDP,
    Ledger,
    ledger_chain,
    ledger_file,
)
from discreet.privacy.ledger_account import (
    Account,
)
from discreet.privacy.ledger_file import LedgerFile
from discreet.privacy.ledger_lock import locked
from discreet.privacy.ledger_mark import Mark, mark_elsewhere, read_mark, write_mark
from discreet.privacy.ledger_repair import LenientFile


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
    """Where nothing was left half written, the error is told; where a journal is hot, a settled
    copy is read.
    """

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
