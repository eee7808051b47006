"""``discreet fit``: fits a private model to a file, or shows the price before."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from discreet.cli.model import FAMILIES, MODELS, make_estimator
from discreet.cli.printing import clean_errors, echo_fact
from discreet.cli.solver_options import solver_options
from discreet.cli.tables import Given, table_options
from discreet.cli.watching import watched


@dataclass(frozen=True)
class Job:
    """The task of a fit: the table, its columns, and the output files."""

    table: Any
    target: str | None
    groups: str | None
    exposure: str | None
    sample_weight: str | None
    event: str | None
    ledger: str | None
    job: str | None
    out: str | None
    html: str | None


@click.command()
@click.argument("data", required=False)
@click.option("--domain", required=True, type=click.Path(dir_okay=False), help="TOML file that declares the columns.")
@click.option("--target", help="The column to predict; a --formula can say it.")
@click.option("--formula", metavar="TEXT", help="Terms, as 'cost ~ age * smoker + bs(bmi, 4)'; else all columns.")
@click.option("--epsilon", required=True, type=float, help="Epsilon of this fit.")
@click.option("--delta", required=True, type=float, help="Delta of this fit; well below 1 / number of people.")
@click.option("--model", type=click.Choice(MODELS), help="Least squares, sparse, ReLU, single-index, survival.")
@click.option("--family", type=click.Choice(FAMILIES), help="A generalized linear model; with --model sparse, too.")
@click.option("--link", help="Its link: identity, logit, probit, cloglog, log, softplus, or a single index's.")
@click.option("--exposure", metavar="COLUMN", help="How long each row was observed (log link).")
@click.option("--sample-weight", metavar="COLUMN", help="How much each row counts; its bounds are in the domain.")
@click.option("--event", metavar="COLUMN", help="--model survival: 1 where the event happened, 0 if censored.")
@click.option("--public", metavar="FILE", help="Rows that are public anyway, with the same columns.")
@click.option("--alpha", type=float, help="Penalty on coefficients.  [default: 1 for ridge, else 0]")
@click.option("--solver", default="auto", show_default=True, help="gd, moments, newton, iht, ...; see docs/papers.")
@click.option(
    "--neighbours",
    type=click.Choice(["replace_one", "add_or_remove_one"]),
    default="replace_one",
    show_default=True,
    help="Whether the number of rows is public (replace_one) or private.",
)
@click.option("--groups", metavar="COLUMN", help="Column of person ids: the guarantee is then about a person.")
@click.option("--rows-per-person", type=int, default=1, show_default=True, help="Rows used of each person.")
@click.option("--ledger", type=click.Path(dir_okay=False), help="Budget file to pay from (discreet budget create).")
@click.option("--job", metavar="NAME", help="Name of this fit in the ledger: the same fit under it is paid once.")
@click.option("--out", type=click.Path(dir_okay=False), help="Write the model to this JSON file.")
@click.option("--html", type=click.Path(dir_okay=False), help="Write a report for a reviewer to this HTML file.")
@click.option("--dry-run", is_flag=True, help="Show the price and stop: no row is read, nothing is spent.")
@solver_options
@table_options
def fit(
    data: str | None,
    domain: str,
    target: str | None,
    formula: str | None,
    epsilon: float,
    delta: float,
    model: str | None,
    family: str | None,
    link: str | None,
    exposure: str | None,
    sample_weight: str | None,
    event: str | None,
    public: str | None,
    alpha: float | None,
    solver: str,
    neighbours: str,
    groups: str | None,
    rows_per_person: int,
    ledger: str | None,
    job: str | None,
    out: str | None,
    html: str | None,
    dry_run: bool,
    sql: str | None,
    database: str | None,
    engine: str,
    scheduler: str | None,
    master: str | None,
    sep: str | None,
    decimal: str,
    encoding: str,
    **options: Any,
) -> None:
    """Fit a private model to DATA: least squares, another --model, or a --family.

    DATA is a .parquet, .csv or .tsv file (.gz as well), a folder of them, or a pattern such as
    'data/*.parquet'.
    """
    with clean_errors():
        if model not in (None, "sparse") and family is not None:
            raise click.UsageError("--family is a model of its own, or that of --model sparse: give one of them")
        if alpha is not None and model != "ridge" and family is None and options["l1_ratio"] is None:
            raise click.UsageError("--alpha is the penalty of --model ridge, of a --family, or with --l1-ratio")
        if family is None and (exposure is not None or (link is not None and model != "single_index")):
            raise click.UsageError("--link and --exposure belong to a --family")
        if event is not None and model != "survival":
            raise click.UsageError("--event belongs to --model survival")
        if target is None and formula is None:
            raise click.UsageError("give --target, the column to predict, or a --formula with it on the left")
        estimator = make_estimator(
            model,
            family,
            link,
            domain=domain,
            public=public,
            target=target,
            exposure=exposure,
            formula=formula,
            options=options,
            alpha=float(model == "ridge") if alpha is None and model in (None, "linear", "ridge") else alpha,
            solver=solver,
            epsilon=epsilon,
            delta=delta,
            neighbours=neighbours,
            ledger=ledger,
            rows_per_person=rows_per_person,
        )
        given = Given(data, sql, database, engine, scheduler, master, sep, decimal, encoding)
        task = Job(given.table(), target, groups, exposure, sample_weight, event, ledger, job, out, html)
        if dry_run:
            from discreet.cli.price import echo_price

            echo_price(
                estimator,
                task.table,
                target=target,
                groups=groups,
                exposure=exposure,
                weight=sample_weight if event is None else event,
                ledger=ledger,
                job=job,
            )
        else:
            _fit(estimator, task)


def _fit(estimator: Any, task: Job) -> None:
    # Whatever can fail must fail before the budget is spent.
    for path in (task.out, task.html):
        if path is not None and not Path(path).resolve().parent.is_dir():
            raise ValueError(f"there is no folder {Path(path).parent} to write {Path(path).name} to")
    beside = {"exposure": task.exposure, "sample_weight": task.sample_weight, "event": task.event}
    more = {name: column for name, column in beside.items() if column is not None}
    with watched():
        estimator.fit_table(task.table, target=task.target, groups=task.groups, job=task.job, **more)
    click.echo(str(estimator.summary()))
    click.echo()
    if task.ledger is not None:
        echo_left(task.ledger)
    if task.out is not None:
        estimator.save(task.out)
        click.echo(f"model      written to {task.out}")
    if task.html is not None:
        estimator.report(task.html)
        click.echo(f"report     written to {task.html}")


def echo_left(path: str) -> None:
    """What the ledger has left."""
    from discreet.cli.budget_words import left_in_words, more_fits
    from discreet.privacy import Ledger

    ledger = Ledger(path)
    left, total, entries = ledger.remaining, ledger.total, ledger.history
    more = more_fits(left, total, entries[-1] if entries else None)
    echo_fact("budget", "; ".join(filter(None, [f"{left_in_words(left, total)} in {path}", more])))
