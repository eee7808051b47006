"""How every command prints a table and an error."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import click

from discreet.errors import DiscreetError


@contextmanager
def clean_errors() -> Iterator[None]:
    """One line on stderr and exit code 1: a traceback helps nobody who typed a wrong option.

    A warning is one line on stderr as well, without the place in the code that it comes from.
    """
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning  # type: ignore[assignment]
            yield
    except BrokenPipeError:  # whoever read our lines, such as head, has seen enough: click knows how to leave
        raise
    except (DiscreetError, ValueError, OSError) as error:
        raise click.ClickException(" ".join(str(error).split())) from error


def _show_warning(message: Warning | str, *_: Any) -> None:
    click.echo(f"Warning: {' '.join(str(message).split())}", err=True)


def needs(module: str, extra: str) -> None:
    """Refuse, before any work, what an extra that is not installed would do."""
    if find_spec(module) is None:
        raise DiscreetError(f'this needs {module}, which is not installed: pip install "discreet[{extra}]"')


def echo_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their widest cell."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    for row in [headings, *rows]:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
