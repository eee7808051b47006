"""A source restricted to some columns, so that any dense algorithm can run on a chosen support."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.privacy import GDP
from discreet.rows.answer import Answer
from discreet.rows.carries import Parts
from discreet.rows.query import Query
from discreet.rows.ranking import Indices, WideBlock
from discreet.rows.source import WideSource


@dataclass(frozen=True, eq=False)
class OnSupport:
    """Answers queries about some columns of a wide table; norms, noise and
    cost are the query's own.
    """

    source: WideSource
    columns: Indices

    @property
    def public_rows(self) -> int | None:
        return self.source.public_rows

    def sum(self, query: Query, cost: GDP) -> Answer:
        return self.source.sum(query, cost, columns=self.columns)

    def sums(self, questions: Sequence[tuple[Query, GDP]]) -> Sequence[Answer]:
        return self.source.sums(questions, columns=self.columns)

    def noise_std(self, query: Query, cost: GDP) -> float:
        return self.source.noise_std(query, cost)


def on_columns(
    columns: Indices, function: Callable[..., Parts], block: WideBlock, used: NDArray[np.bool_] | None = None
) -> Any:
    """What an engine adds for queries about these columns.

    A narrow block is made once for all queries of a pass, which then share their common work.
    """
    return function(block.take(columns), used)
