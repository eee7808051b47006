"""``discreet local``: tasks, reports of devices, collecting and fitting."""

from __future__ import annotations

import click

from discreet.cli.lazy_group import LazyGroup

# In the order of use.
_COMMANDS = {
    "demo": ("local_demo", "A collector on this machine, with simulated people and a page for you to take part."),
    "task": ("local_task", "Make, show or check the public document that devices answer."),
    "report": ("local_report", "On the device: randomize one record, or a file of them."),
    "fit": ("local_fit", "Fit models to a file of reports."),
    "simulate": ("local_simulate", "A whole collection in memory, before asking anybody."),
    "create": ("serve", "Make the store and the key of a collector."),
    "serve": ("serve", "Collect reports over HTTP, durably, and show models of them."),
    "tokens": ("serve", "Issue tokens: devices report with them, analysts see results."),
    "close": ("serve", "Close the open batch of a collector."),
    "verify": ("serve", "Add all stored reports of a collector up again, checking each."),
}


@click.group(cls=LazyGroup, modules=_COMMANDS, path="local")
def local() -> None:
    """Local privacy: nobody but the device itself sees a record."""
