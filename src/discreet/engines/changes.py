"""Checks that all passes of a fit read the same rows."""

from __future__ import annotations

from typing import NoReturn

from discreet.engines.total import Seen
from discreet.errors import ChangedError
from discreet.rows import Residues


class SameRows:
    """The count and hash of the first pass over the rows, or over a part; later ones
    must be equal.
    """

    def __init__(self) -> None:
        self._rows: int | None = None
        self._seen: dict[Residues | None, Seen] = {}

    def count(self, rows: int) -> None:
        """All rows were counted."""
        if self._rows is None:
            self._rows = rows
        elif rows != self._rows:
            refuse_change()

    def check(self, seen: Seen, part: Residues | None = None) -> None:
        """A pass over all rows, or over a part, has seen this."""
        if part is None:
            self.count(seen.rows)
        if self._seen.setdefault(part, seen) != seen:
            refuse_change()


def refuse_change() -> NoReturn:
    """Stop the fit, with a message that says only that rows changed."""
    raise ChangedError(
        "the rows were not the same in two passes over them, so the fit was stopped; what it has paid stays paid. Fit "
        "a table that is not being written to, or a query that returns the same rows each time"
    )
