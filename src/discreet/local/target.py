"""The label of a task, and how a device turns it into a number c in [-1, 1]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.domain.columns import Categorical, Numeric
from discreet.domain.values import levels_of
from discreet.errors import DomainError
from discreet.fields import number, text

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Target:
    """A number between ``low`` and ``high``, or a category: 1 for the level ``positive`` and 0 for
    every other.

    c = (y - centre) / scale, cut to [-1, 1].
    """

    name: str
    low: float
    high: float
    centre: float
    scale: float
    values: tuple[str, ...] = ()
    positive: str = ""

    def __post_init__(self) -> None:
        if self.values:
            Categorical(self.name, self.values)
            if self.positive not in self.values:
                raise DomainError(f"the level {self.positive!r} of {self.name!r} must be one of {list(self.values)}")
        else:
            Numeric(self.name, self.low, self.high)
        if not (math.isfinite(self.centre) and math.isfinite(self.scale) and self.scale > 0):
            raise DomainError(f"centre and scale of the target {self.name!r} must be finite, and the scale > 0")

    @classmethod
    def of(cls, column: Numeric | Categorical, positive: object = None) -> Target:
        """The target of a declared column; of a category with two levels the second counts as 1."""
        from discreet.local.columns import spelt

        if isinstance(column, Numeric):
            if positive is not None:
                raise DomainError(f"positive= is for a category; {column.name!r} is a number")
            return cls(column.name, float(column.low), float(column.high), column.centre, column.half_width)
        values = tuple(spelt(value) for value in column.values)
        if positive is None and len(values) > 2:
            raise DomainError(
                f"the target {column.name!r} has {len(values)} levels: say with positive= which one counts as 1"
            )
        level = values[1] if positive is None else spelt(positive)
        return cls(column.name, 0.0, 1.0, 0.5, 0.5, values, level)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Target:
        if set(entry) == {"name", "low", "high", "centre", "scale"}:
            numbers: dict[str, Any] = {key: number(entry[key], key) for key in ("low", "high", "centre", "scale")}
            return cls(text(entry["name"], "a target's name"), **numbers)
        if set(entry) == {"name", "values", "positive"} and entry["values"]:
            if not isinstance(entry["values"], list):
                raise DomainError("a target's values must be a list")
            values = tuple(text(value, "a target's level") for value in entry["values"])
            name, positive = text(entry["name"], "a target's name"), text(entry["positive"], "positive")
            return cls(name, 0.0, 1.0, 0.5, 0.5, values, positive)
        raise DomainError("a target has a name and either low, high, centre and scale, or values and positive")

    def to_dict(self) -> dict[str, Any]:
        if self.values:
            return {"name": self.name, "values": list(self.values), "positive": self.positive}
        return {key: getattr(self, key) for key in ("name", "low", "high", "centre", "scale")}

    @property
    def half_range(self) -> float:
        """Half of the declared range."""
        return (self.high - self.low) / 2

    @property
    def two_valued(self) -> bool:
        """Whether labels are 0 or 1, as a logistic model needs."""
        return (self.low, self.high) == (0.0, 1.0)

    def encode(self, values: Any) -> Floats:
        """Labels in their own units; NaN where one is missing, malformed or undeclared."""
        if not self.values:
            return np.asarray(Numeric(self.name, self.low, self.high).encode(values, 0.0, 1.0)[0])
        levels = np.array(levels_of(values, self.values))
        return np.where(levels < 0, np.nan, (levels == self.values.index(self.positive)).astype(np.float64))

    def scaled(self, labels: Floats) -> Floats:
        """c of encoded labels."""
        return np.clip((labels - self.centre) * (1 / self.scale), -1.0, 1.0)
