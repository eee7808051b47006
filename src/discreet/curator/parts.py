"""Sources over parts of a curator's rows; the curator decides on and charges their joint cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from discreet.privacy import GDP, Spending, Split
from discreet.rows import Answer, Query, Residues

if TYPE_CHECKING:
    from discreet.curator.curator import Curator


class Part:
    """A source over some of a curator's rows; the split that made it has paid for its answers."""

    def __init__(self, curator: Curator, split: Split, number: int, rows: Residues) -> None:
        self._curator = curator
        self._split = split
        self._number = number
        self._rows = rows
        self._spending = Spending(split)

    @property
    def public_rows(self) -> int | None:
        rows = self._curator.public_rows
        return None if rows is None else self._rows.count(rows)

    def noise_std(self, query: Query, cost: GDP) -> float:
        return self._curator.noise_std(query, cost)

    def sum(self, query: Query, cost: GDP) -> Answer:
        """The query's sum over this part's rows, with noise such that it costs exactly ``cost``."""
        return self.sum_each([query], cost)

    def sums(self, questions: Sequence[tuple[Query, GDP]]) -> list[Answer]:
        return [self.sum(query, cost) for query, cost in questions]

    def sum_each(self, queries: Sequence[Query], cost: GDP) -> Answer:
        """One sum over equal pieces of this part, in order, each of which is
        asked its own query.
        """
        pieces = self._rows.cut(len(queries))
        cost = self._spending.spend(cost)
        return self._curator.ask_part(self._split, self._number, queries, pieces, cost)
