"""``discreet parties``: plan, key, align, release and fit."""

from __future__ import annotations

import click

from discreet.cli.lazy_group import LazyGroup

# In the order of use.
_COMMANDS = {
    "plan": ("parties_plan", "Make, explain or check the public plan that all parties approve."),
    "key": ("parties_plan", "Make or show the key that a party signs its release with."),
    "align": ("parties_release", "Before anything is spent: how many people the parties share."),
    "release": ("parties_release", "At each party: add noise to its columns and write one file."),
    "fit": ("parties_fit", "At the analyst: fit models to the parties' releases, at no cost."),
}


@click.group(cls=LazyGroup, modules=_COMMANDS, path="parties")
def parties() -> None:
    """Organisations that hold different columns of the same people release jointly."""
