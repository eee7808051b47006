"""How every command prints a table and an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from discreet.errors import DiscreetError


@contextmanager
def clean_errors() -> Iterator[None]:
    """One line on stderr and exit code 1: a traceback helps nobody who typed a wrong option."""
    try:
        yield
    except BrokenPipeError:  # whoever read our lines, such as head, has seen enough: click knows how to leave
        raise
    except (DiscreetError, ValueError, OSError) as error:
        raise click.ClickException(" ".join(str(error).split())) from error


def echo_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their widest cell."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    for row in [headings, *rows]:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
