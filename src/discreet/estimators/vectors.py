"""One value per row (labels, exposures and ids), from arrays, series and lists.

Types and lengths may raise, values never do. numpy gives a list one type for all its cells, which a
single cell can change, so lists are read cell by cell.
"""

from __future__ import annotations

import warnings
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from discreet.domain import Kind, cells, kind_of_dtype, kind_of_series, name_of_dtype, objects, unmasked
from discreet.engines.frames import ids_of

Cells = NDArray[Any]
_NUMBERS = (np.floating, np.integer, np.bool_)


class NamedCells(np.ndarray):
    """Cells with the name of their column; slices keep it."""

    name: str | None = None

    @classmethod
    def of(cls, values: Cells, name: str | None) -> NamedCells:
        named = np.asarray(values).view(cls)
        named.name = name
        return named

    def __array_finalize__(self, other: Any) -> None:
        self.name = getattr(other, "name", None)


def check_target(estimator: Any, X: Any, y: Any) -> tuple[Cells, Kind, str]:
    """The cells of the labels, one per row of X, with the kind and the name of their type."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    return check_vector(X, y, "y")


def check_vector(X: Any, values: Any, what: str) -> tuple[Cells, Kind, str]:
    """``read_vector`` with one value for each row of X."""
    found = read_vector(values, what)
    if len(found[0]) != len(X):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: X and {what} differ in length")
    return found


def read_vector(values: Any, what: str) -> tuple[Cells, Kind, str]:
    """Numbers, texts or Python objects, with the kind and the name of their type."""
    series = as_series(values)
    if series is not None:
        return cells(series), kind_of_series(series), type(series.dtype).__name__
    array = _one_dimension(_array(values), what)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    kind: Kind = "objects" if isinstance(values, (list, tuple)) else kind_of_dtype(array.dtype)
    return array, kind, name_of_dtype(array.dtype)


def type_name(values: Any) -> str | None:
    """The name of the type of labels, exposures, weights or ids, as far as their
    library gives one.
    """
    if values is None:
        return None
    series = as_series(values)
    if series is not None:
        return type(series.dtype).__name__.lower()  # as numpy writes it
    return name_of_dtype(values.dtype) if isinstance(values, np.ndarray) else type(values).__name__


def check_groups(groups: Any, n: int) -> Cells | None:
    """One person id per row, unchanged; None if every row is its own person.

    A missing id must not turn whole numbers into floats, which cannot distinguish large ones.
    """
    if groups is None:
        return None
    series = as_series(groups)
    if series is not None:
        ids = ids_of(series)
    elif isinstance(groups, (list, tuple)):
        ids = objects(groups)
    else:
        ids = _one_dimension(_array(groups), "groups")
    if len(ids) != n:
        raise ValueError("groups must have one entry per row")
    return ids


def as_series(values: Any) -> nw.Series[Any] | None:
    """A column of a data frame library, if it is one."""
    if isinstance(values, np.ndarray):
        return None
    if type(values).__module__.partition(".")[0] == "pyarrow" and hasattr(values, "dictionary_encode"):
        import pyarrow as pa

        values = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    return nw.from_native(values, series_only=True) if nw.dependencies.is_into_series(values) else None


def _array(values: Any) -> Cells:
    if isinstance(values, np.ma.MaskedArray):
        return unmasked(values)
    if not isinstance(values, (list, tuple)):
        return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    if values and all(isinstance(entry, (list, tuple)) for entry in values):
        return rows_of_lists(values)
    return numbers_or_objects(values)


def numbers_or_objects(values: Any) -> Cells:
    """A list as an array of numbers if it holds nothing else; this equals reading it cell by cell.

    numpy gets plain numbers only: it would call methods of other cells, which may warn.
    """
    if all(_is_number(kind) for kind in set(map(type, values))):
        numbers = np.asarray(values)
        if numbers.dtype.kind in "fiub":
            return numbers
    return objects(values)


def _is_number(kind: type) -> bool:
    return kind in (int, float, bool) or (issubclass(kind, _NUMBERS) and not issubclass(kind, np.timedelta64))


def rows_of_lists(rows: Any) -> Cells:
    """A table given as a list of rows, as an array of numbers or of objects."""
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise ValueError("every row must have the same number of cells")
    flat = numbers_or_objects([cell for row in rows for cell in row])
    return flat.reshape(len(rows), widths.pop())


def _one_dimension(array: Cells, what: str) -> Cells:
    if array.ndim == 2 and array.shape[1] == 1:
        warnings.warn(
            f"A column-vector {what} was passed when a 1d array was expected.", DataConversionWarning, stacklevel=2
        )
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{what} must be a 1-d array, got {array.ndim} dimensions instead")
    return array
