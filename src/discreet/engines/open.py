"""Chooses the engine for a table: one line for each kind of table."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from os import PathLike
from typing import Any, Protocol

from discreet.engines.engine import Engine
from discreet.engines.files import CsvFiles, files_of
from discreet.engines.layout import Layout
from discreet.engines.memory import Arrays
from discreet.errors import DiscreetError, DomainError


class Table(Protocol):
    """A recognised table, of which no row has been read."""

    @property
    def names(self) -> list[str]:
        """Its columns."""
        ...

    def engine(self, layout: Layout) -> Engine:
        """The engine that sums over it; a DomainError, by names and types alone, if it lacks a
        column.
        """
        ...


# The library that a table comes from, the class, the module that opens it, and the function there.
# First match wins.
_KINDS = (
    ("pyarrow", "Dataset", "arrow_streams", "from_pyarrow"),
    ("pyarrow", "RecordBatchReader", "arrow_streams", "from_pyarrow"),
    ("pyarrow", "Scanner", "arrow_streams", "from_pyarrow"),
    ("polars", "LazyFrame", "arrow_streams", "from_polars"),
    ("duckdb", "DuckDBPyRelation", "arrow_streams", "from_duckdb"),
    ("ibis", "Table", "arrow_streams", "from_ibis"),
    ("dask", "DataFrame", "dask_frames", "DaskTable"),
    ("pyspark", "DataFrame", "spark_frames", "SparkTable"),
)


def open_engine(table: Any, layout: Layout) -> Engine:
    """The engine for whatever table this is."""
    return (table if isinstance(table, Arrays) else open_table(table)).engine(layout)


def open_table(table: Any, *, keep: bool = False) -> Table:
    """The table as an object with its columns and an engine.

    ``keep``: files stay in memory after their first reading, however large they are.
    """
    if isinstance(table, (str, PathLike, CsvFiles)):
        return _files(table, keep)
    if type(table).__module__.startswith("discreet."):
        ours: Table = table
        return ours
    classes = [(kind.__module__.split(".")[0].lstrip("_"), kind.__name__) for kind in type(table).__mro__]
    for library, name, module, opener in _KINDS:
        if (library, name) in classes:
            return _opener(module, opener)(table)
    if _is_frame(table):
        return _opener("frames", "FrameTable")(table)
    if hasattr(table, "__arrow_c_stream__"):
        return _opener("arrow_streams", "from_stream")(table)
    raise DomainError(
        f"a {type(table).__name__} is no table: give a path, a frame (pandas, polars, pyarrow, Dask, Spark), a DuckDB "
        "relation, an Ibis table, or anything with __arrow_c_stream__"
    )


def _files(table: Any, keep: bool) -> Table:
    written = table if isinstance(table, CsvFiles) else CsvFiles(table)
    kind, files = files_of(written.path)
    if kind == "csv":
        return _opener("csv_files", "CsvTable")(files, written, keep=keep)
    if isinstance(table, CsvFiles):
        raise DomainError(f"{table.path} is no CSV file: sep, decimal and encoding say nothing about it")
    return _opener("parquet", "ParquetTable")(files, keep=keep)


def _is_frame(table: Any) -> bool:
    import narwhals as nw

    return bool(nw.dependencies.is_into_dataframe(table))


def _opener(module: str, name: str) -> Callable[..., Table]:
    """Imported when first used: each needs a library that is an extra."""
    try:
        found: Callable[..., Table] = getattr(import_module(f"discreet.engines.{module}"), name)
        return found
    except ImportError as error:
        if (error.name or "").split(".")[0] != "pyarrow":
            raise
        raise DiscreetError('this table needs pyarrow: pip install "discreet[arrow]"') from error
