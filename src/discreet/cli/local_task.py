"""``discreet local task``: new, show, check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from discreet.cli.printing import clean_errors, echo_fact, echo_table
from discreet.cli.store_place import StorePlace, optional_store_options


@click.group()
def task() -> None:
    """The public document that says what devices report, and with which guarantee."""


@task.command()
@click.argument("name")
@click.option("--domain", type=click.Path(exists=True, dir_okay=False), required=True, help="Declared columns, TOML.")
@click.option("--target", required=True, help="The label: one of the domain's columns.")
@click.option("--positive", help="The level of a categorical target that counts as 1.")
@click.option("--epsilon", type=float, required=True)
@click.option("--delta", type=float, help="For --randomizer gaussian and --calibration paper; 1e-6 if not given.")
@click.option("--goal", type=click.IntRange(min=1), required=True, help="How many reports are planned.")
@click.option("--closes", default="goal", show_default=True, help="'goal', or a date such as 2030-12-31.")
@click.option("--public", type=click.Path(exists=True, dir_okay=False), help="Public rows: .parquet or .csv.")
@click.option("--reports", type=click.Choice(["auto", "cross", "both"]), default="auto", show_default=True)
@click.option("--randomizer", type=click.Choice(["unit", "gaussian"]), default="unit", show_default=True)
@click.option("--calibration", type=click.Choice(["tight", "paper"]), default="tight", show_default=True)
@click.option("--design", type=click.Choice(["gaussian", "bounded"]), default="gaussian", help="Of 'paper' only.")
@click.option("--link", help="Of 'paper' only: the link of algorithms 3 and 4; without it, a GLM's 1 and 2.")
@click.option("--noise-bound", type=float, default=0.05, show_default=True, help="With --link: |y - f(x)| at most.")
@click.option("--covariance-norm", type=float, help="Of 'paper' with --rounds 2 (algorithm 5): the largest eigenvalue.")
@click.option("--intercept/--no-intercept", default=True, show_default=True)
@click.option(
    "--rounds", type=click.IntRange(1, 2), default=1, show_default=True, help="2: a pilot, then `task second`."
)
@click.option("--out", type=click.Path(dir_okay=False), help="Where to write it; the screen by default.")
def new(
    name: str,
    domain: str,
    target: str,
    positive: str | None,
    epsilon: float,
    delta: float | None,
    goal: int,
    closes: str,
    public: str | None,
    reports: str,
    randomizer: str,
    calibration: str,
    design: str,
    link: str | None,
    noise_bound: float,
    covariance_norm: float | None,
    intercept: bool,
    rounds: int,
    out: str | None,
) -> None:
    """Make a task NAME from declared columns and, if given, public rows, which the task file will
    hold.

    Without public rows, --rounds 2 asks a tenth of the devices for means and scales first. The
    output says whether that is better than one round; it is refused where the pilot's noise would
    be too large.
    """
    with clean_errors():
        from discreet.domain import Domain, Public
        from discreet.local import PrintedLink, new_task, pilot_task, printed_task

        _refuse_other_options(calibration)
        if (
            rounds == 2
            and calibration == "tight"
            and (public is not None or randomizer != "unit" or reports == "cross")
        ):
            raise click.UsageError(
                "two rounds are for the unit randomizer without public rows: with public rows one round is better"
            )

        declared = Domain.from_toml(domain)
        common: dict[str, Any] = {
            "domain": declared.select([column.name for column in declared.columns if column.name != target]),
            "target": declared[target],
            "epsilon": epsilon,
            "goal": goal,
            "closes": closes,
            "public": None if public is None else Public(rows=read_frame(public)),
        }
        if calibration == "paper":
            printed: dict[str, Any] = {"link": None if link is None else PrintedLink(link, noise_bound)}
            printed |= {"design": design, "rounds": rounds, "covariance_norm": covariance_norm}
            made = printed_task(name, **common, **printed, delta=1e-6 if delta is None else delta)
        elif rounds == 2:
            common.pop("public")
            made = pilot_task(name, **common, positive=positive, fit_intercept=intercept)
        else:
            options: dict[str, Any] = {"delta": delta, "positive": positive, "fit_intercept": intercept}
            made = new_task(name, **common, **options, reports=reports, randomizer=randomizer)
        if out is None:
            click.echo(made.to_toml(), nl=False)
        else:
            _write(made, out)
            click.echo(f"task       {made.digest[:16]} written to {out}")
            _echo_advice(made)


# Options that one calibration alone has.
_OWN = {
    "paper": ("design", "link", "noise_bound", "covariance_norm"),
    "tight": ("positive", "reports", "randomizer"),
}


def _refuse_other_options(calibration: str) -> None:
    """An option that this calibration does not have is refused, never ignored."""
    context = click.get_current_context()
    for other, names in _OWN.items():
        for name in names:
            given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
            if given and other != calibration:
                raise click.UsageError(f"--{name.replace('_', '-')} is an option of --calibration {other}")


@task.command()
@click.argument("path", type=click.Path(exists=True, dir_okay=False))
@click.option("--out", type=click.Path(dir_okay=False), required=True, help="Where to write it, such as task.json.")
def export(path: str, out: str) -> None:
    """Write the task at PATH as devices get it: canonical JSON without the design, with the same
    digest.
    """
    with clean_errors():
        from discreet.local.task import Task

        loaded = Task.load(path)
        Path(out).write_bytes(loaded.document)
        click.echo(f"task       {loaded.digest} written to {out}")


@task.command()
@click.argument("pilot", type=click.Path(exists=True, dir_okay=False))
@click.argument("reports", required=False, type=click.Path(exists=True, dir_okay=False))
@optional_store_options
@click.option("--batch", type=click.IntRange(min=0), default=0, show_default=True, help="With --store.")
@click.option("--goal", type=click.IntRange(min=1), help="Devices of the second round; nine times the pilot's.")
@click.option("--closes", default="goal", show_default=True, help="'goal', or a date such as 2030-12-31.")
@click.option("--out", type=click.Path(dir_okay=False), required=True)
def second(
    pilot: str,
    reports: str | None,
    place: StorePlace | None,
    batch: int,
    goal: int | None,
    closes: str,
    out: str,
) -> None:
    """Make the second round's task from the PILOT and its REPORTS (or --store); devices answer one
    of the two.

    For a first round with calibration paper it makes NLDP's second round, which the same devices
    answer.
    """
    with clean_errors():
        from discreet.cli.local_fit import collected
        from discreet.local import Task, printed_second, second_task

        loaded = Task.load(pilot)
        collection = collected(loaded, reports, place, batch)
        printed = loaded.calibration == "paper"
        made = printed_second(loaded, collection) if printed else second_task(loaded, collection, goal, closes)
        _write(made, out)
        click.echo(f"task       {made.digest[:16]} written to {out}, continues {loaded.digest[:16]}")


@task.command()
@click.argument("path", type=click.Path(exists=True, dir_okay=False))
def show(path: str) -> None:
    """Show the task at PATH: its questions, guarantee and expected errors."""
    with clean_errors():
        from discreet.local import Task, forecast, in_words

        loaded = Task.load(path)
        click.echo(f"task       {loaded.name}, {loaded.digest}")
        echo_fact("asks for", f"{loaded.target.name} and {', '.join(column.name for column in loaded.columns)}")
        what = f"{loaded.statistic.kind}, {loaded.report_entries} numbers"
        echo_fact("report", f"{what}, randomizer {loaded.randomizer.name}, {loaded.body_size} bytes")
        click.echo(f"closes     {loaded.closes}, planned {loaded.goal:,}")
        echo_fact("promise", in_words(loaded))
        _echo_advice(loaded)
        _echo_shuffled(loaded)
        facts = forecast(loaded, loaded.goal)
        rows = list(zip(facts["names"], (f"{error:.3g}" for error in facts["std_errors"]), strict=True))
        pilot = loaded.statistic.kind == "pilot"
        echo_table(["mean of" if pilot else "coefficient", "expected std error"], rows)
        if not pilot:
            error = facts["squared_relative_error"]
            click.echo(f"squared relative error at effects of standard deviation 1: {error:.3g}")
        echo_fact("supposing", str(facts["supposes"]))


@task.command()
@click.argument("path", type=click.Path(exists=True, dir_okay=False))
def check(path: str) -> None:
    """Re-check the guarantee of the task at PATH, as every device does."""
    with clean_errors():
        from discreet.local.task import Task

        loaded = Task.load(path)
        echo_fact(
            "ok",
            f"{loaded.digest}: epsilon {loaded.epsilon:g}, delta {loaded.delta:g} for the whole record, "
            f"randomizer {loaded.randomizer.name}",
        )


def _echo_advice(made: Any) -> None:
    """Advice on one round or two, where nothing is known about the features."""
    if made.calibration == "paper" or made.design is not None or made.parent:
        return
    from discreet.local.pilot import planned_people, two_rounds_advice

    echo_fact("advice", f"no public rows: {two_rounds_advice(made.columns, made.epsilon, planned_people(made))}")


def _write(made: Any, out: str) -> None:
    from discreet.local.canonical import canonical_bytes

    if out.endswith(".json"):
        Path(out).write_bytes(canonical_bytes(made.to_dict()))
    else:
        Path(out).write_text(made.to_toml(), encoding="utf-8")


def _echo_shuffled(task: Any) -> None:
    from discreet.errors import GuaranteeError
    from discreet.local.guarantee import SHUFFLE_THEOREM, shuffled_epsilon

    delta = task.delta or 1e-6
    try:
        epsilon = shuffled_epsilon(task, task.goal, delta)
    except GuaranteeError as error:
        echo_fact("shuffling", f"not counted: {error}")
        return
    echo_fact(
        "shuffling",
        f"not part of the guarantee: with a trusted shuffler of {task.goal:,} reports it would be epsilon "
        f"{epsilon:.3g} at delta {delta:g} against everybody but the shuffler ({SHUFFLE_THEOREM})",
    )


def read_frame(path: str) -> Any:
    """A .parquet or .csv file as a frame."""
    import narwhals as nw

    read = nw.read_parquet if Path(path).suffix == ".parquet" else nw.read_csv
    return read(path, backend="pyarrow").to_native()
