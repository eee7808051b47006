"""An example for every command's ``--help``, in one place."""

from __future__ import annotations

import click

EXAMPLES = {
    "audit": "discreet audit model.py:make_model --epsilon 1 --html audit.html",
    "budget": "discreet budget show budget.ledger",
    "budget create": "discreet budget create budget.ledger --epsilon 3 --delta 1e-6",
    "budget show": "discreet budget show budget.ledger --releases",
    "budget verify": "discreet budget verify budget.ledger",
    "budget repair": "discreet budget repair budget.ledger",
    "budget sign": "DISCREET_LEDGER_KEY_FILE=key discreet budget sign budget.ledger",
    "demo": "discreet demo --out demo",
    "evaluate": "discreet evaluate model.json held_out.parquet --epsilon 1 --delta 1e-6",
    "fit": "discreet fit data.parquet --domain domain.toml --target cost \\\n"
    "    --epsilon 1 --delta 1e-6 --out model.json",
    "local": "discreet local demo",
    "local demo": "discreet local demo",
    "local task": "discreet local task show task.toml",
    "local task new": "discreet local task new survey --domain domain.toml --target answer \\\n"
    "    --epsilon 4 --goal 20000 --out task.toml",
    "local task show": "discreet local task show task.toml",
    "local task check": "discreet local task check task.toml",
    "local task export": "discreet local task export task.toml --out task.json",
    "local task second": "discreet local task second pilot.toml pilot.reports --out second.toml",
    "local report": "discreet local report task.toml --records people.csv --id person \\\n"
    "    --state state --new --out reports",
    "local fit": "discreet local fit task.toml reports --model logistic --out model.json",
    "local simulate": "discreet local simulate",
    "local create": "discreet local create --task task.toml --store reports.db",
    "local serve": "discreet local serve --task task.toml --store reports.db",
    "local tokens": "discreet local tokens --store reports.db --role device --count 100",
    "local close": "discreet local close --task task.toml --store reports.db",
    "local verify": "discreet local verify --task task.toml --store reports.db",
    "parties": "discreet parties fit one.release two.release --label cost",
    "parties plan": "discreet parties plan show plan.toml",
    "parties plan new": "discreet parties plan new plan.toml --name study --key person \\\n"
    "    --people 5000 --epsilon 3 --delta 1e-6 --party a=age,bmi --party b=cost",
    "parties plan show": "discreet parties plan show plan.toml",
    "parties plan check": "discreet parties plan check plan.toml",
    "parties key": "discreet parties key new clinic.key",
    "parties key new": "discreet parties key new clinic.key",
    "parties key show": "discreet parties key show clinic.key",
    "parties align": "discreet parties align clinic.keys insurer.keys",
    "parties release": "discreet parties release --plan plan.toml --party clinic \\\n"
    "    --data clinic.parquet --out clinic.release",
    "parties fit": "discreet parties fit clinic.release insurer.release --label cost",
    "plan": "discreet plan --family logistic --n 20000 --d 12 --epsilon 1",
    "predict": "discreet predict model.json new.parquet --out scores.parquet",
    "report": "discreet report model.json --out report.html",
    "show": "discreet show model.json --releases",
}


def with_example(command: click.Command, path: str) -> click.Command:
    """The command, and those under it, with its example at the end of its help and no text cut
    short in lists.
    """
    if path in EXAMPLES:
        command.epilog = f"\b\nExample:\n  {EXAMPLES[path]}"
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            first = " ".join((inner.help or "").split("\n\n")[0].split())
            inner.short_help = inner.short_help or first
            with_example(inner, f"{path} {name}")
    return command
