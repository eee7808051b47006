"""Columns as a task declares them, and cells as a device reads them; the same in every language."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.domain.columns import Categorical, Column, Numeric
from discreet.domain.dates import Date
from discreet.domain.names import lacking
from discreet.errors import DomainError

Floats = NDArray[np.float64]

# The texts that count as numbers; forms and CSV files give text.
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class HasColumns(Protocol):
    """A task or a domain: both declare columns."""

    @property
    def columns(self) -> tuple[Column, ...]: ...


def spelt(value: object) -> str:
    """The text of a level in a task: text as it is, true and 1.0 as 1, other numbers as in
    ECMAScript.
    """
    if isinstance(value, str):
        return value.rstrip("\0")
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, Real) and math.isfinite(float(value)):
        number = float(value)
        if number.is_integer() and abs(number) < 2**53:
            return str(int(number))
        import rfc8785

        return rfc8785.dumps(number).decode()
    raise DomainError("the levels of a category must be texts, numbers or true and false")


def declared(column: Column) -> Column:
    """The column as a task stores it, with levels as texts."""
    if isinstance(column, Date):
        raise DomainError(
            f"column {column.name!r}: tasks for devices have no date columns; declare a number, such as the year"
        )
    if isinstance(column, Numeric):
        return Numeric(column.name, float(column.low), float(column.high))
    return Categorical(column.name, tuple(spelt(value) for value in column.values))


def check_texts(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns, if the levels of their categories are texts, as ``declared`` writes them."""
    for column in columns:
        if isinstance(column, Categorical) and not all(isinstance(value, str) for value in column.values):
            raise DomainError(f"a task's column {column.name!r} must have texts as values")
    return columns


def cell(record: Mapping[str, Any], column: Column | None, name: str) -> Any:
    """One answer: a number for a numeric column, a spelling for a category, None for anything else.

    Nothing here raises: an exception would reveal something about the cell.
    """
    value = record.get(name)
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, (str, bool, int, float)):
        return None
    if column is None or isinstance(column, Numeric):
        return _number(value)
    try:
        return spelt(value)
    except (DomainError, OverflowError):
        return None


def _number(value: str | float) -> float | None:
    if isinstance(value, str):
        text = value.strip(" \t\r\n")
        return float(text) if _DECIMAL.fullmatch(text) else None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def encoded_columns(domain: HasColumns, columns: Mapping[str, Any], records: int) -> Floats:
    """Rows (1, x) of a table given column by column, every number in [-1, 1]; NaN where something
    is missing.
    """
    parts = [np.ones((1, records))]
    for column in domain.columns:
        if column.name not in columns:
            wanted = [one.name for one in domain.columns]
            raise DomainError(f"column {column.name!r} is missing; {lacking(column.name, columns, wanted)}")
        values = columns[column.name]
        if len(values) != records:
            raise DomainError(f"column {column.name!r} has {len(values)} values, there are {records} records")
        if isinstance(column, Numeric):
            parts.append(column.encode(values, column.centre, column.half_width))
        else:
            parts.append(column.encode(values))
    return np.vstack(parts).T
