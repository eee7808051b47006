"""Cells as numbers and as declared levels.

Every rule looks at one cell at a time: no cell raises, warns, or changes how another one is read. A
message about a cell would reveal it, and a cell that changed others would change every
contribution.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Values = Sequence[object] | NDArray[np.generic]

# The internal text of a missing value; no declared value has it, because "None" and "nan" may be
# levels.
MISSING = "\0missing"
_PIECE = 16384  # values that are compared at a time
# Types that float() reads without a warning; it warns of complex numbers and of arrays with one
# entry.
_NUMBERS = (Real, Decimal, np.bool_)
# Equal values of these types have equal texts, so one may be cached for the other.
_PLAIN = (str, int, float, bool)
# Beyond this, whole numbers are spelt as the nearest float, which is all that most columns can
# hold.
_EXACT = 2**53


def as_floats(values: Values) -> Floats:
    """The values as float64, with NaN where one is not a number."""
    if isinstance(values, np.ma.MaskedArray):
        values = unmasked(values)
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
        # A value too large becomes infinite. A signalling NaN must not signal: that would be a
        # warning about one cell.
        with np.errstate(over="ignore", invalid="ignore"):
            return values.astype(np.float64, copy=False)
    return np.array([as_float(value) for value in listed(values)], dtype=np.float64)


def as_float(value: object) -> float:
    """One cell as a number; NaN if it is not one."""
    if not isinstance(value, (*_NUMBERS, str, bytes)) or isinstance(value, np.timedelta64):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]
    except Exception:
        return math.nan


def objects(values: Sequence[object]) -> NDArray[np.object_]:
    """A 1-d array of the cells as they are; numpy would make two dimensions of cells that are
    lists.
    """
    return np.fromiter(values, dtype=object, count=len(values))


def unmasked(values: Any) -> NDArray[Any]:
    """A masked array with NaN, or None, in the place of what is masked."""
    if values.dtype.kind in "fiub":
        return np.asarray(np.ma.filled(values.astype(np.float64), np.nan))
    return np.asarray(np.ma.filled(values.astype(object), None))


def listed(values: Values) -> Sequence[object]:
    return values.tolist() if isinstance(values, np.ndarray) else values


def levels_of(values: Values, declared: Sequence[object]) -> NDArray[np.int32]:
    """The position of each value among the declared ones, -1 for others; distinct values are looked
    up once.
    """
    positions = {spelling(value): level for level, value in enumerate(declared)}
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
        return _levels_of_numbers(values, positions)
    seen: dict[tuple[type, object], int] = {}
    levels = []
    for value in listed(values):
        kind = type(value)
        if kind not in _PLAIN:
            levels.append(positions.get(spelling(value), -1))
            continue
        level = seen.get((kind, value))
        if level is None:
            level = seen[kind, value] = positions.get(spelling(value), -1)
        levels.append(level)
    return np.array(levels, dtype=np.int32)


def _levels_of_numbers(values: NDArray[Any], positions: dict[str, int]) -> NDArray[np.int32]:
    """The same for a column of numbers, by comparison with the levels that are numbers.

    A number is at most one of them, so what is added to -1 is its level. Pieces stay in the cache.
    """
    levels = np.full(len(values), -1, dtype=np.int32)
    known = {as_float(spelt): level for spelt, level in positions.items() if spelling(as_float(spelt)) == spelt}
    for start in range(0, len(values), _PIECE):
        numbers, found = as_floats(values[start : start + _PIECE]), levels[start : start + _PIECE]
        for number, level in known.items():
            found += (numbers == number) * np.int32(level + 1)
    return levels


def spelling(value: object) -> str:
    """The text of a value: 1, 1.0 and True are the same level in every file format and
    array type.
    """
    try:
        return _spelling(value)
    except Exception:
        return MISSING


def _spelling(value: Any) -> str:
    if isinstance(value, str):
        return str(value).rstrip("\0")  # arrays of texts are padded so
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").rstrip("\0")
    if isinstance(value, (int, np.integer)) and -_EXACT <= value <= _EXACT:
        return str(int(value))
    if isinstance(value, _NUMBERS):
        number = float(value)
        return MISSING if math.isnan(number) else str(int(number)) if number.is_integer() else repr(number)
    # Whatever marks a missing value (None, NaT, NA) has no spelling; NA has not even a truth value.
    return MISSING if value is None or value != value else str(value)
