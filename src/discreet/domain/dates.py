"""Dates and times without a zone: as numbers of days, and as parts of the calendar.

As in values.py every rule uses one cell at a time, and no cell raises or warns: what is not a date
is missing.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.documents import shown
from discreet.domain.columns import Numeric
from discreet.domain.values import Floats, listed
from discreet.errors import DomainError

_EPOCH = datetime.datetime(1970, 1, 1)
_DAY = 86400.0
_LAST_SECOND = 1 - 1 / _DAY
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
# Parts that are levels, and parts that are numbers.
LEVEL_PARTS: dict[str, tuple[object, ...]] = {
    "month": tuple(range(1, 13)),
    "quarter": (1, 2, 3, 4),
    "weekday": WEEKDAYS,
}
NUMBER_PARTS = ("year", "dayofyear", "days", "hour")


@dataclass(frozen=True)
class Date(Numeric):
    """A date, or a time without a zone, between two declared days. Dates outside are moved to the
    nearest of the two.

    A model sees the number of days since 1970-01-01. In a formula its parts can be named:
    ``year(d)``, ``days(d)`` (since the first day), ``dayofyear(d)`` and ``hour(d)`` are numbers;
    ``month(d)``, ``quarter(d)`` and ``weekday(d)`` have levels.

    Parameters
    ----------
    name : str
        The column.
    low, high : date, or ISO text
        The first and the last day, declared and never taken from the rows.

    Examples
    --------
    >>> from discreet import Date
    >>> Date("admitted", "2015-01-01", "2024-12-31").days
    (datetime.date(2015, 1, 1), datetime.date(2024, 12, 31))
    """

    low: Any
    high: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "high", self._day("high") + _LAST_SECOND)
        object.__setattr__(self, "low", self._day("low"))
        super().__post_init__()

    def _day(self, which: str) -> float:
        value = getattr(self, which)
        found = as_day(value)
        if math.isnan(found):
            said = f"{which} must be a date such as '2020-01-31', got {shown(value)}"
            raise DomainError(f"date column {self.name!r}: {said}")
        return float(math.floor(found))

    @property
    def days(self) -> tuple[datetime.date, datetime.date]:
        """The first and the last day."""
        first, last = ((_EPOCH + datetime.timedelta(days=math.floor(end))).date() for end in (self.low, self.high))
        return first, last


def as_day(value: Any) -> float:
    """One cell as days since 1970-01-01; NaN if it is not a date. ISO texts are read; zones are
    ignored.
    """
    try:
        if isinstance(value, bytes):
            value = value.decode()
        if isinstance(value, str):
            value = datetime.datetime.fromisoformat(value.strip())
        elif isinstance(value, np.datetime64):
            return float(value.astype("datetime64[us]").astype(np.int64)) / (_DAY * 1e6) if value == value else math.nan
        if isinstance(value, datetime.datetime):
            return float((value.replace(tzinfo=None) - _EPOCH).total_seconds()) / _DAY
        if isinstance(value, datetime.date):
            return float((value - _EPOCH.date()).days)
    except Exception:
        return math.nan
    return math.nan


def days_of(values: Any) -> Floats:
    """A column's cells, however it is held, as days since 1970-01-01; numbers are days already."""
    if hasattr(values, "distinct"):  # coded cells: each distinct one is converted once
        return np.asarray(values.map(days_of))
    if hasattr(values, "to_native"):
        return _series_days(values)
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        days = values.astype("datetime64[us]").astype(np.int64) / (_DAY * 1e6)
        return np.where(np.isnat(values), np.nan, days)
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        return values
    return np.array([as_day(value) for value in listed(values)], dtype=np.float64)


def _series_days(series: Any) -> Floats:
    """Days of a frame's column; narwhals is imported here, because devices do not have it."""
    import narwhals as nw

    if series.dtype not in (nw.Date, nw.Datetime):
        return days_of(np.fromiter(series.to_list(), dtype=object, count=len(series)))
    moments = series.cast(nw.Datetime("us")) if series.dtype == nw.Date else series
    stamps = moments.dt.timestamp("us").cast(nw.Float64)
    return np.asarray(stamps.to_numpy(), dtype=np.float64) / (_DAY * 1e6)


def part_numbers(days: Floats, part: str, first: float) -> Floats:
    """A part that is a number; NaN for a missing date."""
    missing = np.isnan(days)
    filled = np.where(missing, 0.0, days)
    day = np.floor(filled)
    found: NDArray[Any]
    if part == "days":
        found = day - first
    elif part == "hour":
        found = np.floor((filled - day) * 24 + 1e-9)
    else:
        date = day.astype("datetime64[D]")
        year = date.astype("datetime64[Y]")
        found = year.astype(np.int64) + 1970.0
        if part == "dayofyear":
            found = (date - year.astype("datetime64[D]")).astype(np.int64) + 1.0
    return np.where(missing, np.nan, found)


def part_levels(days: Floats, part: str) -> NDArray[np.int32]:
    """The place of a part among its levels; -1 for a missing date."""
    missing = np.isnan(days)
    day = np.floor(np.where(missing, 0.0, days))
    if part == "weekday":
        level = (day.astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday
    else:
        month = day.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
        level = month if part == "month" else month // 3
    return np.where(missing, -1, level).astype(np.int32)
