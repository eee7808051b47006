"""``discreet evaluate``: a saved model's accuracy on private held-out rows, paid for like a fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from discreet.cli.printing import clean_errors, needs
from discreet.cli.tables import Given, table_options
from discreet.cli.watching import watched


@click.command()
@click.argument("model_path", metavar="MODEL", type=click.Path(exists=True, dir_okay=False))
@click.argument("data", required=False)
@click.option("--epsilon", required=True, type=float, help="Epsilon of this evaluation, besides that of the fit.")
@click.option("--delta", required=True, type=float, help="Delta of this evaluation.")
@click.option("--target", metavar="COLUMN", help="The labels.  [default: the column that was fitted]")
@click.option("--exposure", metavar="COLUMN", help="How long each row was observed (log link).")
@click.option("--event", metavar="COLUMN", help="The events of a survival model.  [default: the fitted column]")
@click.option("--groups", metavar="COLUMN", help="Column of person ids: the guarantee is then about a person.")
@click.option("--rows-per-person", type=int, default=1, show_default=True, help="Rows used of each person.")
@click.option(
    "--neighbours",
    type=click.Choice(["replace_one", "add_or_remove_one"]),
    help="Whether the number of rows is public.  [default: as fitted]",
)
@click.option("--ledger", type=click.Path(dir_okay=False), help="Budget file to pay from (discreet budget create).")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="One minus the level of intervals.")
@click.option("--out", type=click.Path(dir_okay=False), help="Write the numbers to this JSON file.")
@click.option("--plot", type=click.Path(dir_okay=False), help="Write the calibration to this picture.")
@click.option("--dry-run", is_flag=True, help="Show the price and stop: no row is read, nothing is spent.")
@table_options
def evaluate(
    model_path: str,
    data: str | None,
    epsilon: float,
    delta: float,
    target: str | None,
    exposure: str | None,
    event: str | None,
    groups: str | None,
    rows_per_person: int,
    neighbours: str | None,
    ledger: str | None,
    alpha: float,
    out: str | None,
    plot: str | None,
    dry_run: bool,
    sql: str | None,
    database: str | None,
    engine: str,
    scheduler: str | None,
    master: str | None,
    sep: str | None,
    decimal: str,
    encoding: str,
) -> None:
    """Evaluate the saved MODEL on the private rows of DATA: R^2 or deviance explained, log-loss,
    AUC, calibration.

    DATA is anything that 'discreet fit' takes. Every number has an interval for the privacy
    noise.
    """
    with clean_errors():
        from discreet.loading import load
        from discreet.privacy import Budget

        if plot is not None:
            needs("matplotlib", "report")
        for path in (out, plot):
            if path is not None and not Path(path).resolve().parent.is_dir():
                raise ValueError(f"there is no folder {Path(path).parent} to write {Path(path).name} to")
        model = load(model_path)
        if not hasattr(model, "evaluate_table"):
            raise ValueError(f"a {type(model).__name__} has no private evaluation")
        table = Given(data, sql, database, engine, scheduler, master, sep, decimal, encoding).table()
        budget = Budget.of(epsilon, delta)
        if dry_run:
            click.echo(f"price      {budget}; no row was read and nothing was spent")
            return
        beside = {"exposure": exposure, "event": event or _event_of(model)}
        with watched():
            found = model.evaluate_table(
                table,
                epsilon=epsilon,
                delta=delta,
                target=target,
                **{name: column for name, column in beside.items() if column is not None},
                groups=groups,
                rows_per_person=rows_per_person,
                neighbours=neighbours,
                ledger=ledger,
                alpha=alpha,
            )
        click.echo(str(found))
        if out is not None:
            Path(out).write_text(json.dumps(found.to_dict(), indent=2) + "\n", encoding="utf-8")
            click.echo(f"numbers    written to {out}")
        if plot is not None:
            found.plot(plot)
            click.echo(f"plot       written to {plot}")
        if ledger is not None:
            from discreet.cli.fit import echo_left

            echo_left(ledger)


def _event_of(model: Any) -> str | None:
    """The column of events of a survival model."""
    return model.results_.target if hasattr(model, "breaks") else None
