from __future__ import annotations

import csv
import io
import math

import pytest
from tests.service_tools import small_task

from discreet.service import page
from discreet.service.advice import advice, reports_for
from discreet.service.export import as_csv, as_document, as_python
from discreet.service.numbers import log_ticks, nice_ticks, number, rough, storage
from discreet.service.operations import Operations
from discreet.service.plot import forest_plot
from discreet.service.snapshot import Coefficient, FittedModel, Snapshot, WidthPoint
from discreet.service.storage import Usage
from discreet.service.width_plot import width_plot

TASK = small_task(goal=1000)
MODELS = ("logistic", "identity")


def snapshot(**changes):
    facts = {
        "batch": 0,
        "closed": False,
        "counted": 0,
        "goal": 1000,
        "next_batch": 0,
        "fitted": 0,
        "models": (),
        "width_now": None,
        "width_at_goal": 0.25,
        "advice": "At the goal effects below 0.4 cannot be detected.",
    }
    return Snapshot(**{**facts, **changes})


def model(**changes):
    coefficients = (
        Coefficient("intercept", 0.5, 0.1, 0.9, {1: 0.2, 5: 1.0}, None),
        Coefficient("age", -0.01, -0.02, 0.004, {1: 0.2, 5: 1.0}, 30.0),
    )
    return FittedModel(**{"name": "logistic", "coefficients": coefficients, **changes})


def operations(**changes):
    facts = {"ready": True, "waiting": 3, "queue_size": 1024, "commit_seconds": 0.0123, "verified": "never"}
    return Operations(**{**facts, "usage": Usage(2_500_000, 10**9), "refused": [], **changes})


def overview(now, signed_in=True, **more):
    return page.overview(TASK, now, models=MODELS, signed_in=signed_in, **more)


def test_an_empty_collection_has_a_page():
    text = overview(snapshot(), signed_in=False)
    assert "0% of the planned 1,000" in text
    assert "first models appear at 100 reports" in text
    assert "At the goal effects below 0.4 cannot be detected." in text
    assert "Closes after 31 December 2999" in text
    assert "Sign out" not in text


def test_the_promise_states_the_tasks_own_numbers():
    assert f"epsilon {TASK.epsilon:g}" in overview(snapshot())


def test_a_closed_batch_says_so_and_counts_the_late():
    text = overview(snapshot(closed=True, counted=1000, next_batch=7))
    assert "Closed: this result is final" in text
    assert "7 late reports wait in the next batch" in text


def test_the_table_and_the_plot_have_the_same_numbers_in_both_units():
    half, unit = overview(snapshot(models=(model(),), fitted=500)).split('class="pair by-unit"')
    for text, estimate, interval in [(half, "−0.300", "−0.600 … 0.120"), (unit, "−0.0100", "−0.0200 … 0.00400")]:
        assert f'<text class="value" x="100%" y="25">{estimate}</text>' in text
        assert f"<td>{estimate}<br>" in text
        assert interval in text
    assert "± 6.0" in half
    assert "± 0.20" in unit


def test_a_sign_that_one_percent_of_liars_could_turn_is_flagged():
    firm = Coefficient("firm", 2.0, 1.5, 2.5, {1: 0.2, 5: 1.0})
    weak = Coefficient("weak", 0.1, 0.05, 0.15, {1: 0.2, 5: 1.0})
    for coefficient, flags in [(firm, 0), (weak, 2)]:  # one in each unit
        text = overview(snapshot(models=(model(coefficients=(coefficient,)),), fitted=500))
        assert text.count("the sign could change: ") == flags


def test_a_model_without_a_solution_is_said_to_have_none():
    failed = model(coefficients=(), failure="No model yet")
    assert "No model yet" in overview(snapshot(models=(failed,), fitted=500))


def test_missing_answers_and_assumptions_are_said():
    fitted = model(usable=0.912, usable_std=0.02, assumption="features are normal")
    text = overview(snapshot(models=(fitted,), fitted=500))
    assert "91 % ± 4 % of the reports come from complete records" in text
    assert "Assumed: features are normal." in text


def test_every_model_has_a_tab_before_it_is_fitted():
    text = overview(snapshot())
    assert text.count('role="tab"') == text.count('class="panel"') == 2


def test_names_are_escaped_everywhere():
    bad = Coefficient("<script>x</script>", 1.0, 0.5, 1.5, {1: 0.1, 5: 0.5})
    widths = (WidthPoint(100, {"logistic": 0.5}),)
    text = overview(snapshot(models=(model(coefficients=(bad,)),), fitted=500, widths=widths))
    assert "<script>x" not in text
    assert text.count("&lt;script&gt;x") >= 6


def test_operations_are_for_those_who_run_it():
    now, refused = snapshot(), [("no valid token", 30), ("not an HTTP request", 7)]
    text = overview(now, operations=operations(refused=refused))
    for expected in (
        "3 of 1,024 places",
        "12 ms on average",
        "2.5 MB used, 1.0 GB free",
        "30 × no valid token",
        ">37<",
    ):
        assert expected in text
    assert "cannot be written: reports are refused" in overview(now, operations=operations(ready=False))
    assert "Operations" not in overview(now)
    assert "Refused" not in overview(now)


def test_the_plot_draws_no_intercept_and_outlives_infinite_intervals():
    coefficients = (*model().coefficients, Coefficient("wide", 1.0, -math.inf, math.inf, {1: math.inf, 5: math.inf}))
    drawn = forest_plot(coefficients, "title")
    assert "age" in drawn
    assert "intercept" not in drawn
    assert "nan" not in drawn
    assert "inf" not in overview(snapshot(models=(model(coefficients=coefficients),), fitted=500)).split("<pre")[0]


def test_widths_are_drawn_at_published_fits_only():
    drawn = width_plot([(100, 3.0), (200, 2.0), (500, 1.2)], [(500, 1.2), (1000, 0.9)], 1000, "title")
    assert drawn.count("<circle") == 3
    assert drawn.count('class="forecast"') == 1
    assert width_plot([(1000, 1.0)], [], 1000, "one point, at the goal").count("<circle") == 1


def narrow(n):
    return 40 / math.sqrt(n)


@pytest.mark.parametrize(
    ("effects", "counted", "expected"),
    [
        ([], 0, "At the goal effects below 0.40 cannot be detected; about 40,000 reports would show effects of 0.20."),
        (
            [0.3],
            500,
            "At the goal effects below 0.40 cannot be detected; about 18,000 reports would show effects of 0.30.",
        ),
        (
            [0.01],
            9,
            "At the goal effects below 0.40 cannot be detected; about 40,000 reports would show effects of 0.20.",
        ),
        (
            [],
            40_000,
            "With these reports effects below 0.20 cannot be detected; about 160,000 reports would show effects",
        ),
    ],
)
def test_the_advice_says_what_stays_invisible_and_what_would_show_it(effects, counted, expected):
    found = [Coefficient("x", value, -1.0, 1.0, {1: 0.1}) for value in effects]
    assert advice(found, narrow, goal=10_000, counted=counted, closed=False).startswith(expected)


def test_the_advice_knows_when_no_number_of_reports_helps():
    text = advice([], lambda n: narrow(n) + 0.5, goal=10_000, counted=0, closed=False)
    assert "more reports alone would show none below 0.50" in text


@pytest.mark.parametrize("effect", [0.001, 0.4, 39.0, 100.0])
def test_the_number_of_reports_is_the_least_that_is_enough(effect):
    needed = reports_for(effect, narrow)
    assert narrow(1.06 * needed) <= effect
    assert needed <= 2 or narrow(0.9 * needed) > effect


def test_exports_hold_every_coefficient_and_the_guarantee():
    now = snapshot(models=(model(), model(name="identity")), fitted=500)
    rows = list(csv.DictReader(io.StringIO(as_csv(TASK, now))))
    assert [(row["model"], row["name"]) for row in rows] == [(m, n) for m in MODELS for n in ("intercept", "age")]
    assert {(row["epsilon"], row["delta"], row["reports"]) for row in rows} == {("8.0", "0.0", "500")}
    assert (float(rows[1]["estimate"]), float(rows[1]["half_range"])) == (-0.01, 30.0)
    document = as_document(TASK, now)
    assert document["task"]["digest"] == TASK.digest
    assert document["models"][0]["coefficients"][1]["value"] == -0.01


@pytest.mark.parametrize(("name", "expected"), [("logistic", 1 / (1 + math.exp(-0.1))), ("identity", 0.1)])
def test_the_python_runs_and_predicts(name, expected):
    bounds = {"low": -math.inf, "high": math.inf, "moved_by": {1: 0.1, 5: 0.5}}
    coefficients = (*model().coefficients, Coefficient('odd "name" \\', 0.0, **bounds))
    code = as_python(TASK, snapshot(fitted=500), model(name=name, coefficients=coefficients))
    space = {}
    exec(code, space)
    assert space["predict"]({"age": 40.0, 'odd "name" \\': 1.0}) == pytest.approx(expected)
    assert space["intervals"]["age"] == (-0.02, 0.004)


@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (0.0, 0.003), (-17.0, 0.0), (0.0, 0.0), (-1e-9, 1e9)])
def test_ticks_cover_the_range_are_few_and_hold_zero(low, high):
    ticks = nice_ticks(low, high)
    assert ticks[0] <= low + 1e-9 * (high - low)
    assert ticks[-1] >= high - 1e-9 * (high - low)
    assert len(ticks) <= 7
    assert any(tick == 0 for tick in ticks)


@pytest.mark.parametrize(
    ("low", "high"), [(100, 1e7), (100, 1000), (950, 1050), (0.003, 40.0), (1e-9, 1e9), (5, 5.01), (0.812, 0.818)]
)
def test_ticks_of_a_log_scale_lie_within_and_are_few(low, high):
    ticks = log_ticks(low, high)
    assert len(ticks) <= 5
    assert all(low * 0.999 <= tick <= high * 1.001 for tick in ticks)
    assert ticks or high / low < 1.1


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.00"), (-0.5, "−0.500"), (1234.5, "1,234"), (1e-5, "1e−05"), (math.inf, "∞"), (-3.14159, "−3.14")],
)
def test_numbers_are_short_and_have_a_real_minus(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0512, "0.051"), (17.3, "17"), (1234.0, "1,200"), (1.04, "1.0"), (math.inf, "∞")]
)
def test_bounds_have_two_digits(value, text):
    assert rough(value) == text


@pytest.mark.parametrize(("size", "text"), [(0, "0 bytes"), (41_000, "41 KB"), (2_500_000, "2.5 MB"), (9e12, "9.0 TB")])
def test_storage_is_in_the_unit_that_fits(size, text):
    assert storage(size) == text
