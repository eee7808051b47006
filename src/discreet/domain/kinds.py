"""Checks of column types against the declaration, before a cell is read.

With a type that cannot match, no row would be usable, so it is refused before anything is paid for.
Types are taken as public, like a schema. The type of a column of Python objects says nothing: its
cells are read one by one, and malformed ones count as missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import narwhals as nw
import numpy as np

from discreet.domain.columns import Column, Numeric
from discreet.domain.dates import Date
from discreet.domain.values import as_float, spelling
from discreet.errors import DomainError

# "categories" are levels of a type that is not known; a "date" has no time zone; "other" are lists
# and all else that is no cell of a table.
Kind = Literal["number", "truth", "text", "categories", "objects", "date", "other"]

_KINDS: dict[str, Kind] = {"f": "number", "i": "number", "u": "number", "b": "truth", "O": "objects", "U": "text"}
_KINDS["M"] = "date"


def kind_of_dtype(dtype: np.dtype[Any]) -> Kind:
    """Of numpy's types; bytes are texts."""
    return "text" if dtype.kind in "ST" else _KINDS.get(dtype.kind, "other")


def name_of_dtype(dtype: np.dtype[Any]) -> str:
    """The name of a type in a message, without the length of texts, which depends on the longest
    cell.
    """
    return {"U": "texts", "S": "bytes", "T": "texts", "O": "objects", "V": "records"}.get(dtype.kind, dtype.name)


def kind_of_series(series: nw.Series[Any]) -> Kind:
    """Of a frame's column."""
    dtype, native = series.dtype, series.to_native()
    if dtype.is_numeric():
        return "number"
    if dtype == nw.Boolean:
        return "truth"
    if dtype in (nw.Categorical, nw.Enum):
        return _kind_of_categories(native)
    if (
        str(getattr(native, "dtype", "")) == "object"
        or dtype in (nw.Object, nw.Unknown)
        or "null" in str(dtype).lower()
    ):
        return "objects"
    if dtype == nw.Date or (dtype == nw.Datetime and getattr(dtype, "time_zone", None) is None):
        return "date"
    return "text" if dtype in (nw.String, nw.Binary) else "other"


def _kind_of_categories(native: Any) -> Kind:
    """pandas and Arrow have categories of any type, polars of texts."""
    if hasattr(native, "cat") and hasattr(native.cat, "categories"):
        dtype = native.cat.categories.dtype
        kind = kind_of_dtype(dtype) if isinstance(dtype, np.dtype) else "text" if "str" in str(dtype) else "objects"
        return "categories" if kind == "objects" else kind
    if hasattr(native, "type") and hasattr(native.type, "value_type"):
        return kind_of_series(nw.from_native(native[:0].cast(native.type.value_type), series_only=True))
    return "text"


def check_kind(column: Column, kind: Kind, shown: object, called: str | None = None) -> None:
    """Refuse a column whose type cannot hold what was declared; ``shown`` is how its library calls
    the type.

    called: how the message calls the column, if not by its name.
    """
    called = repr(column.name) if called is None else called
    if isinstance(column, Date):
        if kind not in ("date", "text", "objects"):
            raise DomainError(
                f"column {called} is declared as a Date but holds {shown}: store dates, times without a zone, "
                "or texts such as '2020-01-31'"
            )
    elif isinstance(column, Numeric):
        if kind not in ("number", "truth", "objects"):
            raise DomainError(
                f"column {called} is declared with bounds but holds {shown}: convert it to numbers, or declare its "
                "values, as Categorical(name, [...]) in a domain"
            )
    elif not _can_match(column.values, kind):
        raise DomainError(
            f"column {called} is declared with the values {_few(column.values)}, but holds {shown}, "
            "which cannot be one of them"
        )


def check_numbers(what: str, kind: Kind, shown: object) -> None:
    """Refuse labels or exposures that are no numbers by their type."""
    if kind not in ("number", "truth", "objects"):
        raise DomainError(f"{what} must be numbers, but holds {shown}: convert it first")


def check_label_kind(classes: Sequence[object], kind: Kind, shown: object) -> None:
    """Refuse labels whose type cannot hold the declared classes, or which predictions could not
    return.
    """
    numbers_only = not any(isinstance(value, str) for value in classes)
    if not _can_match(classes, kind) or (kind == "text" and numbers_only):
        raise DomainError(
            f"y holds {shown}, but the declared classes are {_few(classes)}: declare the labels that there are, as "
            "classes=[...], or convert y"
        )


def _can_match(declared: Sequence[object], kind: Kind) -> bool:
    if kind == "number":
        return any(spelling(as_float(spelling(value))) == spelling(value) for value in declared)
    if kind == "truth":
        return bool({spelling(value) for value in declared} & {"0", "1"})
    return kind not in ("date", "other")


def _few(values: Sequence[object]) -> str:
    shown = [repr(value) for value in values[:4]]
    return ", ".join([*shown, "..."] if len(values) > 4 else shown)
