"""A plan in plain words, and a new one to start from."""

from __future__ import annotations

import json
import secrets
from typing import Any

from discreet.parties.plan import Party, Plan
from discreet.privacy import Budget


def explained(plan: Plan) -> str:
    """What the plan means: who releases what, both guarantees, and what can be learned."""
    lines = [
        f"plan {plan.name!r}, hash {plan.hash}",
        f"{len(plan.parties)} parties release columns of the same people, matched by {plan.key!r}; each needs at least "
        f"{plan.people:,} rows",
        "",
        *(f"  {party.name}: {_columns(party)}" for party in plan.parties),
        "",
        *_guarantees(plan),
        "",
        *_expectation(plan),
    ]
    return "\n".join(lines)


def _columns(party: Party) -> str:
    return ", ".join(column.name for column in party.domain.columns)


def _guarantees(plan: Plan) -> list[str]:
    paper = plan.calibration == "paper"
    neighbours = "one person replaced by any other; how many rows a party has is public"
    if paper and plan.method == "dgm":
        neighbours = "one person's values replaced by any others; who is in the data is public"
    lines = [f"Both guarantees are about {neighbours}."]
    for party in plan.parties:
        mu = plan.printed_cost(party).mu if paper else party.budget.mu
        line = f"  {party.name}'s release alone: {Budget.from_mu(mu, party.budget.delta)}"
        weaker = "; weaker than asked for, so the release will be refused" if mu > party.budget.mu else ""
        lines.append(line + (", by the paper's noise" if paper else "") + weaker)
    costs = [plan.printed_cost(party).mu if paper else party.budget.mu for party in plan.parties]
    together = sum(mu**2 for mu in costs) ** 0.5
    lines.append(
        f"  all {len(plan.parties)} releases, for a person who stands at every party: "
        f"{Budget.from_mu(together, plan.delta)}"
    )
    meant = {
        "per_party": "each party's release alone: a person at all parties loses more, as the last line says",
        "joint": "all releases together: each party's noise is larger so that the last line holds",
    }
    lines.append(f"epsilon {plan.epsilon:g} at delta {plan.delta:g} was set for {meant[plan.guarantee]}.")
    return lines


def _expectation(plan: Plan) -> list[str]:
    if plan.calibration == "paper":
        return [f"method {plan.method!r} as printed: for reproducing the paper; calibration 'tight' needs less noise."]
    blur = max(plan.blur(party, plan.people) for party in plan.parties)
    needed = plan.people * (2 * blur / 0.3) ** 2
    rows = "mixes" if plan.method == "rmgm" else "slots for single people"
    lines = [f"{plan.mixes} {rows}; noise and mixing blur a correlation between two parties by about {blur:.2g}."]
    if needed > plan.people:
        lines.append(f"To make out a correlation of 0.3, about {needed:,.0f} people would be needed.")
    return lines


def new_plan(
    *,
    name: str,
    key: str,
    people: int,
    epsilon: float,
    delta: float,
    guarantee: str,
    parties: dict[str, list[str]],
    method: str = "rmgm",
    calibration: str = "tight",
) -> str:
    """A plan file to edit: ranges are left to be declared, and a fresh seed is drawn."""
    lines = [
        "# All parties sign off this file. Ranges come from codebooks or measurement, never from the data.",
        "format = 1",
        f"name = {_toml(name)}",
        f"key = {_toml(key)}            # the column that names a person; not released",
        f"people = {people}            # every party has at least so many rows",
        f"guarantee = {_toml(guarantee)}   # per_party, or joint: epsilon for one person across all parties",
        f"epsilon = {epsilon!r}",
        f"delta = {delta!r}",
        f"method = {_toml(method)}        # rmgm, or dgm: a row for each person, with far more noise in all together",
        f"calibration = {_toml(calibration)}   # tight, or paper: the noise and training that the paper prints",
        'mixes = "auto"',
        f"seed = {_toml(secrets.token_hex(16))}",
        '# label = "..."        # the likely label, if there is one: it gets the least noise',
    ]
    for party, columns in parties.items():
        for column in columns:
            lines += ["", f"[parties.{_toml(party)}.columns.{_toml(column)}]", "low = 0.0", "high = 1.0"]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    # JSON writes strings as TOML does, except that TOML wants DEL escaped too.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
