"""A fit that takes long shows progress at a terminal; one that is interrupted says what is spent
and how to go on.
"""

from __future__ import annotations

import io
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

from discreet import Ledger, LinearRegression, LogisticRegression
from discreet.cli import main
from discreet.cli.watching import Watcher, watched
from discreet.curator.watch import watching
from discreet.engines import MemoryEngine
from discreet.engines.progress import listener
from discreet.errors import StoredResultWarning

SETTINGS = {"epsilon": 1.0, "delta": 1e-6, "bounds_X": (-1, 1)}
X = np.random.default_rng(0).uniform(-1, 1, (300, 2))
Y = np.clip(X @ [0.5, 0.2], -1, 1)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def ledger(tmp_path, monkeypatch) -> Ledger:
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    return Ledger.create(tmp_path / "a.ledger", epsilon=3, delta=1e-6)


def shown(monkeypatch, stream: io.StringIO, seconds: float) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    watcher = Watcher(patience=0.05)
    with watcher.showing():
        for tenths in (3, 10):
            watcher.heard(1, tenths)
        watcher.passed()
        watcher.heard(2, 4)
        time.sleep(seconds)
    return stream.getvalue()


def test_progress_is_shown_at_a_terminal_after_a_while_and_wiped_at_the_end(monkeypatch):
    said = shown(monkeypatch, Terminal(), 0.2)
    assert "\r1 pass over the rows done, 40 % of the next, 0 s" in said
    assert said.endswith("\r" + " " * 70 + "\r")


def test_a_short_fit_and_a_file_show_no_progress(monkeypatch):
    assert shown(monkeypatch, Terminal(), 0.0) == ""
    assert shown(monkeypatch, io.StringIO(), 0.2) == ""


def test_every_answer_is_one_pass_however_many_a_minimisation_took(monkeypatch):
    """How often Newton's method reads the rows is private, so these passes are not reported."""
    heard, passes = [], []
    real = MemoryEngine.sum_rows

    def sum_rows(self, *arguments, **options):
        passes.append(1)
        heard.append(listener.get() is not None)
        return real(self, *arguments, **options)

    monkeypatch.setattr(MemoryEngine, "sum_rows", sum_rows)
    with watched() as watcher:
        LogisticRegression(**SETTINGS, classes=(0, 1), solver="objective").fit(X, (Y > 0).astype(int))
    assert watcher.passes == watcher.answers == 4
    assert len(passes) > 6
    assert sum(heard) == 3
    assert watching.get() is listener.get() is None


def interrupted(monkeypatch, capsys, model, after: int, **options) -> str:
    real, done = MemoryEngine.sum_rows, []

    def sum_rows(self, *arguments, **more):
        if len(done) == after:
            raise KeyboardInterrupt
        done.append(1)
        return real(self, *arguments, **more)

    with monkeypatch.context() as patched:
        patched.setattr(MemoryEngine, "sum_rows", sum_rows)
        with pytest.raises(SystemExit) as left, watched():
            model.fit(X, Y, **options)
    assert left.value.code == 130
    return capsys.readouterr().err


def test_an_interrupted_job_says_what_is_reserved_what_came_out_and_how_to_go_on(monkeypatch, capsys, ledger):
    model = LinearRegression(**SETTINGS, bounds_y=(-1, 1), ledger=ledger)
    said = interrupted(monkeypatch, capsys, model, 3, job="night")
    assert f"epsilon 1 at delta 1e-06 (mu 0.2367) is reserved in ledger {ledger.path}, and stays spent" in said
    (entry,) = ledger.history
    found = len(entry.releases)
    assert found >= 3
    assert f"{found} answers had been found; none was shown, and no model was written" in said
    assert "the same command goes on from there, at no further cost" in said
    spent = ledger.spent
    with pytest.warns(StoredResultWarning, match=f"{found} of"):
        model.fit(X, Y, job="night")
    assert ledger.spent == spent


def test_an_interrupted_fit_without_a_job_says_that_it_pays_again(monkeypatch, capsys, ledger):
    said = interrupted(monkeypatch, capsys, LinearRegression(**SETTINGS, bounds_y=(-1, 1), ledger=ledger), 0)
    assert "0 answers had been found" in said
    assert "The same command pays again. With --job NAME" in said


def test_an_interrupted_fit_without_a_ledger_says_that_nothing_was_charged(monkeypatch, capsys):
    said = interrupted(monkeypatch, capsys, LinearRegression(**SETTINGS, bounds_y=(-1, 1)), 2)
    assert "no ledger was charged, and nothing was shown or written. The rows were read 2 times" in said


def test_an_interruption_outside_of_a_fit_says_where_to_look(monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("click.Group.invoke", interrupted)
    result = CliRunner().invoke(main, ["show", "model.json"])
    assert result.exit_code == 130
    assert "Aborted" not in result.output
    assert "discreet budget show" in result.output
