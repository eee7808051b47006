"""Marks of a ledger: their form, their keys and their places."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from discreet.errors import LedgerError
from discreet.privacy import (
    ledger_mark,
)
from discreet.privacy.ledger_mark import Mark, canonical_json, mark_elsewhere, mark_key, read_mark, write_mark


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
