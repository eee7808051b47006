"""Interfaces through which algorithms ask about the data, which they do not hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from discreet.privacy import GDP, Perturbed, Repeated, Unit
from discreet.rows.answer import Answer
from discreet.rows.logistic_loss import LogisticLoss
from discreet.rows.query import Floats, Query
from discreet.rows.ranking import Indices, Picked, Ranking
from discreet.rows.walk import Walk, Weight


class Source(Protocol):
    """Answers bounded queries with noise: a central curator, the collector's
    sum, or the parties' stack.
    """

    @property
    def public_rows(self) -> int | None:
        """The number of rows, where it is public."""
        ...

    def sum(self, query: Query, cost: GDP) -> Answer:
        """The query's sum, with noise such that it costs ``cost``."""
        ...

    def sums(self, questions: Sequence[tuple[Query, GDP]]) -> Sequence[Answer]:
        """The answers that ``sum`` gives to several questions, from one pass over the rows."""
        ...

    def noise_std(self, query: Query, cost: GDP) -> float:
        """The noise that ``sum`` would add.

        It is computed from public facts alone, so it is free.
        """
        ...


class WideSource(Source, Protocol):
    """A source over a wide table, which can also select columns."""

    def sum(self, query: Query, cost: GDP, *, columns: Indices | None = None) -> Answer:
        """``columns``: the query sees only these columns of each row, in this order."""
        ...

    def sums(self, questions: Sequence[tuple[Query, GDP]], *, columns: Indices | None = None) -> Sequence[Answer]: ...

    def selection_scale(self, query: Ranking, cost: Repeated) -> float:
        """The noise scale of ``select``. It is computed from public facts alone, so it is free."""
        ...

    def select(self, query: Ranking, cost: Repeated, *, values: Repeated | None = None) -> Picked:
        """The columns with the largest scores, with noise such that each of
        ``cost.times`` picks costs ``cost.each``.

        ``values``: also their sums, with Laplace noise of this cost.
        """
        ...


class MinimisingSource(Source, Protocol):
    """A source that can also minimise a noisy objective."""

    @property
    def one_row_each(self) -> bool:
        """Whether every person has at most one row, as ``minimise`` requires."""
        ...

    @property
    def replaces_rows(self) -> bool:
        """Whether neighbours replace a row, rather than add or remove one."""
        ...

    def reserve(self, *costs: Unit) -> None:
        """Reserve the cost of the whole fit before anything is asked: a minimisation has no mu."""
        ...

    def minimise(self, query: LogisticLoss, cost: Perturbed) -> Answer:
        """The minimiser, with noise and penalty such that it costs ``cost``; ``noise_std``
        is that of the smoothing.
        """
        ...


class PartSource(Source, Protocol):
    """A source over a part of the rows; the split that made it has paid for its answers."""

    def sum_each(self, queries: Sequence[Query], cost: GDP) -> Answer:
        """One sum over equal pieces of the part, in order, each of which is asked its own query."""
        ...


class Rows(Protocol):
    """Single rows, each of which answers once, in a fixed order."""

    def __len__(self) -> int: ...

    def step(self, theta: Floats, weight: Weight, clip: float) -> Answer:
        """weight(y, theta . z) z of the next row, clipped at ``clip``, with noise."""
        ...


class DivisibleSource(Source, Protocol):
    """A source whose rows can be asked in disjoint parts; their number is public."""

    def split(self, widths: Sequence[int], cost: GDP) -> Sequence[PartSource]:
        """Disjoint parts: of each sum(widths) rows the first has widths[0]; all
        answers together cost ``cost``.
        """
        ...

    def walk(self, walk: Walk, each: GDP, secret: tuple[float, float] | None = None) -> Rows:
        """Single rows: in a secret random order, at (epsilon, delta) in total, or as
        disjoint parts at ``each``.
        """
        ...
