"""Rows in a Parquet or CSV file, summed as they stream by: memory does not grow with the number of rows.

A small file is kept in memory after its first reading, as far as sums over all rows need it (kept.py).
"""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.kept import KeptBlocks
from discreet.engines.memory import BLOCK_ROWS, MANY_ROWS, Function, available_cores, sum_in_threads
from discreet.engines.persons import RowsPerPerson
from discreet.errors import DiscreetError, DomainError
from discreet.rows import Columns, Residues, compile_kernels

try:
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pa_parquet

    from discreet.engines.arrow_cells import check_type, identifiers, parsed, plain
except ImportError as error:
    raise DiscreetError('reading files needs pyarrow: pip install "discreet[arrow]"') from error

# Large enough that reading a batch costs little beyond its bytes, small enough to stay in a shared cache.
BATCH_ROWS = 65536
# Larger than in memory: columns come from Arrow in pieces of their own, and each piece costs a call.
FILE_BLOCK_ROWS = 2 * BLOCK_ROWS
# Bytes read ahead in each column. Left to itself Arrow holds whole row groups, and reads all of a file beforehand.
_READ_BUFFER = 1 << 16


@dataclass(frozen=True)
class Piece:
    """Consecutive rows of a file for one worker: where they start, and which of them may contribute (None: all)."""

    first_row: int
    batches: Iterable[Any]
    used: NDArray[np.bool_] | None = None


class _FileEngine(ABC):
    """What both formats share: which columns, in what order, and how batches become blocks.

    ``groups`` names a column of person ids; the first ``rows_per_person`` rows of each person are used. The ids seen so
    far are kept, so memory then grows with the number of persons.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        encode: Callable[[Any, Any], Any],
        columns: Sequence[str],
        target: str | None = None,
        *,
        groups: str | None = None,
        rows_per_person: int = 1,
        batch_rows: int = BATCH_ROWS,
        block_rows: int = FILE_BLOCK_ROWS,
        workers: int | None = None,
    ) -> None:
        self._path = Path(path)
        self._encode = encode
        self._columns = list(columns)
        self._target = target
        self._groups = groups
        self._rows_per_person = rows_per_person
        self._batch_rows = batch_rows
        self._block_rows = block_rows
        self._workers = workers or available_cores()
        self._kept: KeptBlocks | None = None
        if not self._path.is_file():
            raise DomainError(f"there is no file {self._path}")
        self._check_columns()

    @property
    def _read(self) -> list[str]:
        """The columns to read, each once."""
        return list(dict.fromkeys(name for name in [*self._columns, self._target, self._groups] if name is not None))

    def _check_names(self, present: Sequence[str]) -> None:
        for name in self._read:
            if name not in present:
                raise DomainError(f"{self._path} has no column {name!r}; it has {', '.join(map(str, present))}")
            if list(present).count(name) > 1:
                raise DomainError(f"{self._path} has more than one column {name!r}")

    @abstractmethod
    def _check_columns(self) -> None:
        """Refuse, by names and types alone, a file without the columns."""

    @abstractmethod
    def _pieces(self) -> Iterator[Piece]:
        """All rows of the file."""

    @abstractmethod
    def _cells(self, batch: Any, name: str) -> Any:
        """A column as a float64 array or as text."""

    @property
    @abstractmethod
    def _empty(self) -> Any:
        """A batch of no rows."""

    def sum_rows(self, function: Function, every: int = 1, part: Residues | None = None) -> NDArray[np.int64]:
        """The sum of the function over all (or every so many) rows; the bits are those of any other engine.

        ``part``: only over these rows; the file is read to its end all the same.
        """
        if part is not None and every != 1:
            raise ValueError("a part of the rows is summed whole")
        part = part if part is not None or every == 1 else Residues(every, 0, 1)
        if part is None and self._kept is not None:
            return sum_in_threads(lambda kept: function(*kept), iter(self._kept), self._workers)
        keeping = KeptBlocks(self._reading(lambda: self._path.stat().st_size))

        def of_piece(piece: Piece) -> NDArray[np.int64]:
            total: NDArray[np.int64] | None = None
            position = piece.first_row
            for batch in piece.batches:
                used, thinned = piece.used, batch
                if part is not None:
                    chosen = part.positions(len(batch), position)
                    used, thinned = None if used is None else used[chosen], batch.take(chosen)
                position += len(batch)
                for start in range(0, len(thinned), self._block_rows):
                    mask = None if used is None else used[start : start + self._block_rows]
                    block = self._block(thinned, start)
                    keeping.add(block, mask, thinned.slice(start, self._block_rows).nbytes)
                    added = function(block, mask)
                    total = added if total is None else np.add(total, added, out=total)
            if total is None:  # of no rows, an empty block gives the sum its shape
                empty = self._block(self._empty, 0)
                keeping.add(empty, None, 0)
                total = function(empty, None)
            return total

        pieces = _with_a_first(Piece(0, ()), self._pieces())
        total: NDArray[np.int64] = self._reading(lambda: sum_in_threads(of_piece, pieces, self._workers))
        if part is None and keeping.complete:
            self._kept = keeping
        return total

    def _block(self, batch: Any, start: int) -> Any:
        rows = batch.slice(start, self._block_rows)
        y = None if self._target is None else _as_array(self._cells(rows, self._target))
        return self._encode(Columns([_as_array(self._cells(rows, name)) for name in self._columns], len(rows)), y)

    def _counted(self, batches: Iterable[Any]) -> Iterator[Piece]:
        """One piece per batch, with the persons' rows counted in the order of the file, before workers share them."""
        persons = RowsPerPerson(self._rows_per_person)
        first_row = 0
        for batch in batches:
            used = None if self._groups is None else _used(persons, batch.column(self._groups))
            yield Piece(first_row, [batch], used)
            first_row += len(batch)
            if first_row >= MANY_ROWS:
                compile_kernels()

    def _reading(self, action: Callable[[], Any]) -> Any:
        """What the action returns; Arrow's own messages quote cells, so they go no further."""
        try:
            return action()
        except (pa.ArrowException, OSError) as error:
            kind = type(error).__name__
        # Raised after the handler, so that the message with the cells is not kept as this error's context.
        raise DomainError(f"cannot read {self._path} to its end: it is damaged, or its lines differ in length ({kind})")


class ParquetEngine(_FileEngine):
    """Sums over a Parquet file; workers read different row groups."""

    @cached_property
    def _metadata(self) -> Any:
        return self._reading(lambda: pa_parquet.read_metadata(self._path))

    @cached_property
    def _schema(self) -> Any:
        return self._metadata.schema.to_arrow_schema()

    @property
    def rows(self) -> int:
        return int(self._metadata.num_rows)

    def _check_columns(self) -> None:
        self._check_names(self._schema.names)
        for name in self._read:
            check_type(name, self._schema.field(name).type)

    @cached_property
    def _empty(self) -> Any:
        return pa.RecordBatch.from_pylist([], pa.schema([self._schema.field(name) for name in self._read]))

    def _pieces(self) -> Iterator[Piece]:
        if self.rows >= MANY_ROWS:
            compile_kernels()
        groups = self._metadata.num_row_groups
        if self._groups is not None or groups < 2 * self._workers:
            yield from self._counted(self._batches(range(groups), use_threads=True))
            return
        first_row = 0
        for group in range(groups):
            # One thread decodes and sums a row group: its batches then stay in one core's cache.
            yield Piece(first_row, self._batches([group], use_threads=False))
            first_row += self._metadata.row_group(group).num_rows

    def _batches(self, row_groups: Sequence[int], *, use_threads: bool) -> Iterator[Any]:
        file = pa_parquet.ParquetFile(self._path, metadata=self._metadata, buffer_size=_READ_BUFFER, pre_buffer=False)
        with file:
            yield from file.iter_batches(
                self._batch_rows, row_groups=row_groups, columns=self._read, use_threads=use_threads
            )

    def _cells(self, batch: Any, name: str) -> Any:
        return plain(batch.column(name))


class CsvEngine(_FileEngine):
    """Sums over a CSV file with a header line and commas.

    All columns are read as numbers, except ``texts``. Types are never guessed from the cells: a guess that a later
    cell contradicts would have to raise, and ``01`` may be a code as well as a number.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        encode: Callable[[Any, Any], Any],
        columns: Sequence[str],
        target: str | None = None,
        *,
        texts: Collection[str] = (),
        groups: str | None = None,
        rows_per_person: int = 1,
        block_rows: int = FILE_BLOCK_ROWS,
        workers: int | None = None,
        read_bytes: int = 1 << 22,
    ) -> None:
        self._texts = frozenset(texts)
        self._read_bytes = read_bytes
        super().__init__(
            path,
            encode,
            columns,
            target,
            groups=groups,
            rows_per_person=rows_per_person,
            block_rows=block_rows,
            workers=workers,
        )

    @cached_property
    def rows(self) -> int:
        """Counted in a pass of its own: asked for only where the number of rows is public."""
        return int(self._reading(lambda: sum(len(batch) for batch in self._batches(self._read[:1]))))

    def _check_columns(self) -> None:
        try:
            with self._path.open(encoding="utf-8-sig", newline="") as lines:
                header = next(csv.reader(lines), [])
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise DomainError(f"cannot read the header line of {self._path}: {type(error).__name__}") from None
        self._check_names(header)

    @cached_property
    def _empty(self) -> Any:
        return pa.RecordBatch.from_pylist([], pa.schema([(name, pa.binary()) for name in self._read]))

    def _pieces(self) -> Iterator[Piece]:
        yield from self._counted(self._batches(self._read))

    def _batches(self, columns: Sequence[str]) -> Iterator[Any]:
        with pa_csv.open_csv(
            self._path,
            read_options=pa_csv.ReadOptions(block_size=self._read_bytes),
            # A quoted line break would otherwise fail only where it meets the border of two reads.
            parse_options=pa_csv.ParseOptions(newlines_in_values=True),
            convert_options=pa_csv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(columns, pa.binary()),
                include_columns=columns,
                null_values=[""],
                strings_can_be_null=True,
            ),
        ) as reader:
            yield from reader

    def _cells(self, batch: Any, name: str) -> Any:
        column = batch.column(name)
        return plain(column) if name in self._texts else parsed(column)


def _with_a_first(first: Piece, others: Iterator[Piece]) -> Iterator[Piece]:
    yield first
    yield from others


def _as_array(cells: Any) -> NDArray[Any]:
    return cells if isinstance(cells, np.ndarray) else np.array(cells.to_pylist(), dtype=object)


def _used(persons: RowsPerPerson, ids: Any) -> NDArray[np.bool_]:
    encoded = identifiers(ids).dictionary_encode(null_encoding="encode")
    return persons.used(encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist())
