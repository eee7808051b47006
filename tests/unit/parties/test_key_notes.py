"""A plan's release is noted in the party's key: a copy of the key on another machine does not pay
for it again.
"""

from __future__ import annotations

import os
import shutil

import pytest
from click.testing import CliRunner
from small_plan import people, settings

from discreet.cli import main
from discreet.documents import toml_value
from discreet.errors import BudgetError, LedgerError
from discreet.parties import Plan, SigningKey, key_notes, open_ledger, release
from discreet.parties.payment import ledger_of
from discreet.privacy import Ledger


@pytest.fixture
def key(tmp_path):
    return SigningKey.create(tmp_path / "a.key")


@pytest.fixture
def plan(key):
    return plan_with(key)


def plan_with(key, **more):
    return Plan.from_dict(signed_settings(key, **more))


def signed_settings(key, **more):
    content = settings(**more)
    for party in content["parties"]:
        own = key.public_key if party["name"] == "a" else f"ed25519:{party['name'] * 64}"
        party["public_key"] = own
    return content


def fields(table):
    return [f"{name} = {toml_value(value)}" for name, value in table.items() if name not in ("parties", "columns")]


def toml(content):
    lines = fields(content)
    for party in content["parties"]:
        columns = ", ".join(f"{{{', '.join(fields(column))}}}" for column in party["columns"])
        lines += ["[[parties]]", *fields(party), f"columns = [{columns}]"]
    return "\n".join(lines)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """From the call on this is another machine: another name, another state folder."""

    def move(name="other-host"):
        monkeypatch.setenv("DISCREET_STATE", str(tmp_path / name))
        monkeypatch.setattr(key_notes.socket, "gethostname", lambda: name)

    return move


def test_a_copy_of_the_key_on_another_machine_pays_for_no_second_release(plan, key, tmp_path, elsewhere):
    made = release(plan, "a", people(200), ledger=open_ledger(plan, "a", tmp_path / "a.ledger"), key=key)
    copy = shutil.copy2(key.path, tmp_path / "copy.key")
    elsewhere()
    other = Ledger.create(tmp_path / "other.ledger", epsilon=5, delta=1e-5)
    with pytest.raises(
        LedgerError, match=r"is paid from ledger .*a\.ledger on .* as the key's file says.*nothing was spent"
    ):
        release(plan, "a", people(200), ledger=other, key=copy)
    assert other.history == []
    for ending in ("", ".mark"):
        shutil.copy2(f"{tmp_path / 'a.ledger'}{ending}", f"{tmp_path / 'brought.ledger'}{ending}")
    brought = Ledger(tmp_path / "brought.ledger")
    assert release(plan, "a", people(200), ledger=brought, key=copy).to_bytes() == made.to_bytes()
    assert ledger_of(plan, "a", SigningKey.load(copy)) == brought  # noted anew, for this machine


def test_another_user_of_this_machine_gets_the_ledger_that_has_paid(plan, key, tmp_path, monkeypatch):
    ledger = open_ledger(plan, "a", tmp_path / "a.ledger")
    made = release(plan, "a", people(200), ledger=ledger, key=key)
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state of another user"))
    assert ledger_of(plan, "a") is None
    assert ledger_of(plan, "a", key) == ledger
    with pytest.warns(UserWarning, match="has no record of it"):
        assert release(plan, "a", people(200), ledger=ledger, key=key).to_bytes() == made.to_bytes()
    with pytest.raises(LedgerError, match="must not pay for it a second time"):
        release(plan, "a", people(200), ledger=open_ledger(plan, "a", tmp_path / "b.ledger"), key=key)


def test_the_command_makes_no_ledger_for_a_release_that_the_key_knows(key, tmp_path, elsewhere, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(toml(signed_settings(key)))
    people(200).to_parquet("one.parquet")
    arguments = ["parties", "release", "--plan", "plan.toml", "--party", "a", "--key", "a.key", "--out", "a.release"]
    first = CliRunner().invoke(main, [*arguments, "--data", "one.parquet"])
    assert first.exit_code == 0, first.output
    elsewhere()
    shutil.copy2("one.parquet", "two.parquet")
    again = CliRunner().invoke(main, [*arguments, "--data", "two.parquet"])
    assert again.exit_code == 1
    assert "as the key's file says" in again.output
    assert not (tmp_path / "two.ledger").exists()


def test_other_plans_are_not_concerned(plan, key, tmp_path, elsewhere):
    release(plan, "a", people(200), ledger=open_ledger(plan, "a", tmp_path / "a.ledger"), key=key)
    elsewhere()
    other = Ledger.create(tmp_path / "other.ledger", epsilon=5, delta=1e-5)
    assert release(plan_with(key, seed="t"), "a", people(200), ledger=other, key=key)


def test_a_release_that_was_not_paid_leaves_no_note(plan, key, tmp_path, elsewhere):
    before = key.path.read_bytes()
    poor = Ledger.create(tmp_path / "poor.ledger", epsilon=0.9, delta=1e-5)
    with pytest.raises(BudgetError, match="nothing was spent"):
        release(plan, "a", people(200), ledger=poor, key=key)
    assert key.path.read_bytes() == before
    elsewhere()
    assert release(plan, "a", people(200), ledger=open_ledger(plan, "a", tmp_path / "a.ledger"), key=key)


def test_killed_between_note_and_charge_binds_nobody_on_the_same_machine(plan, key, tmp_path):
    bound = Ledger.create(tmp_path / "bound.ledger", epsilon=5, delta=1e-5)
    key_notes.write_note(key, plan, "a", bound)
    other = Ledger.create(tmp_path / "other.ledger", epsilon=5, delta=1e-5)
    assert release(plan, "a", people(200), ledger=other, key=key)
    assert ledger_of(plan, "a", key) == other


def test_half_a_note_is_passed_over_and_the_key_stays_readable(plan, key, tmp_path, elsewhere):
    ledger = open_ledger(plan, "a", tmp_path / "a.ledger")
    line = key_notes.Note.now(plan, "a", ledger).to_line(key)
    with key.path.open("ab") as file:
        file.write(line[:-40])
    release(plan, "a", people(200), ledger=ledger, key=SigningKey.load(key.path))
    assert SigningKey.load(key.path).public_key == key.public_key
    elsewhere()
    with pytest.raises(LedgerError, match="as the key's file says"):
        ledger_of(plan, "a", key)


def test_an_altered_note_spends_nothing(plan, key, tmp_path):
    ledger = open_ledger(plan, "a", tmp_path / "a.ledger")
    release(plan, "a", people(200), ledger=ledger, key=key)
    text = key.path.read_text()
    for changed in (text.replace('"party": "a"', '"party": "b"'), text.replace('"time": "2', '"time": "3')):
        key.path.write_text(changed)
        with pytest.raises(LedgerError, match="was altered"):
            release(plan, "a", people(200), ledger=ledger, key=key)
    for broken in ("discreet-release: {}\n", "discreet-release: {[}\n"):
        key.path.write_text(text + broken)
        with pytest.raises(LedgerError, match="note"):
            release(plan, "a", people(200), ledger=ledger, key=key)


def test_a_key_that_cannot_be_written_spends_nothing(plan, key, tmp_path, monkeypatch):
    ledger = open_ledger(plan, "a", tmp_path / "a.ledger")

    def refused(path, *arguments, real=os.open):
        if path == key.path:
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments)

    monkeypatch.setattr(key_notes.os, "open", refused)
    with pytest.raises(LedgerError, match=r"cannot be written.*chmod 600.*nothing was spent"):
        release(plan, "a", people(200), ledger=ledger, key=key)
    assert ledger.history == []
