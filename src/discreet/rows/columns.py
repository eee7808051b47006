"""A table held column by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray


class Columns:
    """Some rows as one array per column, as files store them: stacking them into a table would copy every number."""

    def __init__(self, arrays: Sequence[NDArray[Any]], records: int) -> None:
        self.arrays = arrays
        self._records = records

    def __len__(self) -> int:
        return self._records
