"""``discreet parties``: plan, key, align, release and fit; each verb is a file of its own, loaded when it is typed."""

from __future__ import annotations

from importlib import import_module

import click

from discreet.cli.examples import with_example

# What ``--help`` says of each verb, and the module that holds it, in the order of use.
_VERBS = {
    "plan": ("parties_plan", "Make, explain or check the public plan that all parties sign off."),
    "key": ("parties_plan", "Make or show the key that a party signs its release with."),
    "align": ("parties_release", "Before anything is spent: how many people the parties share."),
    "release": ("parties_release", "At each party: add noise to its columns and write one file."),
    "fit": ("parties_fit", "At the analyst: fit models to the parties' releases, at no cost."),
}


class _PartiesVerbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        command = getattr(import_module(f"discreet.cli.{_VERBS[cmd_name][0]}"), cmd_name)
        assert isinstance(command, click.Command)
        return with_example(command, f"parties {cmd_name}")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _VERBS.items()])


@click.group(cls=_PartiesVerbs)
def parties() -> None:
    """Organisations that hold different columns of the same people release jointly."""
