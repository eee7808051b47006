"""A plan in plain words, and a new one to start from."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from discreet.documents import shown, toml_value
from discreet.parties.plan import FORMAT, Party, Plan
from discreet.privacy import Budget


def explained(plan: Plan) -> str:
    """The plan in words: who releases what, both guarantees, and the expected accuracy."""
    lines = [
        f"plan {plan.name!r}, hash {plan.hash}",
        f"{len(plan.parties)} parties release columns of the same people, matched by {plan.key!r}; each needs at least "
        f"{plan.people:,} rows",
        "",
        *(f"  {party.name}: {_columns(party)}" for party in plan.parties),
        "",
        signed_or_not(plan),
        "",
        *_guarantees(plan),
        "",
        *_expectation(plan),
    ]
    return "\n".join(lines)


def signed_or_not(plan: Plan) -> str:
    """Whether releases are signed, in words."""
    if plan.signed:
        return "Releases are signed: one that its party's key in the plan has not signed is refused."
    return (
        "NOT SIGNED: the plan has no public keys, so nobody can check who made a release. This is enough for a "
        "trial; otherwise every party runs `discreet parties key new` and its public_key goes into the plan."
    )


def differences(one: Plan, other: Plan) -> list[str]:
    """The settings in which two plans differ, as their files write them."""
    here, there = one.to_dict(), other.to_dict()
    told = [
        f"{name} {shown(here.get(name))} and {shown(there.get(name))}"
        for name in dict.fromkeys([*here, *there])
        if name != "parties" and here.get(name) != there.get(name)
    ]
    names, others = ([party.name for party in plan.parties] for plan in (one, other))
    if names != others:
        return [*told, f"parties {', '.join(names)} and {', '.join(others)}"]
    for mine, yours in zip(here["parties"], there["parties"], strict=True):
        if mine != yours:
            told.append(f"party {mine['name']}: {_party_difference(mine, yours)}")
    return told


def _party_difference(mine: dict[str, Any], yours: dict[str, Any]) -> str:
    orders = [[column["name"] for column in party["columns"]] for party in (mine, yours)]
    if sorted(orders[0]) == sorted(orders[1]) and orders[0] != orders[1]:
        return f"columns in another order, {', '.join(orders[0])} and {', '.join(orders[1])}"
    if orders[0] != orders[1]:
        return f"columns {', '.join(orders[0])} and {', '.join(orders[1])}"
    odd = [name for name in dict.fromkeys([*mine, *yours]) if name != "columns" and mine.get(name) != yours.get(name)]
    pairs = zip(mine["columns"], yours["columns"], strict=True)
    return ", ".join([*odd, *(f"column {a['name']}" for a, b in pairs if a != b)])


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
        f"  all {len(plan.parties)} releases, for a person who is at every party: "
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
    correlation_error = max(plan.correlation_error(party, plan.people) for party in plan.parties)
    needed = plan.people * (2 * correlation_error / 0.3) ** 2
    rows = "mixes" if plan.method == "rmgm" else "slots for single people"
    lines = [
        f"{plan.mixes} {rows}; noise and mixing give a correlation between two parties a standard error of "
        f"about {correlation_error:.2g}."
    ]
    if needed > plan.people:
        lines.append(f"To detect a correlation of 0.3, about {needed:,.0f} people would be needed.")
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
    public_keys: Mapping[str, str] | None = None,
) -> str:
    """A plan file to edit: ranges are left to be declared, and a fresh seed is drawn."""
    lines = [
        "# All parties approve this file. Ranges come from codebooks or public knowledge, never from the data.",
        "# The order of parties and columns is part of the plan.",
        f"format = {FORMAT}",
        f"name = {toml_value(name)}",
        f"key = {toml_value(key)}            # the column that names a person; not released",
        f"people = {people}            # every party has at least so many rows",
        f"guarantee = {toml_value(guarantee)}   # per_party, or joint: epsilon for one person across all parties",
        f"epsilon = {epsilon!r}",
        f"delta = {delta!r}",
        f"method = {toml_value(method)}        # rmgm, or dgm: a row for each person, with far more noise",
        f"calibration = {toml_value(calibration)}   # tight, or paper: the noise and training that the paper prints",
        'mixes = "auto"',
        f"seed = {toml_value(secrets.token_hex(16))}",
        '# label = "..."        # the likely label, if there is one: it gets the least noise',
    ]
    for party, columns in parties.items():
        lines += ["", "[[parties]]", f"name = {toml_value(party)}", _key_line((public_keys or {}).get(party))]
        for column in columns:
            lines += ["", "[[parties.columns]]", f"name = {toml_value(column)}", "low = 0.0", "high = 1.0"]
    return "\n".join(lines) + "\n"


def _key_line(public_key: str | None) -> str:
    if public_key is None:
        return '# public_key = "ed25519:..."   # what `discreet parties key new` prints; for every party, or for none'
    return f"public_key = {toml_value(public_key)}"
