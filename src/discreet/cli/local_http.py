"""The part of ``discreet local simulate`` that goes through a real collector."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from discreet.local.rehearsal import Rehearsal
    from discreet.local.task import Task


def send_over_http(task: Task, people: Rehearsal, address: str, tokens_path: str | None, connections: int) -> None:
    """Every simulated device reports once; raises unless each report was acknowledged."""
    from discreet.service.devices import encoded_reports
    from discreet.service.load import Delivery, deliver

    if tokens_path is None:
        raise click.UsageError("--http needs --tokens: device tokens from `discreet local tokens`, one a line")
    tokens = Path(tokens_path).read_text("ascii").split()
    n = len(people.labels)
    if len(tokens) < n:
        raise click.UsageError(f"{tokens_path} holds {len(tokens)} tokens for {n} devices")
    bodies = list(encoded_reports(task, people.rows, people.labels))
    click.echo(f"{n:,} devices have randomized their records; sending over {connections} connections")
    deliveries = [Delivery(body, token) for body, token in zip(bodies, tokens, strict=False)]
    result = asyncio.run(deliver(address, deliveries, connections=connections))
    click.echo(
        f"{len(result.acknowledged):,} acknowledged in {result.seconds:.1f} s ({n / result.seconds:,.0f} a second), "
        f"median {1000 * result.quantile(0.5):.0f} ms, p99 {1000 * result.quantile(0.99):.0f} ms"
    )
    if result.refused:
        statuses = ", ".join(f"{status}: {count}" for status, count in sorted(result.statuses.items()))
        raise click.ClickException(
            f"{len(result.refused)} reports were not acknowledged; answers by status: {statuses}"
        )
