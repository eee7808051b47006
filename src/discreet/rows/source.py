"""What an algorithm holds instead of data."""

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
    """Answers bounded questions with noise: a central curator, the collector's sum, or the parties' stack."""

    @property
    def public_rows(self) -> int | None:
        """The number of rows, where the guarantee counts it as public."""
        ...

    def sum(self, query: Query, cost: GDP) -> Answer:
        """The sum that the query asks for, with the noise that makes it cost this much."""
        ...

    def sums(self, questions: Sequence[tuple[Query, GDP]]) -> Sequence[Answer]:
        """The answers that ``sum`` gives to several questions, from one pass over the rows."""
        ...

    def noise_std(self, query: Query, cost: GDP) -> float:
        """The noise that ``sum`` would add, from public facts alone: asking this is free."""
        ...


class WideSource(Source, Protocol):
    """A source over a wide table, which can also be asked which columns matter: the second verb."""

    def sum(self, query: Query, cost: GDP, *, columns: Indices | None = None) -> Answer:
        """``columns``: the query sees these columns of each row only, in this order."""
        ...

    def sums(self, questions: Sequence[tuple[Query, GDP]], *, columns: Indices | None = None) -> Sequence[Answer]: ...

    def selection_scale(self, query: Ranking, cost: Repeated) -> float:
        """The noise scale of ``select``, from public facts alone: asking this is free."""
        ...

    def select(self, query: Ranking, cost: Repeated, *, values: Repeated | None = None) -> Picked:
        """The columns with the largest scores, with noise that makes each of ``cost.times`` picks cost ``cost.each``.

        ``values``: also their sums, with Laplace noise of this cost.
        """
        ...


class MinimisingSource(Source, Protocol):
    """A source that can also be asked for the minimiser of a noisy objective: the third verb."""

    @property
    def one_row_each(self) -> bool:
        """Whether no person has more than one row, as ``minimise`` needs it."""
        ...

    @property
    def replaces_rows(self) -> bool:
        """Whether the guarantee is about a row replaced, rather than one added or removed."""
        ...

    def reserve(self, *costs: Unit) -> None:
        """Say, before anything is asked, what the fit will cost in all: a minimisation has no mu to pay it with."""
        ...

    def minimise(self, query: LogisticLoss, cost: Perturbed) -> Answer:
        """The minimiser, with noise and penalty that make it cost ``cost``; ``noise_std`` is the smoothing's alone."""
        ...


class PartSource(Source, Protocol):
    """A source over a part of the rows, whose answers are paid for by the split that made it."""

    def sum_each(self, queries: Sequence[Query], cost: GDP) -> Answer:
        """One sum in which each of as many equal pieces of the part, in order, is asked a query of its own."""
        ...


class Rows(Protocol):
    """Single rows, each of which answers once, in an order that is theirs."""

    def __len__(self) -> int: ...

    def step(self, theta: Floats, weight: Weight, clip: float) -> Answer:
        """The next row's weight(y, theta . z) z, no longer than ``clip``, with noise."""
        ...


class DivisibleSource(Source, Protocol):
    """A source whose rows can be asked in disjoint parts, where their number is public."""

    def split(self, widths: Sequence[int], cost: GDP) -> Sequence[PartSource]:
        """Disjoint parts: of each sum(widths) rows the first has widths[0]; all answers cost ``cost`` together."""
        ...

    def shuffle(self, each: GDP, epsilon: float, delta: float) -> Sequence[PartSource]:
        """Single rows in a secret random order, one answer each: (epsilon, delta) for all answers together."""
        ...

    def walk(self, walk: Walk, each: GDP, secret: tuple[float, float] | None = None) -> Rows:
        """Single rows: in a secret random order, at this (epsilon, delta) for all, or as disjoint parts at ``each``."""
        ...
