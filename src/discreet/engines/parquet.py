"""Parquet files as batches; workers read different row groups."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.engines.arrow_cells import check_schema, plain_type
from discreet.engines.engine import Engine
from discreet.engines.layout import Layout
from discreet.engines.reading import reading
from discreet.engines.stream import Piece, StreamEngine
from discreet.errors import DomainError

# Bytes read ahead in each column. Left to itself Arrow holds whole row groups, and reads all of a
# file beforehand.
_READ_BUFFER = 1 << 16


class ParquetTable:
    """One or more Parquet files with the same columns."""

    decimal: str | None = None
    ordered = True

    def __init__(self, files: Sequence[Path], *, keep: bool = False) -> None:
        self._keep = keep
        self._files = files
        self.what = str(files[0]) if len(files) == 1 else f"{files[0].parent} ({len(files)} files)"
        self._metadata = [reading(str(file), partial(pq.read_metadata, file)) for file in files]
        self._states = [_state(file) for file in files]
        self._schemas = [metadata.schema.to_arrow_schema() for metadata in self._metadata]

    @property
    def names(self) -> list[str]:
        return list(self._schemas[0].names)

    @property
    def types(self) -> dict[str, str]:
        return {field.name: str(field.type) for field in self._schemas[0]}

    def engine(self, layout: Layout) -> Engine:
        for file, schema in zip(self._files, self._schemas, strict=True):
            check_schema(layout, schema, str(file))
        return StreamEngine(layout, self, keep=self._keep)

    def check_alike(self, layout: Layout, reader: str) -> None:
        """A DomainError if files hold a column in different types, for readers that fail at such
        ones.
        """
        for name in layout.read:
            types = [plain_type(schema.field(name).type) for schema in self._schemas]
            for file, kind in zip(self._files, types, strict=True):
                if kind != types[0]:
                    called = f"column {layout.called(name)} has the type {types[0]} in {self._files[0]}"
                    raise DomainError(
                        f"{called} and {kind} in {file}: {reader} reads files of one type only; write them "
                        "alike, or let another engine read them"
                    )

    def count(self) -> int:
        return sum(int(metadata.num_rows) for metadata in self._metadata)

    @property
    def rows_ahead(self) -> int:
        return self.count()

    @property
    def size(self) -> int:
        try:
            return sum(file.stat().st_size for file in self._files)
        except OSError:
            raise DomainError(f"there is no file {self.what} any more") from None

    def empty(self, columns: Sequence[str]) -> Any:
        return pa.RecordBatch.from_pylist([], pa.schema([self._schemas[0].field(name) for name in columns]))

    def pieces(self, columns: Sequence[str], batch_rows: int, workers: int) -> Iterator[Piece]:
        groups = sum(metadata.num_row_groups for metadata in self._metadata)
        first_row = 0
        for file, metadata, state in zip(self._files, self._metadata, self._states, strict=True):
            # A file that was rewritten has another layout: the check of the rows must notice that.
            known = metadata if _state(file) == state else None
            if groups < 2 * workers:
                # Too few row groups for all workers: all threads decode the columns of one file.
                yield from _one_by_one(first_row, _batches(file, known, None, columns, batch_rows, threads=True))
                first_row += metadata.num_rows
                continue
            for group in range(metadata.num_row_groups):
                _prefetch(file, metadata.row_group(group), columns)
                yield Piece(first_row, _batches(file, known, [group], columns, batch_rows, threads=False))
                first_row += metadata.row_group(group).num_rows


def _prefetch(path: Path, group: Any, columns: Sequence[str]) -> None:
    """Have the system read a row group from disk while the ones before it are summed; where it
    cannot, nothing happens.

    Decoding ahead, by threads of our own, would take memory and, with all cores at work, save no
    time. A column whose first byte is in the system's memory is taken to be there: asking for all
    of it would take some time nevertheless.
    """
    if not hasattr(os, "posix_fadvise"):
        return
    with suppress(OSError), path.open("rb") as file:
        for chunk in (group.column(position) for position in range(group.num_columns)):
            if chunk.path_in_schema.split(".")[0] in columns:
                start = chunk.dictionary_page_offset or chunk.data_page_offset
                if not _in_memory(file.fileno(), start):
                    os.posix_fadvise(file.fileno(), start, chunk.total_compressed_size, os.POSIX_FADV_WILLNEED)


def _in_memory(file: int, place: int) -> bool:
    """Whether the system can give a byte of a file without reading it from disk."""
    if not hasattr(os, "preadv") or not hasattr(os, "RWF_NOWAIT"):
        return False
    try:
        return os.preadv(file, [bytearray(1)], place, os.RWF_NOWAIT) == 1
    except OSError:  # it would have to wait, or cannot tell
        return False


def _one_by_one(first_row: int, batches: Iterator[Any]) -> Iterator[Piece]:
    for batch in batches:
        yield Piece(first_row, (batch,))
        first_row += batch.num_rows


def _batches(
    path: Path, metadata: Any, groups: list[int] | None, columns: Sequence[str], rows: int, *, threads: bool
) -> Iterator[Any]:
    with pq.ParquetFile(path, metadata=metadata, buffer_size=_READ_BUFFER, pre_buffer=False) as file:
        there = range(file.metadata.num_row_groups)
        wanted = list(there) if groups is None else [group for group in groups if group in there]
        yield from file.iter_batches(rows, row_groups=wanted, columns=list(columns), use_threads=threads)


def _state(file: Path) -> tuple[int, int, int]:
    status = file.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns
