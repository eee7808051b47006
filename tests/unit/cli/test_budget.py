"""``discreet budget`` prints what the ledger says."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from discreet.cli.budget import budget
from discreet.privacy import GDP, ZCDP, Ledger


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(budget, [str(word) for word in words])


def test_a_created_ledger_is_shown(run):
    created = run("create", "a.ledger", "--epsilon", 1, "--delta", 1e-6, "--note", "the cohort")
    assert created.exit_code == 0
    assert "a.ledger.mark" in created.output
    Ledger("a.ledger").charge(GDP(Ledger("a.ledger").total.mu / 2), label="gram")
    shown = run("show", "a.ledger").output
    for fact in ("the cohort", "total      1 ", "delta 1e-06", "used       25.0%, by 1 charge "):
        assert fact in shown


def test_show_speaks_json(run):
    run("create", "a.ledger", "--epsilon", 1, "--delta", 1e-6)
    facts = json.loads(run("show", "a.ledger", "--json").output)
    assert facts["total"] == facts["remaining"]
    assert facts["total"]["epsilon"] == 1
    assert (facts["used"], facts["charges"]) == (0, 0)


def test_history_is_an_aligned_table(run):
    run("create", "a.ledger", "--epsilon", 1, "--delta", 1e-6)
    assert run("history", "a.ledger").output == "nothing was spent yet\n"
    ledger = Ledger("a.ledger")
    key = ledger.charge(GDP(0.1), label="gram")
    ledger.store(key, {})
    ledger.charge(ZCDP(1e-4), label="a longer label")
    heading, first, second = run("history", "a.ledger").output.splitlines()
    assert first.index("gram") == second.index("a longer label") == heading.index("label")
    assert first.index("stored") == heading.index("result")
    assert "mu 0.1 " in first
    assert "ZCDP" in second


def test_history_speaks_json_without_infinities(run):
    run("create", "a.ledger", "--epsilon", 1, "--delta", 1e-6)
    Ledger("a.ledger").charge(ZCDP(1e-4), label="z")
    (entry,) = json.loads(run("history", "a.ledger", "--json").output)
    assert (entry["number"], entry["label"], entry["mu"], entry["stored"]) == (1, "z", None, False)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("show", "none.ledger"), "no ledger at"),
        (("history", "none.ledger"), "no ledger at"),
        (("create", "x.ledger", "--epsilon", "-1", "--delta", "1e-6"), "epsilon must be a number > 0"),
        (("create", "no/x.ledger", "--epsilon", "1", "--delta", "1e-6"), "is no directory"),
    ],
)
def test_a_mistake_is_one_clean_line(run, words, reason):
    result = run(*words)
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert reason in result.output
    assert len(result.output.splitlines()) == 1


def test_history_shows_a_fit_with_its_releases_under_it(run):
    run("create", "a.ledger", "--epsilon", "3", "--delta", "1e-6")
    ledger = Ledger("a.ledger")
    key = ledger.reserve([GDP(0.5)], label="LinearRegression of cost")
    ledger.finish(key, (("first look", GDP(0.3)), ("gradient", GDP(0.2)), ("gradient", GDP(0.2))))
    lines = [line.split("  ") for line in run("history", "a.ledger").output.splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert cells[1][2:4] == ["LinearRegression of cost", "mu 0.5"]
    assert cells[2:] == [["first look", "mu 0.3"], ["gradient, 2 times", "mu 0.2 each"]]
