"""What the user declares in public about one column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DomainError

Floats = NDArray[np.float64]
Values = Sequence[object] | NDArray[np.generic]


@dataclass(frozen=True)
class Numeric:
    """A number between two declared bounds; values outside are moved to the nearest bound."""

    name: str
    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise DomainError(f"bounds of {self.name!r} must be finite with low < high, got ({self.low}, {self.high})")

    @property
    def centre(self) -> float:
        return (self.low + self.high) / 2

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2

    @property
    def names(self) -> list[str]:
        return [self.name]

    def encode(self, values: Values, centre: float, half_width: float) -> Floats:
        """One row of clipped, centred and scaled numbers; NaN where the value is missing or is no number."""
        clipped = np.clip(as_floats(values), self.low, self.high)
        clipped -= centre
        clipped *= 1 / half_width
        return clipped[np.newaxis]


@dataclass(frozen=True)
class Categorical:
    """One of a declared list of values; the first is the reference level and the others become 0/1 indicators.

    A value that was not declared is treated as missing.
    """

    name: str
    values: tuple[object, ...]

    def __post_init__(self) -> None:
        if len(self.values) < 2 or len({spelling(value) for value in self.values}) != len(self.values):
            raise DomainError(f"column {self.name!r} must declare at least two different values, got {self.values}")

    @property
    def names(self) -> list[str]:
        return [f"{self.name}={value}" for value in self.values[1:]]

    def encode(self, values: Values) -> Floats:
        """One row of indicators per level but the first; NaN in all of them where a value is missing or undeclared."""
        return self.indicators(self.levels(values))

    def levels(self, values: Values) -> NDArray[np.int32]:
        """The position of each value among the declared ones; -1 where it is missing or undeclared."""
        return np.array(levels_of(values, self.values), dtype=np.int32)

    def indicators(self, levels: NDArray[np.int32]) -> Floats:
        """What ``encode`` makes of values at these positions."""
        indicators: Floats = (levels == np.arange(1, len(self.values))[:, np.newaxis]).astype(np.float64)
        indicators[:, levels < 0] = np.nan
        return indicators


Column = Numeric | Categorical


def as_floats(values: Values) -> Floats:
    """The values as float64, with NaN for what is no number: one odd cell must not raise, for that would show it."""
    array = np.asarray(values)
    if array.dtype.kind in "fiub":
        with np.errstate(over="ignore"):
            return array.astype(np.float64, copy=False)
    return np.array([_as_float(value) for value in array], dtype=np.float64)


def _as_float(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except Exception:
        return math.nan


# Values of these types that are equal are also spelt alike, so one may be remembered for the other.
_PLAIN = (str, int, float, bool)


def levels_of(values: Values, declared: Sequence[object]) -> list[int]:
    """The position of each value among the declared ones, -1 for others; each plain value is spelt out once only."""
    positions = {spelling(value): level for level, value in enumerate(declared)}
    seen: dict[tuple[type, object], int] = {}
    levels = []
    for value in values.tolist() if isinstance(values, np.ndarray) else values:
        kind = type(value)
        if kind not in _PLAIN:
            levels.append(positions.get(spelling(value), -1))
            continue
        level = seen.get((kind, value))
        if level is None:
            level = seen[kind, value] = positions.get(spelling(value), -1)
        levels.append(level)
    return levels


def spelling(value: object) -> str:
    """How a value is written, so that 1, 1.0 and True name the same level in every file format.

    A missing value is written as no declared one is: "None" and "nan" may be levels.
    """
    if value is None or (isinstance(value, (float, np.floating)) and math.isnan(value)):
        return "\0missing"
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)
