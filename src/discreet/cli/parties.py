"""``discreet parties``: plan, align, release and fit for organisations with different columns of the same people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from discreet.cli.printing import clean_errors, echo_table

_FILE = click.Path(dir_okay=False)


@click.group()
def parties() -> None:
    """Organisations that hold different columns of the same people release jointly."""


@parties.group()
def plan() -> None:
    """The public plan that all parties sign off."""


@plan.command("new")
@click.argument("path", type=_FILE)
@click.option("--name", required=True, help="What the plan is called.")
@click.option("--key", required=True, help="The column that names a person in every party's file.")
@click.option("--people", required=True, type=int, help="How many rows every party has at least.")
@click.option("--epsilon", required=True, type=float)
@click.option("--delta", required=True, type=float, help="Well below 1 / number of people.")
@click.option("--guarantee", type=click.Choice(["per_party", "joint"]), default="per_party", show_default=True)
@click.option("--method", type=click.Choice(["rmgm", "dgm"]), default="rmgm", show_default=True)
@click.option("--calibration", type=click.Choice(["tight", "paper"]), default="tight", show_default=True)
@click.option("--party", "members", multiple=True, required=True, metavar="NAME=COLUMN,COLUMN", help="Once per party.")
def new(
    path: str,
    name: str,
    key: str,
    people: int,
    epsilon: float,
    delta: float,
    guarantee: str,
    method: str,
    calibration: str,
    members: tuple[str, ...],
) -> None:
    """Write a plan to PATH to edit: declare each column's range in it; an existing file is never overwritten."""
    with clean_errors():
        from discreet.parties.plan_text import new_plan

        content = new_plan(
            name=name,
            key=key,
            people=people,
            epsilon=epsilon,
            delta=delta,
            guarantee=guarantee,
            method=method,
            calibration=calibration,
            parties=dict(_member(member) for member in members),
        )
        with Path(path).open("x", encoding="utf-8") as file:
            file.write(content)
        click.echo(f"wrote {path}: now declare each column's low and high, or its values, and run plan check")


@plan.command("show")
@click.argument("path", type=_FILE)
def show(path: str) -> None:
    """Explain the plan at PATH: columns, both guarantees, what can be learned."""
    with clean_errors():
        from discreet.parties.plan import Plan
        from discreet.parties.plan_text import explained

        click.echo(explained(Plan.from_toml(path)))


@plan.command("check")
@click.argument("paths", type=_FILE, nargs=-1, required=True)
def check(paths: tuple[str, ...]) -> None:
    """Check plans; given several copies, whether all mean the same."""
    with clean_errors():
        from discreet.parties.plan import Plan

        hashes = {path: Plan.from_toml(path).hash for path in paths}
        for path, digest in hashes.items():
            click.echo(f"{digest}  {path}")
        if len(set(hashes.values())) > 1:
            raise ValueError("the plans differ: no release under one fits a release under another")
        click.echo("the plan is valid")


@parties.command("release")
@click.option("--plan", "plan_path", required=True, type=_FILE, help="The plan that all parties signed off.")
@click.option("--party", required=True, help="Which party of the plan you are.")
@click.option("--data", required=True, type=_FILE, help="Your own .parquet or .csv file.")
@click.option("--out", required=True, type=_FILE, help="Where the release is written.")
@click.option("--ledger", type=_FILE, help="Your ledger.  [default: beside the data, made if there is none]")
def release(plan_path: str, party: str, data: str, out: str, ledger: str | None) -> None:
    """Mix your columns with everybody's signs, add noise, pay your ledger, and write one file."""
    with clean_errors():
        from discreet.parties import Plan, open_ledger
        from discreet.parties import release as release_party

        agreed = Plan.from_toml(plan_path)
        # Whatever can fail must fail before the budget is spent.
        agreed.party(party)
        if not Path(data).is_file():
            raise ValueError(f"there is no file {data}")
        if not Path(out).resolve().parent.is_dir():
            raise ValueError(f"there is no folder {Path(out).parent} to write {Path(out).name} to")
        account = open_ledger(agreed, party, ledger or Path(data).with_suffix(".ledger"))
        spent = len(account.history)
        released = release_party(agreed, party, data, ledger=account)
        released.save(out)
        again = len(account.history) == spent
        click.echo(f"released   {out}" + (": the stored release of this plan, given again at no cost" if again else ""))
        click.echo(
            f"guarantee  epsilon {released.privacy.epsilon(agreed.delta):.4g} at delta {agreed.delta:.3g}, per person"
        )
        click.echo(f"ledger     {account.path}: {account.remaining} left")


@parties.command("align")
@click.argument("files", nargs=-1, type=_FILE)
@click.option("--plan", "plan_path", type=_FILE)
@click.option("--party", help="Which party of the plan you are.")
@click.option("--data", type=_FILE, help="Your own file: digests of its keys are written to --out.")
@click.option("--salt-file", type=_FILE, help="A file with the parties' common secret salt.")
@click.option("--out", type=_FILE)
def align(
    files: tuple[str, ...],
    plan_path: str | None,
    party: str | None,
    data: str | None,
    salt_file: str | None,
    out: str | None,
) -> None:
    """Write salted digests of your keys (--data ... --out), or compare the parties' digest FILES."""
    with clean_errors():
        from discreet.parties.align import key_digests, shared_people, write_digests
        from discreet.parties.plan import Plan

        if files:
            rows = [(" and ".join(names), str(count)) for names, count in shared_people(files).items()]
            echo_table(["parties", "people"], rows)
            return
        if not (plan_path and party and data and salt_file and out):
            raise click.UsageError("give digest files to compare, or --plan, --party, --data, --salt-file and --out")
        salt = Path(salt_file).read_text(encoding="utf-8").strip()
        write_digests(Path(out), key_digests(Plan.from_toml(plan_path), party, data, salt=salt))
        click.echo(f"wrote {out}: for the other parties only, and to be deleted after the comparison")


@parties.command("fit")
@click.argument("releases", nargs=-1, required=True, type=_FILE)
@click.option("--label", required=True, help="The column to predict: any released one.")
@click.option("--features", help="Comma-separated columns.  [default: all others]")
@click.option("--alpha", type=float, default=0.0, show_default=True, help="Ridge penalty.")
@click.option("--model", type=click.Choice(["linear", "logistic"]), default="linear", show_default=True)
@click.option("--training", type=click.Choice(["rmgm", "dgm", "bgm"]), help="As printed, for calibration 'paper' only.")
@click.option("--out", type=_FILE, help="Write the model to this JSON file.")
def fit(
    releases: tuple[str, ...],
    label: str,
    features: str | None,
    alpha: float,
    model: str,
    training: str | None,
    out: str | None,
) -> None:
    """Fit a model to the parties' RELEASES; free of further cost, however often."""
    with clean_errors():
        from discreet.parties import join

        joint = join(releases)
        chosen = None if features is None else features.split(",")
        if joint.plan.calibration == "paper" or training is not None:
            if model != "linear" or alpha:
                raise click.UsageError("the paper prints least squares only: leave --model and --alpha out")
            facts = _printed(joint, label, chosen, training)
        elif model == "logistic":
            facts = _logistic(joint, label, chosen)
        else:
            facts = _linear(joint, label, chosen, alpha)
        _echo_guarantees(joint)
        if out is not None:
            from discreet.parties.release_file import write_whole

            write_whole(Path(out), (json.dumps(facts, indent=2) + "\n").encode())
            click.echo(f"model      written to {out}")


def _linear(joint: Any, label: str, features: list[str] | None, alpha: float) -> dict[str, Any]:
    result = joint.regress(label, features, alpha=alpha)
    click.echo(str(joint.estimator(label, features, alpha=alpha).summary()))
    click.echo()
    for note in result.notes():
        click.echo(f"note       {note}")
    linear = result.linear
    return {
        "model": "linear",
        "label": label,
        "coef": dict(zip(linear.names, map(float, linear.shrunk), strict=True)),
        "estimate": dict(zip(linear.names, map(float, linear.params), strict=True)),
        "std_err": dict(zip(linear.names, map(float, linear.bse), strict=True)),
        "constant": result.drowned,
    }


def _logistic(joint: Any, label: str, features: list[str] | None) -> dict[str, Any]:
    from discreet.parties.logistic import logistic

    result = logistic(joint, label, features)
    echo_table(["", "log odds"], [(name, f"{value:.4g}") for name, value in result.coef.items()])
    for note in result.notes:
        click.echo(f"note       {note}")
    return {"model": "logistic", "label": label, "coef": result.coef}


def _printed(joint: Any, label: str, features: list[str] | None, training: str | None) -> dict[str, Any]:
    from discreet.parties.printed import printed_ols

    coef = printed_ols(joint, label, features, training=training)
    way = (training or joint.plan.method).upper()
    echo_table([f"{way}-OLS as printed", "coef"], [(name, f"{value:.4g}") for name, value in coef.items()])
    return {"model": f"{way}-OLS as printed", "label": label, "coef": coef}


def _echo_guarantees(joint: Any) -> None:
    delta = joint.plan.delta
    for one in joint.releases:
        click.echo(
            f"guarantee  {one.party}'s release alone: epsilon {one.privacy.epsilon(delta):.4g} at delta {delta:.3g}"
        )
    click.echo(
        f"guarantee  one person across all {len(joint.releases)} releases: "
        f"epsilon {joint.privacy.epsilon(delta):.4g} at delta {delta:.3g}"
    )
    if any(one.roster is not None for one in joint.releases):
        click.echo("guarantee  about a person's values; who is in the data is public with this method")
    if joint.privacy.seeded:
        click.echo("NOT PRIVATE: the noise came from random_state and can be computed again")


def _member(text: str) -> tuple[str, list[str]]:
    name, _, columns = text.partition("=")
    if not name or not all(columns.split(",")):
        raise ValueError(f"--party must be NAME=COLUMN,COLUMN, got {text!r}")
    return name, columns.split(",")
