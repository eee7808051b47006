"""An altered, shortened, restored or forked ledger spends nothing."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import struct
from pathlib import Path

import pytest

from discreet.errors import LedgerCorrupt, LedgerError, LedgerRolledBack
from discreet.privacy import GDP, Ledger, ledger_chain
from discreet.privacy import ledger_file as ledger_file_module
from discreet.privacy.ledger_account import Account, Charge
from discreet.privacy.ledger_chain import View, insert
from discreet.privacy.ledger_entry import Entry, link


@pytest.fixture(autouse=True)
def state_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(ledger_file_module, "_LOOKS", 1)  # nobody else writes: a second look would see the same


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


def test_a_flip_anywhere_in_the_ledger_is_refused_or_changes_nothing(ledger):
    """Bytes that SQLite does not use may change; what was spent, and what was stored, may not."""
    size, intact = ledger.path.stat().st_size, ledger.path.read_bytes()
    spent, history = ledger.spent, ledger.history
    refused = 0
    for position in [*range(110), *chance.sample(range(110, 8192), 250), *chance.choices(range(size), k=150)]:
        damaged = bytearray(intact)
        damaged[position] ^= 1 << chance.randrange(8)
        ledger.path.write_bytes(damaged)
        try:
            seen = (ledger.spent, ledger.history, [ledger.stored(entry.key) for entry in history])
        except LedgerError:
            refused += 1
            with pytest.raises(LedgerError):
                ledger.charge(GDP(0.01), label="must not pass")
            assert ledger.path.read_bytes() == damaged
        else:
            assert seen == (spent, history, [{"value": number} for number in range(4)])
    assert refused > 150
    ledger.path.write_bytes(intact)
    assert ledger.history == history


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
    "cheaper": "UPDATE entries SET facts = replace(facts, '0x1.47', '0x1.07') WHERE seq = 1",
    "another answer": "UPDATE entries SET payload = replace(payload, '1', '7') WHERE seq = 4",
    "elsewhere": "UPDATE entries SET place = replace(place, 'result', 'answer') WHERE seq = 4",
    "less spent": "UPDATE checkpoint SET state = replace(state, '\"charges\":4', '\"charges\":3')",
    "older totals": "UPDATE checkpoint SET seq = 6",
    "no totals": "DELETE FROM checkpoint",
    "totals twice": "ALTER TABLE checkpoint RENAME TO x;"
    "CREATE TABLE checkpoint AS SELECT * FROM x UNION ALL SELECT * FROM x",
    "reorder": "UPDATE entries SET seq = CASE seq WHEN 3 THEN 103 ELSE 101 END WHERE seq IN (1, 3);"
    "UPDATE entries SET seq = CASE seq WHEN 103 THEN 1 ELSE 3 END WHERE seq > 100",
    "number anew": "DELETE FROM entries WHERE seq = 8; UPDATE entries SET seq = -seq; UPDATE entries SET seq = 1 - seq",
    "blob": "UPDATE entries SET facts = CAST(facts AS BLOB) WHERE seq = 2",
    "longer": "UPDATE entries SET facts = facts || ' ' WHERE seq = 2",
    "null": "UPDATE entries SET hash = NULL WHERE seq = 2",
    "drop": "DROP TABLE entries",
    "append": "INSERT INTO entries VALUES (9, '', '{}', NULL, 'x', 'x')",
}
HARMLESS = {"other pages only": "CREATE TABLE other (x)", "vacuum": "VACUUM", "settings": "PRAGMA user_version = 7"}


@pytest.mark.parametrize("statements", ALTERATIONS.values(), ids=ALTERATIONS.keys())
def test_an_alteration_by_sql_is_refused(ledger, statements):
    with sqlite3.connect(ledger.path) as connection:
        connection.executescript(statements)
    connection.close()
    assert_refused(ledger.path, LedgerError)


@pytest.mark.parametrize("statements", HARMLESS.values(), ids=HARMLESS.keys())
def test_what_alters_no_entry_is_found_to_be_harmless(ledger, statements):
    with sqlite3.connect(ledger.path) as connection:
        connection.executescript(statements)
    connection.close()
    assert len(Ledger(ledger.path).history) == 4
    ledger.charge(GDP(0.02), label="goes on")


def rewritten(path: Path, change, first: int = 0) -> None:
    """All entries from this one on, changed, with states and hashes that are right for them."""
    with sqlite3.connect(path) as connection:
        state, head = None, ""
        for seq, facts, payload in connection.execute(
            "SELECT seq, facts, payload FROM entries ORDER BY seq"
        ).fetchall():
            kind, key, fields = json.loads(change(facts) if seq >= first else facts)
            entry = Entry.of(kind, key, fields, payload)
            state = Account.opened(kind, fields) if state is None else state.after(kind, fields)
            head = link(head, entry.digest, state.text)
            values = (entry.place, entry.facts, entry.digest, head, seq)
            connection.execute("UPDATE entries SET place = ?, facts = ?, digest = ?, hash = ? WHERE seq = ?", values)
        connection.execute("UPDATE checkpoint SET state = ?", (state.text,))
    connection.close()


def test_a_chain_rewritten_with_valid_hashes_is_refused(ledger):
    rewritten(ledger.path, lambda facts: facts.replace("0x1.47", "0x1.07"))
    assert_refused(ledger.path, LedgerRolledBack)


def test_an_entry_that_gives_budget_back_is_refused(ledger):
    """Appended with a right link, but with totals that no charge leads to: the state is worked out
    anew.
    """
    with sqlite3.connect(ledger.path) as connection:
        view = View(connection)
        state = Account.read(view.state)
        empty = Account.opened("open", state.opening)
        entry = Entry.of("charge", "k", {"time": "", "label": "", "costs": []})
        head = link(view.head, entry.digest, empty.text)
        insert(connection, view.seq + 1, entry, head, empty.text)
    connection.close()
    assert_refused(ledger.path, LedgerCorrupt)


def test_a_ledger_beyond_its_mark_has_only_spent_more(ledger):
    """As a crash between commit and mark leaves it: a right entry more is taken as it is."""
    with sqlite3.connect(ledger.path) as connection:
        view = View(connection)
        entry = Charge("", "lost in the crash", (GDP(0.02),), "k").entry
        state = Account.read(view.state).after(entry.kind, entry.fields).text
        insert(connection, view.seq + 1, entry, link(view.head, entry.digest, state), state)
    connection.close()
    assert [entry.label for entry in Ledger(ledger.path).history][4:] == ["lost in the crash"]
    ledger.charge(GDP(0.02), label="goes on")
    assert len(ledger.history) == 6


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


def test_the_newest_ledger_with_an_older_mark_has_still_spent_what_it_has(ledger, tmp_path):
    older = copied(ledger.path, tmp_path / "backup")
    ledger.charge(GDP(0.02), label="after the backup")
    spent = ledger.spent
    shutil.copy2(mark_of(older), mark_of(ledger.path))
    assert Ledger(ledger.path).spent == spent


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


@pytest.mark.parametrize("records", [0, 3])
def test_a_planted_journal_gives_nothing_back(ledger, records):
    """SQLite plays a journal back into the file; what that makes of the ledger is seen like any
    other alteration.
    """
    spent, history, pages = ledger.spent, ledger.history, ledger.path.stat().st_size // 4096
    header = struct.pack(">8sIIIII", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", records, 0, pages, 512, 4096)
    body = b"".join(struct.pack(">I", page) + bytes(4096) + struct.pack(">I", 0) for page in range(2, 2 + records))
    ledger.path.with_name(ledger.path.name + "-journal").write_bytes(header.ljust(512, b"\0") + body)
    if records:
        assert_refused_after_playing(ledger)
    else:
        ledger.charge(GDP(0.0), label="goes on")
        assert (ledger.spent, ledger.history[:4]) == (spent, history)


def assert_refused_after_playing(ledger: Ledger) -> None:
    with pytest.raises(LedgerError):
        Ledger(ledger.path)
    with pytest.raises(LedgerError):
        ledger.charge(GDP(0.01), label="must not pass")


def test_messages_name_no_label_and_no_value(ledger):
    ledger.path.write_bytes(ledger.path.read_bytes().replace(b"release 2", b"release 7"))
    message = assert_refused(ledger.path, LedgerCorrupt)
    assert "release" not in message
    assert "nothing was spent" in message


def test_the_commit_is_on_disk_before_the_marks_say_so(ledger, monkeypatch):
    seen = []

    def recording(path, mark, key, real=ledger_file_module.write_mark):
        with sqlite3.connect(f"{ledger.path.as_uri()}?mode=ro", uri=True) as connection:
            rows = connection.execute("SELECT count(*) FROM entries").fetchone()[0]
        connection.close()
        seen.append((mark.seq, rows - 1))
        real(path, mark, key)

    monkeypatch.setattr(ledger_file_module, "write_mark", recording)
    ledger.charge(GDP(0.02), label="ordered")
    assert seen == [(9, 9), (9, 9)]


def test_a_new_mark_is_synced_before_and_after_it_is_put_in_place(ledger, monkeypatch):
    calls = []
    for name in ("fdatasync", "fsync", "replace"):
        if hasattr(os, name):
            real = getattr(os, name)
            monkeypatch.setattr(os, name, lambda *args, name=name, real=real: (calls.append(name), real(*args))[1])
    mark_of(ledger.path).unlink()
    Ledger.repair(ledger.path)
    assert [call.replace("fdatasync", "fsync") for call in calls] == ["fsync", "replace", "fsync"]


def test_a_mark_is_one_sector_and_is_written_over_at_once(ledger, monkeypatch):
    before, written = mark_of(ledger.path).stat(), []
    monkeypatch.setattr(os, "pwrite", lambda *args, real=os.pwrite: (written.append(len(args[1])), real(*args))[1])
    ledger.charge(GDP(0.02), label="x")
    after = mark_of(ledger.path).stat()
    assert (after.st_size, after.st_ino) == (512, before.st_ino)
    assert written.count(512) == 2


def test_a_commit_is_synced(ledger):
    with ledger_chain.writing(ledger.path) as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("persist",)


def test_a_full_disk_spends_nothing_and_does_no_harm(ledger, monkeypatch):
    def full(*arguments):
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(ledger_file_module, "insert", full)
        with pytest.raises(LedgerError, match="disk is full"):
            ledger.charge(GDP(0.02), label="no room")
    assert len(ledger.history) == 4
    ledger.charge(GDP(0.02), label="room again")
    assert len(ledger.history) == 5


def test_a_system_without_file_locks_is_told_so(ledger, monkeypatch):
    monkeypatch.setattr("discreet.privacy.ledger_lock.fcntl", None)
    with pytest.raises(LedgerError, match="POSIX"):
        ledger.charge(GDP(0.02), label="Windows")
