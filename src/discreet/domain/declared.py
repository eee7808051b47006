"""Columns as files declare them: an ordered list of tables with a name and bounds or values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.documents import shown, toml_value
from discreet.domain.columns import Categorical, Column, Numeric
from discreet.domain.dates import Date
from discreet.errors import DomainError


def named_tables(content: Any, source: str, what: str) -> list[tuple[str, Mapping[str, Any]]]:
    """The names and fields of a list of tables, ``[[columns]]`` with ``name = "age"``, in the
    list's order.

    Tables by name, ``[columns.age]``, are read too, for files written by hand: in the order of the
    file.
    """
    if isinstance(content, Mapping):
        content = [_with_name(name, table, source) for name, table in content.items()]
    if not isinstance(content, list) or not content:
        raise DomainError(f'{source}: {what} must be a list of tables, [[{what}]] with name = "...", and not empty')
    tables: list[tuple[str, Mapping[str, Any]]] = []
    for number, table in enumerate(content, start=1):
        name = table.get("name") if isinstance(table, Mapping) else None
        if not isinstance(name, str) or not name:
            raise DomainError(f"{source}: number {number} of {what} must be a table with a name, got {shown(table)}")
        tables.append((name, {key: value for key, value in table.items() if key != "name"}))
    return tables


def _with_name(name: str, table: Any, source: str) -> Mapping[str, Any]:
    if not isinstance(table, Mapping) or "name" in table:
        raise DomainError(f"{source}: {name!r} must be a table without a further name, got {shown(table)}")
    return {"name": name, **table}


def declared_columns(content: Any, source: str) -> tuple[Column, ...]:
    """The columns of a file's ``columns``; every error names the file and the column."""
    return tuple(declared_column(name, fields, source) for name, fields in named_tables(content, source, "columns"))


def declared_column(name: str, fields: Mapping[str, Any], source: str) -> Column:
    """A column from the fields of a file: low and high, values, or the first and the last day of
    dates.
    """
    try:
        if set(fields) == {"low", "high"}:
            return Numeric(name, fields["low"], fields["high"])
        if set(fields) == {"first", "last"}:
            return Date(name, fields["first"], fields["last"])
        if set(fields) == {"values"} and isinstance(fields["values"], list):
            return Categorical(name, tuple(_plain(name, value) for value in fields["values"]))
    except DomainError as error:
        raise DomainError(f"{source}: {error}") from None
    raise DomainError(
        f"{source}: column {name!r} must declare either low and high, or values = [...], or first and last of dates; "
        f"got {shown(dict(fields))}"
    )


def _plain(name: str, value: Any) -> Any:
    if not isinstance(value, (str, int, float)):  # TOML has dates, which are spelt in many ways
        raise DomainError(f"column {name!r}: values must be texts, numbers or truth values, got {shown(value)}")
    return value


def column_fields(column: Column) -> dict[str, Any]:
    """The fields from which ``declared_columns`` makes the column."""
    if isinstance(column, Date):
        first, last = column.days
        return {"name": column.name, "first": first.isoformat(), "last": last.isoformat()}
    if isinstance(column, Numeric):
        return {"name": column.name, "low": column.low, "high": column.high}
    return {"name": column.name, "values": list(column.values)}


def columns_toml(columns: Sequence[Column], table: str = "columns") -> list[str]:
    """The lines of ``[[columns]]``."""
    lines = []
    for column in columns:
        lines += ["", f"[[{table}]]"]
        lines += [f"{key} = {toml_value(value)}" for key, value in column_fields(column).items()]
    return lines
