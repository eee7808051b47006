"""What a party does on its own machine: cheap looks at its columns, then the mixes, all behind one curator."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from discreet.errors import DomainError
from discreet.noise import Bits, SeededBits
from discreet.parties.looks import (
    centres,
    column_sums,
    column_weights,
    kept_shares,
    scales,
    shares,
    spread_radius,
)
from discreet.parties.people import check_keys, open_people
from discreet.parties.plan import Party, Plan, radius_factor
from discreet.parties.printed_release import as_printed
from discreet.parties.queries import Kept, Mixes, Spread
from discreet.parties.release_file import PartyRelease
from discreet.parties.signs import plan_state
from discreet.parties.slots import Rows, SlotCurator, check_cells
from discreet.privacy import Ledger


def release(
    plan: Plan, party: str, data: Any, *, ledger: Ledger | str | Path, random_state: int | None = None
) -> PartyRelease:
    """Release one party's columns under the plan; asked again, the stored release is given again at no cost.

    data: a .parquet or .csv file, or a frame, with the plan's key column and the party's columns, in any row order.
    random_state: for tests only; the release says that it is not private.

    Privacy: four sums over the rows (one with calibration "paper") cost the party's budget together.
    """
    member = plan.party(party)
    engine = open_people(data, member.domain, plan.key, plan_state(plan.seed))
    if engine.rows < plan.people:
        raise DomainError(
            f"{party} has {engine.rows} rows, but plan {plan.name!r} needs at least {plan.people}; nothing was spent"
        )
    check_cells(plan, member, engine.rows)
    check_keys(engine)
    bits: Bits | None = None if random_state is None else SeededBits(random_state)
    curator = SlotCurator(
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


def ask(curator: SlotCurator, plan: Plan, party: Party, rows: int) -> PartyRelease:
    """Everything that the plan asks of a party's curator."""
    answers = (as_printed if plan.calibration == "paper" else _tight)(curator, plan, party, rows)
    return PartyRelease(plan=plan, party=party.name, rows=rows, privacy=curator.guarantee, **answers)


def _tight(source: SlotCurator, plan: Plan, party: Party, rows: int) -> dict[str, Any]:
    sums_cost, spread_cost, kept_cost, mixes_cost = party.budget.split(shares(party, rows))
    sums_query = column_sums(plan, party)
    sums = source.sum(sums_query, sums_cost)
    count, centre = centres(sums_query, sums, rows)
    noise = plan.blur(party, rows)
    spread = source.sum(Spread(centre, spread_radius(party, centre, noise)), spread_cost)
    scale = scales(spread, count)
    weight = column_weights(plan, party)
    radius = radius_factor(noise) * math.sqrt(float(weight @ weight))
    kept_query = Kept(centre, weight / scale, radius)
    kept = kept_shares(kept_query, source.sum(kept_query, kept_cost), weight, count)
    if plan.method == "dgm":
        mixes = source.scatter(Rows(plan.mixes, centre, weight / scale, radius), mixes_cost)
    else:
        mixes = source.sum(Mixes(plan.mixes, centre, weight / scale, radius), mixes_cost)
    return {
        "count": count,
        "centre": centre,
        "centre_noise": sums.noise_std / sums_query.weights / count,
        "scale": scale,
        "weight": weight,
        "kept": kept,
        "spread": spread,
        "mixes": mixes,
        "roster": None,
    }
