"""The ``discreet`` command. Each command under it has its own module, imported when it is typed."""

from __future__ import annotations

from typing import Any

import click

from discreet import __version__
from discreet.cli.lazy_group import LazyGroup
from discreet.cli.printing import clean_usage

_COMMANDS = {
    "audit": ("audit", "Check a model's guarantee: worst neighbours, attacks, a report."),
    "budget": ("budget", "The privacy budget of one data set: create it, see what is left."),
    "demo": ("demo", "Try everything on synthetic data: private beside non-private."),
    "evaluate": ("evaluate", "How a saved model does on private held-out rows, with noise intervals."),
    "fit": ("fit", "Fit a private model to a Parquet or CSV file."),
    "local": ("local", "Local privacy: devices randomize their reports; a collector fits models."),
    "parties": ("parties", "Organisations with different columns of the same people release jointly."),
    "plan": ("plan", "Forecast errors for an epsilon and a number of people; needs no data."),
    "predict": ("predict", "Score new rows with a saved model."),
    "report": ("report", "A page for a reviewer: effects, guarantee, budget, limits."),
    "show": ("show", "Print the summary of a saved model."),
}


class _Main(LazyGroup):
    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with clean_usage():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with clean_usage():
                return super().invoke(ctx)
        except KeyboardInterrupt:  # a fit that has begun says itself what is spent (cli/watching.py)
            click.echo(
                "Interrupted while no fit was running. 'discreet budget show LEDGER' tells what is paid.", err=True
            )
            raise SystemExit(130) from None


@click.group(cls=_Main, modules=_COMMANDS, epilog="\b\nExample, which makes its own data:\n  discreet demo --out demo")
@click.version_option(__version__, prog_name="discreet")
def main() -> None:
    """Differentially private regression, with its guarantee, its standard errors and its price."""
