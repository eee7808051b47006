"""Exact sums of 64-bit integers, which overflow silently elsewhere."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from discreet.rows import Parts

_BITS = 32
_MASK = 2**_BITS - 1
_WORD = 2**64


class Total:
    """A sum of arrays of one shape, in two limbs of 64 bits worth 2^32 and 1: room for 2^31 arrays
    of any numbers.
    """

    def __init__(self, parts: Parts) -> None:
        if parts.dtype != np.int64:
            raise TypeError(f"an engine adds up 64-bit integers, got {parts.dtype}")
        self._high = parts >> _BITS
        self._low = parts & _MASK

    def __getstate__(self) -> tuple[tuple[int, ...], bytes, bytes]:
        """As bytes: a worker's numpy may have another version than the driver's."""
        return self._high.shape, self._high.astype("<i8").tobytes(), self._low.astype("<i8").tobytes()

    def __setstate__(self, state: tuple[tuple[int, ...], bytes, bytes]) -> None:
        shape, *limbs = state
        self._high, self._low = (np.frombuffer(limb, "<i8").astype(np.int64).reshape(shape) for limb in limbs)

    def add(self, other: Total) -> None:
        self._high += other._high
        self._low += other._low

    @property
    def value(self) -> Parts:
        """The sum: 64-bit integers if all entries fit, and Python's integers otherwise."""
        high, low = self._high + (self._low >> _BITS), self._low & _MASK
        if high.size == 0 or max(-int(high.min()), int(high.max())) < 2**31 - 1:
            return np.asarray((high << _BITS) + low)
        return np.asarray((high.astype(object) << _BITS) + low.astype(object))


@dataclass(frozen=True)
class Seen:
    """How many rows a pass went over, and the sum of their hashes, modulo 2^64: never shown to
    anybody.
    """

    rows: int = 0
    digest: int = 0

    def __add__(self, other: Seen) -> Seen:
        return Seen(self.rows + other.rows, (self.digest + other.digest) % _WORD)


class PassSum:
    """What a pass over some rows found; those of different rows are added up, in any order."""

    def __init__(self, parts: Parts, seen: Seen) -> None:
        self.total = Total(parts)
        self.seen = seen

    def copy(self) -> PassSum:
        """A copy that may be changed: the scheduler may use results of tasks again."""
        return deepcopy(self)

    def add(self, other: PassSum) -> PassSum:
        self.total.add(other.total)
        self.seen = self.seen + other.seen
        return self
