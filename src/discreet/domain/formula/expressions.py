"""Arithmetic on declared columns, cell by cell: its bounds and its values.

Every node says its bounds and computes its numbers. Whatever needs more than one row (a mean, a
quantile, an order) has no node here, so an expression cannot learn from rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from discreet.domain.dates import part_numbers
from discreet.domain.formula.interval import Interval
from discreet.domain.values import Floats

# Numbers of numeric columns by name, within their bounds; NaN where one is missing.
Cells = Mapping[str, Any]
# Larger powers are refused as mistakes.
_LARGEST_POWER = 12


class Expression(Protocol):
    """A number for each row."""

    @property
    def interval(self) -> Interval: ...

    @property
    def columns(self) -> frozenset[str]: ...

    def of(self, cells: Cells) -> Any: ...


@dataclass(frozen=True)
class Constant:
    """The same number for every row."""

    value: float

    @property
    def interval(self) -> Interval:
        return Interval.around(self.value)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset()

    def of(self, cells: Cells) -> float:
        return self.value


@dataclass(frozen=True)
class Cell:
    """A declared number."""

    name: str
    interval: Interval

    @property
    def columns(self) -> frozenset[str]:
        return frozenset([self.name])

    def of(self, cells: Cells) -> Floats:
        return np.asarray(cells[self.name])


@dataclass(frozen=True)
class DatePart:
    """A part of a declared date that is a number."""

    name: str
    part: str
    first: float
    interval: Interval

    @property
    def columns(self) -> frozenset[str]:
        return frozenset([self.name])

    def of(self, cells: Cells) -> Floats:
        return part_numbers(cells[self.name], self.part, self.first)


@dataclass(frozen=True)
class Apply:
    """An operation or a function of expressions; a ValueError says why it cannot be bounded."""

    what: str
    parts: tuple[Any, ...]
    interval: Interval

    @classmethod
    def of_parts(cls, what: str, *parts: Any) -> Apply:
        return cls(what, parts, _OPERATIONS[what][0](*parts))

    @property
    def columns(self) -> frozenset[str]:
        return frozenset().union(*(part.columns for part in self.parts))

    def of(self, cells: Cells) -> Floats:
        with np.errstate(all="ignore"):
            return np.asarray(_OPERATIONS[self.what][1](*(part.of(cells) for part in self.parts)), dtype=np.float64)


def _power_bounds(base: Any, exponent: Any) -> Interval:
    if not isinstance(exponent, Constant) or abs(exponent.value) > _LARGEST_POWER:
        raise ValueError(f"a power must be a number between -{_LARGEST_POWER} and {_LARGEST_POWER}")
    found: Interval = base.interval.power(exponent.value)
    return found


def _power(base: Any, exponent: float) -> Any:
    """Whole powers by multiplication: correctly rounded steps, the same in every block."""
    if not float(exponent).is_integer():
        return np.power(base, exponent)
    product = np.ones_like(np.asarray(base, dtype=np.float64)) + 0.0 * base
    for _ in range(abs(int(exponent))):
        product = product * base
    return product if exponent >= 0 else 1.0 / product


def _compared(compare: Callable[[Any, Any], Any]) -> tuple[Callable[..., Interval], Callable[..., Any]]:
    """1 where it is so, 0 where not, and NaN where either side is missing."""
    return lambda a, b: Interval(0.0, 1.0), lambda a, b: compare(a, b) + 0.0 * (np.asarray(a) + np.asarray(b))


def _rising(function: Callable[[float], float], array: Any, *least: Any, above: bool = False) -> tuple[Any, Any]:
    return lambda a: a.interval.rising(function, *least, above=above), array


_OPERATIONS: dict[str, tuple[Callable[..., Interval], Callable[..., Any]]] = {
    "+": (lambda a, b: a.interval + b.interval, lambda a, b: a + b),
    "-": (lambda a, b: a.interval - b.interval, lambda a, b: a - b),
    "*": (lambda a, b: a.interval * b.interval, lambda a, b: a * b),
    "/": (lambda a, b: a.interval / b.interval, lambda a, b: a / b),
    "**": (_power_bounds, _power),
    "negative": (lambda a: -a.interval, lambda a: -a),
    "abs": (lambda a: abs(a.interval), np.abs),
    "exp": _rising(math.exp, np.exp),
    "expm1": _rising(math.expm1, np.expm1),
    "log": _rising(math.log, np.log, 0.0, above=True),
    "log2": _rising(math.log2, np.log2, 0.0, above=True),
    "log10": _rising(math.log10, np.log10, 0.0, above=True),
    "log1p": _rising(math.log1p, np.log1p, -1.0, above=True),
    "sqrt": _rising(math.sqrt, np.sqrt, 0.0),
    "<": _compared(np.less),
    "<=": _compared(np.less_equal),
    ">": _compared(np.greater),
    ">=": _compared(np.greater_equal),
    "==": _compared(np.equal),
    "!=": _compared(np.not_equal),
}
FUNCTIONS = ("abs", "exp", "expm1", "log", "log2", "log10", "log1p", "sqrt")
