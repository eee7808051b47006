"""``discreet local fit``: models from a file of reports."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from discreet.cli.printing import clean_errors, echo_table
from discreet.cli.store_place import StorePlace, optional_store_options


@click.command()
@click.argument("task_path", metavar="TASK", type=click.Path(exists=True, dir_okay=False))
@click.argument("reports", required=False, type=click.Path(exists=True, dir_okay=False))
@optional_store_options
@click.option("--batch", type=click.IntRange(min=0), default=0, show_default=True, help="With --store.")
@click.option("--model", "models", multiple=True, help="logistic, poisson, ...; several may be given, for free.")
@click.option(
    "--prior-std", type=float, help="Typical standard deviation of the linear predictor, if known: shrinks the noise."
)
@click.option(
    "--out", type=click.Path(dir_okay=False), help="Save the model here, as JSON; of several, each by its name."
)
def fit(
    task_path: str,
    reports: str | None,
    place: StorePlace | None,
    batch: int,
    models: tuple[str, ...],
    prior_std: float | None,
    out: str | None,
) -> None:
    """Fit models to REPORTS, a file of report bodies of TASK, at no further cost in privacy.

    Instead of REPORTS, --store names a collector's store, all reports of which are verified first.
    """
    with clean_errors():
        from discreet.local import Task
        from discreet.local import fit as fit_models

        task = Task.load(task_path)
        collection = collected(task, reports, place, batch)
        results = fit_models(task, collection, models or None, prior_std=prior_std)
        for result in results:
            echo_result(task, collection, result)
        if out is not None:
            for result, path in zip(results, _paths(out, [result.model for result in results]), strict=True):
                result.save(path)
                click.echo(f"model      written to {path}")


def _paths(out: str, models: list[str]) -> list[str]:
    """One file for each model; the model's name is part of the file's where there are several."""
    path = Path(out)
    if len(models) == 1:
        return [out]
    return [str(path.with_name(f"{path.stem}-{model}{path.suffix}")) for model in models]


def collected(task: Any, reports: str | None, place: StorePlace | None, batch: int) -> Any:
    if (reports is None) == (place is None):
        raise click.UsageError("give either REPORTS or --store")
    if place is not None:
        from discreet.cli.serve import stored_collection

        return stored_collection(task, place, batch)
    from discreet.local.report_file import read_reports

    assert reports is not None
    collection = read_reports(task, reports)
    if collection.count == 0:
        raise ValueError(f"{reports} holds no report")
    return collection


def echo_result(task: Any, collection: Any, result: Any, truth: Any = None) -> None:
    """One model: its summary, and how far lying devices could move it."""
    from discreet.local import influence

    moved = influence(task, collection, result, 0.01)
    headings, rows = [""], [[name] for name in result.names]
    # Of the printed second round it is not known.
    if all(map(math.isfinite, moved.values())):
        headings.append("1 % lying devices move it by up to")
        rows = [[name, f"{moved[name]:.3g}"] for name in result.names]
    if truth is not None:
        headings.append("truth")
        rows = [[*row, f"{value:.4g}"] for row, value in zip(rows, truth, strict=True)]
    click.echo(f"{result.summary()}\n")
    if len(headings) > 1:
        echo_table(headings, rows)
        click.echo()
