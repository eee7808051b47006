"""Files by an engine that the user names, and the rows of a query."""

from __future__ import annotations

from typing import Any

from discreet.engines.files import CsvFiles, files_of
from discreet.engines.open import open_table
from discreet.errors import DiscreetError, DomainError


def table_by_name(engine: str, given: Any, place: str | None = None) -> Any:
    """A path, or CsvFiles, as a table for this engine; ``place`` is a Dask scheduler or Spark's
    master.
    """
    opened = open_table(given, keep=engine == "memory")
    if engine in ("auto", "arrow", "memory"):
        return opened
    written = given if isinstance(given, CsvFiles) else CsvFiles(given)
    kind, files = files_of(written.path)
    names = [str(file) for file in files]
    make = {"dask": _dask, "spark": _spark}[engine]
    try:
        return make(kind, names, written, place)
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


def _dask(kind: str, files: list[str], written: CsvFiles, place: str | None) -> Any:
    import dask.dataframe as dd

    from discreet.engines.dask_frames import DaskTable

    if place is not None:
        from distributed import Client

        try:
            Client(place, timeout=20)  # this client becomes Dask's default
        except (OSError, ValueError) as error:
            raise DomainError(f"there is no Dask scheduler at {place} ({type(error).__name__})") from None
    if kind == "parquet":
        return DaskTable(dd.read_parquet(files))
    # One partition a file: a line break within quotes would be lost at the border of two. Cells
    # stay texts, and are read by the same rules as everywhere.
    frame = dd.read_csv(
        files,
        sep=written.separator(files[0]),
        encoding=written.encoding,
        compression="infer",
        blocksize=None,
        dtype=object,
        keep_default_na=False,
        na_values=[""],
        sample=1 << 20,
    )
    return DaskTable(frame, written.decimal)


def _spark(kind: str, files: list[str], written: CsvFiles, place: str | None) -> Any:
    from pyspark.sql import SparkSession

    from discreet.engines.spark_frames import SparkTable

    # Spark's own progress bar would show the number of tasks; ours shows public facts only.
    builder = SparkSession.builder.config("spark.ui.showConsoleProgress", "false")
    master = place or "local[*]"
    session = (builder.remote(master) if master.startswith("sc://") else builder.master(master)).getOrCreate()
    if kind == "parquet":
        return SparkTable(session.read.parquet(*files))
    frame = session.read.csv(
        files,
        sep=written.separator(files[0]),
        encoding=written.encoding,
        header=True,
        multiLine=True,
        escape='"',
        inferSchema=False,
        enforceSchema=False,
    )
    return SparkTable(frame, written.decimal)
