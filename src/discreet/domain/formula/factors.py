"""Factors of a term: a number, the indicators of levels, a spline, a polynomial. Each is one or
more columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from discreet.domain.dates import part_levels
from discreet.domain.formula.expressions import Cells, Expression
from discreet.domain.formula.interval import Interval
from discreet.domain.values import Floats

_UNIT = Interval(0.0, 1.0)


class Factor(Protocol):
    """Columns that a term multiplies.

    ``simplex``: they are >= 0 and sum to 1 at most, as indicators and B-splines do. ``full`` asks
    for all levels of a categorical factor, in the place of all but a reference.
    """

    @property
    def text(self) -> str: ...

    @property
    def names_used(self) -> frozenset[str]: ...

    @property
    def categorical(self) -> bool: ...

    @property
    def simplex(self) -> bool: ...

    def names(self, full: bool) -> list[str]: ...

    def intervals(self, full: bool) -> list[Interval]: ...

    def of(self, cells: Cells, full: bool) -> Floats:
        """One line for each column."""
        ...


@dataclass(frozen=True)
class NumberFactor:
    """An expression."""

    text: str
    expression: Any
    categorical = False
    simplex = False

    @property
    def names_used(self) -> frozenset[str]:
        return frozenset(self.expression.columns)

    def names(self, full: bool) -> list[str]:
        return [self.text]

    def intervals(self, full: bool) -> list[Interval]:
        return [self.expression.interval]

    def of(self, cells: Cells, full: bool) -> Floats:
        return np.asarray(self.expression.of(cells), dtype=np.float64)[np.newaxis]


@dataclass(frozen=True)
class LevelFactor:
    """A declared list of levels: indicators of all but a reference (treatment coding), or sum
    coding.
    """

    text: str
    column: str
    levels: tuple[object, ...]
    reference: int = 0
    summed: bool = False
    # The part of a date whose levels these are.
    part: str | None = None
    categorical = True

    @property
    def simplex(self) -> bool:
        return not self.summed

    @property
    def names_used(self) -> frozenset[str]:
        return frozenset([self.column])

    def _kept(self, full: bool) -> list[int]:
        return [level for level in range(len(self.levels)) if full or level != self.reference]

    def names(self, full: bool) -> list[str]:
        mark = "" if full else "S." if self.summed else "T."
        return [f"{self.text}[{mark}{self.levels[level]}]" for level in self._kept(full)]

    def intervals(self, full: bool) -> list[Interval]:
        return [Interval(-1.0, 1.0) if self.summed and not full else _UNIT] * len(self._kept(full))

    def of(self, cells: Cells, full: bool) -> Floats:
        level: NDArray[np.int32] = cells[self.column]
        if self.part is not None:
            level = part_levels(cells[self.column], self.part)
        marked: Floats = (level == np.array(self._kept(full))[:, np.newaxis]).astype(np.float64)
        if self.summed and not full:
            marked[:, level == self.reference] = -1.0
        marked[:, level < 0] = np.nan
        return marked


@dataclass(frozen=True)
class SplineFactor:
    """A B-spline basis over the expression's bounds; without its first function, which the
    intercept stands for.
    """

    text: str
    expression: Expression
    knots: tuple[float, ...]
    degree: int
    with_first: bool
    categorical = False
    simplex = True

    @property
    def names_used(self) -> frozenset[str]:
        return self.expression.columns

    @property
    def _functions(self) -> int:
        return len(self.knots) + self.degree + 1

    def names(self, full: bool) -> list[str]:
        first = int(not self.with_first)
        return [f"{self.text}[{number}]" for number in range(first, self._functions)]

    def intervals(self, full: bool) -> list[Interval]:
        return [_UNIT] * len(self.names(full))

    def of(self, cells: Cells, full: bool) -> Floats:
        from scipy.interpolate import BSpline

        bounds = self.expression.interval
        ends = [bounds.low] * (self.degree + 1), [bounds.high] * (self.degree + 1)
        basis = BSpline(np.array([*ends[0], *self.knots, *ends[1]]), np.eye(self._functions), self.degree)
        found = basis(np.clip(self.expression.of(cells), bounds.low, bounds.high))
        return np.ascontiguousarray(found.T[int(not self.with_first) :])


@dataclass(frozen=True)
class PolynomialFactor:
    """Powers of an expression, or Legendre polynomials over its bounds, which are hardly
    correlated.
    """

    text: str
    expression: Expression
    degree: int
    raw: bool
    categorical = False
    simplex = False

    @property
    def names_used(self) -> frozenset[str]:
        return self.expression.columns

    def names(self, full: bool) -> list[str]:
        return [f"{self.text}[{power}]" for power in range(1, self.degree + 1)]

    def intervals(self, full: bool) -> list[Interval]:
        powers = range(1, self.degree + 1)
        if self.raw:
            return [self.expression.interval.power(power) for power in powers]
        # P_k lies in [-1, 1], and reaches -1 for odd k only; the clip of encoded numbers holds it
        # there.
        return [Interval(-1.0, 1.0) for _ in powers]

    def of(self, cells: Cells, full: bool) -> Floats:
        bounds, x = self.expression.interval, np.asarray(self.expression.of(cells), dtype=np.float64)
        if not self.raw:
            place = np.clip((2 * x - (bounds.low + bounds.high)) / (bounds.high - bounds.low), -1.0, 1.0)
            return np.ascontiguousarray(legendre.legvander(place, self.degree).T[1:])
        lines = [x]
        for _ in range(1, self.degree):
            lines.append(lines[-1] * x)
        return np.array(lines)
