"""Releases with the noise that the paper prints: cells in [0, 1], neither centred nor scaled.

DGM and BGM (the same release, trained differently): every row with N(0, 4 d_max sigma^2) on each
cell. RMGM: the mixes over sqrt(k), with the same noise. The actual guarantee of that noise is
computed from the party's own columns and reported. It is refused where it is weaker than the
plan's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.domain import Categorical
from discreet.parties.plan import Floats, Party, Plan
from discreet.parties.queries import Mixes
from discreet.parties.slots import Rows
from discreet.privacy import refuse_weaker
from discreet.rows import Answer


def as_printed(source: Any, plan: Plan, party: Party, rows: int) -> dict[str, Any]:
    """The one answer of the paper's release.

    Privacy: RMGM is about a person replaced, key included. DGM is about a person's values replaced:
    who is in the data, in which order, is public.
    """
    cost = plan.printed_cost(party)
    refuse_weaker([cost], party.budget)
    width = party.encoder.width
    low, per_unit = unit_cells(party)
    roster = None
    if plan.method == "dgm":
        people = source.roster()
        middle = middles(party)
        centre, radius = low + middle / per_unit, plan.row_radius(party)
        query = Rows(rows, centre, per_unit, radius, people.people, label="rows, of people who are public")
        mixes = source.scatter(query, cost)
        mixes = Answer(mixes.value + middle, mixes.noise_std)
        roster = people.mark
    else:
        mixes = source.sum(Mixes(plan.mixes, low, per_unit, party.encoder.radius), cost)
    return {
        "count": float(rows),
        "centre": low,
        "centre_noise": np.zeros(width),
        "scale": 1 / per_unit,
        "weight": np.ones(width),
        "kept": np.ones(width),
        "spread": Answer(np.eye(width), math.inf, isotropic=True),
        "mixes": mixes,
        "roster": roster,
    }


def unit_cells(party: Party) -> tuple[Floats, Floats]:
    """Low ends and scales that take encoded columns to [0, 1]: numbers are encoded in [-1, 1],
    indicators in 0, 1.
    """
    indicator = np.array([isinstance(column, Categorical) for column in party.domain.columns for _ in column.names])
    return np.where(indicator, 0.0, -1.0), np.where(indicator, 1.0, 0.5)


def middles(party: Party) -> Floats:
    """The middle of the cells in [0, 1]: 1/2, and 1/m for the m indicators of a category with
    several.
    """
    return np.array([max(len(column.names), 2) ** -1.0 for column in party.domain.columns for _ in column.names])
