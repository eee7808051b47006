"""The cost of a fit, from public facts: no row is read and nothing is spent."""

from __future__ import annotations

import math
from typing import Any

import click

from discreet.algorithms.moments import FIRST_LOOK_SHARE
from discreet.algorithms.parts import plan as shares
from discreet.cli.budget_words import left_in_words
from discreet.cli.printing import echo_fact, echo_table, warn
from discreet.privacy import Budget, Ledger
from discreet.rows import PowerSums, SecondMoment

# More columns than this are counted, not named.
_MOST_NAMES = 30


def echo_price(
    estimator: Any,
    table: Any,
    *,
    target: str | None,
    groups: str | None,
    exposure: str | None = None,
    weight: str | None = None,
    ledger: str | None,
    job: str | None,
) -> None:
    """Print what this fit would cost, release by release, and what the ledger would have left."""
    budget = estimator._check_parameters()
    # This checks names and types of the columns; the curator gets no query.
    engine, encoder = estimator._table_engine(table, target, None, groups, exposure, weight)
    source = estimator._curator(engine, encoder, groups is not None, job)
    counted = "" if job is None else " (rows may be counted: their number is part of the job)"
    click.echo(f"dry run    no row is read and nothing is spent{counted}")
    for doubt in budget.doubts():
        warn(doubt)
    declared = getattr(encoder, "target", None)
    names = list(getattr(encoder, "names", None) or estimator.feature_names_in_)
    shown = ", ".join(names) if len(names) <= _MOST_NAMES else f"{', '.join(names[:_MOST_NAMES])}, ... ({len(names)})"
    echo_fact("model", f"{target if declared is None else declared.name} on {shown}")
    echo_fact("price", f"{budget}")
    echo_fact("holds for", source.guarantee.in_words)
    labels, shares = _releases(estimator)
    costs = budget.split(shares)
    rows = [
        (label, f"{cost.mu:.4g}", f"{share:.0%}", f"{cost.epsilon(budget.delta):.4g}")
        for label, cost, share in zip(labels, costs, shares, strict=True)
    ]
    echo_table(["release", "mu", "of mu^2", "epsilon alone"], rows)
    if ledger is not None:
        _echo_ledger(Ledger(ledger), ledger, budget, source.job)


def _releases(estimator: Any) -> tuple[list[str], list[float]]:
    """The releases, and their shares of mu^2.

    How a descent shares the rest among its sums depends on the noisy number of rows, which is not
    known beforehand.
    """
    if estimator.solver == "moments":
        return [PowerSums.label, SecondMoment.label], [FIRST_LOOK_SHARE, 1 - FIRST_LOOK_SHARE]
    if hasattr(estimator, "sparsity"):
        return ["first look, selections of columns and sums"], [1.0]
    if estimator.calibration == "paper" or estimator.solver not in ("auto", "gd"):
        return [f"all sums of solver {estimator.solver}"], [1.0]
    look = shares.LOOK
    return [PowerSums.label, "second moments, gradients and curvature"], [look, 1 - look]


def _echo_ledger(ledger: Ledger, path: str, price: Budget, job: str | None) -> None:
    total, remaining = ledger.total, ledger.remaining
    echo_fact("budget", f"{left_in_words(remaining, total)} in {path}")
    if job is not None and (paid := ledger.paid(job)) is not None:
        echo_fact("after", f"the same: this job has paid already, at {paid}, and gets its stored releases again")
    elif price.mu > remaining.mu:
        echo_fact("after", "the remaining budget is too small for this fit, which would be refused")
    elif price.mu == remaining.mu:
        click.echo("after      nothing would be left")
    else:
        left = math.sqrt(remaining.mu**2 - price.mu**2)
        echo_fact("after", left_in_words(Budget.from_mu(left, total.delta), total, "would be"))
