"""The sums of several queries about one map of a block's rows, from one compiled loop."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.rows.carries import HALF_BITS, Parts
from discreet.rows.gradient import BoundedSum, GradientSum, SizeHistogram, WeightedMoment
from discreet.rows.kernels import has_loops, law_pass
from discreet.rows.laws import Law, Rule
from discreet.rows.linear_map import LinearMap
from discreet.rows.look import look
from discreet.rows.mapped import EXACT_ROWS, digit_parts, mapped_rule
from discreet.rows.query import Block, Floats, Query, cells_of, weight_of
from discreet.rows.scales import grid_bits, grid_scale
from discreet.rows.scores import MappedMoment

_Moment = WeightedMoment | MappedMoment
_Asked = SizeHistogram | BoundedSum
# They are compared by identity, so that they can be keys.
_Fused = GradientSum | _Moment | _Asked


@dataclass(frozen=True, eq=False)
class _Group:
    """Queries about the same map and law.

    Their positions among all queries, and what the loop needs of each: the rule (what, first and
    second of ``Rule``) and
    - of a weighted moment its clip norm and grid; of a ``MappedMoment`` in the place of all these
      three zeros, the fields of ``shrunk_rows``, its bound and its grid;
    - of a gradient how its weights are put on the grid (``mapped_rule``), and whether it is a sum
      of weights, as of rows of length one: its map has the same predictor, and the constant alone.
    """

    map: LinearMap
    skipped: int
    law: Floats
    moments: tuple[list[int], Floats]
    gradients: tuple[list[int], Floats]
    asked: tuple[list[int], Floats]
    entries: int

    def parts(self, queries: Sequence[Query], block: Block, used: NDArray[np.bool_] | None) -> dict[int, Parts]:
        cells = cells_of(block)
        assert cells is not None
        squares = np.zeros((len(self.moments[0]), 2, self.entries, self.entries), dtype=np.int64)
        sums = np.zeros((len(self.gradients[0]), 2, 3, self.map.matrix.shape[1]), dtype=np.int64)
        numbers = np.empty((len(self.asked[0]), block.records))
        rules = self.law, self.moments[1], self.gradients[1], self.asked[1], EXACT_ROWS
        law_pass(cells, self.map.loops, self.skipped, block.y, used, rules, squares, sums, numbers)
        numbers.flags.writeable = False
        if look.found is not None:
            look.found.update({("asked", id(queries[n])): line for n, line in zip(self.asked[0], numbers, strict=True)})
        found = dict(zip(self.moments[0], squares, strict=True))
        return found | {n: digit_parts(pairs) for n, pairs in zip(self.gradients[0], sums, strict=True)}


def law_parts(queries: Sequence[Query], block: Block, used: NDArray[np.bool_] | None) -> dict[int, Parts]:
    """The parts of those queries that a loop answers; for others it may leave what they ask of each
    row, in ``look``.
    """
    if not has_loops() or cells_of(block) is None or block.offset is not None or weight_of(block) is not None:
        return {}
    found: dict[int, Parts] = {}
    for group in _groups(tuple((n, query) for n, query in enumerate(queries) if isinstance(query, _Fused))):
        found |= group.parts(queries, block, used)
    return found


@lru_cache(maxsize=8)
def _groups(queries: tuple[tuple[int, _Fused], ...]) -> list[_Group]:
    """Found once for all blocks of a pass; each query comes with its position."""
    groups: dict[Hashable, dict[int, _Fused]] = {}
    for number, query in sorted(queries, key=lambda one: _sums_weights(one[1])):
        if (own := _key(query)) is None:
            continue
        shared = (key for key, group in groups.items() if _sums_weights(query) and _shares_predictor(query, group))
        groups.setdefault(next(shared, own), {})[number] = query
    return [_group(group) for group in groups.values()]


def _sums_weights(query: _Fused) -> bool:
    """Whether all rows have the length one."""
    return isinstance(query, GradientSum) and query.map.is_constant


def _shares_predictor(query: _Fused, group: dict[int, _Fused]) -> bool:
    """Whether weights of a query follow from what a loop computes for a group anyway."""
    other, key = next(iter(group.values())), _key(query)
    same = query.map.predictor_key == other.map.predictor_key and _key(other)[1:] == key[1:]  # type: ignore[index]
    return same and not isinstance(other, MappedMoment)


def _key(query: _Fused) -> tuple[Hashable, ...] | None:
    """What queries of one loop have in common; None for a query that loops do not answer."""
    if isinstance(query, _Moment) and grid_bits(query.shape[0]) != HALF_BITS:
        return None
    law = None
    if not isinstance(query, MappedMoment):
        law = None if query.rule is None else query.rule.law
        if law is None:
            return None
    return query.map.key, law, query.labels.centre, query.labels.half_width


def _group(queries: dict[int, _Fused]) -> _Group:
    moments = {n: _moment(query) for n, query in queries.items() if isinstance(query, _Moment)}
    gradients = {
        n: [*_rule(query.rule), *mapped_rule(query), float(_sums_weights(query))]
        for n, query in queries.items()
        if isinstance(query, GradientSum)
    }
    asked = {n: _rule(query.rule) for n, query in queries.items() if isinstance(query, _Asked)}
    first = next(iter(queries.values()))
    law = None if isinstance(first, MappedMoment) or first.rule is None else first.rule.law
    return _Group(
        first.map,
        int(law is not None),
        _law(law, first.labels.half_width, first.labels.centre),
        _lines(moments),
        _lines(gradients),
        _lines(asked),
        max((queries[n].shape[0] for n in moments), default=0),
    )


def _lines(rules: dict[int, list[float]]) -> tuple[list[int], Floats]:
    return list(rules), np.array(list(rules.values()), dtype=np.float64).reshape(len(rules), -1 if rules else 0)


def _law(law: Law | None, half_width: float, centre: float) -> Floats:
    if law is None:
        return np.array([0.0, 0.0, 0.0, 0.0, half_width, centre, 1.0])
    of_law = law.family, law.y_low, law.y_high, law.centred
    return np.array([*of_law, half_width, centre, law.dispersion], dtype=np.float64)


def _rule(rule: Rule | None) -> list[float]:
    assert rule is not None
    return [float(rule.what), rule.first, rule.second]


def _moment(query: _Moment) -> list[float]:
    scale = grid_scale(query.left_norm, query.shape[0])
    if isinstance(query, WeightedMoment):
        return [*_rule(query.rule), query.clip, scale]
    label = query.y_centre, query.y_scale, query.y_bound, query.y_weight
    return [0.0, 0.0, 0.0, query.radius, *label, query.left_norm, scale]
