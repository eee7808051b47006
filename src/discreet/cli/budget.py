"""``discreet budget``: make a ledger, see what is left, see who spent it."""

from __future__ import annotations

import json
import math
from typing import Any

import click

from discreet.cli.printing import clean_errors, echo_table
from discreet.privacy.budget import Budget
from discreet.privacy.ledger import Entry, Ledger


@click.group()
def budget() -> None:
    """The privacy budget of one data set, and every release paid from it."""


@budget.command()
@click.argument("path", type=click.Path(dir_okay=False))
@click.option("--epsilon", type=float, required=True, help="Total epsilon of all releases together.")
@click.option("--delta", type=float, required=True, help="Total delta; well below 1 / number of people.")
@click.option("--note", default="", help="Free text: which data, who decided.")
def create(path: str, epsilon: float, delta: float, note: str) -> None:
    """Make a new ledger at PATH; an existing one is never overwritten."""
    with clean_errors():
        ledger = Ledger.create(path, epsilon=epsilon, delta=delta, note=note)
        click.echo(f"created {ledger.path}: {ledger.total}")
        click.echo(f"keep {ledger.path.name}.mark beside it: without it the ledger is refused")


@budget.command()
@click.argument("path", type=click.Path(dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def show(path: str, as_json: bool) -> None:
    """Total, spent and remaining budget of the ledger at PATH."""
    with clean_errors():
        ledger = Ledger(path)
        total, spent, remaining, releases = ledger.total, ledger.spent, ledger.remaining, len(ledger.history)
        used = spent.mu**2 / total.mu**2
        amounts = {"total": total, "spent": spent, "remaining": remaining}
        if as_json:
            facts: dict[str, Any] = {name: _amount(amount) for name, amount in amounts.items()}
            _echo_json({"path": str(ledger.path), "note": ledger.note, **facts, "used": used, "releases": releases})
            return
        click.echo(f"ledger     {ledger.path}")
        if ledger.note:
            click.echo(f"note       {ledger.note}")
        rows = [(name, f"{amount.epsilon:.4g}", f"{amount.mu:.4g}") for name, amount in amounts.items()]
        echo_table(["", f"epsilon (delta {total.delta:.3g})", "mu"], rows)
        noun = "release" if releases == 1 else "releases"
        click.echo(f"used       {used:.1%}, by {releases} {noun} (mu^2 adds up, epsilon does not)")


@budget.command()
@click.argument("path", type=click.Path(dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def history(path: str, as_json: bool) -> None:
    """Every release paid from the ledger at PATH, oldest first."""
    with clean_errors():
        ledger = Ledger(path)
        entries, delta = ledger.history, ledger.total.delta
        if as_json:
            _echo_json([_fields(entry) for entry in entries])
        elif not entries:
            click.echo("nothing was spent yet")
        else:
            headings = ["number", "time (UTC)", "label", "cost", "epsilon alone", "result", "key"]
            echo_table(headings, [_cells(entry, delta) for entry in entries])


def _amount(amount: Budget) -> dict[str, float]:
    return {"epsilon": amount.epsilon, "delta": amount.delta, "mu": amount.mu}


def _fields(entry: Entry) -> dict[str, Any]:
    return {
        "number": entry.number,
        "time": entry.time,
        "label": entry.label,
        "cost": entry.cost.to_dict(),
        "mu": entry.cost.mu if math.isfinite(entry.cost.mu) else None,  # JSON has no infinity
        "key": entry.key,
        "stored": entry.stored,
    }


def _cells(entry: Entry, delta: float) -> tuple[str, ...]:
    cost = f"mu {entry.cost.mu:.4g}" if math.isfinite(entry.cost.mu) else type(entry.cost).__name__
    time = entry.time.removesuffix("+00:00").replace("T", " ")
    stored = "stored" if entry.stored else "-"
    return str(entry.number), time, entry.label, cost, f"{entry.cost.epsilon(delta):.4g}", stored, entry.key


def _echo_json(facts: Any) -> None:
    click.echo(json.dumps(facts, indent=2))
