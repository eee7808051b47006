"""From Arrow columns to cells that no value can make fail: numbers as float64, everything else as text.

An error that a cell causes would show the cell, so only a column's type, which is public, may raise. A cell that is no
number becomes NaN, and bytes that are no text become a text that nobody declared.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import DomainError

# How files spell a missing number, after pandas and R.
_MISSING_NUMBER = pa.array([b"NA", b"N/A", b"nan", b"NaN", b"null", b"NULL", b"None", b"."])
_TRUTH = {"true": 1.0, "false": 0.0}


def check_type(name: str, kind: Any) -> None:
    """A DomainError for a column of dates, lists or other types that are neither numbers nor categories."""
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not (_is_number(inner) or _is_text(inner)):
        raise DomainError(f"column {name!r} has the type {kind}; store it as a number, a text or a boolean")


def plain(column: Any) -> Any:
    """The column as a float64 array with NaN for what is missing, or as an Arrow array of text."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if _is_number(column.type):
        if not pa.types.is_float64(column.type):
            column = column.cast(pa.float64(), safe=False)
        return column.to_numpy(zero_copy_only=False)
    return _text(column)


def parsed(column: Any) -> Any:
    """A CSV column of numbers, as bytes in Arrow, as a float64 array.

    Arrow reads a whole column at once or fails; where it fails each cell is read alone. Both round correctly, so which
    way was taken does not show in a bit.
    """
    column = pc.if_else(pc.is_in(column, value_set=_MISSING_NUMBER), None, column)
    try:
        return plain(column.cast(pa.string()).cast(pa.float64()))
    except pa.ArrowInvalid:
        return np.array([_number(cell) for cell in column.to_pylist()], dtype=np.float64)


def identifiers(column: Any) -> Any:
    """A column of ids, exactly as they are: as whole numbers beyond 2^53 or as bytes, never rounded or decoded."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.large_binary()) if _is_text(column.type) else column


def _number(cell: bytes | None) -> float:
    text = "" if cell is None else cell.decode("utf-8", "replace").strip()
    try:
        return _TRUTH[text.lower()] if text.lower() in _TRUTH else float(text)
    except ValueError:
        return math.nan


def _text(column: Any) -> Any:
    column = column.cast(pa.large_binary())
    try:
        return column.cast(pa.large_string())
    except pa.ArrowInvalid:  # not UTF-8
        cells = [None if cell is None else cell.decode("utf-8", "replace") for cell in column.to_pylist()]
        return pa.array(cells, pa.large_string())


def _is_number(kind: Any) -> bool:
    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_boolean(kind)
        or types.is_null(kind)
    )


def _is_text(kind: Any) -> bool:
    types = pa.types
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_fixed_size_binary(kind)
    )
