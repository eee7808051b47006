"""What an algorithm holds instead of data."""

from __future__ import annotations

from typing import Protocol

from discreet.privacy import GDP
from discreet.rows.answer import Answer
from discreet.rows.query import Query


class Source(Protocol):
    """Answers bounded questions with noise: a central curator, the collector's sum, or the parties' stack."""

    @property
    def public_rows(self) -> int | None:
        """The number of rows, where the guarantee counts it as public."""
        ...

    def sum(self, query: Query, cost: GDP, *, every: int = 1) -> Answer:
        """The sum that the query asks for, with the noise that makes it cost this much.

        ``every``: sum only rows 0, every, 2 * every, ...; where the number of rows is public.
        """
        ...

    def noise_std(self, query: Query, cost: GDP) -> float:
        """The noise that ``sum`` would add, from public facts alone: asking this is free."""
        ...
