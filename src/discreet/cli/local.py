"""``discreet local``: tasks, reports of devices, collecting and fitting; each verb is loaded when it is typed."""

from __future__ import annotations

from importlib import import_module

import click

from discreet.cli.examples import with_example

# What ``--help`` says of each verb, and the module that holds it: a device that reports loads nothing else.
_VERBS = {
    "demo": ("local_demo", "A collector on this machine, with made-up people and a page for you to take part."),
    "task": ("local_task", "Make, show or check the public document that devices answer to."),
    "report": ("local_report", "On the device: randomize one record, or a file of them."),
    "fit": ("local_fit", "Fit models to a file of reports."),
    "simulate": ("local_simulate", "A whole collection in memory, before asking anybody."),
    "create": ("serve", "Make the store and the key of a collector."),
    "serve": ("serve", "Collect reports over HTTP, durably, and show what they say."),
    "tokens": ("serve", "Issue tokens: devices report with them, analysts see results."),
    "close": ("serve", "Close the open batch of a collector."),
    "verify": ("serve", "Add all stored reports of a collector up again, checking each."),
}


class _LocalVerbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        command = getattr(import_module(f"discreet.cli.{_VERBS[cmd_name][0]}"), cmd_name)
        assert isinstance(command, click.Command)
        return with_example(command, f"local {cmd_name}")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _VERBS.items()])


@click.group(cls=_LocalVerbs)
def local() -> None:
    """Local privacy: nobody but the device itself sees a record."""
