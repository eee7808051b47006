"""A suite of audits adds up its own false alarms, and its page says what was found."""

from __future__ import annotations

import dataclasses
import os
from datetime import UTC, datetime

import numpy as np
import pytest

from discreet import LinearRegression, PrivateGridSearchCV
from discreet.audit import resume
from discreet.audit.asked import asked_of
from discreet.audit.black_box import BlackBox
from discreet.audit.confidence import ErrorRates
from discreet.audit.suite import Finding, Settings, Suite, audit_estimator
from discreet.report.audit_page import audit_page


def box(caught: bool, confidence: float = 1 - 1e-5) -> BlackBox:
    rng = np.random.default_rng(0)
    scores = rng.normal(1, 1, 200), rng.normal(-1, 1, 200)
    rates = ErrorRates(30, 30, 200, confidence)
    return BlackBox(2.0, 11.0, 1e-6, rates, "number 1", caught, *scores)


def suite(*findings: Finding) -> Suite:
    return Suite(Settings(runs=400), list(findings))


HONEST = Finding("LinearRegression", "Estimators", True, None, box(False), 1.0)
BUG = Finding("bug: <half> the noise", "Planted bugs", False, None, box(True), 1.0)


def test_honest_models_that_stand_and_bugs_that_are_caught_pass():
    assert suite(HONEST, BUG).passed
    assert not suite(HONEST, dataclasses.replace(BUG, box=box(False))).passed
    assert not suite(dataclasses.replace(HONEST, box=box(True))).passed


def test_the_false_alarm_rate_counts_honest_models_only():
    assert suite(HONEST, HONEST, BUG).false_alarm_rate == pytest.approx(2e-5)


def test_the_page_is_complete_in_itself_and_escapes_names():
    page = audit_page(suite(HONEST, BUG).to_dict(), command="discreet audit", curves=[("a curve", "<svg></svg>")])
    assert "No claim of 1 was refuted. 1 of 1 models that are broken on purpose were caught." in page
    assert "&lt;half&gt; the noise" in page
    assert "1 of 1 claims are false" in audit_page(suite(dataclasses.replace(HONEST, box=box(True))).to_dict())
    for outside in ("<script", " src=", "url(h", "@import"):
        assert outside not in page


def test_the_page_is_a_certificate():
    """What was asked, the largest loss as a share, the attack's epsilon, date, version, settings;
    gradients grouped.
    """
    releases = [
        {"label": "gradient", "reach": 1.0, "noise_std": 10.0, "mu": 0.3, "lost": lost, "efficiency": lost / 0.3}
        for lost in (0.3, 0.0)
    ]
    asked = (("model", "LinearRegression"), ("epsilon", "1"), ("delta", "0.1"))
    report = suite(dataclasses.replace(HONEST, asked=asked)).to_dict()
    report["findings"][0]["replay"] = {
        **{"claimed_mu": 0.5, "realised_mu": 0.45, "efficiency": 0.9, "candidates": 7},
        **{"problems": [], "releases": releases},
    }
    page = " ".join(audit_page(report, version="9.9", command="discreet audit <x>").split()).replace("> <", "><")
    assert "<h1>Privacy audit of LinearRegression</h1>" in page
    assert "epsilon 1 at delta 0.1" in page
    assert "90.0 % of what is allowed" in page
    assert "Why the attack runs at epsilon 11" in page
    assert "<td>gradient</td><td>2</td><td>70.7 %</td><td>0.3</td><td>0.424</td><td>1</td><td>10</td>" in page
    assert f"Made on {datetime.now(UTC):%Y-%m-%d}" in page
    assert "by discreet 9.9" in page
    assert "<code>discreet audit &lt;x&gt;</code>" in page
    assert "<td>attacked fits on each of two data sets</td><td>400</td>" in page
    assert "prefers-color-scheme: dark" in page


def test_what_was_asked_is_told_without_defaults():
    model = LinearRegression(epsilon=1.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-1, 1), solver="moments")
    told = dict(asked_of(model))
    assert told == {
        **{"model": "LinearRegression", "epsilon": "1", "delta": "1e-06"},
        **{"neighbouring data sets": "one row replaced by any other", "solver": "'moments'"},
        **{"declared bounds_X": "(-1, 1)", "declared bounds_y": "(-1, 1)"},
    }
    search = dict(asked_of(PrivateGridSearchCV(model, {"alpha": [1.0]})))
    assert (search["model"], search["epsilon"]) == ("PrivateGridSearchCV", "1")


def test_state_files_have_plain_names():
    assert Settings().state("a b") is None
    one, other = (Settings(state_folder="there").state(name) for name in ("bug: a/b", "bug: a b"))
    assert one.startswith(os.path.join("there", "bug__a_b-"))
    assert one != other


def test_a_finding_is_kept_for_the_same_code_and_question(tmp_path, monkeypatch):
    asked = []

    def audit() -> Finding:
        asked.append(1)
        return HONEST

    settings = Settings(state_folder=str(tmp_path))
    for runs in (500, 500, 100):
        found = suite()
        assert found.run("model", dataclasses.replace(settings, runs=runs), audit).name == HONEST.name
        assert len(found.findings) == 1
    assert len(asked) == 2
    monkeypatch.setattr(resume, "code_digest", lambda: "other code")
    suite().run("model", dataclasses.replace(settings, runs=100), audit)
    assert len(asked) == 3


def test_an_audit_spends_nobodys_budget(tmp_path):
    from discreet import Ledger

    ledger = Ledger.create(tmp_path / "budget", epsilon=1.0, delta=1e-6)
    model = LinearRegression(
        epsilon=1.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-1, 1), solver="moments", ledger=str(tmp_path / "budget")
    )
    assert not audit_estimator(model, Settings(runs=0, rows=100, climbs=0)).caught
    assert list(ledger.history) == []


def test_an_audit_that_goes_on_keeps_its_neighbours(tmp_path):
    """A new search would find others, and runs on others cannot be put together."""
    model = LinearRegression(epsilon=1.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-1, 1), solver="moments")
    settings = Settings(runs=40, rows=100, climbs=0, box_rows=100, workers=1, state_folder=str(tmp_path))
    first, again = audit_estimator(model, settings), audit_estimator(model, settings)
    assert not first.caught
    assert first.box is not None
    assert again.box is not None
    assert first.box.rates == again.box.rates
    assert np.array_equal(first.box.first_scores, again.box.first_scores)
