"""Spark frames, classic and Connect: each partition returns one exact sum, and the driver adds
them.

Only ``mapInArrow`` is used: Connect has no RDDs, and accumulators count a retried task twice. A
task that is run again, after a lost executor or speculatively, returns its row again, and Spark
keeps one.
"""

from __future__ import annotations

import os
import pickle
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import pyarrow as pa

from discreet.domain import Kind
from discreet.engines.arrow_cells import batch_cells, one_batch
from discreet.engines.changes import SameRows
from discreet.engines.engine import Engine, Function
from discreet.engines.frame_cells import buckets, chunks_of, sum_chunks, used_rows
from discreet.engines.layout import Layout, check_kinds, check_names
from discreet.engines.progress import Progress
from discreet.engines.reading import reading
from discreet.engines.total import PassSum
from discreet.errors import DomainError
from discreet.rows import Parts, Residues

_WHY = "a task failed; Spark's own log says why"
_BUCKET = "discreet: who"
_NUMBERS = ("byte", "short", "integer", "long", "float", "double", "decimal")
_TEXTS = ("string", "char", "varchar", "binary")


class SparkTable:
    """A Spark DataFrame; ``decimal``: all its columns are texts, as read from CSV files with this
    decimal point.
    """

    def __init__(self, frame: Any, decimal: str | None = None) -> None:
        self._frame = frame
        self._decimal = decimal

    @property
    def names(self) -> list[str]:
        return list(self._frame.columns)

    def engine(self, layout: Layout) -> Engine:
        check_names(layout, self.names, "the Spark frame")
        frame = self._frame.select(*(_quoted(name) for name in layout.read))
        if self._decimal is None:
            types = {field.name: field.dataType for field in frame.schema.fields}
            check_kinds(layout, {name: (_kind(types[name]), types[name].simpleString()) for name in layout.read})
        use_this_python(frame.sparkSession)
        return SparkEngine(layout, frame, self._decimal)


def frame_of_csv(session: Any, table: Any, columns: Sequence[str]) -> Any:
    """The rows of CSV files as bytes, a task for each file: read on the workers by the reader of
    streams.

    Spark would drop the last cells of lines that are too long, and fill lines that are too short.
    """
    use_this_python(session)
    files = session.range(0, table.files, 1, table.files)
    return files.mapInArrow(partial(_texts, table, columns), ", ".join(f"{_quoted(name)} binary" for name in columns))


class SparkEngine:
    """Sums over the partitions of a Spark frame."""

    ordered = False

    def __init__(self, layout: Layout, frame: Any, decimal: str | None = None) -> None:
        self._layout = layout
        self._frame = frame
        self._decimal = decimal
        self._same = SameRows()
        self._passes = 0

    @property
    def types(self) -> dict[str, str]:
        """The columns that are read and the names of their types."""
        return {field.name: field.dataType.simpleString() for field in self._frame.schema.fields}

    @cached_property
    def rows(self) -> int:
        rows = int(reading("the Spark frame", self._frame.count, _WHY))
        self._same.count(rows)
        return rows

    def sum_rows(self, function: Function, part: Residues | None = None) -> Parts:
        """The exact sum of the function over all rows."""
        if part is not None:
            raise DomainError("rows of a Spark frame have no positions")
        self._passes += 1
        progress = Progress(self._passes, None)
        total = sum_chunks(function, chunks_of(self._layout, batch_cells(self._layout, self._empty, self._decimal)))
        summing = partial(_partition_sum, self._layout, function, self._decimal)
        for sum_of_partition in reading("the Spark frame", partial(self._collect, summing), _WHY):
            total.add(sum_of_partition)
        self._same.check(total.seen)
        progress.end()
        return total.total.value

    def _collect(self, summing: Callable[[Iterator[Any]], Iterator[Any]]) -> list[PassSum]:
        found = self._rows_of_persons.mapInArrow(summing, "total binary").collect()
        return [pickle.loads(row["total"]) for row in found]

    @cached_property
    def _rows_of_persons(self) -> Any:
        """All rows; with persons, the rows that each may use, shuffled together and cached until
        the fit ends.
        """
        if self._layout.groups is None:
            return self._frame
        # Each batch passes on the rows that its persons could use.
        schema = f"{_struct(self._frame)}, `{_BUCKET}` bigint"
        mine = self._frame.mapInArrow(partial(_candidates, self._layout, self._decimal), schema)
        together = mine.repartition(_quoted_column(mine, _BUCKET)).persist()
        weakref.finalize(self, together.unpersist)
        return together

    @cached_property
    def _empty(self) -> Any:
        """A batch of no rows."""
        types = {name: pa.binary() for name in self._layout.read}
        if self._decimal is None:
            types = {
                field.name: pa.string() if _kind(field.dataType) == "text" else pa.float64()
                for field in self._frame.schema.fields
            }
        return pa.RecordBatch.from_pylist([], pa.schema(list(types.items())))


def _partition_sum(layout: Layout, function: Function, decimal: str | None, batches: Iterator[Any]) -> Iterator[Any]:
    """One row with the sum over a partition, or none if it is empty."""
    total: PassSum | None = None
    if layout.groups is not None:
        batches = _at_once(batches)
    for batch in batches:
        given = batch_cells(layout, batch, decimal)
        found = sum_chunks(function, chunks_of(layout, given, used_rows(layout, given)))
        total = found if total is None else total.add(found)
    if total is not None:
        yield pa.RecordBatch.from_pydict({"total": pa.array([pickle.dumps(total, protocol=5)], pa.binary())})


def _at_once(batches: Iterator[Any]) -> Iterator[Any]:
    """A partition's rows in one batch: all rows of its persons are then seen together."""
    read = list(batches)
    if read:
        yield one_batch(pa.Table.from_batches(read))


def _candidates(layout: Layout, decimal: str | None, batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        given = batch_cells(layout, batch, decimal)
        used = used_rows(layout, given)
        assert used is not None
        where = pa.array(buckets(given, used))
        yield pa.RecordBatch.from_arrays([*batch.filter(pa.array(used)).columns, where], [*batch.schema.names, _BUCKET])


def _texts(table: Any, columns: Sequence[str], batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        for file in batch.column(0).to_pylist():
            yield from table.texts(file, columns).to_batches()


def use_this_python(session: Any) -> None:
    """Let workers on this machine use this Python interpreter: by default they use the first on the
    PATH.
    """
    if "PYSPARK_PYTHON" in os.environ:
        return
    if not _is_connect(session):
        context = session.sparkContext
        if context.master.startswith("local") and context.getConf().get("spark.pyspark.python") is None:
            context.pythonExec = sys.executable
        return
    try:
        if session.conf.get("spark.master").startswith("local"):
            session.conf.set("spark.sql.execution.pyspark.python", sys.executable)
    except Exception:  # a server that does not report where it runs
        return


def _is_connect(session: Any) -> bool:
    return ".connect." in type(session).__module__


def _kind(spark_type: Any) -> Kind:
    name = spark_type.typeName()
    if name == "boolean":
        return "truth"
    if name == "void":
        return "objects"
    if name in ("date", "timestamp_ntz"):
        return "date"
    return "number" if name in _NUMBERS else "text" if name in _TEXTS else "other"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _quoted_column(frame: Any, name: str) -> Any:
    return frame[_quoted(name)]


def _struct(frame: Any) -> str:
    return ", ".join(f"{_quoted(field.name)} {field.dataType.simpleString()}" for field in frame.schema.fields)
