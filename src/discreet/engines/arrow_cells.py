"""From Arrow batches to cells, without an error for any value: float64 numbers, or text.

An error caused by a cell would reveal the cell, so only a column's type, which is public, may
raise. A cell that is not a number becomes NaN, and bytes that are not text become an undeclared
text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.domain import Kind
from discreet.engines.layout import Cells, Layout, check_kinds, check_names, codes_of
from discreet.engines.person_ids import MISSING_WORDS
from discreet.rows import Coded, Columns

_MISSING_NUMBER = pa.array([word.encode() for word in MISSING_WORDS])
_TRUTH = {"true": 1.0, "false": 0.0}


def check_schema(layout: Layout, schema: Any, what: str) -> None:
    """A DomainError, by names and types alone, for a table that lacks a column or has one of
    another type.
    """
    check_names(layout, schema.names, what)
    types = {name: schema.field(name).type for name in layout.read}
    check_kinds(layout, {name: (_kind(kind), kind) for name, kind in types.items()})


def batch_cells(layout: Layout, batch: Any, decimal: str | None = None) -> Cells:
    """The cells of some rows; ``decimal``: all columns are bytes, as in a CSV file with this
    decimal point.
    """

    given = dict(zip(batch.schema.names, batch.columns, strict=True))

    def read(name: str) -> Any:
        return plain(given[name]) if decimal is None or name in layout.texts else parsed(given[name], decimal)

    return Cells(
        _columns(layout, given, batch.num_rows, read),
        None if layout.target is None else read(layout.target),
        None if layout.groups is None else codes_of(_as_written(given[layout.groups])),
    )


def _columns(layout: Layout, given: Mapping[str, Any], records: int, read: Callable[[str], Any]) -> Columns:
    numbers = [given[name] for name in layout.columns]
    if records and not layout.keys and all(pa.types.is_float64(one.type) and one.null_count == 0 for one in numbers):
        return _Numbers(numbers, records)
    return Columns([*map(read, layout.columns), *(_as_written(given[name]) for name in layout.keys)], records)


class _Numbers(Columns):
    """Columns of float64 without nulls, which loops read where they are; arrays are for others."""

    def __init__(self, columns: Sequence[Any], records: int) -> None:
        self._columns, self._records = columns, records
        places = [column.buffers()[1].address + 8 * column.offset for column in columns]
        aligned = all(place % 8 == 0 for place in places)
        self._start, self._places = 0, np.array(places, dtype=np.uint64) if aligned else None

    def cut(self, rows: slice) -> Columns:
        some = copy(self)
        some._start, some._records = self._start + rows.start, len(range(self._records)[rows])
        return some

    @property
    def arrays(self) -> Sequence[Any]:
        return [column.slice(self._start, self._records).to_numpy() for column in self._columns]

    @property
    def addresses(self) -> NDArray[np.uint64] | None:
        return None if self._places is None else self._places + np.uint64(8 * self._start)


def one_batch(table: Any) -> Any:
    """A table's rows in one batch."""
    columns = [column.combine_chunks() for column in table.columns]
    arrays = [column if isinstance(column, pa.Array) else pa.concat_arrays(column.chunks) for column in columns]
    return pa.RecordBatch.from_arrays(arrays, schema=table.schema)


def plain(column: Any) -> Any:
    """The column as a float64 array with NaN for what is missing (of dates, days since 1970), or as
    coded texts.
    """
    if pa.types.is_float64(column.type):
        return column.to_numpy(zero_copy_only=False)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_decimal(column.type):  # Arrow's own cast is off by the last bit; reading a text is not
        column = column.cast(pa.string())
        return column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    if _is_number(column.type):
        return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    if _is_date(column.type):
        stamps = column.cast(pa.timestamp("us"), safe=False).cast(pa.int64()).cast(pa.float64(), safe=False)
        return stamps.to_numpy(zero_copy_only=False) / 86400e6
    return _coded(column.cast(pa.large_binary()), _text)


def parsed(column: Any, decimal: str = ".") -> Any:
    """A CSV column of numbers, as bytes in Arrow, as a float64 array.

    Arrow reads a whole column at once or fails; where it fails each cell is read alone. Both round
    correctly, so the result is the same either way.
    """
    column = pc.if_else(pc.is_in(column, value_set=_MISSING_NUMBER), None, column)
    if decimal != ".":
        # With another decimal point, a text with a full stop is not a number.
        column = pc.if_else(pc.match_substring(column, b"."), None, column)
        column = pc.replace_substring(column, decimal.encode(), b".")
    try:
        return plain(column.cast(pa.string()).cast(pa.float64()))
    except pa.ArrowInvalid:
        return np.array([_number(cell) for cell in column.to_pylist()], dtype=np.float64)


def identifiers(column: Any) -> Any:
    """A column of ids, exactly as they are: as whole numbers beyond 2^53 or as bytes, never rounded
    or decoded.
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.large_binary()) if _is_text(column.type) else column


def _number(cell: bytes | None) -> float:
    text = "" if cell is None else cell.decode("utf-8", "replace").strip()
    try:
        return _TRUTH[text.lower()] if text.lower() in _TRUTH else float(text)
    except ValueError:
        return math.nan


def _as_written(column: Any) -> Any:
    """A column of ids or keys; each distinct text is converted once."""
    column = identifiers(column)
    if pa.types.is_large_binary(column.type):
        return _coded(column, lambda cell: cell)
    if pa.types.is_integer(column.type) and column.null_count == 0:
        return column.to_numpy(zero_copy_only=False)
    return Coded.of(column.to_pylist())


def _coded(column: Any, spell: Callable[[bytes], Any]) -> Coded:
    encoded = column.dictionary_encode(null_encoding="encode")
    distinct = np.empty(len(encoded.dictionary), dtype=object)
    distinct[:] = [None if cell is None else spell(cell) for cell in encoded.dictionary.to_pylist()]
    return Coded(distinct, encoded.indices.to_numpy(zero_copy_only=False))


def _text(cell: bytes) -> str:
    return cell.decode("utf-8", "replace")


def _kind(kind: Any) -> Kind:
    if pa.types.is_dictionary(kind):
        return _kind(kind.value_type)
    if pa.types.is_null(kind):
        return "objects"
    if pa.types.is_boolean(kind):
        return "truth"
    if _is_date(kind):
        return "date"
    return "number" if _is_number(kind) else "text" if _is_text(kind) else "other"


def plain_type(kind: Any) -> Any:
    """A type without the ways in which Arrow can hold the same texts."""
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    return pa.string() if _is_text(kind) else kind


def _is_date(kind: Any) -> bool:
    """Dates, and times without a zone."""
    return bool(pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.tz is None))


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
