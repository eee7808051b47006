"""From the options of ``discreet fit`` to a table: files or a query, and the engine
that reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

ENGINES = ("auto", "memory", "arrow", "dask", "spark")


@dataclass(frozen=True)
class Given:
    """What the user said about the table."""

    data: str | None
    sql: str | None
    database: str | None
    engine: str
    scheduler: str | None
    master: str | None
    sep: str | None
    decimal: str
    encoding: str

    def table(self) -> Any:
        """The table for ``fit_table``; no row has been read."""
        if (self.data is None) == (self.sql is None):
            raise click.UsageError("give DATA, or a query as --sql: one of them")
        if self.database is not None and self.sql is None:
            raise click.UsageError("--database is for --sql")
        if self.scheduler is not None and self.engine != "dask":
            raise click.UsageError("--scheduler belongs to --engine dask")
        if self.master is not None and self.engine != "spark":
            raise click.UsageError("--master belongs to --engine spark")
        from discreet.engines.by_name import query_table, table_by_name

        if self.sql is not None:
            if self.engine not in ("auto", "arrow"):
                raise click.UsageError("--sql is run by DuckDB: leave --engine as it is")
            return query_table(self.sql, self.database)
        assert self.data is not None
        place = self.scheduler if self.engine == "dask" else self.master
        return table_by_name(self.engine, self._files(self.data), place)

    def _files(self, data: str) -> Any:
        if (self.sep, self.decimal, self.encoding) == (None, ".", "utf-8"):
            return data
        from discreet.engines import CsvFiles

        sep = "\t" if self.sep in ("\\t", "tab") else self.sep
        return CsvFiles(data, sep=sep, decimal=self.decimal, encoding=self.encoding)


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that ``Given`` is made of."""
    options = [
        click.option("--sql", metavar="QUERY", help="The rows of a query, run by DuckDB, instead of DATA."),
        click.option("--database", type=click.Path(dir_okay=False), help="DuckDB file that --sql looks in."),
        click.option(
            "--engine",
            type=click.Choice(ENGINES),
            default="auto",
            show_default=True,
            help="Who reads DATA: a stream (arrow, auto), a copy in memory, Dask or Spark.",
        ),
        click.option("--scheduler", metavar="ADDRESS", help="A running Dask scheduler, as tcp://host:8786."),
        click.option("--master", metavar="URL", help="Spark's master, or sc://host for Connect.  [default: local[*]]"),
        click.option("--sep", help="What separates cells of CSV files.  [default: a comma; a tab in .tsv]"),
        click.option("--decimal", type=click.Choice([".", ","]), default=".", help="Decimal point of CSV files."),
        click.option("--encoding", default="utf-8", help="Encoding of CSV files."),
    ]
    for option in reversed(options):
        command = option(command)
    return command
