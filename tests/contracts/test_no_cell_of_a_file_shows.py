"""Files, queries and sparse rows: neighbouring ones give the same exceptions, messages and
warnings.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from odd_cells import (
    DOMAIN,
    FLOATS,
    FORMS,
    NUMBERS,
    PRIVATE,
    ROWS,
    odd_rows,
    same,
    seen,
    with_row,
)
from scipy import sparse

from discreet import (
    LinearRegression,
    PoissonRegressor,
    SparseLinearRegression,
)

CELLS_OF_FILES = [
    *(
        b"SECRET 4711",
        b"",
        b"1,234.56",
        b'say ""SECRET""',
        b"\xff\xfe",
        b"nan",
        b"-0",
        b"9" * 5000,
        b"1e400",
        b"0x10",
        b"1_0",
    ),
    *(b" 0.5 ", b"true", b"line\nbreak", b"u", b"U", b"\xc3(", b"+1", b"inf", b"NA"),
]


def csv_text(columns: dict[str, list[bytes]]) -> bytes:
    lines = [b",".join(name.encode() for name in columns)]
    lines += [b",".join(b'"' + cell + b'"' for cell in row) for row in zip(*columns.values(), strict=True)]
    return b"\r\n".join(lines) + b"\r\n"


def fit_file(path):
    model = LinearRegression(**PRIVATE, domain=DOMAIN, solver="moments")
    model.fit_table(str(path), target="y", features=["a", "k"], groups="id")
    PoissonRegressor(**PRIVATE, domain=DOMAIN, solver="newton").fit_table(
        str(path), target="y", features=["b", "k"], exposure="t"
    )


def test_neighbouring_csv_files_look_alike_from_outside(tmp_path):
    path = tmp_path / "rows.csv"
    rows = {name: [str(cell).encode() for cell in cells] for name, cells in ROWS.items()}
    path.write_bytes(csv_text(rows))
    expected = seen(fit_file, path)
    assert expected == ((), [])
    for place, row in odd_rows(same(CELLS_OF_FILES, *ROWS), 40, 0):
        path.write_bytes(csv_text(with_row(rows, place, row)))
        assert seen(fit_file, path) == expected, row


@pytest.mark.parametrize("name", [name for name in FORMS if name.startswith("arrow")])
def test_neighbouring_parquet_files_look_alike_from_outside(name, tmp_path):
    path, form = tmp_path / "rows.parquet", FORMS[name]
    rows = dict(ROWS)
    if name == "arrow bytes":
        rows |= {column: [cell.encode() for cell in rows[column]] for column in ("k", "id")}
    if name == "arrow decimals":
        rows |= {column: [Decimal(str(cell)) for cell in rows[column]] for column in NUMBERS} | {
            "id": list(range(4)) * 2
        }
    pa.parquet.write_table(pa.table(form.make(rows)), path)
    expected = seen(fit_file, path)
    assert expected == ((), [])
    for place, row in odd_rows(form.odd, 20, 1):
        pa.parquet.write_table(pa.table(form.make(with_row(rows, place, row))), path)
        assert seen(fit_file, path) == expected, row


@pytest.mark.parametrize(
    "read", [lambda path: pa.dataset.dataset(path), lambda path: pl.scan_parquet(path)], ids=["dataset", "lazy"]
)
def test_neighbouring_queries_look_alike_from_outside(read, tmp_path):
    form, path = FORMS["arrow"], tmp_path / "rows.parquet"

    def fit(columns):
        pa.parquet.write_table(pa.table(columns), path)
        model = LinearRegression(**PRIVATE, domain=DOMAIN, solver="moments")
        model.fit_table(read(path), target="y", features=["a", "k"], groups="id")

    expected = seen(fit, form.make(ROWS))
    assert expected == ((), [])
    for place, row in odd_rows(form.odd, 15, 2):
        assert seen(fit, form.make(with_row(ROWS, place, row))) == expected, row


def test_neighbouring_sparse_matrices_look_alike_from_outside():
    matrix = sparse.random(40, 6, density=0.3, random_state=0, format="csr")
    y = np.arange(40) % 2.0

    def fit(cells):
        model = SparseLinearRegression(**PRIVATE, bounds_X=(-1, 1), bounds_y=(0, 1), sparsity=1, solver="two_stage")
        model.fit(cells, y)

    expected = seen(fit, matrix)
    assert expected == ((), [])
    for kind in ("f8", "f4", "i8"):
        for place, value in enumerate(FLOATS if kind[0] == "f" else [2**63 - 1, -(2**63)]):
            odd = matrix.astype(kind)
            with np.errstate(all="ignore"):
                odd.data[place] = value
            assert seen(fit, odd) == expected


def test_a_file_without_a_header_line_does_not_show_its_first_record(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"0.5,SECRET 4711,1.0\n0.25,u,0.5\n")
    for declared in (
        {"domain": DOMAIN},
        {"bounds_X": (-1, 1), "bounds_y": (0, 1)},
        {"bounds_X": {"a": (0, 1)}, "bounds_y": (0, 1)},
    ):
        model = LinearRegression(**PRIVATE, **declared)
        raised, _ = seen(lambda model=model: model.fit_table(str(path), target="y"))
        assert "has no column" in raised[1]
        assert "0.5" not in raised[1]


def test_bytes_that_are_no_text_in_the_first_rows_do_not_show(tmp_path):
    path, shown = tmp_path / "rows.csv", []
    for cell in (b"u", b"\xff"):
        path.write_bytes(b"a,b,k,t,y,id\n0.1,0.2," + cell + b",1.0,0.5,p\n" + b"0.3,0.2,v,1.0,0.5,q\n" * 9)
        shown.append(seen(fit_file, path))
    assert shown[0] == shown[1] == ((), [])
