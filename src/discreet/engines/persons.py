"""At most so many rows of each person, counted over a whole stream."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray


class RowsPerPerson:
    """Remembers how many rows of each person went by: memory grows with the number of persons, not of rows."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._seen: dict[Hashable, int] = {}

    def used(self, person: NDArray[np.int64], names: Sequence[Hashable]) -> NDArray[np.bool_]:
        """Which of these rows may contribute: ``person`` holds positions in ``names``, in the order of the stream."""
        seen = np.array([self._seen.get(_key(name), 0) for name in names], dtype=np.int64)
        rows = np.bincount(person, minlength=len(names))
        order = np.argsort(person, kind="stable")
        rank = np.empty(len(person), dtype=np.int64)
        rank[order] = np.arange(len(person)) - (np.cumsum(rows) - rows)[person[order]]
        for name, total in zip(names, (seen + rows).tolist(), strict=True):
            self._seen[_key(name)] = total
        return np.asarray(rank + seen[person] < self._limit)


def _key(name: Hashable) -> Hashable:
    """All missing ids are one person: nobody knows whose rows they are, so they must not pass for many."""
    return None if name != name else name
