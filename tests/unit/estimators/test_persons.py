"""Person ids: rows without an id are not used, and an id is the same in every type and file format."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Domain, LinearRegression, Numeric, PrivateGridSearchCV, Ridge
from discreet.engines.person_ids import person_codes, person_key
from discreet.engines.persons import least_rows
from discreet.estimators.vectors import check_groups

N = 12
LARGE = 2**53


def persons(ids):
    """The person of each row, -1 for nobody."""
    return person_codes(check_groups(ids, len(ids)))[0].tolist()


def objects(*values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


MISSING = [
    None,
    math.nan,
    np.nan,
    pd.NA,
    pd.NaT,
    "",
    " ",
    "NA",
    "NaN",
    "nan",
    "null",
    "None",
    "\0",
    b"",
    Decimal("NaN"),
]


@pytest.mark.parametrize("missing", MISSING, ids=repr)
def test_rows_without_an_id_are_not_used(missing):
    assert persons(objects(1, missing, missing, 1, 2)) == [0, -1, -1, 0, 1]
    assert persons(["a", missing, missing, "a", "b"]) == [0, -1, -1, 0, 1]
    ranks = np.zeros(5, dtype=np.uint64)
    assert least_rows(np.array([0, -1, -1, 0, 1]), ranks, 5).tolist() == [True, False, False, True, True]


SAME = [
    (0.0, -0.0),
    (0, -0.0),
    ("0.0", "-0.0"),
    ("a", "a\0"),
    ("a", b"a"),
    (1, 1.0),
    (1, True),
    (1, "1"),
    (1, np.float32(1)),
    (1, np.int8(1)),
    (1, Decimal("1.00")),
    (0.5, Decimal("0.50")),
    (10**5000, 10**5000),
    (np.datetime64("2020-01-01"), np.datetime64("2020-01-01")),
]
DIFFERENT = [
    (LARGE, LARGE + 1),
    (LARGE + 1, float(LARGE)),
    (10**5000, 10**5000 + 1),
    ("a", "A"),
    ("a", "a "),
    ("1", "01"),
    ("1.1", "1.10"),
    (0.1, np.float32(0.1)),
    (b"\xff", b"\xfe"),
]


@pytest.mark.parametrize(("first", "second"), SAME, ids=lambda value: type(value).__name__)
def test_one_id_in_two_spellings_is_one_person(first, second):
    assert persons(objects(first, second)) == [0, 0]


@pytest.mark.parametrize(("first", "second"), DIFFERENT, ids=lambda value: type(value).__name__)
def test_ids_are_told_apart_exactly(first, second):
    assert persons(objects(first, second)) == [0, 1]


COLUMNS = {
    "zeros": [0.0, -0.0, 1.0, 1.0, -0.0, 2.0, 0.0, 3.0, 3.0, 3.0, 4.0, 5.0],
    "NaN and null": [1.0, math.nan, None, 1.0, math.nan, None, 2.0, 2.0, 2.0, None, 3.0, math.nan],
    "padded texts": ["a", "a\0", "b", "b\0\0", "c", "a", "d", "d\0", "e", "e", "f", "c"],
    "missing texts": ["a", None, "", "NA", "b", "a", None, "", "b", "c", "c", "d"],
    "large numbers": [LARGE, LARGE + 1, None, LARGE, LARGE + 2, LARGE + 1, None, 1, 1, 2, 3, 4],
    "numbers": [1, 1, 2, 2, 2, 3, 4, 5, 5, 6, 6, 6],
}


def in_memory(ids):
    """The same ids in every form that keeps them."""
    yield list(ids)
    yield objects(*ids)
    yield pd.Series(ids, dtype=object)
    yield pl.Series(ids, strict=False)
    yield pa.array(ids)
    yield pa.chunked_array([pa.array(ids[:5]), pa.array(ids[5:])])
    if all(isinstance(value, str) for value in ids):
        yield np.array(ids)
        yield pd.Series(ids)
        yield pd.Series(ids, dtype="category")
    if all(isinstance(value, (float, type(None))) for value in ids):
        yield np.array(ids, dtype=float)
        yield pd.Series(ids)
    if all(isinstance(value, (int, type(None))) for value in ids):
        yield pd.Series(ids, dtype="Int64")


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("name", COLUMNS)
def test_files_and_memory_agree_about_persons(name, limit, tmp_path):
    ids = COLUMNS[name]
    x = np.linspace(-1, 1, N)
    domain = Domain((Numeric("x", -1, 1), Numeric("y", -1, 1)))
    model = LinearRegression(epsilon=1.0, delta=1e-6, domain=domain, rows_per_person=limit, solver="moments")
    model.set_params(random_state=1)
    frame, y = pd.DataFrame({"x": x}), pd.Series(x**2, name="y")
    expected = model.fit(frame, y, groups=list(ids)).coef_
    for groups in in_memory(ids):
        assert np.array_equal(model.fit(frame, y, groups=groups).coef_, expected), type(groups)
    table = pa.table({"x": x, "y": x**2, "id": pa.array(ids)})
    pa.parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=5)
    assert np.array_equal(model.fit_table(tmp_path / "rows.parquet", target="y", groups="id").coef_, expected)
    pd.DataFrame({"x": x, "y": x**2, "id": pd.Series(ids, dtype=object)}).to_csv(tmp_path / "rows.csv", index=False)
    assert np.array_equal(model.fit_table(tmp_path / "rows.csv", target="y", groups="id").coef_, expected)


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
def test_a_search_takes_rows_without_ids(neighbours):
    X = np.linspace(-1, 1, 200)[:, None]
    ids = [None if i % 3 == 0 else f"p{i // 6}" for i in range(200)]
    model = Ridge(epsilon=1.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-1, 1), neighbours=neighbours)
    PrivateGridSearchCV(model, {"alpha": [0.1, 1.0]}).fit(X, X[:, 0], groups=ids)


values = st.one_of(
    st.none(),
    st.floats(),
    st.integers(),
    st.booleans(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.decimals(),
    st.lists(st.integers(), max_size=2),
)


@settings(max_examples=300, deadline=None)
@given(ids=st.lists(values, min_size=1, max_size=12), limit=st.integers(1, 3), data=st.data())
def test_one_person_more_moves_no_other_persons_rows(ids, limit, data):
    """Removing all rows of one person, or one row without an id, leaves the others' rows as they
    were.
    """
    keys = [person_key(value) for value in ids]
    ranks = np.array(data.draw(st.lists(st.integers(0, 9), min_size=len(ids), max_size=len(ids))), dtype=np.uint64)
    mask = least_rows(person_codes(objects(*ids))[0], ranks, limit)
    gone = data.draw(st.integers(0, len(ids) - 1))
    kept = [i for i, key in enumerate(keys) if (key != keys[gone] if keys[gone] is not None else i != gone)]
    others = least_rows(person_codes(objects(*(ids[i] for i in kept)))[0], ranks[kept], limit)
    assert others.tolist() == mask[kept].tolist()
    for key in set(keys) - {None}:
        assert sum(mask[i] for i in range(len(ids)) if keys[i] == key) == min(keys.count(key), limit)
    assert not any(mask[i] for i, key in enumerate(keys) if key is None)
