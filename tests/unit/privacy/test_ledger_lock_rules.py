"""Locks of a ledger: waiting, errors, copies and child processes."""

from __future__ import annotations

import errno
import json
import os
import socket
import sys

import pytest
from ledger_parts import beside

from discreet.errors import LedgerBusy
from discreet.privacy import (
    GDP,
    ledger_lock,
    ledger_tail,
)
from discreet.privacy.ledger_lock import _condition, _holder, _is_at, _patience, locked
from discreet.privacy.ledger_mark import mark_elsewhere, read_mark


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
