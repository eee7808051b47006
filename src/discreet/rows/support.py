"""A source that shows some columns only, so that any dense algorithm runs unchanged on a chosen support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.privacy import GDP
from discreet.rows.answer import Answer
from discreet.rows.query import Block, Floats, Geometry, Query
from discreet.rows.ranking import Indices
from discreet.rows.source import Source


@dataclass(frozen=True, eq=False)
class OnSupport:
    """Answers a query about narrow rows from wide ones; norms, noise and cost are the query's own."""

    source: Source
    columns: Indices

    @property
    def public_rows(self) -> int | None:
        return self.source.public_rows

    def sum(self, query: Query, cost: GDP) -> Answer:
        return self.source.sum(Restricted(query, self.columns), cost)

    def sums(self, questions: Sequence[tuple[Query, GDP]]) -> Sequence[Answer]:
        return self.source.sums([(Restricted(query, self.columns), cost) for query, cost in questions])

    def noise_std(self, query: Query, cost: GDP) -> float:
        return self.source.noise_std(query, cost)


@dataclass(frozen=True, eq=False)
class Restricted:
    """A query that is handed the chosen columns of each block. Nothing it declares depends on which ones they are."""

    query: Query
    columns: Indices

    @property
    def label(self) -> str:
        return self.query.label

    @property
    def geometry(self) -> Geometry:
        return self.query.geometry

    @property
    def shape(self) -> tuple[int, int]:
        return self.query.shape

    @property
    def left_norm(self) -> float:
        return self.query.left_norm

    @property
    def right_norm(self) -> float:
        return self.query.right_norm

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        return self.query.factors(block.take(self.columns))  # type: ignore[attr-defined]
