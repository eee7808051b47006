"""CSV files with a header line as batches of bytes.

Types are never guessed from the cells: a guess that a later cell contradicts would have to raise,
and ``01`` may be a code as well as a number.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from discreet.engines.engine import Engine
from discreet.engines.files import CsvFiles
from discreet.engines.layout import Layout, check_names
from discreet.engines.reading import reading
from discreet.engines.stream import Piece, StreamEngine
from discreet.errors import DomainError

_READ_BYTES = 1 << 22


class CsvTable:
    """One or more CSV files with the same header line."""

    ordered = True
    rows_ahead = None

    def __init__(
        self, files: Sequence[Path], written: CsvFiles, *, keep: bool = False, read_bytes: int = _READ_BYTES
    ) -> None:
        self._keep = keep
        self._files = files
        self._sep = written.separator(files[0])
        self._encoding = written.encoding
        self._read_bytes = read_bytes
        self.decimal: str | None = written.decimal
        self.what = str(files[0]) if len(files) == 1 else f"{files[0].parent} ({len(files)} files)"
        self._headers = [self._header(file) for file in files]

    @property
    def names(self) -> list[str]:
        return self._headers[0]

    def engine(self, layout: Layout) -> Engine:
        for file, header in zip(self._files, self._headers, strict=True):
            # Without a header line this would be the first record, so it is not quoted.
            known = f"the first line must name the columns, separated by {self._sep!r}"
            check_names(layout, header, str(file), known)
        return StreamEngine(layout, self, keep=self._keep)

    def count(self) -> int:
        """In a pass of its own."""
        return sum(
            batch.num_rows
            for file, header in zip(self._files, self._headers, strict=True)
            for batch in self._batches(file, header[:1])
        )

    @property
    def size(self) -> int | None:
        """None for compressed files, where progress is not known."""
        plain = all(file.suffix.lower() in (".csv", ".tsv", ".txt") for file in self._files)
        try:
            return sum(file.stat().st_size for file in self._files) if plain else None
        except OSError:
            raise DomainError(f"there is no file {self.what} any more") from None

    def empty(self, columns: Sequence[str]) -> Any:
        return pa.RecordBatch.from_pylist([], pa.schema([(name, pa.binary()) for name in columns]))

    def pieces(self, columns: Sequence[str], batch_rows: int, workers: int) -> Iterator[Piece]:
        first_row = 0
        for file in self._files:
            for batch in self._batches(file, columns):
                yield Piece(first_row, (batch,))
                first_row += batch.num_rows

    @property
    def files(self) -> int:
        """The number of files."""
        return len(self._files)

    def texts(self, file: int, columns: Sequence[str]) -> Any:
        """All rows of one file as a table of bytes, for a worker elsewhere."""
        path = self._files[file]
        batches = reading(str(path), lambda: list(self._batches(path, columns)))
        return pa.Table.from_batches([self.empty(columns), *(batch.select(list(columns)) for batch in batches)])

    def _header(self, path: Path) -> list[str]:
        try:
            return next(self._lines(path), [])
        except (OSError, UnicodeError, csv.Error) as error:
            raise DomainError(f"cannot read the header line of {path}: {type(error).__name__}") from None

    def _lines(self, path: Path) -> Iterator[list[str]]:
        encoding = "utf-8-sig" if self._encoding.lower().replace("_", "-") in ("utf-8", "utf8") else self._encoding
        with pa.input_stream(str(path), compression=_compression(path)) as raw:
            # The first rows, which are read ahead, may hold bytes that are not text: the error must
            # not quote them.
            lines = io.TextIOWrapper(raw, encoding=encoding, errors="surrogateescape", newline="")
            yield from csv.reader(lines, delimiter=self._sep)

    def _batches(self, path: Path, columns: Sequence[str]) -> Iterator[Any]:
        try:
            reader = self._reader(path, columns)
        except pa.ArrowInvalid:
            if len(list(islice(self._lines(path), 2))) == 2:
                raise
            return  # a header line that does not end: to Arrow, an empty file
        with reader:
            yield from reader

    def _reader(self, path: Path, columns: Sequence[str]) -> Any:
        return pa_csv.open_csv(
            pa.input_stream(str(path), compression=_compression(path)),
            read_options=pa_csv.ReadOptions(block_size=self._read_bytes, encoding=self._encoding),
            # A quoted line break would otherwise fail only where it meets the border of two reads.
            parse_options=pa_csv.ParseOptions(delimiter=self._sep, newlines_in_values=True),
            convert_options=pa_csv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(columns, pa.binary()),
                include_columns=columns,
                null_values=[""],
                strings_can_be_null=True,
            ),
        )


def _compression(path: Path) -> str | None:
    """Arrow knows endings in small letters only."""
    return {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}.get(path.suffix.lower())
