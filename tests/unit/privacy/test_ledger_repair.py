"""A refused ledger can be read and partly repaired; no budget is given back."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.errors import LedgerError, LedgerRolledBack, RollbackWarning
from discreet.privacy import GDP, Ledger


@pytest.fixture(autouse=True)
def state_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    monkeypatch.setattr("discreet.privacy.ledger_file._LOOKS", 1)


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    made = Ledger.create(tmp_path / "cohort.ledger", epsilon=1, delta=1e-6)
    for number in range(3):
        made.store(made.charge(GDP(0.05), label=f"release {number}"), {"value": number})
    return made


def mark_of(ledger: Ledger) -> Path:
    return ledger.path.with_name(ledger.path.name + ".mark")


def second_mark(tmp_path: Path) -> Path:
    (found,) = (tmp_path / "state" / "marks").glob("*.json")
    return found


def altered(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[40] ^= 1
    path.write_bytes(content)


def test_a_ledger_without_its_mark_can_be_read_and_not_charged(ledger):
    spent, history = ledger.spent, ledger.history
    mark_of(ledger).unlink()
    seen = Ledger.read_only(ledger.path)
    assert (seen.spent, seen.history) == (spent, history)
    assert "has no mark" in seen.doubts
    with pytest.raises(LedgerError, match="reading only"):
        seen.charge(GDP(0.01), label="x")
    with pytest.raises(LedgerRolledBack, match="budget repair"):
        ledger.charge(GDP(0.01), label="x")


def test_an_intact_ledger_leaves_no_doubts(ledger):
    assert Ledger.read_only(ledger.path).doubts == ""
    assert Ledger.repair(ledger.path).mended == Ledger.repair(ledger.path).left == []


def test_a_ledger_in_a_read_only_folder_can_be_read(ledger, tmp_path):
    """As another user, since root may write anywhere."""
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("needs setpriv to give root's rights away")
    folder = tmp_path / "published"
    folder.mkdir()
    for name in ("cohort.ledger", "cohort.ledger.mark"):
        shutil.copy2(tmp_path / name, folder)
        (folder / name).chmod(0o444)
    folder.chmod(0o555)
    for parent in (tmp_path, *tmp_path.parents):
        if parent.name.startswith(("pytest-", "popen-", "test_")):
            parent.chmod(parent.stat().st_mode | stat.S_IXOTH | stat.S_IXGRP)
    code = (
        "import sys; from discreet.privacy import Ledger; x = Ledger.read_only(sys.argv[1]); print(x.charges, x.doubts)"
    )
    command = [sys.executable, "-c", code, str(folder / "cohort.ledger")]
    if os.geteuid() == 0:
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
    environment = {**os.environ, "DISCREET_STATE": "/nonexistent", "HOME": "/nonexistent"}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    folder.chmod(0o755)
    if "Permission denied" in result.stderr and "site" in result.stderr:
        pytest.skip("another user cannot run this interpreter")
    assert result.stdout == "3 \n", result.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["cohort.ledger", "cohort.ledger.mark"]


@pytest.mark.parametrize("damage", [Path.unlink, altered], ids=["lost", "altered"])
def test_a_mark_is_made_anew_where_the_second_one_vouches_for_the_ledger(ledger, damage):
    spent = ledger.spent
    damage(mark_of(ledger))
    found = Ledger.repair(ledger.path)
    assert (len(found.mended), found.left) == (1, [])
    assert Ledger(ledger.path).spent == spent
    ledger.charge(GDP(0.05), label="goes on")


def test_a_mark_is_not_made_anew_for_an_older_copy(ledger, tmp_path):
    older = tmp_path / "backup"
    shutil.copy2(ledger.path, older)
    ledger.charge(GDP(0.05), label="after the backup")
    shutil.copy2(older, ledger.path)
    mark_of(ledger).unlink()
    found = Ledger.repair(ledger.path)
    assert found.mended == []
    assert "older copy" in found.left[0]
    with pytest.raises(LedgerRolledBack):
        ledger.charge(GDP(0.01), label="x")


def test_a_mark_is_not_made_anew_where_nothing_vouches_for_the_ledger(ledger, tmp_path):
    mark_of(ledger).unlink()
    shutil.rmtree(tmp_path / "state")
    assert "no second mark on this machine" in Ledger.repair(ledger.path).left[0]
    with pytest.raises(LedgerRolledBack):
        Ledger(ledger.path)


def test_an_altered_second_mark_is_left_to_who_knows(ledger, tmp_path):
    altered(second_mark(tmp_path))
    assert "could belong to a newer ledger" in Ledger.repair(ledger.path).left[0]
    with pytest.raises(LedgerError):
        Ledger(ledger.path)
    second_mark(tmp_path).unlink()
    assert Ledger.repair(ledger.path).mended == ["there was no second mark, and one was written"]
    assert Ledger(ledger.path).charges == 3


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM checkpoint",
        "UPDATE checkpoint SET seq = 2",
        "UPDATE checkpoint SET state = replace(state, 'c', 'd')",
    ],
)
def test_running_totals_are_made_anew_from_the_entries(ledger, statement):
    spent = ledger.spent
    with sqlite3.connect(ledger.path) as connection:
        connection.execute(statement)
    connection.close()
    with pytest.raises(LedgerError):
        Ledger(ledger.path)
    found = Ledger.repair(ledger.path)
    assert found.left == []
    assert any("running totals" in mended for mended in found.mended)
    assert Ledger(ledger.path).spent == spent


def test_an_altered_entry_is_not_mended(ledger):
    with sqlite3.connect(ledger.path) as connection:
        connection.execute("UPDATE entries SET facts = replace(facts, '0x1.99', '0x1.09') WHERE seq = 1")
    connection.close()
    before = ledger.path.read_bytes()
    found = Ledger.repair(ledger.path)
    assert found.mended == []
    assert "entry 1 is not the one that was written" in found.left[0]
    assert ledger.path.read_bytes() == before


def test_no_damage_is_ever_mended_upwards(ledger, tmp_path):
    """Bytes flipped in all three files, several at once, also together with older copies: never
    more is left.
    """
    chance = random.Random(7)
    older = {path: path.read_bytes() for path in (ledger.path, mark_of(ledger), second_mark(tmp_path))}
    ledger.charge(GDP(0.05), label="newest")
    newest = {path: path.read_bytes() for path in older}
    remaining, mended = ledger.remaining, 0
    for _ in range(120):
        for path, content in newest.items():
            path.write_bytes(content)
        restored = chance.sample(sorted(older)[:2], chance.randrange(3))  # the second mark is not restored
        for path in restored:
            path.write_bytes(older[path])
        for _ in range(chance.randrange(3)):
            path = chance.choice(sorted(older)[:2])
            content = bytearray(path.read_bytes())
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
            path.write_bytes(content)
        try:
            mended += not Ledger.repair(ledger.path).left
            assert Ledger(ledger.path).remaining == remaining
        except LedgerError:
            pass
    assert mended > 10


KEY = "a key of sufficient length"


def test_with_a_key_nobody_else_can_make_a_mark(ledger, tmp_path, monkeypatch):
    forged = mark_of(ledger).read_bytes()
    (tmp_path / "key").write_text(KEY + "\n")
    monkeypatch.setenv("DISCREET_LEDGER_KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(LedgerError, match="made without a key"):
        Ledger(ledger.path)
    Ledger.sign(ledger.path)
    ledger.charge(GDP(0.05), label="with the key")
    signed = mark_of(ledger).read_bytes()
    mark_of(ledger).write_bytes(forged)  # as whoever restores an older ledger without the key would have to
    with pytest.raises(LedgerError, match="made without a key"):
        ledger.charge(GDP(0.05), label="x")
    mark_of(ledger).write_bytes(signed)
    assert ledger.charges == 4
    monkeypatch.setenv("DISCREET_LEDGER_KEY", "another key, just as long")  # the environment goes first
    with pytest.raises(LedgerError, match="was altered"):
        Ledger(ledger.path)
    monkeypatch.delenv("DISCREET_LEDGER_KEY")
    monkeypatch.delenv("DISCREET_LEDGER_KEY_FILE")
    with pytest.raises(LedgerError, match="made with a key"):
        ledger.charge(GDP(0.05), label="x")
    assert Ledger.read_only(ledger.path).charges == 4


def test_a_ledger_made_with_a_key_needs_it_from_the_start(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_LEDGER_KEY", KEY)
    ledger = Ledger.create(tmp_path / "keyed.ledger", epsilon=1, delta=1e-6)
    ledger.charge(GDP(0.05), label="x")
    monkeypatch.delenv("DISCREET_LEDGER_KEY")
    with pytest.raises(LedgerError, match="DISCREET_LEDGER_KEY_FILE"):
        Ledger(ledger.path)


def test_a_short_or_missing_key_is_refused(ledger, monkeypatch):
    with pytest.raises(LedgerError, match="no key to sign with"):
        Ledger.sign(ledger.path)
    monkeypatch.setenv("DISCREET_LEDGER_KEY", "short")
    with pytest.raises(LedgerError, match="at least 16 characters"):
        Ledger(ledger.path)
    monkeypatch.delenv("DISCREET_LEDGER_KEY")
    monkeypatch.setenv("DISCREET_LEDGER_KEY_FILE", "/nonexistent/key")
    with pytest.raises(LedgerError, match="cannot be read"):
        Ledger(ledger.path)


def test_where_no_second_mark_can_be_written_repair_says_so(ledger, tmp_path, monkeypatch):
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "a file" / "below"))
    assert "an older copy would go unnoticed" in Ledger.repair(ledger.path).left[0]
    with pytest.warns(RollbackWarning):
        ledger.charge(GDP(0.01), label="x")


def test_nothing_grows_with_the_history(ledger, monkeypatch):
    """Neither opening nor charging looks at all entries; verifying, and going on with a job, does."""
    looks = []
    from discreet.privacy import ledger_chain

    real = ledger_chain.recomputed
    monkeypatch.setattr(ledger_chain, "recomputed", lambda *arguments: (looks.append(1), real(*arguments))[1])
    key = ledger.charge(GDP(0.01), label="x", key="job")
    Ledger(ledger.path).store(key, {})
    assert (ledger.charges, looks) == (4, [])
    ledger.charge(GDP(0.01), label="x", key="job")
    assert len(looks) == 1
    assert ledger.verify() == 9
    assert len(looks) == 2
