"""Every command's help: an example that names real options, nothing cut short, 80 columns; and
short reprs.
"""

from __future__ import annotations

import re
import shlex

import click
import numpy as np
import pytest
from click.testing import CliRunner

import discreet
from discreet import Domain, Ledger, LinearRegression, Numeric, PoissonRegressor, SparseLinearRegression
from discreet.cli import main
from discreet.cli.printing import warn


def commands(group=main, path=()):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


ALL = dict(commands())


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_a_help_has_an_example_and_nothing_is_cut(path):
    told = CliRunner().invoke(main, [*path, "--help"])
    assert told.exit_code == 0, told.output
    lines = told.output.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(line.endswith("...") and not line.startswith("Usage") for line in lines)
    example = told.output.split("Example:\n")[1].replace("\\\n", " ")
    words = shlex.split(example)
    words = words[words.index("discreet") + 1 :]
    named = next(words[:n] for n in range(3, 0, -1) if tuple(words[:n]) in ALL)
    command = ALL[tuple(named)]
    options = {option for parameter in command.params for option in parameter.opts}
    assert set(re.findall(r"(?<=\s)--[a-z-]+", example)) <= options
    for parameter in command.params:
        if parameter.required and isinstance(parameter, click.Option):
            assert set(parameter.opts) & set(words), f"the example lacks {parameter.opts}"


def test_a_misspelt_command_target_or_column_gets_a_hint():
    assert "Did you mean 'budget'?" in CliRunner().invoke(main, ["buget"]).output
    assert "Did you mean 'task'?" in CliRunner().invoke(main, ["local", "taks"]).output
    assert "Did you mean 'release'?" in CliRunner().invoke(main, ["parties", "relaese"]).output
    domain = Domain((Numeric("age", 0, 1), Numeric("cost", 0, 1)))
    with pytest.raises(discreet.DomainError, match="Did you mean 'cost'"):
        domain["cots"]
    model = LinearRegression(epsilon=1, delta=1e-6, domain=domain)
    with pytest.raises(discreet.DomainError, match="Did you mean 'cost'"):
        model._target("cots")


@pytest.mark.parametrize("kind", [LinearRegression, PoissonRegressor, SparseLinearRegression])
def test_a_missing_parameter_is_one_of_the_public_class(kind):
    with pytest.raises(TypeError, match=rf"^{kind.__name__}\.__init__\(\) missing"):
        kind(epsilon=1)


def test_reordered_columns_are_named():
    import pandas as pd

    frame = pd.DataFrame(np.random.default_rng(0).random((50, 2)), columns=["b", "a"])
    model = LinearRegression(epsilon=1, delta=1e-6, bounds_X=(0, 1), bounds_y=(0, 1)).fit(frame, frame["a"])
    with pytest.raises(ValueError, match="column 1 is 'a', and was 'b'"):
        model.predict(frame[["a", "b"]])
    assert re.fullmatch(r"Guarantee\(epsilon 1 at delta 1e-06, replace one row, \d+ releases\)", repr(model.privacy_))


def test_a_ledger_shows_its_balance_and_a_forecast_is_a_table(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    ledger = Ledger.create(tmp_path / "a.ledger", epsilon=2, delta=1e-6)
    assert repr(ledger).endswith("a.ledger', 100% left of epsilon 2 at delta 1e-06)")
    (tmp_path / "a.ledger").unlink()
    assert repr(ledger).endswith("a.ledger')")
    text = repr(discreet.plan("linear", n=20_000, d=5, epsilon=1.0))
    assert "not private" in text
    assert max(map(len, text.split("\n"))) <= 78


def test_colours_are_for_terminals_and_no_color_is_honoured(monkeypatch, capsys):
    warn("words " * 30)
    assert capsys.readouterr().err.count("\n") == 1
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    warn("words " * 30)
    shown = capsys.readouterr().err
    assert "\x1b[33m" in shown
    assert shown.count("\n") > 1
    monkeypatch.setenv("NO_COLOR", "1")
    warn("words " * 30)
    assert "\x1b" not in capsys.readouterr().err


def test_what_click_refuses_is_wrapped_with_a_hanging_indent(monkeypatch, capsys):
    """In a terminal of 50 columns; to a pipe it is one line."""
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with pytest.raises(SystemExit) as ended:
        main(["plan", "--family", "cubic", "--n", "100"])
    assert ended.value.code == 2
    shown = re.sub("\x1b\\[[0-9]*m", "", capsys.readouterr().err)
    assert max(map(len, shown.splitlines())) < 50
    wrong = shown.split("\n\n")[1].splitlines()
    assert wrong[0].startswith("Error: Invalid value for '--family'")
    assert len(wrong) > 1
    assert all(line.startswith(" " * 7) for line in wrong[1:])
    told = CliRunner().invoke(main, ["fit", "--nosuch"])
    assert told.exit_code == 2
    assert "Error: No such option" in told.stderr.splitlines()[-1]


def test_an_extra_that_is_missing_is_named_before_any_work(monkeypatch):
    monkeypatch.setattr("discreet.cli.printing.find_spec", lambda name: None)
    for words in (["demo"], ["plan", "--n", "1000", "--epsilon", "1", "--plot", "a.svg"]):
        told = CliRunner().invoke(main, words)
        assert told.exit_code == 1
        assert 'pip install "discreet[' in told.stderr
        assert told.stdout == ""


def test_the_first_help_has_an_example():
    assert "discreet demo --out demo" in CliRunner().invoke(main, ["--help"]).output
