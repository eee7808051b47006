"""A plan of three parties and the people in it, small enough for a unit test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from discreet.parties import Joint, Plan, join
from discreet.parties.mixing import ask
from discreet.parties.people import open_people
from discreet.parties.signs import plan_state
from discreet.parties.slots import SlotCurator

COLUMNS = {"a": ["x0", "x1"], "b": ["x2"], "c": ["x3", "y"]}


def numeric(name: str) -> dict[str, Any]:
    return {"name": name, "low": -1.0, "high": 1.0}


def settings(**more: Any) -> dict[str, Any]:
    parties = [{"name": party, "columns": [numeric(name) for name in own]} for party, own in COLUMNS.items()]
    basic = {"format": 2, "name": "test", "key": "id", "people": 100, "epsilon": 1.0, "delta": 1e-5, "seed": "s"}
    return {**basic, "label": "y", "parties": parties, **more}


def small_plan(**more: Any) -> Plan:
    return Plan.from_dict(settings(**more))


def people(n: int, seed: int = 0, noise: float = 0.1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n, 4))
    x[:, 2] = 0.5 * x[:, 0] + 0.5 * x[:, 2]
    y = 0.4 * x[:, 0] - 0.3 * x[:, 2] + 0.2 * x[:, 3] + noise * rng.uniform(-1, 1, n)
    frame = pd.DataFrame(x, columns=["x0", "x1", "x2", "x3"]).assign(y=y)
    frame["id"] = [f"person {i}" for i in range(n)]
    return frame


def released(plan: Plan, frame: pd.DataFrame) -> Joint:
    """All parties' releases without ledgers, each from its own order of rows."""
    releases = []
    for number, party in enumerate(plan.parties):
        own = frame[[*(column.name for column in party.domain.columns), plan.key]].sample(frac=1, random_state=number)
        engine = open_people(own, party.domain, plan.key, plan_state(plan.seed), workers=1)
        releases.append(ask(SlotCurator(engine), plan, party, len(own)))
    return join(releases)
