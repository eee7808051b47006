"""``discreet budget``: create a ledger, see what is left and what was spent, verify it,
repair it.
"""

from __future__ import annotations

import json
import math
from itertools import groupby
from typing import Any

import click

from discreet.cli.printing import clean_errors, echo_fact, echo_table
from discreet.privacy.budget import Budget
from discreet.privacy.ledger import Ledger
from discreet.privacy.ledger_history import Entry
from discreet.privacy.units import Unit

# This many characters of a charge's key identify it; --json has the whole key.
_KEY = 16


@click.group()
def budget() -> None:
    """The privacy budget of one data set, and every fit paid from it."""


@budget.command()
@click.argument("path", type=click.Path(dir_okay=False))
@click.option("--epsilon", type=float, required=True, help="Total epsilon of all releases together.")
@click.option("--delta", type=float, required=True, help="Total delta; well below 1 / number of people.")
@click.option("--note", default="", help="Free text: which data, who decided.")
def create(path: str, epsilon: float, delta: float, note: str) -> None:
    """Create a ledger at PATH; an existing one is never overwritten."""
    with clean_errors():
        ledger = Ledger.create(path, epsilon=epsilon, delta=delta, note=note)
        click.echo(f"created {ledger.path}: {ledger.total}")
        click.echo(f"keep {ledger.path.name}.mark beside it: without it the ledger is refused")


@budget.command()
@click.argument("path", type=click.Path(dir_okay=False))
@click.option("--releases", is_flag=True, help="List every charge with all that was released from it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def show(path: str, releases: bool, as_json: bool) -> None:
    """What is left of the ledger at PATH, and one line for each fit that paid from it."""
    with clean_errors():
        ledger = _opened(path)
        total, remaining, entries = ledger.total, ledger.remaining, ledger.history
        if as_json:
            amounts = {"total": total, "spent": ledger.spent, "remaining": remaining}
            facts: dict[str, Any] = {name: _amount(amount) for name, amount in amounts.items()}
            history = {"used": ledger.spent.mu**2 / total.mu**2, "charges": [_fields(entry) for entry in entries]}
            _echo_json({"path": str(ledger.path), "note": ledger.note, **facts, **history})
            return
        from discreet.cli.budget_words import fit_rows, left_in_words, more_fits

        echo_fact("ledger", str(ledger.path))
        if ledger.note:
            echo_fact("note", ledger.note)
        more = more_fits(remaining, total, entries[-1] if entries else None)
        echo_fact("budget", "; ".join(filter(None, [left_in_words(remaining, total), more])))
        if not entries:
            click.echo("nothing was spent yet")
            return
        click.echo()
        if releases:
            headings = ["no.", "when (UTC)", "what", "cost", "epsilon"]
            echo_table(headings, [row for entry in entries for row in _rows(entry, total.delta)])
        else:
            echo_table(["when (UTC)", "fit", "epsilon", "left", ""], fit_rows(ledger, entries))


@budget.command()
@click.argument("path", type=click.Path(dir_okay=False))
def verify(path: str) -> None:
    """Check every entry ever written to the ledger at PATH, every link between them and every
    total.
    """
    with clean_errors():
        ledger = Ledger(path)
        entries = ledger.verify()
        echo_fact("intact", f"{entries} entries, their links, and the totals after each of them")
        echo_fact("spent", f"{ledger.spent} of {ledger.total}")


@budget.command()
@click.argument("path", type=click.Path(dir_okay=False))
def repair(path: str) -> None:
    """Repair the ledger at PATH: a lost mark, running totals. No budget is given back."""
    with clean_errors():
        found = Ledger.repair(path)
        for mended in found.mended:
            echo_fact("mended", f"{mended}")
        for left in found.left:
            echo_fact("not mended", f"{left}", err=True)
        if found.left:
            raise click.exceptions.Exit(1)
        if not found.mended:
            click.echo("nothing had to be repaired")
        ledger = Ledger(path)
        echo_fact("remaining", f"{ledger.remaining} of {ledger.total}")


@budget.command()
@click.argument("path", type=click.Path(dir_okay=False))
def sign(path: str) -> None:
    """Sign the marks of the ledger at PATH with a key, which every later charge needs.

    The key is DISCREET_LEDGER_KEY, or the content of the file that DISCREET_LEDGER_KEY_FILE names.
    Without it nobody can alter the ledger, or restore an earlier state of it without that state's
    mark.
    """
    with clean_errors():
        Ledger.sign(path)
        echo_fact("signed", f"the marks of {path}; without the key it cannot be charged")


def _opened(path: str) -> Ledger:
    """A ledger to read; if it could not be charged, the reason is printed to stderr."""
    ledger = Ledger.read_only(path)
    if ledger.doubts:
        echo_fact("warning", f"this ledger cannot be charged: {ledger.doubts}", err=True)
    return ledger


def _amount(amount: Budget) -> dict[str, float]:
    return {"epsilon": amount.epsilon, "delta": amount.delta, "mu": amount.mu}


def _fields(entry: Entry) -> dict[str, Any]:
    return {
        "number": entry.number,
        "time": entry.time,
        "label": entry.label,
        "costs": [cost.to_dict() for cost in entry.costs],
        "mu": entry.cost.mu if math.isfinite(entry.cost.mu) else None,  # JSON has no infinity
        "key": entry.key,
        "stored": entry.stored,
        "releases": [{"label": label, "cost": cost.to_dict()} for label, cost in entry.releases],
    }


def _rows(entry: Entry, delta: float) -> list[tuple[str, ...]]:
    """A charge, and below it its key and its releases, which share its cost and have no epsilon of
    their own.
    """
    time = entry.time.removesuffix("+00:00").replace("T", " ")[:16]
    cost = " + ".join(_cost(cost) for cost in entry.costs)
    rows: list[tuple[str, ...]] = [
        (str(entry.number), time, entry.label, cost, f"{entry.cost.epsilon(delta):.4g}"),
        ("", "", f"  key {entry.key[:_KEY]}{', stored' if entry.stored else ''}", "", ""),
    ]
    for (label, each), alike in groupby(entry.releases):
        number = len(list(alike))
        times = f", {number} times" if number > 1 else ""
        rows.append(("", "", f"  {label}{times}", f"  {_cost(each)}{' each' if times else ''}", ""))
    return rows


def _cost(cost: Unit) -> str:
    return f"mu {cost.mu:.4g}" if math.isfinite(cost.mu) else type(cost).__name__


def _echo_json(facts: Any) -> None:
    click.echo(json.dumps(facts, indent=2))
