"""``discreet local task``: new, show, check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli.printing import clean_errors, echo_table


@click.group()
def task() -> None:
    """The public document that says what devices report, and what that promises."""


@task.command()
@click.argument("name")
@click.option("--domain", type=click.Path(exists=True, dir_okay=False), required=True, help="Declared columns, TOML.")
@click.option("--target", required=True, help="The label: one of the domain's numeric columns.")
@click.option("--epsilon", type=float, required=True)
@click.option("--delta", type=float, default=1e-6, show_default=True)
@click.option("--goal", type=click.IntRange(min=1), required=True, help="How many reports are planned.")
@click.option("--closes", default="goal", show_default=True, help="'goal', or a date such as 2030-12-31.")
@click.option("--public", type=click.Path(exists=True, dir_okay=False), help="Public rows: .parquet or .csv.")
@click.option("--reports", type=click.Choice(["auto", "cross", "both"]), default="auto", show_default=True)
@click.option("--calibration", type=click.Choice(["tight", "paper"]), default="tight", show_default=True)
@click.option("--design", type=click.Choice(["gaussian", "bounded"]), default="gaussian", help="Of 'paper' only.")
@click.option("--intercept/--no-intercept", default=True, show_default=True)
@click.option("--rounds", type=click.IntRange(1, 2), default=1, show_default=True)
@click.option("--out", type=click.Path(dir_okay=False), help="Where to write it; the screen by default.")
def new(
    name: str,
    domain: str,
    target: str,
    epsilon: float,
    delta: float,
    goal: int,
    closes: str,
    public: str | None,
    reports: str,
    calibration: str,
    design: str,
    intercept: bool,
    rounds: int,
    out: str | None,
) -> None:
    """Make a task NAME from declared columns and, if there are any, public rows."""
    with clean_errors():
        from discreet.domain import Domain, Numeric, Public
        from discreet.local.make import new_task

        declared = Domain.from_toml(domain)
        label = declared[target]
        if not isinstance(label, Numeric):
            raise click.UsageError(f"the target {target!r} must be declared with low and high")
        features = declared.select([column.name for column in declared.columns if column.name != target])
        made = new_task(
            name,
            domain=features,
            target=label,
            epsilon=epsilon,
            delta=delta,
            goal=goal,
            closes=closes,
            public=None if public is None else Public(rows=read_frame(public)),
            reports=reports,
            calibration=calibration,
            design=design,
            fit_intercept=intercept,
            rounds=rounds,
        )
        if out is None:
            click.echo(made.to_toml(), nl=False)
        else:
            Path(out).write_text(made.to_toml(), encoding="utf-8")
            click.echo(f"task       {made.digest[:16]} written to {out}")


@task.command()
@click.argument("path", type=click.Path(exists=True, dir_okay=False))
def show(path: str) -> None:
    """What the task at PATH asks, promises and will be able to say."""
    with clean_errors():
        from discreet.local import Task, forecast, in_words

        loaded = Task.load(path)
        click.echo(f"task       {loaded.name}, {loaded.digest}")
        click.echo(f"asks for   {loaded.target.name} and {', '.join(column.name for column in loaded.columns)}")
        what = "h c and h h^T" if loaded.outer else "h c"
        click.echo(f"report     {what}: {loaded.report_entries} whole numbers, {loaded.body_size} bytes")
        click.echo(f"round      {loaded.round} of {loaded.rounds}; closes at {loaded.closes}, planned {loaded.goal:,}")
        click.echo(f"promise    {in_words(loaded)}")
        _echo_shuffled(loaded)
        facts = forecast(loaded, loaded.goal)
        rows = list(zip(facts["names"], (f"{error:.3g}" for error in facts["std_errors"]), strict=True))
        echo_table(["coefficient", "expected std error"], rows)
        click.echo(f"squared relative error at effects of standard deviation 1: {facts['squared_relative_error']:.3g}")


@task.command()
@click.argument("path", type=click.Path(exists=True, dir_okay=False))
def check(path: str) -> None:
    """Re-check the guarantee of the task at PATH, as every device does."""
    with clean_errors():
        from discreet.local.task import Task

        loaded = Task.load(path)
        click.echo(
            f"ok         {loaded.digest}: epsilon {loaded.epsilon:g}, delta {loaded.delta:g} for the whole record, "
            f"mu {loaded.plan.mu:.6g} a round"
        )


@task.command()
@click.argument("first", type=click.Path(exists=True, dir_okay=False))
@click.argument("reports", type=click.Path(exists=True, dir_okay=False))
@click.option("--family", default="logistic", show_default=True, help="The model whose residuals round two asks for.")
@click.option("--out", type=click.Path(dir_okay=False), required=True)
def second(first: str, reports: str, family: str, out: str) -> None:
    """Make the second round's task from the FIRST round's task and its REPORTS."""
    with clean_errors():
        from discreet.local import Task, fit, second_round
        from discreet.local.report_file import read_reports

        loaded = Task.load(first)
        (result,) = fit(loaded, read_reports(loaded, reports), [family])
        made = second_round(loaded, result.encoded_coef, family, result.encoded_moment)
        Path(out).write_text(made.to_toml(), encoding="utf-8")
        click.echo(f"task       {made.digest[:16]} written to {out}, round 2 of {loaded.digest[:16]}")


def _echo_shuffled(task: Any) -> None:
    from discreet.errors import GuaranteeError
    from discreet.local.guarantee import SHUFFLE_THEOREM, shuffled_epsilon

    if task.rounds > 1:
        return
    try:
        epsilon = shuffled_epsilon(task, task.goal, task.delta)
    except GuaranteeError as error:
        click.echo(f"shuffling  not counted: {error}")
        return
    click.echo(
        f"shuffling  not part of the promise: a trusted shuffler of {task.goal:,} reports would make it epsilon "
        f"{epsilon:.3g} at delta {task.delta:g} towards everybody behind it ({SHUFFLE_THEOREM})"
    )


def read_frame(path: str) -> Any:
    """A .parquet or .csv file as a frame."""
    import narwhals as nw

    read = nw.read_parquet if Path(path).suffix == ".parquet" else nw.read_csv
    return read(path, backend="pyarrow").to_native()
