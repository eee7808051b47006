"""``fit_table`` gives the bits of ``fit``, whatever the table is and however its rows are cut and
ordered.
"""

from __future__ import annotations

import gzip
from decimal import Decimal

import duckdb
import ibis
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pq
import pytest
from engine_problems import PARTITIONINGS, PROBLEMS, Problem, cuts, fitted, in_memory, parts, sums, table

from discreet import CsvFiles, Domain, LinearRegression, Numeric

ROWS = table()


class Stream:
    """A table that can only return a stream, as often as it is asked."""

    def __init__(self, rows: pa.Table) -> None:
        self._rows = rows

    def __arrow_c_stream__(self, requested_schema=None):
        return self._rows.__arrow_c_stream__(requested_schema)


def parquet_file(rows, folder, seed):
    pq.write_table(rows, folder / "rows.parquet", row_group_size=17 + 40 * seed)
    return folder / "rows.parquet"


def parquet_files(rows, folder, seed):
    for number, part in enumerate(parts(rows, seed)):
        pq.write_table(part, folder / f"part-{number:03}.parquet", row_group_size=50)
    return str(folder / "*.parquet") if seed % 2 else folder


def csv_file(rows, folder, seed):
    pa_csv.write_csv(_doubles(rows), folder / "rows.csv")
    return folder / "rows.csv"


def csv_files(rows, folder, seed):
    for number, part in enumerate(parts(rows, seed)):
        path = folder / f"part-{number:03}.tsv.gz"
        pa_csv.write_csv(_doubles(part), folder / "plain", pa_csv.WriteOptions(delimiter="\t"))
        path.write_bytes(gzip.compress((folder / "plain").read_bytes()))
        (folder / "plain").unlink()
    return folder


def european_csv(rows, folder, seed):
    frame = _doubles(rows).to_pandas()
    frame.to_csv(folder / "rows.csv", sep=";", decimal=",", index=False, encoding="utf-16")
    return CsvFiles(folder / "rows.csv", sep=";", decimal=",", encoding="utf-16")


def dataset(rows, folder, seed):
    parquet_files(rows, folder, seed)
    return pa_dataset.dataset(folder)


def lazy_frame(rows, folder, seed):
    parquet_files(rows, folder, seed)
    return pl.scan_parquet(folder / "*.parquet")


def relation(rows, folder, seed):
    parquet_files(rows, folder, seed)
    return duckdb.connect().sql(f"select * from '{folder}/*.parquet'")


def ibis_table(rows, folder, seed):
    parquet_files(rows, folder, seed)
    return ibis.duckdb.connect().read_parquet(f"{folder}/*.parquet")


TABLES = {
    "pyarrow": lambda rows, folder, seed: pa.concat_tables(parts(rows, seed)),
    "pandas": lambda rows, folder, seed: pa.concat_tables(parts(rows, seed)).to_pandas(),
    "polars": lambda rows, folder, seed: pl.from_arrow(pa.concat_tables(parts(rows, seed))),
    "stream": lambda rows, folder, seed: Stream(pa.concat_tables(parts(rows, seed))),
    "parquet file": parquet_file,
    "parquet files": parquet_files,
    "csv file": csv_file,
    "csv files": csv_files,
    "european csv": european_csv,
    "dataset": dataset,
    "polars lazy": lazy_frame,
    "duckdb": relation,
    "ibis": ibis_table,
}


def _doubles(rows: pa.Table) -> pa.Table:
    """Every digit of the float32: text has no types."""
    position = rows.column_names.index("dose")
    return rows.set_column(position, "dose", rows["dose"].cast(pa.float64()))


@pytest.mark.parametrize("kind", list(TABLES))
@pytest.mark.parametrize("name", list(PROBLEMS))
def test_every_table_gives_the_bits_of_memory(name, kind, tmp_path):
    problem = PROBLEMS[name]
    assert fitted(problem, TABLES[kind](ROWS, tmp_path, 1)) == in_memory(problem, ROWS)


@pytest.mark.parametrize("kind", list(TABLES))
def test_no_partitioning_changes_a_sum(kind, tmp_path):
    expected = {name: sums(problem, ROWS) for name, problem in PROBLEMS.items()}
    for seed in PARTITIONINGS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        given = TABLES[kind](ROWS, folder, seed)
        for name, problem in PROBLEMS.items():
            assert sums(problem, given) == expected[name], (name, seed)


def test_partitionings_have_empty_parts():
    assert any(a == b for seed in PARTITIONINGS for a, b in zip(cuts(400, seed), cuts(400, seed)[1:], strict=False))


@pytest.mark.parametrize("kind", [kind for kind in TABLES if "csv" not in kind])
def test_decimals_are_rounded_alike_everywhere(kind, tmp_path):
    """With persons: a bit of difference would choose other rows of theirs."""
    units = np.random.default_rng(0).integers(0, 10**12, ROWS.num_rows)
    exact = pa.array([Decimal(int(unit)).scaleb(-10) for unit in units], pa.decimal128(20, 10))
    rows = ROWS.set_column(ROWS.column_names.index("bmi"), "bmi", exact)
    floats = ROWS.set_column(ROWS.column_names.index("bmi"), "bmi", pa.array([float(one) for one in exact.to_pylist()]))
    problem = PROBLEMS["groups"]
    assert sums(problem, TABLES[kind](rows, tmp_path, 1)) == sums(problem, floats)


@pytest.mark.parametrize("kind", list(TABLES))
@pytest.mark.parametrize("name", ["body.mass", "body mass", 'the "body"', "select", "^b.*$"])
def test_a_column_may_have_any_name(name, kind, tmp_path):
    rows = ROWS.select(["bmi", "cost"]).rename_columns([name, "cost"]).append_column("bmi", ROWS["age"])
    rows = rows.append_column("dose", ROWS["dose"])
    domain = Domain((Numeric(name, 10, 50), Numeric("cost", 0, 100)))
    problem = Problem(LinearRegression, "cost", (name,), options={"domain": domain})
    assert fitted(problem, TABLES[kind](rows, tmp_path, 1)) == fitted(problem, rows)
