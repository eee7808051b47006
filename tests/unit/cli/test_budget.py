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
    for fact in ("the cohort", "75 % is left: epsilon", "of 1 at delta 1e-06", "about 3 more fits like the last one"):
        assert fact in " ".join(shown.split())
    (line,) = [line for line in shown.splitlines() if "gram" in line]
    assert line.endswith("75 %  #########...")


def test_nothing_left_is_said_so(run):
    """Rounding leaves a tiny part of the budget, which was shown as epsilon 5.194e-06."""
    run("create", "a.ledger", "--epsilon", 1, "--delta", 1e-6)
    ledger = Ledger("a.ledger")
    for _ in range(3):
        ledger.charge(GDP(ledger.total.mu / 3**0.5 * (1 - 1e-13)), label="a third")
    shown = run("show", "a.ledger").output
    assert "nothing is left of epsilon 1" in shown
    assert "more fits" not in shown
    assert [line.split("%")[0].split()[-1] for line in shown.splitlines() if "a third" in line] == ["67", "33", "0"]


def test_a_long_ledger_is_shown_by_its_newest_fits_and_fits_the_terminal(run):
    run("create", "a.ledger", "--epsilon", 1, "--delta", 1e-6)
    ledger = Ledger("a.ledger")
    for number in range(45):
        ledger.charge(GDP(0.001), label=f"GeneralizedLinearRegressor of a target with a long name {number}")
    for words in ((), ("--releases",)):
        shown = run("show", "a.ledger", *words).output.splitlines()
        assert max(len(line) for line in shown if "a.ledger" not in line) <= 78
    assert any("5 fits (--releases lists all)" in line for line in run("show", "a.ledger").output.splitlines())


def test_show_speaks_json(run):
    run("create", "a.ledger", "--epsilon", 1, "--delta", 1e-6)
    facts = json.loads(run("show", "a.ledger", "--json").output)
    assert facts["total"] == facts["remaining"]
    assert facts["total"]["epsilon"] == 1
    assert (facts["used"], facts["charges"]) == (0, [])


def test_releases_are_an_aligned_table(run):
    run("create", "a.ledger", "--epsilon", 1, "--delta", 1e-6)
    assert run("show", "a.ledger").output.endswith("nothing was spent yet\n")
    ledger = Ledger("a.ledger")
    key = ledger.charge(GDP(0.1), label="gram")
    ledger.store(key, {})
    ledger.charge(ZCDP(1e-4), label="a longer label")
    lines = run("show", "a.ledger", "--releases").output.splitlines()
    heading, first, below, second, _ = lines[lines.index("") + 1 :]
    assert first.index("gram") == second.index("a longer label") == heading.index("what")
    assert below.strip() == f"key {key[:16]}, stored"
    assert "mu 0.1 " in first
    assert "ZCDP" in second


def test_charges_are_told_in_json_without_infinities(run):
    run("create", "a.ledger", "--epsilon", 1, "--delta", 1e-6)
    Ledger("a.ledger").charge(ZCDP(1e-4), label="z")
    (entry,) = json.loads(run("show", "a.ledger", "--json").output)["charges"]
    assert (entry["number"], entry["label"], entry["mu"], entry["stored"]) == (1, "z", None, False)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("show", "none.ledger"), "no ledger at"),
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


def test_a_fit_has_its_releases_under_it(run):
    run("create", "a.ledger", "--epsilon", "3", "--delta", "1e-6")
    ledger = Ledger("a.ledger")
    key = ledger.reserve([GDP(0.5)], label="LinearRegression of cost")
    ledger.finish(key, (("first look", GDP(0.3)), ("gradient", GDP(0.2)), ("gradient", GDP(0.2))))
    shown = run("show", "a.ledger", "--releases").output.splitlines()
    lines = [line.split("  ") for line in shown[shown.index("") + 1 :]]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert cells[1][2:4] == ["LinearRegression of cost", "mu 0.5"]
    assert cells[3:] == [["first look", "mu 0.3"], ["gradient, 2 times", "mu 0.2 each"]]
