"""The price of a fit, from public facts alone: no row is read and nothing is spent."""

from __future__ import annotations

import math
from typing import Any

import click

from discreet.algorithms.moments import FIRST_LOOK_SHARE
from discreet.algorithms.steps.descent_plan import DescentPlan
from discreet.cli.printing import echo_table
from discreet.privacy import Budget, Ledger
from discreet.rows import PowerSums, SecondMoment


def echo_price(
    estimator: Any,
    data: str,
    *,
    target: str,
    groups: str | None,
    exposure: str | None = None,
    ledger: str | None,
    job: str | None,
) -> None:
    """Print what this fit would cost, release by release, and what the ledger would have left."""
    budget = estimator._check_parameters()
    # Checks names and types of the columns; the curator that it makes is asked nothing.
    source, encoder = estimator._open_file(data, target, None, groups, job, exposure)
    click.echo("dry run    no row is read and nothing is spent")
    click.echo(f"model      {target} on {', '.join(encoder.names)}")
    click.echo(f"price      {budget}")
    click.echo(f"holds for  {source.guarantee.in_words}")
    labels, shares = _releases(estimator)
    costs = budget.split(shares)
    rows = [
        (label, f"{cost.mu:.4g}", f"{share:.0%}", f"{cost.epsilon(budget.delta):.4g}")
        for label, cost, share in zip(labels, costs, shares, strict=True)
    ]
    echo_table(["release", "mu", "of mu^2", "epsilon alone"], rows)
    if ledger is not None:
        _echo_ledger(Ledger(ledger), ledger, [cost.mu for cost in costs], job)


def _releases(estimator: Any) -> tuple[list[str], list[float]]:
    """What is released, and for which shares of mu^2.

    How a descent shares the rest among its sums depends on the noisy number of rows, which is not known beforehand.
    """
    if estimator.solver == "moments":
        return [PowerSums.label, SecondMoment.label], [FIRST_LOOK_SHARE, 1 - FIRST_LOOK_SHARE]
    look = DescentPlan.look_share(x_is_known=False)
    return [PowerSums.label, "second moments, gradients and curvature"], [look, 1 - look]


def _echo_ledger(ledger: Ledger, path: str, costs: list[float], job: str | None) -> None:
    total, remaining = ledger.total, ledger.remaining
    click.echo(f"budget     {remaining} is left of {total} in {path}")
    paid = {entry.key for entry in ledger.history}
    due = [mu for release, mu in enumerate(costs) if f"{job}/{release}" not in paid]
    left = remaining.mu**2 - math.fsum(mu**2 for mu in due)
    if job is not None and not due:
        click.echo(f"after      the same: job {job!r} has paid already, and gets its stored releases again")
    elif left < 0:
        click.echo("after      this fit does not fit into what is left and would be refused")
    elif left == 0:
        click.echo("after      nothing would be left")
    else:
        click.echo(f"after      {Budget.from_mu(math.sqrt(left), total.delta)} would be left")
