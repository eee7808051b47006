"""``discreet parties fit``: models from the parties' releases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from discreet.cli.printing import clean_errors, echo_table

_FILE = click.Path(dir_okay=False)


@click.command("fit")
@click.argument("releases", nargs=-1, required=True, type=_FILE)
@click.option("--label", required=True, help="The column to predict: any released one.")
@click.option("--features", help="Comma-separated columns.  [default: all others]")
@click.option("--alpha", type=float, default=0.0, show_default=True, help="Ridge penalty.")
@click.option("--model", type=click.Choice(["linear", "logistic"]), default="linear", show_default=True)
@click.option("--training", type=click.Choice(["rmgm", "dgm", "bgm"]), help="As printed, for calibration 'paper' only.")
@click.option("--out", type=_FILE, help="Write the model to this JSON file.")
@click.option("--plan", "plan_path", type=_FILE, help="The plan that was agreed on: releases of another are refused.")
def fit(
    releases: tuple[str, ...],
    label: str,
    features: str | None,
    alpha: float,
    model: str,
    training: str | None,
    out: str | None,
    plan_path: str | None,
) -> None:
    """Fit a model to the parties' RELEASES; free of further cost, however often."""
    with clean_errors():
        from discreet.parties import join

        joint = join(releases, plan=plan_path)
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
        _echo_origin(joint, plan_path is not None)
        if out is not None:
            from discreet.documents import write_whole

            write_whole(Path(out), (json.dumps(facts, indent=2) + "\n").encode())
            click.echo(f"model      written to {out}")


def _linear(joint: Any, label: str, features: list[str] | None, alpha: float) -> dict[str, Any]:
    result = joint.regress(label, features, alpha=alpha)
    click.echo(str(joint.estimator(label, features, alpha=alpha).summary()))
    linear = result.results_
    return {
        "model": "linear",
        "label": label,
        # Lists, in one order, the intercept first.
        "names": list(linear.names),
        "coef": [float(value) for value in linear.shrunk],
        "estimates": linear.records(),
        "constant": result.drowned,
    }


def _logistic(joint: Any, label: str, features: list[str] | None) -> dict[str, Any]:
    from discreet.parties.logistic import logistic

    result = logistic(joint, label, features)
    echo_table(["", "log odds"], [(name, f"{value:.4g}") for name, value in result.coef.items()])
    for note in result.notes:
        click.echo(f"note       {note}")
    return {"model": "logistic", "label": label, **_listed(result.coef)}


def _printed(joint: Any, label: str, features: list[str] | None, training: str | None) -> dict[str, Any]:
    from discreet.parties.printed import printed_ols

    coef = printed_ols(joint, label, features, training=training)
    way = (training or joint.plan.method).upper()
    echo_table([f"{way}-OLS as printed", "coef"], [(name, f"{value:.4g}") for name, value in coef.items()])
    return {"model": f"{way}-OLS as printed", "label": label, **_listed(coef)}


def _listed(coef: dict[str, float]) -> dict[str, Any]:
    return {"names": list(coef), "coef": [float(value) for value in coef.values()]}


def _echo_origin(joint: Any, agreed: bool) -> None:
    """Who made the releases, as far as that is known."""
    from discreet.parties.plan_text import signed_or_not

    plan = joint.plan
    told = "the one given" if agreed else "as the releases say: compare its hash with the parties', or give --plan"
    click.echo(f"plan       {plan.name!r}, hash {plan.hash}, {told}")
    names = " and ".join(one.party for one in joint.releases)
    click.echo(f"signature  {'of ' + names + ', by their keys in the plan' if plan.signed else signed_or_not(plan)}")


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
