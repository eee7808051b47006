from __future__ import annotations

import math

import pytest
from tests.service_tools import small_task

from discreet.service import page
from discreet.service.plot import interval_plot, nice_ticks, number, rough
from discreet.service.snapshot import Coefficient, FittedModel, Forecast, Snapshot

TASK = small_task(goal=1000)


def snapshot(**changes):
    facts = {
        "batch": 0,
        "closed": False,
        "counted": 0,
        "goal": 1000,
        "next_batch": 0,
        "fitted": 0,
        "now": None,
        "at_goal": Forecast(1000, 0.25),
        "models": (),
    }
    return Snapshot(**{**facts, **changes})


def model(**changes):
    coefficients = (
        Coefficient("intercept", 0.5, 0.1, 0.9, {1: 0.2, 5: 1.0}, None),
        Coefficient("age", -0.01, -0.02, 0.004, {1: 0.2, 5: 1.0}, 30.0),
    )
    return FittedModel(**{"title": "Logistic model", "explanation": "", "coefficients": coefficients, **changes})


def test_an_empty_collection_has_a_page():
    text = page.overview(TASK, snapshot(), signed_in=False)
    assert "0% of the planned 1,000 reports" in text
    assert "first models appear" in text
    assert "Sign out" not in text


def test_the_promise_states_the_tasks_own_numbers():
    text = page.overview(TASK, snapshot(), signed_in=True)
    assert f"epsilon {TASK.epsilon:g}" in text


def test_a_closed_batch_says_so_and_counts_the_late():
    text = page.overview(TASK, snapshot(closed=True, counted=1000, next_batch=7), signed_in=True)
    assert "Closed: this result is final" in text
    assert "7 late reports wait in the next batch" in text


def test_the_table_has_every_coefficient_with_its_interval_and_its_liars():
    text = page.overview(TASK, snapshot(models=(model(),), fitted=500), signed_in=True)
    for expected in ("0.500", "0.100 … 0.900", "−0.010", "± 0.2", "± 1", "1&nbsp;% liars", "5&nbsp;% liars"):
        assert expected in text


def test_a_model_without_a_solution_is_said_to_have_none():
    failed = model(coefficients=(), failure="Not enough to go on yet")
    assert "Not enough to go on yet" in page.overview(TASK, snapshot(models=(failed,), fitted=500), signed_in=True)


def test_names_are_escaped_everywhere():
    bad = Coefficient("<script>x</script>", 1.0, 0.5, 1.5, {1: 0.1})
    text = page.overview(TASK, snapshot(models=(model(title="<i>", coefficients=(bad,)),), fitted=500), signed_in=True)
    assert "<script>x" not in text
    assert "<i>" not in text


def test_the_plot_draws_effects_over_half_the_declared_range_and_no_intercept():
    drawn = interval_plot(model().coefficients, "title")
    assert "age" in drawn
    assert "intercept" not in drawn
    assert "−0.300" in drawn


@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (0.0, 0.003), (-17.0, 0.0), (0.0, 0.0), (-1e-9, 1e9)])
def test_ticks_cover_the_range_are_few_and_hold_zero(low, high):
    ticks = nice_ticks(low, high)
    assert ticks[0] <= low + 1e-9 * (high - low)
    assert ticks[-1] >= high - 1e-9 * (high - low)
    assert len(ticks) <= 7
    assert any(tick == 0 for tick in ticks)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.00"), (-0.5, "−0.500"), (1234.5, "1,234"), (1e-5, "1e−05"), (math.inf, "∞"), (-3.14159, "−3.14")],
)
def test_numbers_are_short_and_have_a_real_minus(value, text):
    assert number(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.0512, "0.051"), (17.3, "17"), (1234.0, "1,200"), (1.04, "1")])
def test_bounds_have_two_digits(value, text):
    assert rough(value) == text
