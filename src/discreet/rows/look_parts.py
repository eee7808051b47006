"""The sums of a first look at a block's rows, from one compiled loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.rows.carries import Parts
from discreet.rows.histograms import ColumnHistograms
from discreet.rows.kernels import has_loops, look_pass
from discreet.rows.look import look
from discreet.rows.queries import PowerSums
from discreet.rows.query import Block, Query, cells_of, weight_of

Whole = NDArray[np.int64]
# The grids of a query's vectors and of the 1 beside them, the worth of a high half, and how many
# halves there are: what ``placed_sums`` needs.
Grids = Callable[[Query], tuple[tuple[float, ...], float, int]]
Summed = Callable[[Query, Whole, Whole, int], Parts]
Counted = Callable[[Query, Whole], Parts]


def look_parts(
    queries: Sequence[Query],
    block: Block,
    used: NDArray[np.bool_] | None,
    grids: Grids,
    summed: Summed,
    counted: Counted,
) -> dict[int, Parts]:
    """The parts of those queries that the loop answers; the last arguments are those of grid.py."""
    looks = {n: query for n, query in enumerate(queries) if type(query) is PowerSums}
    if not looks or not has_loops() or (cells := cells_of(block)) is None:
        return {}
    if block.offset is not None or weight_of(block) is not None:
        return {}
    width, columns = len(cells.addresses), {n: one for n, one in enumerate(queries) if type(one) is ColumnHistograms}
    widths = {query.width for query in looks.values()} | {query.width for query in columns.values()}
    if widths != {width} or len(columns) > 1:
        return {}
    rules = _rules(tuple(looks.values()), grids)
    sums, rest = np.zeros((2, len(looks), 2, width + 5), dtype=np.int64)
    counts = np.zeros((width if columns else 0, 1 + sum(query.cells for query in columns.values())), dtype=np.int64)
    norms = np.zeros(block.records)
    look_pass(cells, block.y, used, rules, sums, rest, counts, norms)
    if look.found is not None:
        look.found["norms", width] = norms
    found = {n: counted(query, counts[:, :-1]) for n, query in columns.items()}
    for place, (n, query) in enumerate(looks.items()):
        halves, entries = int(rules[place, -1]), query.shape[1]
        complete = int(sums[place, 0, -1]) if query.geometry == "counted" else 0
        found[n] = summed(query, sums[place, :halves, :entries], rest[place, :halves, :entries], complete)
    return found


@lru_cache(maxsize=8)
def _rules(looks: tuple[PowerSums, ...], grids: Grids) -> NDArray[np.float64]:
    """Found once for all blocks of a pass."""
    return np.array([_rule(query, grids) for query in looks])


def _rule(query: PowerSums, grids: Grids) -> list[float]:
    numbers, half, halves = grids(query)
    own = float(query.with_x), float(query.geometry == "counted"), query.count_weight, query.middle, query.x_radius
    return [*own, *numbers, half, float(halves)]
