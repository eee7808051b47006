"""The installed ``discreet demo``, as a newcomer runs it: twice, and then the command that it
prints.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import discreet

COMMAND = Path(sys.executable).with_name("discreet")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    return lambda *words: subprocess.run(
        [COMMAND, *words], cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False
    )


def test_the_demo_runs_twice_and_its_command_works(run, tmp_path):
    for _ in range(2):
        result = run("demo", "--out", "my demo", "--epsilon", "2")
        assert result.returncode == 0, result.stderr
    for words in (
        "who do not exist",
        "euros per year  epsilon 2",
        "held-out",
        "guarantee  epsilon 2",
        "is left: epsilon",
    ):
        assert words in result.stdout
    folder = tmp_path / "my demo"
    for name in ("data.parquet", "domain.toml", "budget.ledger", "model.json", "coefficients.png", "coefficients.svg"):
        assert (folder / name).stat().st_size > 100
    before = discreet.load(folder / "model.json")
    (command,) = [line for line in result.stdout.splitlines() if line.startswith("  ") and "discreet fit " in line]
    again = run(*shlex.split(command)[1:])
    assert again.returncode == 0, again.stderr
    after = discreet.load(folder / "model.json")
    assert after.results_.names == before.results_.names
    assert after.coef_.tolist() != before.coef_.tolist()  # fresh noise
    assert after.privacy_.epsilon(1e-6) == pytest.approx(before.privacy_.epsilon(1e-6))


def test_the_demo_removes_nobodys_ledger(run, tmp_path):
    (tmp_path / "demo").mkdir()
    assert run("budget", "create", "demo/budget.ledger", "--epsilon", "1", "--delta", "1e-6").returncode == 0
    result = run("demo")
    assert result.returncode == 1
    assert result.stderr.startswith("Error: ")
    assert run("budget", "show", "demo/budget.ledger").returncode == 0
