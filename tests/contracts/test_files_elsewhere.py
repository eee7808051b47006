"""Files that Dask reads are the files that streams read: the same cells, the same refusals."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_problems import PROBLEMS, engine_of, fitted, sums, table

from discreet import CsvFiles, DomainError, Ledger, ReadError
from discreet.engines import open_table
from discreet.engines.by_name import table_by_name

ROWS = table()
PERSONS = PROBLEMS["groups, categories and missing cells"]
CELLS = [
    {"dose": 0.25 + row / 1000, "sex": "fmx"[row % 3], "sick": ("no", "yes")[row % 2], "person": row % 20}
    for row in range(60)
]
HEADER = ",".join(CELLS[0])
LINES = [",".join(map(str, row.values())) for row in CELLS]
ODD = {
    "a mark of the byte order": ("rows.csv", b"\xef\xbb\xbf" + "\n".join([HEADER, *LINES]).encode()),
    "quoted line breaks": ("rows.csv", "\n".join([HEADER, *LINES, '0.5,"f\nm",no,3']).encode()),
    "empty and quoted empty cells": ("rows.csv", "\n".join([HEADER, *LINES, ',"",no,3', '"",f,yes,']).encode()),
    "bytes that are no text": ("rows.csv", "\n".join([HEADER, *LINES]).encode() + b"\n0.5,\xe9,no,3\n"),
    "no end of the last line": ("rows.csv", "\r\n".join([HEADER, *LINES]).encode()),
    "an ending in capitals": ("rows.CSV.GZ", gzip.compress("\n".join([HEADER, *LINES]).encode())),
    "tabs": ("rows.TSV", "\n".join([HEADER, *LINES]).replace(",", "\t").encode()),
    "zstd": ("rows.csv.zst", pa.compress("\n".join([HEADER, *LINES]).encode(), "zstd", asbytes=True)),
}


@pytest.mark.filterwarnings("ignore::discreet.errors.UnusableRowsWarning")
@pytest.mark.parametrize("name", list(ODD))
def test_dask_reads_the_cells_that_streams_read(name, tmp_path):
    path = tmp_path / ODD[name][0]
    path.write_bytes(ODD[name][1])
    # As two files, the second one of which has its columns in another order and one more.
    more = [",".join(map(str, [row, *reversed(cells.values())])) for row, cells in enumerate(CELLS)]
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "2.csv").write_text("\n".join([",".join(["row", *reversed(CELLS[0])]), *more]))
    (tmp_path / "more" / "1.csv").write_text(HEADER)
    for given in (path, tmp_path / "more"):
        assert sums(PERSONS, table_by_name("dask", given)) == sums(PERSONS, open_table(given))
        assert fitted(PERSONS, table_by_name("dask", given)) == fitted(PERSONS, given)


@pytest.mark.parametrize("last", ["0.5,f,no", "0.5,f,no,3,777"])
def test_lines_of_another_length_are_never_shifted_or_filled(last, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([HEADER, *LINES, last]))
    for engine in ("auto", "dask"):
        with pytest.raises(ReadError) as caught:
            sums(PERSONS, table_by_name(engine, path))
        assert "777" not in str(caught.value)
    path.write_text("\n".join([HEADER, *(f"{line},777" for line in LINES)]))
    for engine in ("auto", "dask"):
        with pytest.raises(ReadError):
            sums(PERSONS, table_by_name(engine, path))


@pytest.mark.parametrize("engine", ["auto", "memory", "dask"])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_that_lacks_a_column_is_refused_before_anything_is_paid(engine, ending, tmp_path):
    problem = PROBLEMS["linear"]
    for number, names in enumerate([["age", "bmi", "cost"], ["bmi", "cost"]]):
        if ending == "parquet":
            pq.write_table(ROWS.select(names), tmp_path / f"{number}.parquet")
        else:
            ROWS.select(names).to_pandas().to_csv(tmp_path / f"{number}.csv", index=False)
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=5, delta=1e-5)
    model = problem.estimator(ledger=ledger, random_state=None)
    with pytest.raises(DomainError, match="no column 'age'"):
        model.fit_table(table_by_name(engine, tmp_path / f"*.{ending}"), **problem.asked)
    assert not ledger.history


@pytest.mark.parametrize("engine", ["auto", "dask"])
def test_a_repeated_column_is_refused(engine, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([HEADER + ",dose", *(line + ",0.1" for line in LINES)]))
    with pytest.raises(DomainError, match="more than one column 'dose'"):
        fitted(PERSONS, table_by_name(engine, path))


def test_types_that_differ_between_files_are_named(tmp_path):
    """Of Parquet files; Spark's reader fails at them, in the middle of a fit."""
    problem = PROBLEMS["linear"]
    rows = ROWS.select(["age", "bmi", "cost"])
    pq.write_table(rows, tmp_path / "1.parquet")
    pq.write_table(rows.set_column(0, "age", rows["age"].cast(pa.float64())), tmp_path / "2.parquet")
    layout = engine_of(problem, tmp_path)._layout
    with pytest.raises(DomainError, match=r"'age' has the type int32 in .*1\.parquet and double in .*2\.parquet"):
        open_table(tmp_path).check_alike(layout, "Spark")
    open_table(tmp_path / "1.parquet").check_alike(layout, "Spark")
    assert sums(problem, tmp_path) == sums(problem, pa.concat_tables([rows, rows]))
    assert sums(problem, table_by_name("dask", tmp_path)) == sums(problem, tmp_path)


def test_rows_are_counted_where_first_columns_differ(tmp_path):
    (tmp_path / "1.csv").write_text("other,a\n1,2\n3,4\n")
    (tmp_path / "2.csv").write_text("a\n5\n")
    assert open_table(CsvFiles(tmp_path)).count() == 3
