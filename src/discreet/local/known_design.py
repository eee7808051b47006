"""The public knowledge about the features that a task file holds: rows, or their second moment."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DomainError
from discreet.fields import matrix, whole
from discreet.local.canonical import sha256_hex

Floats = NDArray[np.float64]

# Encoded features are kept in units of 2^-20 of half their declared range.
_UNIT = 2.0**-20
_LARGEST = 5_000_000  # numbers


@dataclass(frozen=True, eq=False)
class KnownDesign:
    """Either public rows, encoded to [-1, 1] and without the leading 1, or E[(1, x)(1, x)^T] of
    ``count`` rows.
    """

    count: int
    rows: Floats | None = None
    second_moment: Floats | None = None

    @classmethod
    def of_rows(cls, design: Floats) -> KnownDesign:
        """From encoded rows (1, x); evenly spaced ones are used if there are over five million
        numbers.
        """
        most = max(_LARGEST // design.shape[1], 2)
        if len(design) > most:
            design = design[np.linspace(0, len(design) - 1, most).astype(int)]
        whole = np.rint(design[:, 1:] / _UNIT)
        return cls(len(design), rows=whole * _UNIT)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any], features: int) -> KnownDesign:
        kind, count = entry.get("kind"), whole(entry.get("count"), "a design's count")
        if count < 1:
            raise DomainError("a design's count must be >= 1")
        if kind == "rows" and set(entry) == {"kind", "count", "data"}:
            return cls(count, rows=_unpacked(entry["data"], count, features))
        if kind == "moments" and set(entry) == {"kind", "count", "second_moment"}:
            moment = matrix(entry["second_moment"], "second_moment")
            if moment.shape != (features + 1, features + 1):
                raise DomainError(f"a design's second moment must be {features + 1} x {features + 1}")
            return cls(count, second_moment=moment)
        raise DomainError("a design has a kind, a count, and either data (rows) or second_moment (moments)")

    def to_dict(self) -> dict[str, Any]:
        if self.rows is not None:
            packed = np.rint(self.rows / _UNIT).astype("<i4").tobytes()
            return {"kind": "rows", "count": self.count, "data": base64.b64encode(packed).decode("ascii")}
        assert self.second_moment is not None
        return {"kind": "moments", "count": self.count, "second_moment": self.second_moment.tolist()}

    @cached_property
    def digest(self) -> str:
        return sha256_hex(self.to_dict())

    @cached_property
    def moment(self) -> Floats:
        """E[(1, x)(1, x)^T]."""
        if self.rows is None:
            assert self.second_moment is not None
            return self.second_moment
        design = self.encoded
        return design.T @ design / len(design)

    @property
    def encoded(self) -> Floats:
        """Rows (1, x)."""
        assert self.rows is not None
        return np.hstack([np.ones((len(self.rows), 1)), self.rows])


def _unpacked(data: Any, count: int, features: int) -> Floats:
    try:
        packed = base64.b64decode(data, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise DomainError("a design's data must be base64") from None
    # If unused bits could differ from 0, the same rows would have two digests.
    if base64.b64encode(packed) != data.encode("ascii"):
        raise DomainError("a design's data must be canonical base64: unused bits must be 0")
    if len(packed) != 4 * count * features:
        raise DomainError(f"a design of {count} rows and {features} features has {4 * count * features} bytes of data")
    rows = np.frombuffer(packed, dtype="<i4").reshape(count, features) * _UNIT
    if np.abs(rows).max(initial=0.0) > 1:
        raise DomainError("a design's rows must be encoded to [-1, 1]")
    return rows
