"""``discreet audit`` from the command line: our models stand, a broken one ends with exit code 1, the page shows it."""

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
    (tmp_path / "model.py").write_text(OURS)
    files = tmp_path / "audit.json", tmp_path / "audit.html"
    result = run(
        f"{tmp_path / 'model.py'}:make_model", "--neighbours", "replace_one", "--runs", 60, "--workers", 1,
        "--json", files[0], "--html", files[1],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "claim stands" in result.output
    facts = json.loads(files[0].read_text())
    assert facts["passed"]
    assert facts["findings"][0]["replay"]["efficiency"] > 0.75
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
    (tmp_path / "model.py").write_text(BROKEN)
    more = [] if python is None else ["--python", python]
    result = run(
        f"{tmp_path / 'model.py'}:make_model", "--epsilon", 1, "--delta", 0, "--runs", 200, "--workers", 1, *more
    )
    assert result.exit_code == 1, result.output
    assert "CAUGHT" in result.output


def test_what_is_missing_is_named(tmp_path):
    assert "no file" in run("nothing.py:make_model").output
    assert "FILE.py:MAKE_MODEL" in run("model.py").output
    (tmp_path / "model.py").write_text(BROKEN.replace("make_pair", "other"))
    result = run(f"{tmp_path / 'model.py'}:make_model", "--runs", 40)
    assert result.exit_code == 1
    assert "make_pair()" in result.output


def test_help_says_what_it_does():
    assert "Audit a model" in run("--help").output
