"""Files by an engine that the user names, and the rows of a query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.engines.engine import Engine
from discreet.engines.files import CsvFiles, files_of
from discreet.engines.layout import Layout
from discreet.engines.open import Table, open_table
from discreet.errors import DiscreetError, DomainError


class FilesElsewhere:
    """Files that Dask or Spark reads; their columns are checked here first, in every file.

    Left to themselves, Dask and Spark take a column that a file lacks for missing cells, or notice
    it only in the middle of a fit.
    """

    def __init__(self, opened: Table, make: Callable[[Layout], Table]) -> None:
        self._opened = opened
        self._make = make

    @property
    def names(self) -> list[str]:
        return self._opened.names

    def engine(self, layout: Layout) -> Engine:
        self._opened.engine(layout)
        return self._make(layout).engine(layout)


def table_by_name(engine: str, given: Any, place: str | None = None) -> Any:
    """A path, or CsvFiles, as a table for this engine; ``place`` is a Dask scheduler or Spark's
    master.
    """
    opened = open_table(given, keep=engine == "memory")
    if engine in ("auto", "arrow", "memory"):
        return opened
    kind, files = files_of(given.path if isinstance(given, CsvFiles) else given)
    make = {"dask": _dask, "spark": _spark}[engine]
    try:
        return FilesElsewhere(opened, make(kind, [str(file) for file in files], opened, place))
    except ImportError:
        raise DiscreetError(f'--engine {engine} needs more packages: pip install "discreet[{engine}]"') from None


def query_table(query: str, database: str | None = None) -> Any:
    """The rows of a query, which DuckDB runs on a file of its own or on files that the
    query names.
    """
    try:
        import duckdb
    except ImportError:
        raise DiscreetError("a query needs DuckDB: pip install duckdb") from None
    try:
        connection = duckdb.connect(database or ":memory:", read_only=database is not None)
        relation = connection.sql(query)
    except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException) as error:
        # These errors know names only: no row has been read.
        raise DomainError(f"the query cannot be run: {str(error).splitlines()[0]}") from None
    except (duckdb.Error, OSError) as error:
        raise DomainError(f"the query cannot be run ({type(error).__name__})") from None
    if relation is None:
        raise DomainError("the query gives no rows: it must be a select")
    return relation


def _dask(kind: str, files: list[str], opened: Any, place: str | None) -> Callable[[Layout], Table]:
    import dask.dataframe as dd

    from discreet.engines.dask_frames import DaskTable, frame_of_csv

    if place is not None:
        from distributed import Client

        try:
            Client(place, timeout=20)  # this client becomes Dask's default
        except (OSError, ValueError) as error:
            raise DomainError(f"there is no Dask scheduler at {place} ({type(error).__name__})") from None
    if kind == "csv":
        return lambda layout: DaskTable(frame_of_csv(opened, layout.read), opened.decimal)
    return lambda layout: DaskTable(dd.read_parquet(files))


def _spark(kind: str, files: list[str], opened: Any, place: str | None) -> Callable[[Layout], Table]:
    from pyspark.sql import SparkSession

    from discreet.engines.spark_frames import SparkTable, frame_of_csv

    # Spark's own progress bar would show the number of tasks; ours shows public facts only.
    builder = SparkSession.builder.config("spark.ui.showConsoleProgress", "false")
    # Otherwise the rows of persons, which a shuffle brings together and which are cached, stay in
    # 200 partitions, however few they are.
    builder = builder.config("spark.sql.optimizer.canChangeCachedPlanOutputPartitioning", "true")
    master = place or "local[*]"
    session = (builder.remote(master) if master.startswith("sc://") else builder.master(master)).getOrCreate()

    def make(layout: Layout) -> Table:
        if kind == "csv":
            return SparkTable(frame_of_csv(session, opened, layout.read), opened.decimal)
        opened.check_alike(layout, "Spark")
        return SparkTable(session.read.parquet(*files))

    return make
