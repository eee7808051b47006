"""From a record to the vector that is randomized: the same bits on devices and in simulations.

A record is encoded to (1, x), mapped by the task's matrix to z, and clipped to h with
|h| <= radius. The vector is

    "cross"      (flag, cross h c / radius)
    "both"       (flag, outer svec(h h^T) / radius^2, cross w h c / radius), w = min(1, radius/|z|)
    "pilot"      (flag, first x / sqrt(p), second x^2 / sqrt(p))   x encoded, not mapped
    "printed"    (outer triu(h h^T) / radius^2, cross h c / radius)   as NLDP prints it
    "predictor"  (z_1 clipped to [0, 1])   NLDP's second round, z_1 = <x, w_ols>

with c in [-1, 1] the label, triu the upper triangle and svec the same with off-diagonal entries
times sqrt(2). The weights' squares add up to at most 1, so the vector lies in the unit ball. A
record with anything missing has the vector 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DomainError
from discreet.fields import matrix, number
from discreet.local.codebook import ordered_sum

Floats = NDArray[np.float64]

KINDS = ("cross", "both", "pilot", "printed", "predictor")
_LARGEST_TRANSFORM = 1e12
_LARGEST_DIMENSION = 10_000
# The squares of weights are decimal fractions whose exact sum is 1; floats round them.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Statistic:
    """Which vector a device computes; ``transform`` and ``radius`` are not used by a pilot."""

    kind: str
    flag: float = 0.0
    outer: float = 0.0
    cross: float = 0.0
    first: float = 0.0
    second: float = 0.0
    radius: float = 1.0
    transform: Floats = field(default_factory=lambda: np.empty((0, 0)))

    def __post_init__(self) -> None:
        transform = np.array(self.transform, dtype=np.float64)
        transform.setflags(write=False)
        object.__setattr__(self, "transform", transform)
        if self.kind not in KINDS:
            raise DomainError(f"a statistic's kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        weights = [getattr(self, name) for name in _WEIGHTS[self.kind]]
        if not all(0 <= weight <= 1 for weight in weights) or math.fsum(w * w for w in weights) > 1 + _ROUNDING:
            raise DomainError("the weights of a statistic must be at least 0, and their squares add up to at most 1")

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Statistic:
        kind = entry.get("kind")
        if not isinstance(kind, str) or kind not in KINDS:
            raise DomainError(f"a statistic's kind must be one of {', '.join(KINDS)}")
        expected = {"kind", *_WEIGHTS[kind]} | (set() if kind == "pilot" else {"radius", "transform"})
        if set(entry) != expected:
            raise DomainError(f"a statistic of kind {kind!r} has the fields {', '.join(sorted(expected))}")
        fields: dict[str, Any] = {name: number(entry[name], name) for name in _WEIGHTS[kind]}
        if kind == "pilot":
            return cls(kind, **fields)
        radius, transform = number(entry["radius"], "radius"), matrix(entry["transform"], "transform")
        return cls(kind, radius=radius, transform=transform, **fields)

    def to_dict(self) -> dict[str, Any]:
        content: dict[str, Any] = {"kind": self.kind, **{name: getattr(self, name) for name in _WEIGHTS[self.kind]}}
        if self.kind != "pilot":
            content |= {"radius": self.radius, "transform": self.transform.tolist()}
        return content

    def check(self, features: int) -> None:
        """Raise unless this fits the number of encoded features."""
        if self.kind != "pilot":
            self._check_transform(features + 1)
        least = 1 if self.kind == "predictor" else 2
        if not least <= self.dimension(features) <= _LARGEST_DIMENSION:
            raise DomainError(f"a report must have {least} to {_LARGEST_DIMENSION:,} numbers")

    def _check_transform(self, columns: int) -> None:
        shape = self.transform.shape
        if len(shape) != 2 or shape[1] != columns or not 1 <= shape[0] <= columns:
            raise DomainError(f"transform must have {columns} columns and at most as many rows")
        if not (np.abs(self.transform) <= _LARGEST_TRANSFORM).all():
            raise DomainError(f"transform must be finite with entries up to {_LARGEST_TRANSFORM:g}")
        if not 1e-6 <= self.radius <= 1e6:
            raise DomainError("radius must lie between 1e-6 and 1e6")

    @property
    def width(self) -> int:
        """The length of h."""
        return len(self.transform)

    def dimension(self, features: int) -> int:
        """The length of the vector."""
        if self.kind == "pilot":
            return 1 + 2 * features
        return self.cross_at + self.width

    @property
    def cross_at(self) -> int:
        """Where the part with the label begins."""
        return int(self.flagged) + (self.width * (self.width + 1) // 2 if self.has_outer else 0)

    @property
    def flagged(self) -> bool:
        """Whether the first entry counts usable records."""
        return self.kind not in ("printed", "predictor")

    @property
    def has_outer(self) -> bool:
        return self.kind in ("both", "printed")

    @cached_property
    def triangle(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """Rows and columns of the upper triangle, row by row, and what its entries are multiplied
        by.
        """
        rows, columns = np.triu_indices(self.width)
        return rows, columns, np.where((rows == columns) | (self.kind == "printed"), 1.0, math.sqrt(2))

    def vectors(self, rows: Floats, labels: Floats) -> Floats:
        """One vector per record, from encoded rows (1, x) and labels c; 0 where anything is
        missing.
        """
        usable = np.isfinite(rows).all(axis=1) & np.isfinite(labels)
        rows, labels = np.where(usable[:, np.newaxis], rows, 0.0), np.where(usable, labels, 0.0)
        if self.kind == "predictor":
            made = np.clip(self.mapped(rows), 0.0, 1.0)
        else:
            made = self._pilot(rows) if self.kind == "pilot" else self._moments(rows, labels)
        made[~usable] = 0.0
        return made

    def mapped(self, rows: Floats) -> Floats:
        """z of encoded rows, each sum in the order of columns."""
        vectors = np.zeros((len(rows), self.width))
        for place in range(rows.shape[1]):
            vectors += rows[:, place, np.newaxis] * self.transform[:, place]
        return vectors

    def shortening(self, vectors: Floats) -> Floats:
        """min(1, radius / |z|)."""
        lengths = np.sqrt(ordered_sum(vectors * vectors))
        return np.where(lengths > self.radius, self.radius / np.maximum(lengths, self.radius), 1.0)

    def _moments(self, rows: Floats, labels: Floats) -> Floats:
        return self.mapped_vectors(self.mapped(rows), labels)

    def mapped_vectors(self, vectors: Floats, labels: Floats) -> Floats:
        """The vectors to be randomized, of z and c."""
        factor = self.shortening(vectors)
        short = vectors * factor[:, np.newaxis] * (1 / self.radius)
        parts = [np.full((len(vectors), 1), self.flag)] if self.flagged else []
        weight = self.cross * labels
        if self.has_outer:
            # Row by row of the triangle: picking single columns takes five times as long.
            products = np.hstack([short[:, i, np.newaxis] * short[:, i:] for i in range(self.width)])
            products *= self.outer * self.triangle[2]
            parts.append(products)
        if self.kind == "both":
            weight = weight * factor
        parts.append(short * weight[:, np.newaxis])
        return np.hstack(parts)

    def _pilot(self, rows: Floats) -> Floats:
        features = rows[:, 1:]
        share = 1 / math.sqrt(features.shape[1])
        flag = np.full((len(rows), 1), self.flag)
        return np.hstack([flag, features * (self.first * share), features * features * (self.second * share)])


_WEIGHTS = {
    "cross": ("flag", "cross"),
    "both": ("flag", "outer", "cross"),
    "pilot": ("flag", "first", "second"),
    "printed": ("outer", "cross"),
    "predictor": (),
}
