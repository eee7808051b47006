"""An altered, shortened, restored or forked ledger spends nothing."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from discreet.errors import LedgerCorrupt, LedgerError, LedgerRolledBack
from discreet.privacy import GDP, Ledger
from discreet.privacy import ledger_file as ledger_file_module


@pytest.fixture(autouse=True)
def state_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DISCREET_STATE", str(directory / "state"))
        ledger = Ledger.create(directory / "cohort.ledger", epsilon=1, delta=1e-6)
        for number in range(4):
            key = ledger.charge(GDP(0.02), label=f"release {number}")
            ledger.store(key, {"value": number})
    return directory


@pytest.fixture
def ledger(template, tmp_path) -> Ledger:
    """Four releases, a charge and a result each."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    return Ledger(tmp_path / "cohort.ledger")


chance = random.Random(20261115)


def mark_of(path: Path) -> Path:
    return path.with_name(path.name + ".mark")


def copied(path: Path, target: Path) -> Path:
    target.mkdir()
    shutil.copy2(path, target)
    shutil.copy2(mark_of(path), target)
    return target / path.name


def assert_refused(path: Path, error: type[LedgerError]) -> str:
    before = path.read_bytes()
    with pytest.raises(error) as refusal:
        Ledger(path)
    unchecked = Ledger.__new__(Ledger)
    unchecked.path = path
    with pytest.raises(error):
        unchecked.charge(GDP(0.01), label="must not pass")
    assert path.read_bytes() == before
    assert str(path) in str(refusal.value)
    return str(refusal.value)


def assert_every_flip_is_refused(ledger: Ledger, file: Path, positions) -> None:
    intact = file.read_bytes()
    for position in positions:
        damaged = bytearray(intact)
        damaged[position] ^= 1 << chance.randrange(8)
        file.write_bytes(damaged)
        with pytest.raises(LedgerCorrupt):
            ledger.charge(GDP(0.01), label="must not pass")
        assert file.read_bytes() == damaged
    file.write_bytes(intact)
    assert len(ledger.history) == 4


def test_a_flip_anywhere_in_the_ledger_is_refused(ledger):
    size = ledger.path.stat().st_size
    header, first_pages = range(110), chance.sample(range(110, 8192), 250)
    assert_every_flip_is_refused(ledger, ledger.path, [*header, *first_pages, *chance.choices(range(size), k=150)])


def test_a_flip_anywhere_in_the_mark_is_refused(ledger):
    mark = mark_of(ledger.path)
    assert_every_flip_is_refused(ledger, mark, range(mark.stat().st_size))


def test_a_flip_in_the_second_mark_is_refused(ledger, tmp_path):
    (second,) = (tmp_path / "state" / "marks").glob("*.json")
    assert_every_flip_is_refused(ledger, second, range(0, second.stat().st_size, 5))


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"checksum":1}'])
def test_a_mark_that_is_none_is_refused(ledger, content):
    mark_of(ledger.path).write_bytes(content)
    assert "was altered" in assert_refused(ledger.path, LedgerCorrupt)


@pytest.mark.parametrize("size", [0, 1, 100, 4096, 5000])
def test_a_truncated_ledger_is_refused(ledger, size):
    os.truncate(ledger.path, size)
    assert_refused(ledger.path, LedgerError)


ALTERATIONS = {
    "delete the last": "DELETE FROM entries WHERE seq = 8",
    "delete one in the middle": "DELETE FROM entries WHERE seq = 3",
    "delete all": "DELETE FROM entries",
    "cheaper": "UPDATE entries SET body = replace(body, '0x1.47', '0x1.07') WHERE seq = 1",
    "reorder": "UPDATE entries SET seq = CASE seq WHEN 3 THEN 103 ELSE 101 END WHERE seq IN (1, 3);"
    "UPDATE entries SET seq = CASE seq WHEN 103 THEN 1 ELSE 3 END WHERE seq > 100",
    "number anew": "DELETE FROM entries WHERE seq = 8; UPDATE entries SET seq = -seq; UPDATE entries SET seq = 1 - seq",
    "blob": "UPDATE entries SET body = CAST(body AS BLOB) WHERE seq = 2",
    "null": "UPDATE entries SET hash = NULL WHERE seq = 2",
    "drop": "DROP TABLE entries",
    "append": "INSERT INTO entries VALUES (9, '{}', 'x')",
    "other pages only": "CREATE TABLE other (x)",
    "vacuum": "VACUUM",
    "settings": "PRAGMA user_version = 7",
}


@pytest.mark.parametrize("statements", ALTERATIONS.values(), ids=ALTERATIONS.keys())
def test_an_alteration_by_sql_is_refused(ledger, statements):
    with sqlite3.connect(ledger.path) as connection:
        connection.executescript(statements)
    connection.close()
    assert_refused(ledger.path, LedgerError)


def test_a_chain_rewritten_with_valid_hashes_is_refused(ledger):
    with sqlite3.connect(ledger.path) as connection:
        previous = ""
        for seq, body in connection.execute("SELECT seq, body FROM entries ORDER BY seq").fetchall():
            body = body.replace("0x1.47", "0x1.07")
            previous = hashlib.sha256((previous + body).encode()).hexdigest()
            connection.execute("UPDATE entries SET body = ?, hash = ? WHERE seq = ?", (body, previous, seq))
    connection.close()
    assert_refused(ledger.path, LedgerRolledBack)


def test_a_restored_older_ledger_is_refused(ledger, tmp_path):
    older = copied(ledger.path, tmp_path / "backup")
    ledger.charge(GDP(0.02), label="after the backup")
    shutil.copy2(older, ledger.path)
    assert "older copy" in assert_refused(ledger.path, LedgerRolledBack)


def test_a_restored_older_ledger_with_its_older_mark_is_refused(ledger, tmp_path):
    older = copied(ledger.path, tmp_path / "backup")
    ledger.charge(GDP(0.02), label="after the backup")
    shutil.copy2(older, ledger.path)
    shutil.copy2(mark_of(older), mark_of(ledger.path))
    assert "older copy" in assert_refused(ledger.path, LedgerRolledBack)


def test_the_newest_ledger_with_an_older_mark_is_refused(ledger, tmp_path):
    older = copied(ledger.path, tmp_path / "backup")
    ledger.charge(GDP(0.02), label="after the backup")
    shutil.copy2(mark_of(older), mark_of(ledger.path))
    assert_refused(ledger.path, LedgerCorrupt)


def test_a_copy_is_refused_once_the_original_moved_on(ledger, tmp_path):
    fork = copied(ledger.path, tmp_path / "fork")
    ledger.charge(GDP(0.02), label="on the original")
    assert_refused(fork, LedgerRolledBack)


def test_of_two_copies_only_the_one_used_first_can_spend(ledger, tmp_path):
    fork = Ledger(copied(ledger.path, tmp_path / "fork"))
    fork.charge(GDP(0.02), label="on the copy")
    with pytest.raises(LedgerRolledBack):
        ledger.charge(GDP(0.02), label="on the original")
    assert len(fork.history) == 5


def test_a_moved_ledger_works(ledger, tmp_path):
    (tmp_path / "moved").mkdir()
    target = tmp_path / "moved" / "renamed.ledger"
    ledger.path.rename(target)
    mark_of(ledger.path).rename(mark_of(target))
    Ledger(target).charge(GDP(0.02), label="after the move")
    assert len(Ledger(target).history) == 5


def test_a_copy_without_its_mark_is_refused(ledger, tmp_path):
    fork = shutil.copy2(ledger.path, tmp_path / "fork.ledger")
    message = assert_refused(fork, LedgerRolledBack)
    assert "fork.ledger.mark is missing" in message
    assert "put the mark file" in message


def test_the_mark_of_another_ledger_is_refused(ledger, tmp_path):
    other = Ledger.create(tmp_path / "other.ledger", epsilon=1, delta=1e-6)
    shutil.copy2(mark_of(other.path), mark_of(ledger.path))
    assert_refused(ledger.path, LedgerError)


def test_the_file_of_another_ledger_is_refused(ledger, tmp_path):
    other = Ledger.create(tmp_path / "other.ledger", epsilon=9, delta=1e-6)
    shutil.copy2(other.path, ledger.path)
    assert_refused(ledger.path, LedgerRolledBack)


def test_a_planted_journal_is_refused_and_not_played_back(ledger):
    journal = ledger.path.with_name(ledger.path.name + "-journal")
    journal.write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(504))
    assert "journal" in assert_refused(ledger.path, LedgerCorrupt)


def test_messages_name_no_label_and_no_value(ledger):
    ledger.path.write_bytes(ledger.path.read_bytes().replace(b"release 2", b"release 7"))
    message = assert_refused(ledger.path, LedgerCorrupt)
    assert "release" not in message
    assert "nothing was spent" in message


def test_every_mark_is_synced_before_and_after_it_is_put_in_place(ledger, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *args, name=name, real=real: (calls.append(name), real(*args))[1])
    ledger.charge(GDP(0.02), label="synced")
    assert calls == ["fsync", "replace", "fsync"] * 3  # pending, final, second mark


def test_the_pending_mark_comes_before_the_commit_and_the_final_one_after(ledger, monkeypatch):
    seen = []

    def recording(path, mark, real=ledger_file_module.write_mark):
        with sqlite3.connect(f"{ledger.path.as_uri()}?mode=ro", uri=True) as connection:
            rows = connection.execute("SELECT count(*) FROM entries").fetchone()[0]
        connection.close()
        seen.append((bool(mark.pending), mark.seq, rows - 1))
        real(path, mark)

    monkeypatch.setattr(ledger_file_module, "write_mark", recording)
    ledger.charge(GDP(0.02), label="ordered")
    assert seen == [(True, 8, 8), (False, 9, 9), (False, 9, 9)]


def test_a_commit_syncs_file_and_directory(ledger):
    with ledger_file_module._writing(ledger.path) as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_a_full_disk_spends_nothing_and_does_no_harm(ledger, monkeypatch):
    def full(connection, chain):
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(ledger_file_module, "_insert", full)
        with pytest.raises(LedgerError, match="disk is full"):
            ledger.charge(GDP(0.02), label="no room")
    assert json.loads(mark_of(ledger.path).read_text())["pending"]
    assert len(ledger.history) == 4
    ledger.charge(GDP(0.02), label="room again")
    assert len(ledger.history) == 5


def test_a_system_without_file_locks_is_told_so(ledger, monkeypatch):
    monkeypatch.setattr("discreet.privacy.ledger_mark.fcntl", None)
    with pytest.raises(LedgerError, match="POSIX"):
        ledger.charge(GDP(0.02), label="Windows")
