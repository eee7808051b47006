"""The tail of a ledger's file, and repairs."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from ledger_parts import beside

from discreet.errors import BudgetError, LedgerError
from discreet.privacy import (
    GDP,
    Ledger,
    ledger_tail,
)
from discreet.privacy.ledger_entry import Entry, link
from discreet.privacy.ledger_mark import canonical_json, read_mark
from discreet.privacy.ledger_tail import Tail, continued


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
