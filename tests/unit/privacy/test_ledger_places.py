"""Where a ledger lives, and who pays from it."""

from __future__ import annotations

import copy
import json
import math
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator, clone

from discreet.errors import LedgerError, RollbackWarning
from discreet.privacy import GDP, Ledger


@pytest.fixture(autouse=True)
def state_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger.create(tmp_path / "cohort.ledger", epsilon=1, delta=1e-6)


class Holder(BaseEstimator):
    def __init__(self, ledger=None):
        self.ledger = ledger


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda ledger: pickle.loads(pickle.dumps(ledger)), lambda x: clone(Holder(x)).ledger],
    ids=["copy", "deepcopy", "pickle", "clone"],
)
def test_every_copy_pays_from_the_same_file(ledger, copied):
    twin = copied(ledger)
    twin.charge(GDP(0.1), label="from the copy")
    assert twin == ledger
    assert hash(twin) == hash(ledger)
    assert len(ledger.history) == 1


def test_another_process_pays_from_the_same_file(ledger):
    code = "import pickle, sys; from discreet.privacy import GDP; "
    code += "pickle.load(sys.stdin.buffer).charge(GDP(0.1), label='child')"
    subprocess.run([sys.executable, "-c", code], input=pickle.dumps(ledger), check=True)
    assert [entry.label for entry in ledger.history] == ["child"]


def test_a_relative_path_stays_the_same_file_after_a_change_of_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ledger = Ledger.create("here.ledger", epsilon=1, delta=1e-6)
    monkeypatch.chdir("/")
    assert ledger.path == tmp_path / "here.ledger"
    ledger.charge(GDP(0.1), label="gram")
    assert repr(ledger).startswith(f"Ledger({str(tmp_path / 'here.ledger')!r}, ")


def test_strange_file_names_and_labels_are_kept(tmp_path):
    ledger = Ledger.create(tmp_path / "a b?c#d%20é.ledger", epsilon=1, delta=1e-6)
    ledger.charge(GDP(0.1), label="größe \ud800 '\"\n")
    assert ledger.history[0].label == "größe \ud800 '\"\n"


def test_a_ledger_is_never_overwritten(ledger):
    ledger.charge(GDP(0.1), label="gram")
    with pytest.raises(LedgerError, match="exists already"):
        Ledger.create(ledger.path, epsilon=9, delta=1e-6)
    assert len(Ledger(ledger.path).history) == 1


def test_deleting_the_file_does_not_refill_the_budget(ledger):
    ledger.path.unlink()
    with pytest.raises(LedgerError, match="choose another path"):
        Ledger.create(ledger.path, epsilon=1, delta=1e-6)


def test_a_missing_ledger_is_named(tmp_path):
    with pytest.raises(LedgerError, match=r"no ledger at .*none\.ledger"):
        Ledger(tmp_path / "none.ledger")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(LedgerError, match="is no directory"):
        Ledger.create(tmp_path / "none" / "x.ledger", epsilon=1, delta=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 1e-6), (-1, 1e-6), (1, 0), (1, 1), (math.inf, 1e-6), (1, 2)])
def test_a_budget_that_protects_nothing_is_refused(tmp_path, epsilon, delta):
    with pytest.raises(ValueError):
        Ledger.create(tmp_path / "x.ledger", epsilon=epsilon, delta=delta)
    assert list(tmp_path.iterdir()) == []


def test_only_the_owner_may_read_a_ledger(ledger, tmp_path):
    ledger.charge(GDP(0.1), label="gram")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 6  # ledger, journal, mark and lock; mark and lock in the state directory
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_a_ledger_works_without_a_state_directory(ledger, tmp_path, monkeypatch):
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "a file" / "below"))
    for number in range(1, 3):  # said at each charge, not once
        with pytest.warns(RollbackWarning, match="no file outside of its folder records"):
            ledger.charge(GDP(0.1), label="gram")
        assert len(ledger.history) == number


def test_a_machine_that_has_never_seen_a_charged_ledger_says_so_once(ledger, tmp_path, monkeypatch):
    """As a fresh container, or another machine: what it finds may be an older copy."""
    ledger.charge(GDP(0.1), label="here")
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "fresh"))
    with pytest.warns(RollbackWarning, match="has no record of it, though it was charged before"):
        ledger.charge(GDP(0.1), label="there")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RollbackWarning)
        ledger.charge(GDP(0.1), label="there again")
        Ledger.create(tmp_path / "new.ledger", epsilon=1, delta=1e-6).charge(GDP(0.1), label="the first")


def test_the_state_directory_follows_xdg(ledger, tmp_path, monkeypatch):
    monkeypatch.delenv("DISCREET_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    ledger.charge(GDP(0.1), label="gram")
    (mark,) = (tmp_path / "xdg" / "discreet" / "marks").glob("*.json")
    assert json.loads(mark.read_text())["seq"] == 1


def test_a_ledger_of_another_format_is_refused(ledger, tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.privacy.ledger_account.FORMAT", 3)
    with pytest.raises(LedgerError, match="format 2, but this discreet reads 3"):
        Ledger(ledger.path)


def test_a_ledger_of_an_earlier_version_is_named_as_such(ledger):
    fields = {"checksum": "0" * 64, "digest": "", "head": "", "ledger": "", "pending": "", "seq": 0}
    ledger.path.with_name(ledger.path.name + ".mark").write_text(json.dumps(fields))
    with pytest.raises(LedgerError, match="earlier version of discreet"):
        Ledger(ledger.path)


def test_a_user_without_a_home_is_warned_at_each_charge(tmp_path, monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    for name in ("DISCREET_STATE", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.warns(RollbackWarning, match="no home directory"):
        ledger = Ledger.create(tmp_path / "homeless.ledger", epsilon=1, delta=1e-6)
    with pytest.warns(RollbackWarning, match="no home directory"):
        ledger.charge(GDP(0.01), label="x")
    assert ledger.charges == 1
