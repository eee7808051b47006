"""What a party does on its own machine: two looks at its columns, then the mixes, all behind one curator."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.curator import Curator
from discreet.errors import DomainError
from discreet.noise import Bits, SeededBits
from discreet.parties.people import check_keys, open_people
from discreet.parties.plan import Party, Plan, correlation_noise, radius_factor
from discreet.parties.queries import ColumnSums, Mixes, Spread
from discreet.parties.release_file import PartyRelease
from discreet.parties.signs import plan_state
from discreet.privacy import Ledger, refuse_weaker
from discreet.rows import Answer

Floats = NDArray[np.float64]

# Of what the column sums leave, the part that the party's own second moment gets.
_SPREAD_SHARE = 0.12
# In the sums: how much other columns count beside the likely label, and the number of complete rows beside all.
_OTHERS, _COUNT = 0.2, 0.1
# In the mixes the likely label counts this much more than the others, as it stands in every cross moment.
_LABEL_WEIGHT = 1.5
# What a column's encoded variance is before it has been seen, and how sure that is; and the least it may be.
_PRIOR_VARIANCE, _PRIOR_SPREAD, _LEAST_VARIANCE = 0.2, 0.15, 0.01
# How far the number of complete rows may lie from the number of rows, before the noisy count has been seen.
_COUNT_SPREAD = 0.05


def release(
    plan: Plan, party: str, data: Any, *, ledger: Ledger | str | Path, random_state: int | None = None
) -> PartyRelease:
    """Release one party's columns under the plan; asked again, the stored release is given again at no cost.

    data: a .parquet or .csv file, or a frame, with the plan's key column and the party's columns, in any row order.
    random_state: for tests only; the release says that it is not private.

    Privacy: three sums over the rows (one with calibration "paper") cost the party's budget together.
    """
    member = plan.party(party)
    engine = open_people(data, member.domain, plan.key, plan_state(plan.seed))
    if engine.rows < plan.people:
        raise DomainError(
            f"{party} has {engine.rows} rows, but plan {plan.name!r} needs at least {plan.people}; nothing was spent"
        )
    check_keys(engine)
    bits: Bits | None = None if random_state is None else SeededBits(random_state)
    curator = Curator(
        engine,
        ledger=ledger if isinstance(ledger, Ledger) else Ledger(ledger),
        job=f"parties/{plan.hash}/{party}",
        bits=bits,
    )
    return ask(curator, plan, member, engine.rows)


def open_ledger(plan: Plan, party: str, path: str | Path) -> Ledger:
    """The party's ledger at this path; made with the budget that the plan gives the party if there is none."""
    if Path(path).exists():
        return Ledger(path)
    budget = plan.party(party).budget
    # Rounded up in the last digits, so that the mu that follows from epsilon covers the plan's.
    return Ledger.create(path, epsilon=budget.epsilon * (1 + 1e-9), delta=budget.delta, note=f"plan {plan.name}")


def ask(curator: Curator, plan: Plan, party: Party, rows: int) -> PartyRelease:
    """Everything that the plan asks of a party's curator."""
    answers = (_as_printed if plan.calibration == "paper" else _tight)(curator, plan, party, rows)
    return PartyRelease(plan=plan, party=party.name, rows=rows, privacy=curator.guarantee, **answers)


def _tight(source: Curator, plan: Plan, party: Party, rows: int) -> dict[str, Any]:
    sums_cost, spread_cost, mixes_cost = party.budget.split(shares(party, rows))
    sums_query = column_sums(plan, party)
    sums = source.sum(sums_query, sums_cost)
    count, centre = centres(sums_query, sums, rows)
    noise = correlation_noise(rows, party)
    spread = source.sum(Spread(centre, _spread_radius(party, centre, noise)), spread_cost)
    scale = scales(spread, count)
    weight = column_weights(plan, party)
    radius = radius_factor(rows, party) * math.sqrt(float(weight @ weight))
    mixes = source.sum(Mixes(plan.mixes, centre, weight / scale, radius), mixes_cost)
    return {
        "count": count,
        "centre": centre,
        "centre_noise": sums.noise_std / sums_query.weights / count,
        "scale": scale,
        "weight": weight,
        "spread": spread,
        "mixes": mixes,
    }


def _as_printed(source: Curator, plan: Plan, party: Party, rows: int) -> dict[str, Any]:
    """RMGM as printed: columns in [0, 1], neither centred nor scaled; no looks."""
    width = party.encoder.width
    cost = plan.printed_cost(party)
    refuse_weaker([cost], party.budget)
    low, half = np.full(width, -1.0), np.full(width, 0.5)
    mixes = source.sum(Mixes(plan.mixes, low, half, party.encoder.radius), cost)
    unseen = Answer(np.eye(width), math.inf, isotropic=True)
    return {
        "count": float(rows),
        "centre": low,
        "centre_noise": np.zeros(width),
        "scale": 1 / half,
        "weight": np.ones(width),
        "spread": unseen,
        "mixes": mixes,
    }


def shares(party: Party, rows: int) -> tuple[float, float, float]:
    """How mu^2 is divided among sums, spread and mixes, from public numbers.

    At full budget the mean's noise would cost 25 d / (mu n)^2 of a label's variance, if that is (range / 5)^2. Where
    this is not small only the mean can be learned, and the sums get nearly everything.
    """
    mean_cost = 25 * len(party.domain.columns) / (party.budget.mu * rows) ** 2
    sums = min(max(6 * math.sqrt(mean_cost), 0.03), 0.94)
    return sums, _SPREAD_SHARE * (1 - sums), (1 - _SPREAD_SHARE) * (1 - sums)


def column_sums(plan: Plan, party: Party) -> ColumnSums:
    own = [column.name for column in party.domain.columns]
    others = _OTHERS if plan.label in own else 1.0
    weights = [1.0 if column.name == plan.label else others for column in party.domain.columns]
    entries = [w for w, column in zip(weights, party.domain.columns, strict=True) for _ in column.names]
    # Each column adds at most its weight: numbers lie in [-1, 1], and of a category's indicators one is 1.
    norm = math.sqrt(math.fsum(w * w for w in weights) + _COUNT**2)
    return ColumnSums(np.array(entries), norm, _COUNT)


def centres(query: ColumnSums, sums: Answer, rows: int) -> tuple[float, Floats]:
    """The number of complete rows and the means; the count leans on the public number of rows as far as it is noisy."""
    noisy, noise = float(sums.value[0, 0]) / query.count_weight, sums.noise_std / query.count_weight
    spread = _COUNT_SPREAD * rows
    count = (noisy * spread**2 + rows * noise**2) / (spread**2 + noise**2)
    count = min(max(count, 1.0, 0.1 * rows), float(rows))
    return count, np.clip(sums.value[0, 1:] / query.weights / count, -1.0, 1.0)


def scales(spread: Answer, count: float) -> Floats:
    """Standard deviations of the encoded columns, leaning on a typical one as far as they are noisy."""
    noise, seen = spread.noise_std / count, np.diag(spread.value) / count
    variance = (seen * _PRIOR_SPREAD**2 + _PRIOR_VARIANCE * noise**2) / (_PRIOR_SPREAD**2 + noise**2)
    return np.sqrt(np.maximum(variance, _LEAST_VARIANCE))


def column_weights(plan: Plan, party: Party) -> Floats:
    return np.array([_LABEL_WEIGHT if name == plan.label else 1.0 for name in party.encoder.names])


def _spread_radius(party: Party, centre: Floats, noise: float) -> float:
    """Half the box's diagonal while noise rules, and the farthest corner from the centre once it does not."""
    if noise > 0.3:
        return party.encoder.radius
    farthest = float(np.linalg.norm(1 + np.abs(centre)))
    return min(farthest, 2 * party.encoder.radius)
