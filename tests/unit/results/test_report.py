"""The report of a model: one file that needs nothing else, says what was released, and shows no
more.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from click.testing import CliRunner
from model_fits import PRIVATE, table

import discreet
from discreet import Categorical, Domain, Ledger, LinearRegression, Numeric
from discreet.cli import main
from discreet.domain import Encoder
from discreet.report.forest import Bar, forest_plot
from discreet.report.model_words import help_in_words, limits_that_apply, what_would_help
from discreet.results.numbers import with_error

ALL = ["linear", "without", "paper", "logistic", "classes", "poisson", "relu", "sparse", "search"]
_VOID = {"meta", "br"}


class Nesting(HTMLParser):
    """Every element that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src") or name.startswith("on")]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(page: str) -> Nesting:
    parser = Nesting()
    parser.feed(page.removeprefix("<!doctype html>"))
    assert parser.open == []
    return parser


@pytest.mark.parametrize("name", ALL)
def test_a_report_is_one_file_without_scripts_and_holds_the_model(fitted, name, tmp_path):
    model = fitted[name]
    model.report(tmp_path / "report.html", command="discreet fit <data>")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    seen = parsed(page)
    assert not seen.seen & {"script", "link", "img", "iframe"}
    assert seen.links == []
    assert "url(" not in page
    inside = re.search(r"<pre id='model'>(.*?)</pre>", page, re.S)
    assert inside is not None
    (tmp_path / "again.json").write_text(unescape(inside[1]), encoding="utf-8")
    model.save(tmp_path / "model.json")
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads((tmp_path / "model.json").read_text())
    assert str(discreet.load(tmp_path / "again.json").summary()) == str(model.summary())
    for words in ("Guarantee to each person", "times as likely", "Limits that apply", "share of the cost"):
        assert words in page
    assert "discreet fit &lt;data&gt;" in page
    if model.results_.covariance is not None:
        assert page.count("<circle") == len(model.results_.slopes)
    if name in ("logistic", "classes"):
        assert "<h2>Odds ratios</h2>" in page
        assert f"change in log odds of {model.results_.target}" in page
        ratio = with_error([math.exp(model.results_.estimates[1])], np.ptp(np.exp(model.results_.intervals()[1])) / 4)
        assert f"<td>{model.results_.names[1]}</td><td>{ratio[0]}</td>" in page
    # More columns do not fit on paper.
    assert max(head.count("<th") for head in page.split("<thead>")[1:] for head in [head.split("</thead>")[0]]) <= 7


def test_names_from_outside_are_escaped_and_the_budget_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    X, labels = table()
    X = X.rename(columns={"age": "<script>alert(1)</script>"})
    ledger = Ledger.create(tmp_path / "b.ledger", epsilon=4, delta=1e-6)
    asked = {**PRIVATE, "bounds_X": ([-3, 0, -1], [3, 10, 1]), "bounds_y": (-1000, 1000), "ledger": ledger}
    model = LinearRegression(**asked).fit(X, labels["cost"])
    model.save(tmp_path / "model.json")
    words = ["report", str(tmp_path / "model.json"), "--out", str(tmp_path / "report.html")]
    told = CliRunner().invoke(main, words)
    assert told.exit_code == 0, told.output
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "script" not in parsed(page).seen
    left = ledger.remaining.mu**2 / ledger.total.mu**2
    assert f"{left:.0%}".replace("%", " %") in page
    assert ledger.id in page
    assert re.search(r"at \d{4}-\d\d-\d\d \d\d:\d\d UTC, key", page)
    assert str(tmp_path) not in page
    assert not any(repr(float(value)) in page for value in np.ravel(X.to_numpy()[:200]))


def test_what_would_help_is_what_the_formula_says(fitted):
    """Sampling alone: people count by the root. Noise alone: as 1 / n, and as 1 / mu."""
    results = fitted["linear"].results_
    alone = dict(what_would_help(replace(results, noise_covariance=np.zeros_like(results.covariance))))
    assert alone["4 times the people"] == "50 %"
    assert alone["4 times the epsilon"] == alone["no privacy noise at all"] == "100 %"
    noisy = replace(results, noise_covariance=results.covariance)
    drowned = dict(what_would_help(noisy))
    assert drowned["4 times the people"] == "25 %"
    assert drowned["no privacy noise at all"] == "0 %"
    assert float(drowned["2 times the epsilon"].split()[0]) == pytest.approx(52, abs=4)
    assert "more people even more" in help_in_words(noisy)
    assert dict(what_would_help(replace(noisy, trust="local")))["4 times the people"] == "50 %"
    assert what_would_help(replace(results, noise_covariance=None)) == []


def test_limits_are_those_of_this_result(fitted):
    results = fitted["linear"].results_
    assert any("No ledger paid" in one for one in limits_that_apply(results))
    seeded = replace(results, privacy=replace(results.privacy, seeded=True), not_covered=("StandardScaler",))
    assert any("NOT PRIVATE" in one for one in limits_that_apply(seeded))
    assert any("StandardScaler" in one for one in limits_that_apply(seeded))


@pytest.mark.parametrize("scale", [1e-12, 1.0, 3e8])
def test_a_plot_keeps_every_bar_inside(scale):
    bars = [Bar("a", 3.0 * scale, 1.0 * scale, 0.5 * scale), Bar("b" * 60, -0.2 * scale, 0.4 * scale, None)]
    plot = forest_plot(bars, "units")
    places = [float(x) for x in re.findall(r'(?:x1|x2|cx)="([-\d.]+)"', plot)]
    assert min(places) >= 0
    assert max(places) <= 720
    assert 2 <= plot.count('class="tick"') <= 9
    assert plot.count("unclear") == 2


def test_effects_are_drawn_over_what_a_feature_can_be():
    """An indicator goes from 0 to 1 and a product over its own interval, however they are scaled
    for the fit.
    """
    columns = (Numeric("age", 18, 90), Categorical("smoker", ["no", "yes"]), Numeric("cost", 0, 100))
    domain = Domain(columns)
    plain = Encoder(Domain(columns[:2]), columns[2])
    assert dict(zip(plain.names, plain.spans, strict=True)) == {"age": 72.0, "smoker=yes": 1.0}
    model = LinearRegression(**PRIVATE, formula="cost ~ age * smoker", domain=domain)
    X, _ = table(500)
    frame = X.assign(age=18 + 5 * X["age"], smoker=np.where(X["mid"] > 0, "yes", "no"), cost=50.0)
    model.fit(frame)
    assert model._spans() == {"age": 72.0, "smoker[T.yes]": 1.0, "age:smoker[T.yes]": 90.0}
