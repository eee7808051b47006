"""The file engines, with a column of keys read exactly as it is written."""

from __future__ import annotations

from typing import Any

from discreet.engines.arrow import CsvEngine, ParquetEngine
from discreet.engines.arrow_cells import identifiers
from discreet.parties.people import KeyedBlock, spelled_keys


class _Keyed:
    """Puts keys beside the blocks of a file engine."""

    def __init__(self, *args: Any, key: str, state: bytes, **settings: Any) -> None:
        self._key = key
        self._state = state
        super().__init__(*args, **settings)

    @property
    def _read(self) -> list[str]:
        return [*super()._read, self._key]  # type: ignore[misc]

    def _block(self, batch: Any, start: int) -> KeyedBlock:
        block = super()._block(batch, start)  # type: ignore[misc]
        rows = batch.slice(start, block.records)
        return KeyedBlock(block, spelled_keys(identifiers(rows.column(self._key)).to_pylist()), self._state)


class KeyedParquetEngine(_Keyed, ParquetEngine):
    """A Parquet file with keys."""


class KeyedCsvEngine(_Keyed, CsvEngine):
    """A CSV file with keys."""
