"""No path quotes a cell or reacts to one: neighbouring tables give the same exceptions, messages and warnings.

Every form in which a user can hand over rows, through every public entry, with odd cells of the form's own types: what
a type can hold, one private row may hold. 1,000 pairs of neighbouring tables in all.
"""

from __future__ import annotations

import datetime
import math
import traceback
import warnings
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from scipy import sparse

from discreet import (
    Categorical,
    Domain,
    DomainEncoder,
    LinearRegression,
    LogisticRegression,
    Numeric,
    PoissonRegressor,
    PrivateGridSearchCV,
    Ridge,
    SparseLinearRegression,
    UnusableRowsWarning,
    collect_moments,
    dp_threshold,
    private_second_moment,
)

SECRET = "SECRET 4711"
PRIVATE = {"epsilon": 1.0, "delta": 1e-6}
DOMAIN = Domain(
    (Numeric("a", -1, 1), Numeric("b", -1, 1), Categorical("k", ("u", "v")), Numeric("t", 0.5, 2), Numeric("y", 0, 1))
)
PAIRS = 1000


# Odd cells.


def hostile(*methods: str) -> Any:
    """An object that raises, with a secret, whatever is asked of it in one of these ways."""

    def refuse(self, *args, **more):
        raise RuntimeError(SECRET)

    return type("Hostile", (), dict.fromkeys(methods, refuse))()


def warning_object() -> Any:
    def warn(self, *args, **more):
        warnings.warn(SECRET, UserWarning, stacklevel=1)
        return 0.5

    return type("Warns", (), {"__float__": warn, "__array__": warn, "__index__": warn})()


SIGNALLING = np.array([0x7FF00000000007A2], "u8").view("f8")[0]
FLOATS = [math.nan, math.inf, -math.inf, 1e308, 5e-324, -0.0, 0.25, SIGNALLING]
OBJECTS = [
    *(SECRET, "", "1,234.56", "0.5", "u", "U", "\0", "u\0", "\ud800", "nan", "x" * 10_000, b"SECRET 4711", b"\xff"),
    *(None, math.nan, math.inf, pd.NA, pd.NaT, True, np.True_, 2**64, 10**5000, -(10**5000), 1e308, SIGNALLING),
    *(1j, np.complex128(1j), np.float32(0.1), np.longdouble("1e4000"), Decimal("sNaN"), Decimal("1e9999")),
    *(Fraction(1, 3), [1, 2], [[1], [2, 3]], {}, {"SECRET 4711": 1}, {1, 2}, (1,), np.array([1.0]), np.zeros((2, 2))),
    *(datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1), np.datetime64("2020"), np.timedelta64(5)),
    *(np.datetime64("NaT"), np.array([1.0, 2.0]), np.array("0.5"), object, float, range(3)),
    *(hostile("__float__"), hostile("__str__"), hostile("__repr__", "__str__"), hostile("__eq__", "__ne__")),
    *(hostile("__array__"), hostile("__len__", "__getitem__"), hostile("__bool__", "__float__", "__str__")),
    *(warning_object(), pd.Series([1.0]), pl.Series([1.0]), pa.scalar(SECRET)),
]
TEXTS = [SECRET, "", "U", "\0", "u\0", "x" * 10_000, "v", None]


@dataclass(frozen=True)
class Form:
    """A way to hand over rows: how columns are made of cells, and which odd cells each can hold."""

    make: Any
    odd: dict[str, list[Any]]
    mixed: bool = True


ROWS = {
    "a": [0.5, -0.5, 0.25, 1.0, 0.0, -1.0, 0.75, 0.1],
    "b": [0.1, 0.2, -0.3, 0.4, -0.5, 0.6, -0.7, 0.8],
    "k": ["u", "v", "u", "v", "v", "u", "u", "v"],
    "t": [1.0, 1.5, 0.5, 2.0, 1.0, 1.0, 0.75, 1.25],
    "y": [0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0],
    "id": ["p", "q", "r", "s", "p", "q", "r", "s"],
}
NUMBERS = ("a", "b", "t", "y")


def same(pool: list[Any], *names: str) -> dict[str, list[Any]]:
    return dict.fromkeys(names, pool)


def objects(values: list[Any]) -> np.ndarray:
    return np.fromiter(values, dtype=object, count=len(values))


def typed(kind: Any) -> Any:
    def make(columns: dict[str, list[Any]]) -> dict[str, Any]:
        with np.errstate(all="ignore"):
            return {name: np.array(columns[name], dtype=kind) for name in NUMBERS} | {"id": objects(columns["id"])}

    return make


def pandas(types: dict[str, Any]) -> Any:
    def make(columns: dict[str, list[Any]]) -> dict[str, Any]:
        with np.errstate(all="ignore"):
            return {name: pd.Series(columns[name], dtype=types[name], name=name) for name in columns}

    return make


def polars(types: dict[str, Any]) -> Any:
    return lambda columns: {name: pl.Series(name, columns[name], dtype=types[name], strict=False) for name in columns}


def arrow(types: dict[str, Any]) -> Any:
    return lambda columns: {name: pa.chunked_array([pa.array(columns[name], types[name])]) for name in columns}


PLAIN = same(FLOATS, *NUMBERS)
NULLABLE = same([*FLOATS, None], *NUMBERS) | same(TEXTS, "k", "id")
FORMS = {
    "lists": Form(lambda columns: columns, same(OBJECTS, *ROWS)),
    "tuples": Form(lambda columns: {name: tuple(cells) for name, cells in columns.items()}, same(OBJECTS, *ROWS)),
    "object arrays": Form(
        lambda columns: {name: objects(cells) for name, cells in columns.items()}, same(OBJECTS, *ROWS)
    ),
    "float64": Form(typed("f8"), PLAIN | same(OBJECTS, "id"), mixed=False),
    "float32": Form(typed("f4"), PLAIN, mixed=False),
    "float16": Form(typed("f2"), same([math.nan, math.inf, 6e4], *NUMBERS), mixed=False),
    "longdouble": Form(typed("g"), same([*FLOATS, np.longdouble("1e4000")], *NUMBERS), mixed=False),
    "foreign bytes": Form(typed(">f8"), PLAIN, mixed=False),
    "int64": Form(typed("i8"), same([2**63 - 1, -(2**63), 2**53 + 1], *NUMBERS), mixed=False),
    "uint8": Form(typed("u1"), same([255, 0], *NUMBERS), mixed=False),
    "bool": Form(typed("?"), same([True, False], *NUMBERS), mixed=False),
    "pandas objects": Form(pandas(same("object", *ROWS)), same(OBJECTS, *ROWS)),
    "pandas": Form(pandas(same("float64", *NUMBERS) | same("str", "k", "id")), NULLABLE),
    "pandas nullable": Form(pandas(same("Float64", *NUMBERS) | same("string", "k", "id")), NULLABLE),
    "pandas categories": Form(pandas(same("float32", *NUMBERS) | same("category", "k", "id")), NULLABLE),
    "pandas arrow": Form(pandas(same("double[pyarrow]", *NUMBERS) | same("string[pyarrow]", "k", "id")), NULLABLE),
    "polars": Form(polars(same(pl.Float64, *NUMBERS) | same(pl.String, "k", "id")), NULLABLE),
    "polars narrow": Form(
        polars(same(pl.Float32, *NUMBERS) | same(pl.Categorical, "k") | same(pl.Binary, "id")), NULLABLE
    ),
    "polars decimals": Form(
        polars(same(pl.Decimal(30, 4), *NUMBERS) | same(pl.Enum(["u", "v", SECRET]), "k") | same(pl.Int64, "id")),
        same([Decimal("9e20"), None], *NUMBERS) | same([SECRET, None], "k") | same([2**63 - 1, 0, None], "id"),
    ),
    "polars wide": Form(
        polars(same(pl.Int128, *NUMBERS) | same(pl.String, "k") | same(pl.UInt64, "id")),
        same([2**126, None], *NUMBERS) | same(TEXTS, "k") | same([2**64 - 1, None], "id"),
    ),
    "arrow": Form(arrow(same(pa.float64(), *NUMBERS) | same(pa.string(), "k", "id")), NULLABLE),
    "arrow bytes": Form(
        arrow(same(pa.float32(), *NUMBERS) | same(pa.binary(), "k", "id")),
        same([*FLOATS, None], *NUMBERS) | same([b"\xff", b"", b"SECRET 4711", None], "k", "id"),
    ),
    "arrow decimals": Form(
        arrow(
            same(pa.decimal128(30, 4), *NUMBERS)
            | same(pa.dictionary(pa.int8(), pa.string()), "k")
            | same(pa.int64(), "id")
        ),
        same([Decimal("9e20"), None], *NUMBERS) | same(TEXTS, "k") | same([2**63 - 1, None], "id"),
    ),
}
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


# Entries.


def features(columns: dict[str, Any], names: tuple[str, ...], numbered: bool = False) -> Any:
    """X of these columns, in the form that they have."""
    first = columns[names[0]]
    if isinstance(first, (list, tuple)):
        return type(first)(type(first)(row) for row in zip(*(columns[name] for name in names), strict=True))
    if isinstance(first, np.ndarray):
        table = np.empty((len(first), len(names)), dtype=first.dtype)
        for place, name in enumerate(names):
            table[:, place] = columns[name]
        return table
    if isinstance(first, pd.Series):
        frame = pd.DataFrame({name: columns[name] for name in names})
        return frame.set_axis(range(len(names)), axis=1) if numbered else frame
    library = pl.DataFrame if isinstance(first, pl.Series) else pa.table
    return library({name: columns[name] for name in names})


def linear(columns, neighbours="replace_one"):
    names = ("a", "k") if "k" in columns else ("a", "b")
    model = LinearRegression(**PRIVATE, solver="moments", neighbours=neighbours, bounds_y=(0, 1))
    X = features(columns, names)
    named = hasattr(X, "columns") or hasattr(X, "column_names")
    declared = [Numeric("a", -1, 1), Categorical("k", ("u", "v")) if "k" in columns else Numeric("b", -1, 1)]
    declared = (
        declared
        if named
        else [type(column)(f"x{i}", *list(vars(column).values())[1:]) for i, column in enumerate(declared)]
    )
    model.set_params(domain=Domain(tuple(declared)))
    model.fit(X, columns["y"], columns["id"])


def added(columns):
    linear(columns, "add_or_remove_one")


def numbered(columns):
    model = Ridge(**PRIVATE, solver="moments", bounds_X=(-1, 1), bounds_y=(0, 1))
    model.fit(features(columns, ("a", "b"), numbered=True), columns["y"])


def logistic(columns):
    model = LogisticRegression(**PRIVATE, solver="newton", bounds_X=(-1, 1))
    model.fit(features(columns, ("a", "b")), columns["y"])


def classes(columns):
    model = LogisticRegression(**PRIVATE, solver="newton", bounds_X=(-1, 1), classes=["u", "v"])
    model.fit(features(columns, ("a", "b")), columns["k"])


def exposed(columns):
    model = PoissonRegressor(**PRIVATE, solver="newton", bounds_X=(-1, 1), bounds_y=(0, 1), bounds_exposure=(0.5, 2))
    model.fit(features(columns, ("a", "b")), columns["y"], columns["id"], exposure=columns["t"])


def wide(columns):
    model = SparseLinearRegression(**PRIVATE, bounds_X=(-1, 1), bounds_y=(0, 1), sparsity=1, solver="two_stage")
    model.fit(features(columns, ("a", "b")), columns["y"], columns["id"])


def search(columns):
    model = Ridge(**PRIVATE, bounds_X=(-1, 1), bounds_y=(0, 1), solver="moments")
    PrivateGridSearchCV(model, {"alpha": [0.1, 1.0]}, held_out=2).fit(
        features(columns, ("a", "b")), columns["y"], columns["id"]
    )


def moment(columns):
    private_second_moment(features(columns, ("a", "b")), **PRIVATE, bounds_X=(-1, 1))


def threshold(columns):
    dp_threshold(columns["a"], **PRIVATE, smallest=0.1, largest=1.0)


def encoded(columns):
    encoder = DomainEncoder(bounds_X=(-1, 1), degree=2, splines={"a": 3} if named(columns["a"]) else 3)
    encoder.fit_transform(features(columns, ("a", "b")))


def named(column):
    return not isinstance(column, (list, tuple, np.ndarray))


def collected(columns):
    collect_moments(features(columns, ("a", "k", "y")), **PRIVATE, domain=DOMAIN.select(["a", "k", "y"]))


def tabled(columns):
    model = LinearRegression(**PRIVATE, domain=DOMAIN, solver="moments")
    model.fit_table(features(columns, ("a", "k", "y", "id")), target="y", features=["a", "k"], groups="id")


ENTRIES = [linear, added, numbered, logistic, exposed, wide, moment, threshold, encoded]
FRAMES = ("pandas", "polars", "arrow")
SEARCHED = ("lists", "object arrays", "float64", "pandas objects", "polars", "arrow")


def cases():
    for name, form in FORMS.items():
        for entry in (*ENTRIES, *((classes,) if form.mixed else ()), *((search,) if name in SEARCHED else ())):
            yield name, entry
        if name.startswith(FRAMES):
            yield name, collected
            yield name, tabled


CASES = list(cases())
PER_CASE = math.ceil(PAIRS / len(CASES))


def with_row(columns: dict[str, list[Any]], place: int, row: dict[str, Any]) -> dict[str, list[Any]]:
    return {name: [*cells[:place], row.get(name, cells[place]), *cells[place + 1 :]] for name, cells in columns.items()}


def odd_rows(odd: dict[str, list[Any]], count: int, seed: int):
    """Rows to put in the place of another: each odd cell in turn, in one column or in several."""
    rng = np.random.default_rng(seed)
    names = list(odd)
    for number in range(count):
        chosen = [name for name in names if rng.random() < 0.3] or [names[number % len(names)]]
        yield int(rng.integers(8)), {name: odd[name][int(rng.integers(len(odd[name])))] for name in chosen}


def seen(action, *args) -> tuple[Any, ...]:
    """All that somebody sees of a call but its result."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            action(*args)
            raised: tuple[Any, ...] = ()
        except Exception as error:
            text = "".join(traceback.format_exception(error, limit=0))
            assert SECRET not in text
            raised = (type(error), str(error), text)
    # How many rows were used is a released noisy number, and differs from fit to fit.
    told = sorted((w.category.__name__, str(w.message)) for w in caught if w.category is not UnusableRowsWarning)
    assert SECRET not in str(told)
    return raised, told


@pytest.mark.parametrize(("name", "entry"), CASES, ids=[f"{name}-{entry.__name__}" for name, entry in CASES])
def test_neighbouring_tables_look_alike_from_outside(name, entry):
    form, number = FORMS[name], CASES.index((name, entry))
    rows = ROWS if form.mixed else {column: cells for column, cells in ROWS.items() if column != "k"}
    if form.odd["y"] and isinstance(form.odd["a"][0], (int, Decimal)) and not isinstance(form.odd["a"][0], bool):
        rows = rows | {column: [abs(int(cell)) for cell in rows[column]] for column in NUMBERS}
    if any(isinstance(cell, int) for cell in form.odd.get("id", ())) and form.odd["id"] is not OBJECTS:
        rows = rows | {"id": list(range(4)) * 2}
    if name == "arrow bytes":
        rows = rows | {column: [cell.encode() for cell in rows[column]] for column in ("k", "id")}
    expected = seen(entry, form.make(rows))
    assert expected[0] == ()
    odd = {column: cells for column, cells in form.odd.items() if column in rows}
    for place, row in odd_rows(odd, PER_CASE, number):
        columns = form.make(with_row(rows, place, row))
        assert seen(entry, columns) == expected, row


# Files.


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


# What used to show.


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


def test_the_pairs_are_a_thousand():
    assert len(CASES) * PER_CASE >= PAIRS
