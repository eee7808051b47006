"""``discreet parties fit``: models from the parties' releases."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.printing import clean_errors, echo_fact

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
        from discreet.parties.models import logistic_estimator, printed_estimator

        joint = join(releases, plan=plan_path)
        chosen = None if features is None else features.split(",")
        if joint.plan.calibration == "paper" or training is not None:
            if model != "linear" or alpha:
                raise click.UsageError("the paper has least squares only: leave out --model and --alpha")
            fitted = printed_estimator(joint, label, chosen, training=training)
        elif model == "logistic":
            fitted = logistic_estimator(joint, label, chosen)
        else:
            fitted = joint.estimator(label, chosen, alpha=alpha)
        click.echo(f"{fitted.summary()}\n")
        _echo_guarantees(joint)
        _echo_origin(joint, plan_path is not None)
        if out is not None:
            fitted.save(out)
            click.echo(f"model      written to {out}")


def _echo_origin(joint: Any, agreed: bool) -> None:
    """Print the plan, and who signed the releases."""
    from discreet.parties.plan_text import signed_or_not

    plan = joint.plan
    told = "the one given" if agreed else "as the releases say: compare its hash with the parties', or give --plan"
    click.echo(f"plan       {plan.name!r}, hash {plan.hash}, {told}")
    names = " and ".join(one.party for one in joint.releases)
    echo_fact("signature", f"{'of ' + names + ', by their keys in the plan' if plan.signed else signed_or_not(plan)}")


def _echo_guarantees(joint: Any) -> None:
    delta = joint.plan.delta
    for one in joint.releases:
        echo_fact(
            "guarantee", f"{one.party}'s release alone: epsilon {one.privacy.epsilon(delta):.4g} at delta {delta:.3g}"
        )
    echo_fact(
        "guarantee",
        f"one person across all {len(joint.releases)} releases: "
        f"epsilon {joint.privacy.epsilon(delta):.4g} at delta {delta:.3g}",
    )
    if any(one.roster is not None for one in joint.releases):
        echo_fact("guarantee", "about a person's values; who is in the data is public with this method")
    if joint.privacy.seeded:
        click.echo("NOT PRIVATE: the noise came from random_state and can be computed again")
