"""``discreet local simulate``: a collection in memory, before anybody is asked."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.local_http import send_over_http
from discreet.cli.printing import clean_errors


@click.command()
@click.option("--task", "task_path", type=click.Path(exists=True, dir_okay=False), help="Simulate this task.")
@click.option("--n", type=click.IntRange(min=1), default=200_000, show_default=True, help="How many devices.")
@click.option("--p", "columns", type=click.IntRange(1, 100), default=10, show_default=True, help="Without a task.")
@click.option("--epsilon", type=float, default=4.0, show_default=True, help="Without a task.")
@click.option("--public-rows", type=click.IntRange(min=0), help="Without a task; n / p^2 by default.")
@click.option("--model", default="logistic", show_default=True)
@click.option("--effect", type=float, default=1.0, show_default=True, help="Standard deviation of the predictor.")
@click.option("--missing", type=click.FloatRange(0, 0.9), default=0.0, help="The share that leaves an answer out.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--http", "address", help="Send real reports to the collector at this address, as http://127.0.0.1:8000.")
@click.option(
    "--tokens", "tokens_path", type=click.Path(exists=True, dir_okay=False), help="With --http: device tokens."
)
@click.option("--connections", type=click.IntRange(1, 1000), default=64, show_default=True, help="With --http.")
def simulate(
    task_path: str | None,
    n: int,
    columns: int,
    epsilon: float,
    public_rows: int | None,
    model: str,
    effect: float,
    missing: float,
    seed: int,
    address: str | None,
    tokens_path: str | None,
    connections: int,
) -> None:
    """Simulated people answer a task; prints estimates beside the truth. The sum's noise is drawn
    once.
    """
    with clean_errors():
        import numpy as np

        from discreet.cli.local_fit import echo_result
        from discreet.local import Task, fit
        from discreet.local.models import as_model
        from discreet.local.rehearsal import rehearse

        rng = np.random.default_rng(seed)
        spec = as_model(model)
        if task_path is not None:
            task = Task.load(task_path)
        else:
            task = _made_up(n, columns, epsilon, public_rows, spec, effect, rng)
        rehearsal = rehearse(task, n, spec, rng, effect, missing)
        if address is not None:
            send_over_http(task, rehearsal, address, tokens_path, connections)
            return
        (result,) = fit(task, rehearsal.collection, [spec])
        echo_result(task, rehearsal.collection, result, rehearsal.truth)
        slopes = slice(int(task.fit_intercept), None)
        gap = result.estimates[slopes] - rehearsal.truth[slopes]
        size = float(gap @ gap / (rehearsal.truth[slopes] @ rehearsal.truth[slopes]))
        click.echo(f"squared relative error of the slopes: {size:.4g}")


def _made_up(n: int, columns: int, epsilon: float, public_rows: int | None, model: Any, effect: float, rng: Any) -> Any:
    from discreet.domain import Domain, Numeric, Public
    from discreet.local import new_task

    m = n // columns**2 if public_rows is None else public_rows
    public = Public(rows=rng.normal(size=(m, columns))) if m > columns else None
    return new_task(
        "made up",
        domain=Domain.from_bounds([f"x{j + 1}" for j in range(columns)], (-5.0, 5.0)),
        target=Numeric("y", *_label_range(model.name, effect)),
        epsilon=epsilon,
        goal=n,
        public=public,
    )


def _label_range(model: str, effect: float) -> tuple[float, float]:
    """A plausible declaration of such labels."""
    if model in ("logistic", "boosting", "sigmoid"):
        return 0.0, 1.0
    if model in ("identity", "cubic"):
        return -5.0 * effect, 5.0 * effect
    if model == "softplus":
        return 0.0, 1.0 + 4.0 * effect
    return 0.0, 20.0  # counts
