"""``discreet parties plan``: new, show, check; ``discreet parties key``: new, show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli.printing import clean_errors, echo_text

_FILE = click.Path(dir_okay=False)


@click.group()
def plan() -> None:
    """The public plan that all parties approve."""


@plan.command("new")
@click.argument("path", type=_FILE)
@click.option("--name", required=True, help="What the plan is called.")
@click.option("--key", required=True, help="The column that names a person in every party's file.")
@click.option("--people", required=True, type=int, help="How many rows every party has at least.")
@click.option("--epsilon", required=True, type=float, help="What --guarantee promises.")
@click.option("--delta", required=True, type=float, help="Well below 1 / number of people.")
@click.option(
    "--guarantee",
    type=click.Choice(["per_party", "joint"]),
    default="per_party",
    show_default=True,
    help="Epsilon and delta for each party's release alone, or for one person across all of them.",
)
@click.option(
    "--method",
    type=click.Choice(["rmgm", "dgm"]),
    default="rmgm",
    show_default=True,
    help="Mixes of all people, or a row for each with far more noise.",
)
@click.option(
    "--calibration",
    type=click.Choice(["tight", "paper"]),
    default="tight",
    show_default=True,
    help="The least noise that the guarantee needs, or the paper's.",
)
@click.option("--party", "members", multiple=True, required=True, metavar="NAME=COLUMN,COLUMN", help="Once per party.")
@click.option(
    "--public-key",
    "public_keys",
    multiple=True,
    metavar="NAME=KEY",
    help="Once per party: what its `key new` printed. Without keys releases are not signed.",
)
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
    public_keys: tuple[str, ...],
) -> None:
    """Write a plan to PATH to edit: declare each column's range in it; an existing file is never
    overwritten.
    """
    with clean_errors():
        from discreet.documents import parsed_toml
        from discreet.parties.plan import Plan
        from discreet.parties.plan_text import new_plan, signed_or_not

        content = new_plan(
            name=name,
            key=key,
            people=people,
            epsilon=epsilon,
            delta=delta,
            guarantee=guarantee,
            method=method,
            calibration=calibration,
            parties=_members(members),
            public_keys=_public_keys(public_keys, _members(members)),
        )
        made = Plan.from_dict(parsed_toml(content, "the new plan"), source="the new plan")
        try:
            with Path(path).open("x", encoding="utf-8") as file:
                file.write(content)
        except FileExistsError:
            raise ValueError(f"{path} exists already (File exists); a plan is never overwritten") from None
        echo_text(f"wrote {path}: now declare each column's low and high, or its values, and run plan check")
        echo_text(signed_or_not(made))


@plan.command("show")
@click.argument("path", type=_FILE)
def show(path: str) -> None:
    """Explain the plan at PATH: columns, both guarantees, expected accuracy."""
    with clean_errors():
        from discreet.parties.plan import Plan
        from discreet.parties.plan_text import explained

        echo_text(explained(Plan.from_toml(path)))


@plan.command("check")
@click.argument("paths", type=_FILE, nargs=-1, required=True)
def check(paths: tuple[str, ...]) -> None:
    """Check plans; of several copies, also whether they are the same plan."""
    with clean_errors():
        from discreet.parties.plan import Plan
        from discreet.parties.plan_text import differences, signed_or_not

        plans = [Plan.from_toml(path) for path in paths]
        for path, one in zip(paths, plans, strict=True):
            click.echo(f"{one.hash}  {path}")
        for path, one in zip(paths, plans, strict=True):
            if one.hash != plans[0].hash:
                told = "; ".join(differences(plans[0], one))
                raise ValueError(
                    "the plans differ: no release under one fits a release under another. "
                    f"{paths[0]} and {path}: {told}"
                )
        click.echo("the plan is valid")
        echo_text(signed_or_not(plans[0]))


@click.group()
def key() -> None:
    """The keys that releases are signed with: the private one is a party's own, the public one is
    for the plan.
    """


@key.command("new")
@click.argument("path", type=_FILE)
def new_key(path: str) -> None:
    """Make a private key at PATH, and print the public key for the plan; an existing file is never
    overwritten.
    """
    with clean_errors():
        from discreet.parties.signing import SigningKey

        _echo_public(SigningKey.create(path))
        echo_text(f"{path} is the private key: keep it to yourself, and a copy of it in a safe place")


@key.command("show")
@click.argument("path", type=_FILE)
def show_key(path: str) -> None:
    """Print the public key that belongs to the private key at PATH."""
    with clean_errors():
        from discreet.parties.signing import SigningKey

        _echo_public(SigningKey.load(path))


def _echo_public(key: Any) -> None:
    click.echo(f'public_key = "{key.public_key}"')


def _members(texts: tuple[str, ...]) -> dict[str, list[str]]:
    members: dict[str, list[str]] = {}
    for text in texts:
        name, _, columns = text.partition("=")
        if not name or not all(columns.split(",")):
            raise ValueError(f"--party must be NAME=COLUMN,COLUMN, got {text!r}")
        if name in members:
            raise ValueError(f"--party {name} was given twice: give all its columns at once")
        members[name] = columns.split(",")
    return members


def _public_keys(texts: tuple[str, ...], members: dict[str, list[str]]) -> dict[str, str]:
    public_keys = {}
    for text in texts:
        name, _, public_key = text.partition("=")
        if not public_key:
            raise ValueError(f"--public-key must be NAME=KEY, got {text!r}")
        if name not in members:
            raise ValueError(f"--public-key {name} is for no --party; there are {', '.join(members)}")
        public_keys[name] = public_key.strip().strip('"')
    return public_keys
