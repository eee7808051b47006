"""Tables of other libraries that give their rows as Arrow streams: datasets, lazy frames, queries
of databases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pa_dataset

from discreet.engines.arrow_cells import check_schema
from discreet.engines.engine import Engine
from discreet.engines.layout import Layout
from discreet.engines.reading import reading
from discreet.engines.stream import Piece, StreamEngine
from discreet.errors import DomainError

# From columns and a number of rows to the batches of a new reading.
Opener = Callable[[Sequence[str], int], Iterator[Any]]


class ArrowTable:
    """A table that can be opened repeatedly as a stream of batches."""

    decimal: str | None = None
    size: int | None = None

    def __init__(
        self,
        what: str,
        schema: Any,
        opener: Opener,
        *,
        count: Callable[[], int] | None = None,
        ordered: bool = False,
    ) -> None:
        self.what = what
        self.ordered = ordered
        self._schema = schema
        self._opener = opener
        self._count = count

    @property
    def names(self) -> list[str]:
        return list(self._schema.names)

    @property
    def types(self) -> dict[str, str]:
        return {field.name: str(field.type) for field in self._schema}

    @property
    def rows_ahead(self) -> int | None:
        return None

    def engine(self, layout: Layout) -> Engine:
        check_schema(layout, self._schema, self.what)
        return StreamEngine(layout, self)

    def count(self) -> int:
        if self._count is not None:
            return int(self._count())
        return sum(batch.num_rows for batch in self._opener(self.names[:1], 1 << 16))

    def empty(self, columns: Sequence[str]) -> Any:
        return pa.RecordBatch.from_pylist([], pa.schema([self._schema.field(name) for name in columns]))

    def pieces(self, columns: Sequence[str], batch_rows: int, workers: int) -> Iterator[Piece]:
        first_row = 0
        for batch in self._opener(columns, batch_rows):
            yield Piece(first_row, (batch,))
            first_row += batch.num_rows


def from_pyarrow(table: Any) -> Any:
    """A pyarrow dataset or scanner's source; tables in memory are frames."""
    if isinstance(table, pa_dataset.Dataset):
        return ArrowTable(
            "the dataset",
            table.schema,
            # Readahead is bounded: by default Arrow holds whole files in memory.
            lambda columns, rows: table.to_batches(
                columns=list(columns), batch_size=rows, batch_readahead=2, fragment_readahead=1
            ),
            count=table.count_rows,
            ordered=True,
        )
    if isinstance(table, (pa.RecordBatchReader, pa_dataset.Scanner)):
        raise DomainError(
            f"a {type(table).__name__} can be read once only, and a fit makes several passes: give the table, dataset "
            "or query that it was made of"
        )
    return None


def from_polars(frame: Any) -> ArrowTable:
    """A lazy frame, which polars computes in batches; its order of rows is not kept."""
    import polars as pl
    import polars.selectors as cs

    schema = reading("the lazy frame", lambda: frame.head(0).collect().to_arrow()).schema

    def open_frame(columns: Sequence[str], rows: int) -> Iterator[Any]:
        chosen = frame.select(cs.by_name(*columns))  # pl.col would take ^...$ for a pattern
        for batch in chosen.collect_batches(chunk_size=rows, maintain_order=False):
            yield from batch.to_arrow().to_batches()

    return ArrowTable("the lazy frame", schema, open_frame, count=lambda: frame.select(pl.len()).collect().item())


def from_duckdb(relation: Any) -> ArrowTable:
    """A relation, which DuckDB runs again for every pass."""
    schema = reading("the relation", lambda: _reader(relation.limit(0), 1).schema)

    def open_relation(columns: Sequence[str], rows: int) -> Iterator[Any]:
        yield from _reader(relation.project(", ".join(map(_quoted, columns))), rows)

    return ArrowTable("the relation", schema, open_relation, count=lambda: relation.aggregate("count(*)").fetchone()[0])


def _reader(relation: Any, rows: int) -> Any:
    """The method's name depends on DuckDB's version."""
    return (getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch)(rows)


def _quoted(name: str) -> str:
    """A column in SQL; an expression of DuckDB's would take a point in it for that of a table."""
    return '"' + name.replace('"', '""') + '"'


def from_ibis(table: Any) -> ArrowTable:
    """An Ibis table, which its backend runs again for every pass."""
    schema = table.schema().to_pyarrow()

    def open_table(columns: Sequence[str], rows: int) -> Iterator[Any]:
        yield from table.select(*columns).to_pyarrow_batches(chunk_size=rows)

    return ArrowTable("the Ibis table", schema, open_table, count=lambda: table.count().execute())


def from_stream(table: Any) -> ArrowTable:
    """Anything with ``__arrow_c_stream__`` that gives a new stream each time it is asked."""
    what = f"the {type(table).__name__}"

    def open_stream(columns: Sequence[str], rows: int) -> Iterator[Any]:
        with pa.RecordBatchReader.from_stream(table) as reader:
            for batch in reader:
                for start in range(0, batch.num_rows, rows):
                    yield batch.select(list(columns)).slice(start, rows)

    with reading(what, lambda: pa.RecordBatchReader.from_stream(table)) as reader:
        schema = reader.schema
    return ArrowTable(what, schema, open_stream)
