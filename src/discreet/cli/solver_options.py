"""The options of ``discreet fit`` for some models or solvers only, and the parameters they set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

_LOSSES = "huber:WIDTH, quantile:LEVEL:BANDWIDTH or negative_binomial:DISPERSION:LARGEST"


def solver_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of models and solvers to a command, which gets them as keywords."""
    options = [
        click.option("--sparsity", metavar="N", help="--model sparse: how many columns to keep, or auto."),
        click.option("--breaks", metavar="TIMES", help="--model survival: ends of intervals of time, as 6,12,24."),
        click.option("--loss", metavar="NAME", help=f"A convex loss: {_LOSSES}."),
        click.option("--l1-ratio", type=float, help="Part of --alpha on absolute values: 1 is the lasso."),
        click.option("--no-intercept", is_flag=True, help="A model through the origin."),
        click.option("--max-iter", type=int, help="Steps of the solver, where it has that option."),
        click.option("--step", type=float, help="Length of a step, where the solver has that option."),
        click.option("--radius", type=float, help="Ball for coefficients, where the solver has that option."),
        click.option("--clip", type=float, help="--solver dp_gd: how long a row's gradient may be."),
        click.option("--cov-type", type=click.Choice(["robust", "model"]), help="Standard errors.  [default: robust]"),
        click.option("--eta", type=float, help="--calibration paper: PMT's chance that a row is truncated."),
        click.option(
            "--calibration",
            type=click.Choice(["tight", "paper"]),
            default="tight",
            show_default=True,
            help="Exact noise, or a paper's printed formulas.",
        ),
        click.option("--public-moment", metavar="FILE", help="CSV of a public second moment: docs/howto/domain.md."),
        click.option("--public-n", type=int, help="How many public rows are behind --public-moment."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def parse_loss(text: str) -> Any:
    """A loss by its name and its numbers, as ``huber:1.5``."""
    from discreet.glm import huber, negative_binomial_loss, smoothed_quantile

    makers: dict[str, tuple[Callable[..., Any], int]] = {
        "huber": (huber, 1),
        "quantile": (smoothed_quantile, 2),
        "negative_binomial": (negative_binomial_loss, 2),
    }
    name, *numbers = text.split(":")
    if name in makers and len(numbers) == makers[name][1]:
        try:
            return makers[name][0](*map(float, numbers))
        except ValueError as error:
            raise click.UsageError(f"--loss {text}: {error}") from None
    raise click.UsageError(f"--loss is {_LOSSES}, got {text}")


def parse_sparsity(text: str) -> int | str:
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise click.UsageError(f"--sparsity is auto or a whole number, got {text}") from None


def parse_breaks(text: str) -> list[float]:
    try:
        return [float(one) for one in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--breaks are numbers with commas between them, such as 6,12,24, got {text}") from None
