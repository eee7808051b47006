"""MPR's data sets, and joint releases of all parties through the product."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from discreet.noise import SeededBits
from discreet.parties import Joint, Plan, join
from discreet.parties.mixing import ask
from discreet.parties.people import KeyedBlock
from discreet.parties.signs import plan_state
from discreet.parties.slots import SlotCurator
from experiments.data import data_folder

EPSILONS = (1.0, 0.3, 0.1)
DELTA = 1e-5
PARTIES = {"Insurance": 5, "Bike": 5, "Superconductor": 10, "GPU": 5}


@lru_cache(maxsize=1)
def load(name: str) -> pd.DataFrame:
    """The data set with the label last, every column scaled to [0, 1]."""
    folder = data_folder()
    if name == "Insurance":
        raw = pd.read_parquet(folder / "insurance.parquet")
        table = raw[["age", "bmi", "children"]].assign(sex=raw["sex"] == "male", smoker=raw["smoker"] == "yes")
        table = table[["age", "sex", "bmi", "children", "smoker"]]
        regions = {f"region_{r}": raw["region"] == r for r in sorted(raw["region"].unique())}
        table = table.assign(**regions, label=raw["charges"])
    elif name == "Bike":
        raw = pd.read_parquet(folder / "bike_sharing_hour.parquet")
        days = pd.to_datetime(raw["dteday"].astype(str)).dt.day
        kept = ["season", "yr", "mnth", "hr", "holiday", "weekday", "workingday", "weathersit"]
        table = raw[[*kept, "temp", "atemp", "hum", "windspeed"]].assign(label=raw["cnt"])
        table.insert(3, "day", days)
    elif name == "Superconductor":
        raw = pd.read_parquet(folder / "superconductivity.parquet")
        table = raw.drop(columns="critical_temp").assign(label=raw["critical_temp"])
    else:
        raw = pd.read_parquet(folder / "sgemm_gpu.parquet")
        runs = [column for column in raw.columns if column.startswith("Run")]
        table = raw.drop(columns=runs).assign(label=raw[runs].mean(axis=1))
    table = table.astype(float)
    return (table - table.min()) / (table.max() - table.min())


def make_plan(table: pd.DataFrame, parties: int, epsilon: float, seed: int, **more: Any) -> Plan:
    owners = np.array_split(np.array(table.columns), parties)
    columns = [{str(name): {"low": 0.0, "high": 1.0} for name in own} for own in owners]
    settings = {"format": 1, "name": "table 1", "key": "id", "people": len(table), "seed": str(seed), "label": "label"}
    tables = {f"party {number}": {"columns": own} for number, own in enumerate(columns)}
    return Plan.from_dict({**settings, "epsilon": epsilon, "delta": DELTA, "parties": tables, **more})


class PlainEngine:
    """Blocks one after another in this thread: on a busy machine, starting threads for each sum
    costs more than it.
    """

    def __init__(self, encode: Callable[[np.ndarray], Any], rows: np.ndarray) -> None:
        self._encode = encode
        self._rows = rows

    ordered = False

    @property
    def rows(self) -> int:
        return len(self._rows)

    def sum_rows(self, function: Callable[[Any, Any], Any], part: Any = None) -> Any:
        starts = range(0, len(self._rows), 16384)
        return sum(function(self._encode(self._rows[start : start + 16384]), None) for start in starts)


def released(plan: Plan, table: pd.DataFrame, seed: int | None = None) -> Joint:
    """Every party's release through its own curator, as ``discreet parties release`` makes it,
    without a ledger; the seed makes the noise reproducible.
    """
    keys = [b"%d" % place for place in range(len(table))]
    releases = []
    for number, party in enumerate(plan.parties):
        own = table[[column.name for column in party.domain.columns]].to_numpy()
        rows = np.column_stack([own, np.arange(len(own))])

        def encode(chunk: Any, party: Any = party) -> KeyedBlock:
            people = [keys[int(place)] for place in chunk[:, -1]]
            return KeyedBlock(party.encoder.encode(chunk[:, :-1]), people, plan_state(plan.seed))

        bits = None if seed is None else SeededBits(1000 * seed + number)
        releases.append(ask(SlotCurator(PlainEngine(encode, rows), bits=bits), plan, party, len(rows)))
    return join(releases)
