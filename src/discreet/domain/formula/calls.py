"""Parses the text of a factor; functions that learn from rows, and unknown ones, are refused."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.domain.columns import Numeric
from discreet.domain.dates import LEVEL_PARTS, NUMBER_PARTS, Date
from discreet.domain.domain import Domain
from discreet.domain.formula.expressions import FUNCTIONS, Apply, Cell, Constant, DatePart
from discreet.domain.formula.factors import LevelFactor, NumberFactor, PolynomialFactor, SplineFactor
from discreet.domain.formula.interval import Interval
from discreet.domain.names import lacking
from discreet.domain.values import spelling
from discreet.errors import DomainError
from discreet.text import did_you_mean

_OPERATORS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_COMPARISONS: dict[type, str] = {
    **{ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="},
    **{ast.Eq: "==", ast.NotEq: "!="},
}
# Functions of formula languages that take means, ranges, quantiles or orthogonal bases from the
# rows.
_LEARNING = {
    "center": "write I(x - 50) with a public number",
    "scale": "write I((x - 50) / 10) with public numbers",
    "standardize": "write I((x - 50) / 10) with public numbers",
    "lag": "rows have no order here",
    "hashed": "declare the levels",
    **dict.fromkeys(("cr", "cs", "cc", "te", "ns"), "take bs(x, df), whose knots follow from the declared bounds"),
}
_QUOTED = re.compile("`([^`]*)`")
_MOST_COLUMNS = 200


@dataclass(frozen=True)
class Reader:
    """Reads factors of one formula against a declared domain."""

    domain: Domain
    listed: bool = True

    def factor(self, text: str, *, column: bool = False) -> Any:
        """The parsed factor; ``column``: the text is the name of a column."""
        if column:
            return self._column(text, text)
        node, names = _parsed(text)
        return _Call(self, text, names).factor(node)

    def expression(self, text: str, *, column: bool = False) -> Any:
        """The text as a numeric expression."""
        found = self.factor(text, column=column)
        if not isinstance(found, NumberFactor):
            raise DomainError(f"formula term {text!r} must be a number")
        return found.expression

    def _column(self, name: str, text: str) -> Any:
        if name not in self.domain:
            known = [column.name for column in self.domain.columns]
            there = f"the domain has {', '.join(known)}.{did_you_mean(name, known)}" if self.listed else ""
            there = there or lacking(name, known)
            raise DomainError(f"formula term {text!r}: column {name!r} is not declared; {there}")
        column = self.domain[name]
        if isinstance(column, Numeric):
            return NumberFactor(text, Cell(name, Interval(column.low, column.high)))
        return LevelFactor(text, name, column.values)


@dataclass(frozen=True)
class _Call:
    """One factor's text while it is read; ``names`` are those that stand in back quotes."""

    reader: Reader
    text: str
    names: dict[str, str]

    def refuse(self, why: str) -> DomainError:
        return DomainError(f"formula term {self.text!r}: {why}")

    def factor(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Call):
            name = _dotted(node.func)
            if name == "I" and len(node.args) == 1 and not node.keywords:
                return NumberFactor(self.text, self.expression(node.args[0]))
            if name in _SPECIAL:
                return _SPECIAL[name](self, node)
        if isinstance(node, ast.Name):
            return self.reader._column(self._name(node), self.text)
        return NumberFactor(self.text, self.expression(node))

    def expression(self, node: ast.expr) -> Any:
        try:
            return self._expression(node)
        except ValueError as error:
            if isinstance(error, DomainError):
                raise
            raise self.refuse(str(error)) from None

    def _expression(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
            return Constant(float(node.value))
        if isinstance(node, ast.Name):
            return self._number(self._name(node))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            part = self._expression(node.operand)
            if isinstance(node.op, ast.UAdd):
                return part
            return Constant(-part.value) if isinstance(part, Constant) else Apply.of_parts("negative", part)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return Apply.of_parts(_OPERATORS[type(node.op)], self._expression(node.left), self._expression(node.right))
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
            sides = self._expression(node.left), self._expression(node.comparators[0])
            return Apply.of_parts(_COMPARISONS[type(node.ops[0])], *sides)
        if isinstance(node, ast.Call):
            return self._function(node)
        raise self.refuse(f"{ast.unparse(node)!r} is no arithmetic on declared columns")

    def _function(self, node: ast.Call) -> Any:
        name = _dotted(node.func).removeprefix("np.").removeprefix("numpy.")
        if name == "I" and len(node.args) == 1 and not node.keywords:
            return self._expression(node.args[0])
        if name in FUNCTIONS and len(node.args) == 1 and not node.keywords:
            return Apply.of_parts(name, self._expression(node.args[0]))
        if name in NUMBER_PARTS:
            return self._date_part(node, name)
        if name in _LEARNING:
            raise self.refuse(
                f"{name}() computes something from all rows, which would need a private release: {_LEARNING[name]}"
            )
        if name in _SPECIAL:
            raise self.refuse(f"{name}() cannot stand within an expression")
        known = ", ".join([*FUNCTIONS, *NUMBER_PARTS, *(one for one in _SPECIAL if "." not in one), "I"])
        raise self.refuse(f"the function {name or ast.unparse(node.func)!r} is not known here; known: {known}")

    def date(self, node: ast.Call) -> Date:
        """The date column that a part is asked of."""
        given = node.args[0] if len(node.args) == 1 and not node.keywords else None
        name = self._name(given) if isinstance(given, ast.Name) else ""
        declared = {column.name: column for column in self.reader.domain.columns}
        column = declared.get(name)
        if not isinstance(column, Date):
            raise self.refuse(f"{_dotted(node.func)}() takes a column that is declared as Date(name, first, last)")
        return column

    def _date_part(self, node: ast.Call, part: str) -> DatePart:
        column = self.date(node)
        first, last = column.days
        ends = {
            "year": (first.year, last.year),
            "dayofyear": (1, 366),
            "days": (0, (last - first).days),
            "hour": (0, 23),
        }[part]
        return DatePart(column.name, part, column.low, Interval.around(*map(float, ends)))

    def _name(self, node: ast.Name) -> str:
        return self.names.get(node.id, node.id)

    def _number(self, name: str) -> Any:
        found = self.reader._column(name, self.text)
        if not isinstance(found, NumberFactor):
            raise self.refuse(f"column {name!r} is declared with values: it is not a number")
        return found.expression

    def arguments(self, node: ast.Call, *names: str) -> dict[str, Any]:
        """The call's arguments after the first, by name: constants, lists of them, or calls."""
        function = _dotted(node.func)
        if not node.args or len(node.args) > 1 + len(names):
            raise self.refuse(f"{function}() takes a column and {', '.join(names)}")
        given = dict(zip(names, node.args[1:], strict=False))
        for keyword in node.keywords:
            if keyword.arg not in names or keyword.arg in given:
                raise self.refuse(f"{function}() has no argument {keyword.arg!r} here; known: {', '.join(names)}")
            given[keyword.arg] = keyword.value
        return given

    def constant(self, node: ast.expr) -> Any:
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError):
            raise self.refuse(f"{ast.unparse(node)!r} must be written out, as a number, a text or a list") from None

    def whole(self, given: dict[str, Any], name: str, default: int | None, least: int) -> Any:
        if name not in given:
            return default
        value = self.constant(given[name])
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _MOST_COLUMNS:
            raise self.refuse(f"{name} must be a whole number from {least} to {_MOST_COLUMNS}, got {value!r}")
        return value

    def flag(self, given: dict[str, Any], name: str) -> bool:
        value = self.constant(given[name]) if name in given else False
        if not isinstance(value, bool):
            raise self.refuse(f"{name} must be True or False, got {value!r}")
        return value


def _levels(call: _Call, node: ast.Call) -> Any:
    """C(x), C(x, reference='a'), C(x, Treatment('a')), C(x, contr.treatment('a')), C(x, Sum)."""
    given = call.arguments(node, "contrasts", "reference")
    found = call.factor(node.args[0])
    if not isinstance(found, LevelFactor):
        raise call.refuse(
            f"C() needs declared levels: declare the column as Categorical({ast.unparse(node.args[0])!r}, [...])"
        )
    reference, summed = given.get("reference"), False
    if "contrasts" in given:
        coding = given["contrasts"]
        name = _dotted(coding.func) if isinstance(coding, ast.Call) else _dotted(coding)
        kind = name.removeprefix("contr.").lower()
        if kind not in ("treatment", "sum") or "reference" in given:
            raise call.refuse("contrasts are Treatment('level') or Sum, and a reference= is one of both")
        summed = kind == "sum"
        if isinstance(coding, ast.Call):
            inner = [*coding.args, *(one.value for one in coding.keywords if one.arg in ("reference", "base"))]
            if len(inner) > 1 or len(coding.args) + len(coding.keywords) != len(inner) or (summed and inner):
                raise call.refuse(f"{ast.unparse(coding)!r} is no coding: Treatment('level') or Sum")
            reference = inner[0] if inner else None
    last = len(found.levels) - 1
    place = (last if summed else 0) if reference is None else _level(call, found, call.constant(reference))
    return LevelFactor(call.text, found.column, found.levels, place, summed, found.part)


def _date_levels(call: _Call, node: ast.Call) -> Any:
    part = _dotted(node.func)
    return LevelFactor(call.text, call.date(node).name, LEVEL_PARTS[part], part=part)


def _level(call: _Call, found: LevelFactor, level: object) -> int:
    spelt = [spelling(value) for value in found.levels]
    if spelling(level) not in spelt:
        known = ", ".join(repr(value) for value in found.levels[:8])
        raise call.refuse(f"{level!r} is none of the declared levels of {found.column!r}: {known}")
    return spelt.index(spelling(level))


def _spline(call: _Call, node: ast.Call) -> Any:
    """bs(x, df): evenly spaced knots between the declared bounds; or bs(x, knots=[...])."""
    given = call.arguments(node, "df", "knots", "degree", "include_intercept")
    expression = call.expression(node.args[0])
    degree, with_first = call.whole(given, "degree", 3, 0), call.flag(given, "include_intercept")
    bounds = expression.interval
    if ("df" in given) == ("knots" in given):
        raise call.refuse("bs() takes df, the number of columns, or knots=[...]: one of them")
    if "df" in given:
        inner = call.whole(given, "df", None, 1) - degree - with_first
        if inner < 0:
            raise call.refuse(f"df must be at least {degree + with_first} for splines of degree {degree}")
        knots = [float(knot) for knot in np.linspace(bounds.low, bounds.high, inner + 2)[1:-1]]
    else:
        knots = _numbers(call, call.constant(given["knots"]))
        inside = all(bounds.low < knot < bounds.high for knot in knots)
        if knots != sorted(set(knots)) or not inside:
            raise call.refuse(f"knots must rise, and lie between {bounds.low:g} and {bounds.high:g}, as is declared")
    return SplineFactor(call.text, expression, tuple(knots), degree, with_first)


def _numbers(call: _Call, values: Any) -> list[float]:
    listed = isinstance(values, (list, tuple)) and 0 < len(values) <= _MOST_COLUMNS
    if not listed or not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        raise call.refuse("knots must be a list of numbers")
    return [float(value) for value in values]


def _poly(call: _Call, node: ast.Call) -> Any:
    given = call.arguments(node, "degree", "raw")
    if not call.flag(given, "raw"):
        raise call.refuse(
            "poly() makes its columns orthogonal on the rows, which would need a private release: take "
            "legendre(x, degree), which does so on the declared bounds, or poly(x, degree, raw=True)"
        )
    return _polynomial(call, node, given, raw=True)


def _legendre(call: _Call, node: ast.Call) -> Any:
    return _polynomial(call, node, call.arguments(node, "degree"), raw=False)


def _polynomial(call: _Call, node: ast.Call, given: dict[str, Any], *, raw: bool) -> Any:
    expression, degree = call.expression(node.args[0]), call.whole(given, "degree", 1, 1)
    if degree > 12:
        raise call.refuse("degree must be at most 12")
    if not expression.columns:
        raise call.refuse("a polynomial needs a column")
    return PolynomialFactor(call.text, expression, degree, raw)


_SPECIAL: dict[str, Callable[[_Call, ast.Call], Any]] = {
    "C": _levels,
    "bs": _spline,
    "legendre": _legendre,
    "poly": _poly,
    **dict.fromkeys(LEVEL_PARTS, _date_levels),
}


def _parsed(text: str) -> tuple[ast.expr, dict[str, str]]:
    """The text's Python syntax tree; names in back quotes are replaced first."""
    names: dict[str, str] = {}

    def plain(found: re.Match[str]) -> str:
        names[f"_quoted_{len(names)}"] = found.group(1)
        return f"_quoted_{len(names) - 1}"

    try:
        return ast.parse(_QUOTED.sub(plain, text), mode="eval").body, names
    except (SyntaxError, ValueError, RecursionError):
        raise DomainError(f"formula term {text!r} cannot be read") from None


def _dotted(node: ast.expr) -> str:
    """The name of a function, np.log or log; empty for what is none."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def columns_of(factors: Sequence[Any]) -> frozenset[str]:
    return frozenset().union(*(factor.names_used for factor in factors))
