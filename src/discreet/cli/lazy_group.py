"""Groups of commands whose modules are imported when a command is typed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from discreet.cli.examples import with_example
from discreet.text import did_you_mean


class LazyGroup(click.Group):
    """A group of commands; ``modules`` maps a command to its module in this package and its help
    text.

    The help text is here so that ``--help`` need not import the modules: scipy alone takes half a
    second. ``path`` is what is typed before a command's name.
    """

    def __init__(self, *args: Any, modules: Mapping[str, tuple[str, str]], path: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._modules = modules
        self._path = path

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self._modules and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}.{did_you_mean(args[0], sorted(self._modules))}")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._modules:
            return None
        command = getattr(import_module(f"discreet.cli.{self._modules[cmd_name][0]}"), cmd_name)
        assert isinstance(command, click.Command)
        return with_example(command, f"{self._path} {cmd_name}".strip())

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._modules.items()])
