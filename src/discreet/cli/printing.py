"""How every command prints a table and an error."""

from __future__ import annotations

import os
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import zip_longest
from textwrap import wrap
from typing import Any

import click

from discreet.errors import DiscreetError
from discreet.text import hanging, terminal_width, wrapped

# No column is made narrower than this.
_LEAST = 14


@contextmanager
def clean_errors() -> Iterator[None]:
    """Print a short error to stderr and exit with code 1, without a traceback.

    Warnings go to stderr as well, without their place in the code.
    """
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning  # type: ignore[assignment]
            yield
    except BrokenPipeError:  # the reader, such as head, has closed the pipe: click handles it
        raise
    except (DiscreetError, ValueError, OSError) as error:
        raise CleanError(" ".join(str(error).split())) from error


class CleanError(click.ClickException):
    """An error as a terminal shows it: red where there is colour, wrapped where there is a
    terminal.
    """

    def show(self, file: Any = None) -> None:
        _say("Error:", self.format_message(), "red")


class UsageProblem(click.UsageError):
    """A wrong option or argument, in click's words, wrapped and coloured as every other
    error is.
    """

    def __init__(self, error: click.UsageError) -> None:
        super().__init__(error.format_message(), error.ctx)

    def show(self, file: Any = None) -> None:
        if self.ctx is not None:
            click.echo(self.ctx.get_usage(), err=True)
            click.echo(f"Try '{self.ctx.command_path} --help' for help.\n", err=True)
        _say("Error:", self.format_message(), "red")


@contextmanager
def clean_usage() -> Iterator[None]:
    """Shows click's usage errors as ``UsageProblem``."""
    try:
        yield
    except UsageProblem:
        raise
    except click.UsageError as error:
        raise UsageProblem(error) from error


def _show_warning(message: Warning | str, *_: Any) -> None:
    warn(" ".join(str(message).split()))


def warn(message: str) -> None:
    """A warning on stderr."""
    _say("Warning:", message, "yellow")


def _say(label: str, message: str, colour: str) -> None:
    """A coloured label and a text; in a file or a pipe, one line without colour."""
    if not sys.stderr.isatty():
        click.echo(f"{label} {message}", err=True)
        return
    text = hanging(label, message, len(label) + 1, terminal_width())
    styled = text if "NO_COLOR" in os.environ else click.style(label, fg=colour, bold=True) + text[len(label) :]
    click.echo(styled, err=True, color=True)


def echo_fact(label: str, text: str, *, err: bool = False) -> None:
    """A label and a text beside it, wrapped with a hanging indent."""
    click.echo(hanging(label, text, 11, terminal_width()), err=err)


def echo_text(text: str) -> None:
    """Lines of prose, each wrapped separately; continuation lines are indented."""
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        click.echo(wrapped(line.strip(), terminal_width(), indent, indent + "  "))


def typed_command() -> str:
    """The command line, for pages that show how they were made."""
    return shlex.join(["discreet", *sys.argv[1:]])


def needs(module: str, extra: str) -> None:
    """Refuse an operation whose extra is not installed, before any work."""
    if find_spec(module) is None:
        raise DiscreetError(f'this needs {module}, which is not installed: pip install "discreet[{extra}]"')


def echo_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their widest cell; if the terminal is too narrow, the widest
    column wraps.
    """
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    room = terminal_width() - 2 * (len(widths) - 1)
    over = sum(widths) - room
    if over > 0:
        widest = widths.index(max(widths))
        widths[widest] = max(widths[widest] - over, _LEAST)
    for row in [headings, *rows]:
        cells = [_wrapped_cell(cell, width) for cell, width in zip(row, widths, strict=True)]
        for line in zip_longest(*cells, fillvalue=""):
            click.echo("  ".join(part.ljust(width) for part, width in zip(line, widths, strict=True)).rstrip())


def _wrapped_cell(cell: str, width: int) -> list[str]:
    """The lines of a cell; further ones are indented by two more than the first."""
    if len(cell) <= width:
        return [cell]
    indent = " " * (len(cell) - len(cell.lstrip()))
    return wrap(cell.strip(), width, initial_indent=indent, subsequent_indent=f"{indent}  ") or [""]
