"""``discreet audit`` from the command line: our models pass, a broken one gives exit code 1, and
the page shows it.
"""

from __future__ import annotations

import json
import sys

import pytest
from click.testing import CliRunner
from tests.browser import browsing, program

from discreet.cli import main

BROKEN = """
import numpy as np

class Leaky:
    def __init__(self, epsilon):
        self.epsilon = epsilon

    def fit(self, X, y):
        self.mean_ = float(np.mean(X)) + np.random.default_rng().laplace(scale=0.001)
        return self

def make_model(epsilon):
    return Leaky(epsilon)

def make_pair():
    return (np.zeros((10, 1)), np.zeros(10)), (np.ones((10, 1)), np.zeros(10))
"""

OURS = """
from discreet import LinearRegression

def make_model(epsilon, delta, neighbours):
    bounds = {"bounds_X": (-1, 1), "bounds_y": (-1, 1)}
    return LinearRegression(epsilon=epsilon, delta=delta, neighbours=neighbours, solver="moments", **bounds)
"""


def run(*arguments):
    return CliRunner().invoke(main, ["audit", *map(str, arguments)])


def test_a_model_of_ours_stands(tmp_path):
    (tmp_path / "ours.py").write_text(OURS)
    files = tmp_path / "audit.json", tmp_path / "audit.html"
    result = run(
        f"{tmp_path / 'ours.py'}:make_model", "--neighbours", "replace_one", "--runs", 40, "--climbs", 0,
        "--workers", 1,
        "--json", files[0], "--html", files[1],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "claim stands" in result.output
    facts = json.loads(files[0].read_text())
    assert facts["passed"]
    assert facts["findings"][0]["replay"]["efficiency"] > 0.3
    page = files[1].read_text()
    assert "<svg" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert "<script" not in page
    if program() is None:
        pytest.skip("Chromium is not installed")
    with browsing() as tab:
        tab.open(files[1].as_uri(), width=1200)
        assert not tab.complaints()
        assert "LinearRegression, replace_one" in tab.evaluate("document.body.innerText")
        assert tab.evaluate("document.querySelectorAll('svg').length") == 2


@pytest.mark.parametrize("python", [None, sys.executable])
def test_a_broken_model_of_someone_else_is_caught(python, tmp_path):
    (tmp_path / f"broken_{python is None}.py").write_text(BROKEN)
    more = [] if python is None else ["--python", python]
    result = run(
        f"{tmp_path / f'broken_{python is None}.py'}:make_model",
        *("--epsilon", 1, "--delta", 0, "--runs", 200, "--workers", 1, *more),
    )
    assert result.exit_code == 1, result.output
    assert "CAUGHT" in result.output


DECLARED = """
from discreet import Categorical, Domain, LinearRegression, LogisticRegression, Numeric

DOMAIN = Domain((Numeric("age", 18, 100), Categorical("sex", ("f", "m")), Categorical("ill", ("no", "yes"))))

class Standardised(LinearRegression):
    def fit(self, X, y, groups=None):
        return super().fit((X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9) / 4, y)

def make_model(epsilon, delta, neighbours):
    return LogisticRegression(epsilon=epsilon, delta=delta, neighbours=neighbours, domain=DOMAIN)

def make_own(epsilon, delta, neighbours):
    bounds = {"bounds_X": ([0] * 6, [1] * 6), "bounds_y": (-1, 1)}
    return Standardised(epsilon=epsilon, delta=delta, neighbours=neighbours, solver="moments", **bounds)

def make_nothing():
    return None

def make_trouble(epsilon):
    raise KeyError("patients")
"""


def test_a_model_with_a_domain_is_audited_on_rows_of_that_domain(tmp_path):
    (tmp_path / "declared.py").write_text(DECLARED)
    model = f"{tmp_path / 'declared.py'}:make_model"
    settings = ("--neighbours", "add_or_remove_one", "--runs", 0, "--climbs", 0)
    result = run(model, "--target", "ill", *settings)
    assert result.exit_code == 0, result.output
    assert "claim stands" in result.output
    assert "gradient (" in result.output
    assert "the domain has age, sex, ill" in run(model, "--target", "height", *settings).output


def test_a_users_own_change_of_our_model_is_caught(tmp_path):
    """Columns scaled by the data: the class lives in the user's file, and its bounds say how many
    columns there are.
    """
    (tmp_path / "changed.py").write_text(DECLARED)
    result = run(f"{tmp_path / 'changed.py'}:make_own", "--neighbours", "replace_one", "--runs", 0)
    assert result.exit_code == 1, result.output
    assert "are told apart with mu" in result.output


@pytest.mark.parametrize(
    ("maker", "more", "said"),
    [
        ("make_nothing", (), "must return a model with fit"),
        ("make_trouble", (), "make_trouble failed: KeyError: 'patients'"),
        ("DOMAIN", (), "must be a function"),
        ("make_elsewhere", (), "has no make_elsewhere"),
        ("make_own", ("--epsilon", -1), "--epsilon must be > 0"),
        ("make_own", ("--runs", 10), "--runs must be 0 or at least 40"),
        ("make_own", ("--delta", 2), "delta must be"),
        ("make_pair", ("--python", "no-such-python"), "make_pair"),
    ],
)
def test_bad_input_is_named_and_nothing_runs(maker, more, said, tmp_path):
    (tmp_path / "bad_input.py").write_text(DECLARED)
    sys.modules.pop("bad_input", None)
    result = run(f"{tmp_path / 'bad_input.py'}:{maker}", *more)
    assert result.exit_code != 0
    assert said in result.output
    assert "Traceback" not in result.output


def test_what_is_missing_is_named(tmp_path):
    assert "no file" in run("nothing.py:make_model").output
    assert "FILE.py:MAKE_MODEL" in run("model.py").output
    (tmp_path / "lonely.py").write_text(BROKEN.replace("make_pair", "other"))
    result = run(f"{tmp_path / 'lonely.py'}:make_model", "--runs", 40)
    assert result.exit_code == 1
    assert "make_pair()" in result.output


def test_help_says_what_it_does():
    assert "Audit a model" in run("--help").output
