"""Forecasts without a trusted curator: devices that randomize their records,
and organisations that mix.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from discreet.domain import Domain, Numeric, Public
from discreet.local import Task, new_task
from discreet.local.forecasting import forecast
from discreet.parties import Party, Plan
from discreet.parties.plan import good_number_of_mixes
from discreet.planning.design import Design, typical_rows
from discreet.planning.kinds import DECLARED
from discreet.planning.remedy import NoForecast, Remedy
from discreet.privacy import Budget


def local(design: Design, n: int, budget: Budget, public: int) -> tuple[float, float]:
    """Each device adds its own noise: the collector's own forecast, for a task with this design."""
    if public <= 2 * design.size:
        enough = max(500, 100 * math.ceil(design.size / 10))
        raise NoForecast(
            f"a forecast for devices needs more than {2 * design.size} public rows, got {public}: without "
            "them the covariance is collected too, and only a simulation (discreet local simulate) shows the "
            "resulting error",
            Remedy(f"Suppose {enough:,} public rows", {"public": enough}),
            Remedy("Trust one curator", {"trust": "central"}),
        )
    task = local_task(design, budget.epsilon, public)
    errors = np.array(forecast(task, n, design.kind.local_model)["std_errors"][1:])
    error = float(np.sqrt(np.mean(errors**2)))
    return error, _spread_risk(design, error)


@lru_cache(maxsize=64)
def local_task(design: Design, epsilon: float, public: int) -> Task:
    """The task that such a collection would publish. Reports need no delta."""
    known = Public(rows=np.resize(typical_rows(design)[0], (public, design.d)))
    low, high = design.label_bounds
    return new_task(
        "forecast",
        domain=Domain(tuple(Numeric(f"x{j}", -DECLARED, DECLARED) for j in range(design.d))),
        target=Numeric("y", low, high),
        epsilon=epsilon,
        goal=100_000,
        public=known,
    )


def parties(design: Design, n: int, budget: Budget, public: int) -> tuple[float, float]:
    """Two organisations: approximately the noise in a correlation between their columns."""
    drawn = parties_plan(design, n, budget)
    noise = math.sqrt(np.mean([drawn.correlation_error(party, n) ** 2 for party in drawn.parties]))
    error = math.hypot(noise, math.sqrt(design.dispersion / n))
    return error, _spread_risk(design, error)


def parties_plan(design: Design, n: int, budget: Budget) -> Plan:
    """Half of the columns at each of two organisations; the label at the first."""
    columns = [Numeric(f"x{j}", -DECLARED, DECLARED) for j in range(design.d)]
    half = (design.d + 1) // 2
    members = (
        Party("first", Domain((*columns[:half], Numeric("y", -DECLARED, DECLARED))), budget),
        Party("second", Domain(tuple(columns[half:]) or (Numeric("z", -DECLARED, DECLARED),)), budget),
    )
    return Plan(
        name="forecast",
        key="person",
        people=n,
        guarantee="per_party",
        epsilon=budget.epsilon,
        delta=budget.delta,
        method="rmgm",
        calibration="tight",
        mixes=good_number_of_mixes(n, members),
        seed="forecast",
        label="y",
        parties=members,
    )


def _spread_risk(design: Design, error: float) -> float:
    """The risk of coefficients with this error each, but at most that of a careful user of them.

    Linear shrinkage by the signal share loses s^2 v / (s^2 + v) for a
    coefficient s with variance v.
    """
    signal = design.effect**2 / design.d
    left = signal * error**2 / (signal + error**2)
    scale = design.kind.loss_scale / 2 * design.information * design.dispersion
    return min(scale * (design.d * left + error**2), 4 * design.constant_risk)
