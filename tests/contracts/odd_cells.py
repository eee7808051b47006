"""Odd cells, tables that hold them, and every public entry point to which rows can be passed."""

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

from discreet import (
    Categorical,
    Domain,
    Numeric,
    UnusableRowsWarning,
)

SECRET = "SECRET 4711"


PRIVATE = {"epsilon": 1.0, "delta": 1e-6}


DOMAIN = Domain(
    (Numeric("a", -1, 1), Numeric("b", -1, 1), Categorical("k", ("u", "v")), Numeric("t", 0.5, 2), Numeric("y", 0, 1))
)


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
