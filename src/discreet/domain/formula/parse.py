"""From a formula's text to its features; formulaic reads the text, the declared domain gives
everything else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import product
from operator import mul
from typing import Any

import numpy as np

from discreet.domain.columns import Numeric, check_scalable
from discreet.domain.domain import Domain
from discreet.domain.formula.calls import Reader, columns_of
from discreet.domain.formula.coding import coded_parts
from discreet.domain.formula.expressions import Cells
from discreet.domain.formula.factors import Factor
from discreet.domain.formula.interval import Interval
from discreet.domain.values import Floats
from discreet.errors import DiscreetError, DomainError

_MOST_FEATURES = 10_000


@dataclass(frozen=True)
class Feature:
    """One column of the design: its name, what it can be, and how it is scaled to [-1, 1]."""

    name: str
    interval: Interval
    centre: float
    half_width: float


@dataclass(frozen=True)
class Term:
    """A product of factors; ``full`` says of each categorical one whether all its
    levels are there.
    """

    text: str
    factors: tuple[Any, ...]
    full: tuple[bool, ...]

    @cached_property
    def features(self) -> list[Feature]:
        """One for each combination of the factors' columns, the last factor's fastest.

        Where factors are indicators or splines, which are >= 0 and sum to 1 at most, at most one
        number is left of a row: such features are scaled and not centred, and all of them together
        are no longer than 1.
        """
        pairs = list(zip(self.factors, self.full, strict=True))
        names = product(*(factor.names(full) for factor, full in pairs))
        intervals = product(*(factor.intervals(full) for factor, full in pairs))
        return [
            self._scaled(":".join(name), reduce(mul, bounds)) for name, bounds in zip(names, intervals, strict=True)
        ]

    def _scaled(self, name: str, interval: Interval) -> Feature:
        try:
            if self._together:
                check_scalable(Numeric(name, -interval.largest, interval.largest))
                return Feature(name, interval, 0.0, interval.largest)
            declared = Numeric(name, interval.low, interval.high)
            check_scalable(declared)
        except DomainError as error:
            raise DomainError(f"formula term {self.text!r}: {error}") from None
        return Feature(name, interval, declared.centre, declared.half_width)

    @property
    def _together(self) -> bool:
        return any(factor.simplex for factor in self.factors)

    @property
    def norm_square(self) -> float:
        """The largest squared norm of the encoded features.

        With f >= 0 and sum f <= 1 for each simplex factor, products f g have a sum of at most 1 as
        well, and so has the sum of their squares; all other columns, each scaled to at most 1,
        multiply that by their number.
        """
        others = math.prod(
            len(factor.names(full)) for factor, full in zip(self.factors, self.full, strict=True) if not factor.simplex
        )
        return float(others)

    def of(self, cells: Cells, known: dict[Any, Floats]) -> Floats:
        """The features' numbers, one line each; ``known`` holds factors that other terms have
        computed.
        """
        found: Floats | None = None
        for factor, full in zip(self.factors, self.full, strict=True):
            key = factor.text, full
            if key not in known:
                known[key] = factor.of(cells, full)
            lines = known[key]
            if found is not None:
                lines = (found[:, np.newaxis] * lines).reshape(len(found) * len(lines), lines.shape[1])
            found = lines
        assert found is not None
        return found


@dataclass(frozen=True)
class Design:
    """A formula as a domain makes it: the target's name, if any, whether there is an intercept, and
    the terms.
    """

    text: str
    target: str | None
    intercept: bool
    terms: tuple[Term, ...]
    offset: Any = None

    @cached_property
    def features(self) -> list[Feature]:
        return [feature for term in self.terms for feature in term.features]

    @cached_property
    def columns(self) -> frozenset[str]:
        """The columns that are read."""
        factors = [factor for term in self.terms for factor in term.factors]
        return columns_of(factors) | (frozenset() if self.offset is None else self.offset.columns)

    @property
    def norm_square(self) -> float:
        return sum(term.norm_square for term in self.terms)


def parse_formula(text: str, domain: Domain, *, listed: bool = True) -> Design:
    """The design that a formula describes, from the text and what is declared; a DomainError names
    what is wrong.

    listed: the user has written the domain's names, so that a message may list them.
    """
    if domain.data_norm is not None:
        raise DomainError("a formula needs bounds of every column: data_norm= bounds whole rows, not single terms")
    target, found = _terms(text, [column.name for column in domain.columns])
    reader = Reader(domain, listed)
    read: list[tuple[str, tuple[Any, ...]]] = []
    offset: Any = None
    intercept = False
    for parts in found:
        if not parts:
            intercept = True
        elif parts[0][0].replace(" ", "").startswith("offset(") and len(parts) == 1:
            if offset is not None:
                raise DomainError("a formula may have one offset(...) only")
            offset = reader.expression(parts[0][0].strip()[len("offset(") : -1])
        else:
            factors = tuple(reader.factor(one, column=column) for one, column in parts)
            read.append((":".join(one for one, _ in parts), factors))
    design = Design(text, target, intercept, tuple(_coded(read, intercept)), offset)
    _check(design)
    return design


def _check(design: Design) -> None:
    if not design.terms:
        raise DomainError(f"the formula {design.text!r} has no term besides the intercept")
    if design.target is not None and design.target in design.columns:
        raise DomainError(f"the formula {design.text!r} has its target {design.target!r} on the right as well")
    names = [feature.name for feature in design.features]
    if len(names) > _MOST_FEATURES:
        raise DomainError(f"the formula has {len(names)} columns, more than {_MOST_FEATURES}")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DomainError(f"the formula {design.text!r} has two columns with the name {twice!r}")


def _coded(read: Sequence[tuple[str, tuple[Factor, ...]]], intercept: bool) -> list[Term]:
    parts = coded_parts([factors for _, factors in read], intercept)
    return [Term(text, *part) for (text, _), several in zip(read, parts, strict=True) for part in several]


def target_of(text: str) -> str | None:
    """What stands on the left of a formula, without a domain."""
    left, _ = _sides(text, [])
    return _target(text, left)


def _terms(text: str, names: Sequence[str]) -> tuple[str | None, list[list[tuple[str, bool]]]]:
    """The target, and each term's factors with whether one is a plain column; the intercept has no
    factor.
    """
    left, right = _sides(text, names)
    if not hasattr(right, "__iter__") or any(not hasattr(term, "factors") for term in right):
        raise DomainError(f"the formula {text!r} has more than one part: one side of ~ may not be split by |")
    return _target(text, left), [_factors(term) for term in right]


def _sides(text: str, names: Sequence[str]) -> tuple[Any, Any]:
    """formulaic's terms of the left side (None if there is none) and of the right."""
    if not isinstance(text, str) or not text.strip():
        raise DomainError(f"formula must be a text such as 'cost ~ age + bmi', got {text!r}")
    try:
        from formulaic import Formula
        from formulaic.errors import FormulaicError
    except ImportError as error:
        raise DiscreetError('a formula needs formulaic: pip install "discreet[formula]"') from error
    try:
        formula: Any = Formula(text, _context={"__formulaic_variables_available__": list(names)})
    except (FormulaicError, SyntaxError, ValueError, RecursionError) as error:
        said = str(error).split("\n")[0]
        raise DomainError(f"the formula {text!r} cannot be read: {said}") from None
    return getattr(formula, "lhs", None), getattr(formula, "rhs", formula)


def _target(text: str, left: Any) -> str | None:
    if left is None:
        return None
    terms = list(left)
    if len(terms) != 1 or len(terms[0].factors) != 1 or terms[0].factors[0].eval_method.value != "lookup":
        raise DomainError(
            f"the formula {text!r} must have one column on the left of ~: transform the labels before, or take a link"
        )
    return str(terms[0].factors[0].expr)


def _factors(term: Any) -> list[tuple[str, bool]]:
    factors = [(str(factor.expr), factor.eval_method.value == "lookup") for factor in term.factors]
    return [] if factors == [("1", False)] else factors
