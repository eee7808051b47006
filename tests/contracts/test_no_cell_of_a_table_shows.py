"""Tables in memory: neighbouring ones give the same exceptions, messages and warnings.

Every form in which a user can pass rows, through every public entry point, with odd cells of the
form's own types: 1,000 pairs of neighbouring tables in all.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from odd_cells import (
    DOMAIN,
    FORMS,
    NUMBERS,
    OBJECTS,
    PRIVATE,
    ROWS,
    odd_rows,
    seen,
    with_row,
)

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
    collect_moments,
    dp_threshold,
    private_second_moment,
)

PAIRS = 1000


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


def test_the_pairs_are_a_thousand():
    assert len(CASES) * PER_CASE >= PAIRS
