"""The ``discreet`` command; each verb is a file of its own, loaded only when it is typed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from discreet import __version__
from discreet.cli.examples import with_example
from discreet.cli.printing import clean_usage
from discreet.text import did_you_mean

# What ``--help`` says of each verb, so that it need not load them: scipy alone takes half a second.
_VERBS = {
    "audit": "Does a model keep its promise? Searched neighbours, attacks, a report.",
    "budget": "The privacy budget of one data set: make it, see what is left.",
    "demo": "See it all on synthetic data: private beside non-private.",
    "evaluate": "How a saved model does on private held-out rows, with noise intervals.",
    "parties": "Organisations with different columns of the same people release jointly.",
    "fit": "Fit a private model to a Parquet or CSV file.",
    "plan": "What will an epsilon buy, and how many people does it take? No data needed.",
    "predict": "Score new rows with a saved model.",
    "report": "A page for a reviewer: effects, guarantee, budget, limits.",
    "show": "Print the summary of a saved model.",
    "local": "Devices report once, randomized by themselves; a collector fits many models.",
}


class _Verbs(click.Group):
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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _VERBS and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}.{did_you_mean(args[0], sorted(_VERBS))}")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        command = getattr(import_module(f"discreet.cli.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)
        return with_example(command, f"{cmd_name}")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _VERBS[name]) for name in self.list_commands(ctx)])


@click.group(cls=_Verbs)
@click.version_option(__version__, prog_name="discreet")
def main() -> None:
    """Differentially private regression, with its guarantee, its standard errors and its price."""
