"""Two rounds without public rows: a pilot tells means and scales, and the second round is far
better for it.
"""

from __future__ import annotations

import numpy as np
import pytest
from local_tasks import kind, make_task

from discreet.domain import Categorical, Domain, Numeric
from discreet.errors import BudgetError, DomainError
from discreet.local import Client, Collection, fit, forecast, pilot_task, second_task, wire
from discreet.local.client import reports
from discreet.local.columns import encoded_columns
from discreet.local.design import supposed_moment
from discreet.local.pilot import pilot_error, pilot_moment, two_rounds_advice
from discreet.local.simulation import simulate, simulate_rows

TRUTH = np.array([0.8, -0.5, 0.3])
OFF = Domain.from_bounds(["a", "b", "c"], (-1.0, 4.0))


def skewed(n, rng):
    rows = rng.exponential(size=(n, 3)) - 1
    return rows, (rng.random(n) < 1 / (1 + np.exp(-rows @ TRUTH))).astype(float)


def off_pilot(goal=200_000, epsilon=8.0):
    return pilot_task("t", domain=OFF, target=Numeric("y", 0.0, 1.0), epsilon=epsilon, goal=goal)


def test_a_pilot_tells_means_and_scales():
    rng = np.random.default_rng(0)
    pilot = off_pilot()
    rows, labels = skewed(20_000, rng)
    moment = pilot_moment(pilot, simulate_rows(pilot, rows, labels, rng))
    encoded = (rows.clip(-1, 4) - 1.5) / 2.5
    assert np.allclose(moment[0, 1:], encoded.mean(axis=0), atol=0.06)
    spread = np.sqrt(np.diag(moment)[1:] - moment[0, 1:] ** 2)
    assert np.allclose(spread, encoded.std(axis=0), rtol=0.3)


def test_two_rounds_are_far_better_than_one_off_the_middle():
    rng = np.random.default_rng(1)
    rows, labels = skewed(200_000, rng)
    pilot = off_pilot()
    second = second_task(pilot, simulate_rows(pilot, rows[:20_000], labels[:20_000], rng))
    assert (second.parent, second.goal, second.statistic.kind) == (pilot.digest, 180_000, "both")
    (two,) = fit(second, simulate_rows(second, rows[20_000:], labels[20_000:], rng))
    alone = make_task(domain=OFF, public=None, epsilon=8.0, goal=200_000)
    (one,) = fit(alone, simulate_rows(alone, rows, labels, rng), prior_std=2.0)
    assert np.sum((two.coef_ - TRUTH) ** 2) < 0.3 * np.sum((one.coef_ - TRUTH) ** 2)
    assert "pilot" in forecast(second, 1000)["supposes"]


def test_real_reports_of_a_pilot_add_up():
    rng = np.random.default_rng(2)
    pilot = off_pilot(epsilon=6.0)
    rows, labels = skewed(4000, rng)
    columns = {name: rows[:, place] for place, name in enumerate("abc")}
    collection = Collection(pilot)
    for body in reports(pilot, encoded_columns(pilot, columns, 4000), labels):
        collection.add(wire.decode(pilot, body))
    moment = pilot_moment(pilot, collection)
    assert np.allclose(moment[0, 1:], ((rows.clip(-1, 4) - 1.5) / 2.5).mean(axis=0), atol=0.15)


def test_a_device_takes_part_in_one_round(tmp_path):
    rng = np.random.default_rng(3)
    pilot = off_pilot()
    second = second_task(pilot, simulate_rows(pilot, *skewed(20_000, rng), rng), goal=1000)
    record = {"a": 1.0, "b": 0.0, "c": 2.0, "y": 1}
    Client(pilot, tmp_path).report(record)
    with pytest.raises(BudgetError, match="another task"):
        Client(second, tmp_path).report(record)
    Client(second, tmp_path, owner="somebody else").report(record)


def test_a_pilot_is_no_model_and_foreign_reports_no_pilot():
    rng = np.random.default_rng(4)
    pilot = off_pilot()
    collection = simulate_rows(pilot, *skewed(1000, rng), rng)
    with pytest.raises(ValueError, match="scales only"):
        fit(pilot, collection)
    with pytest.raises(DomainError, match="needs a pilot"):
        second_task(kind("both"), Collection(kind("both")))
    with pytest.raises(DomainError, match="needs a pilot"):
        second_task(off_pilot(goal=70_000), collection)
    assert len(forecast(pilot, 1000)["std_errors"]) == 3


def test_a_column_that_the_pilot_cannot_see_is_supposed():
    rng = np.random.default_rng(5)
    pilot = pilot_task(
        "t",
        domain=Domain.from_bounds(["a", "b", "c"], (-500.0, 500.0)),
        target=Numeric("y", 0, 1),
        epsilon=4.0,
        goal=5000,
    )
    moment = pilot_moment(pilot, simulate_rows(pilot, rng.normal(size=(500, 3)), np.zeros(500), rng))
    assert np.isfinite(moment).all()
    assert np.linalg.eigvalsh(moment)[0] > 0
    assert second_task(pilot, simulate_rows(pilot, rng.normal(size=(500, 3)), np.zeros(500), rng)).goal == 4500


def test_what_a_pilot_hardly_sees_stays_as_supposed():
    rng = np.random.default_rng(6)
    pilot = pilot_task(
        "t",
        domain=Domain((Numeric("a", -4.0, 4.0), Categorical("b", ("x", "y")))),
        target=Numeric("y", 0, 1),
        epsilon=2.0,
        goal=20_000,
    )
    people = {"a": rng.normal(size=2000), "b": rng.choice(["x", "y"], size=2000)}
    supposed, kept = supposed_moment(pilot.columns), 0
    for _ in range(20):
        moment = pilot_moment(pilot, simulate(pilot, people, np.zeros(2000), rng))
        kept += int(np.allclose(moment, supposed, rtol=1e-12))
    assert kept >= 12  # three numbers, each kept with probability .95


def test_two_rounds_are_advised_where_they_help_and_refused_where_a_pilot_is_blind():
    numbers = OFF.columns
    common = {"target": Numeric("y", 0.0, 1.0), "epsilon": 1.0}
    assert two_rounds_advice(numbers, 4.0, 500_000).startswith("two rounds")
    assert two_rounds_advice(numbers, 1.0, 20_000).startswith("one round, unless")
    with pytest.raises(DomainError, match=r"one round.*too little"):
        pilot_task("t", domain=OFF, goal=2000, **common)
    levels = Domain((Categorical("b", ("x", "y")),))
    assert "without numeric columns" in two_rounds_advice(levels.columns, 4.0, 500_000)
    assert pilot_error(numbers, 1.0, 20_000) == pytest.approx(10 * pilot_error(numbers, 1.0, 200_000), rel=1e-6)
