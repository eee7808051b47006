"""Which categorical factors of a term have all their levels, without redundant columns (patsy's
rule).

A term spans products of its numeric factors with every subset of its categorical ones, each without
its reference. What earlier terms span already is left out. A remaining pair that differs in one
factor is one product with all levels of that factor, since its reference and the others together
are all levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

# The categorical factors of a product by their texts, each with whether all its levels are there.
_Part = dict[str, bool]


def coded_parts(
    read: Sequence[tuple[Any, ...]], intercept: bool
) -> list[list[tuple[tuple[Any, ...], tuple[bool, ...]]]]:
    """For each term's factors, the products that stand for it: their factors, and which of them
    have all levels.
    """
    spanned: set[tuple[frozenset[str], frozenset[str]]] = set()
    if intercept:
        spanned.add((frozenset(), frozenset()))
    found = []
    for factors in read:
        numeric = frozenset(factor.text for factor in factors if not factor.categorical)
        levels = [factor.text for factor in factors if factor.categorical]
        subsets = [frozenset(some) for size in range(len(levels) + 1) for some in combinations(levels, size)]
        new = [some for some in subsets if (numeric, some) not in spanned]
        spanned |= {(numeric, some) for some in subsets}
        merged = _merged([dict.fromkeys((one for one in levels if one in some), False) for some in new])
        found.append([_chosen(factors, part) for part in merged])
    return found


def _merged(parts: list[_Part]) -> list[_Part]:
    while (pair := _pair(parts)) is not None:
        short, long, factor = pair
        parts = [part for part in parts if part is not short]
        long[factor] = True
    return parts


def _pair(parts: list[_Part]) -> tuple[_Part, _Part, str] | None:
    """A product and another with one factor more, which are one product with all levels of that
    factor.
    """
    for long in reversed(parts):
        for short in parts:
            more = [factor for factor in long if factor not in short]
            alike = all(long.get(factor) == short[factor] for factor in short)
            if alike and len(more) == 1 and not long[more[0]]:
                return short, long, more[0]
    return None


def _chosen(factors: tuple[Any, ...], part: _Part) -> tuple[tuple[Any, ...], tuple[bool, ...]]:
    kept = tuple(factor for factor in factors if not factor.categorical or factor.text in part)
    return kept, tuple(factor.categorical and part[factor.text] for factor in kept)
