"""Person ids as texts, the same from every type and file format.

A row without an id is not used. If all such rows were one person, removing one would let the next
one in, and two people would change the sum.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Texts that mean a missing value, after pandas and R; such an id counts as missing everywhere.
MISSING_WORDS = ("NA", "N/A", "nan", "NaN", "null", "NULL", "None", ".", "<NA>", "NaT")
_NO_ID = {"", *MISSING_WORDS}
_NEGATIVE_ZERO = re.compile(r"-(0+\.?0*|\.0+)")


def person_key(value: Any) -> str | None:
    """An id as text, the same from every type and file format; None for a missing one. No id
    raises.

    Numbers are compared exactly and by value: 1, 1.0 and True are one id, and so are 0.0 and -0.0.
    Zero bytes at the end of a text pad it and do not count, as in numpy's arrays and columns of a
    fixed width.
    """
    try:
        return _key(value)
    except Exception:
        return None


def _key(value: Any) -> str | None:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "surrogateescape")
    if isinstance(value, str):
        text = str(value).rstrip("\0")
        if text.strip() in _NO_ID:
            return None
        return text[1:] if text[0] == "-" and _NEGATIVE_ZERO.fullmatch(text) else text
    if isinstance(value, (int, np.integer, np.bool_)) and not isinstance(value, np.timedelta64):
        return _whole(int(value))
    if isinstance(value, Real):
        return _fraction(value)
    if isinstance(value, Decimal):
        return _decimal(value)
    # Whatever marks a missing value (None, NaT, NA) differs from itself or has no truth value.
    return None if value is None or value != value else str(value)


def _whole(value: int) -> str:
    return str(value) if value.bit_length() < 10_000 else hex(value)  # Python refuses to write out longer ones


def _fraction(value: Real) -> str | None:
    number = float(value)
    if math.isnan(number):
        return None
    if number != value:  # more digits than a float has
        return str(value)
    return _whole(int(number)) if number.is_integer() else repr(number)


def _decimal(value: Decimal) -> str | None:
    if value.is_nan():
        return None
    if abs(value.adjusted()) > 1000 or not value.is_finite():
        return str(value)
    text = f"{value:f}"
    return _key(text.rstrip("0").rstrip(".") if "." in text else text)


def person_codes(ids: Any) -> tuple[NDArray[np.int64], list[str]]:
    """Which of the different persons each row belongs to, or -1 for nobody, and how these are
    spelt.
    """
    array = np.asarray(ids)
    if array.dtype.kind in "fiub":
        distinct, places = np.unique(array, return_inverse=True)
        return _codes([person_key(value) for value in distinct.tolist()], places)
    values = list(array) if array.dtype.kind in "mM" else array.tolist()
    return _codes([person_key(value) for value in values], np.arange(len(values)))


def _codes(keys: list[str | None], places: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], list[str]]:
    positions: dict[str, int] = {}
    codes = [-1 if key is None else positions.setdefault(key, len(positions)) for key in keys]
    return np.array(codes, dtype=np.int64)[places], list(positions)
