"""From cells to numbers: the same from every library, by declared values only, and no cell raises."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.domain import Categorical, Domain, Encoder, Numeric, as_floats

DOMAIN = Domain((Numeric("age", 0, 100), Categorical("kind", ("a", "b", "c")), Numeric("score", -1, 1)))
CELLS = {
    "age": [50, 0, None, 150, 25],
    "kind": ["a", "b", "c", "unheard of", None],
    "score": [0.5, -3.0, 0.0, 1.0, None],
}
ENCODED = np.array(
    [
        [0.0, -1.0, np.nan, 1.0, -0.5],
        [0.0, 1.0, 0.0, np.nan, np.nan],
        [0.0, 0.0, 1.0, np.nan, np.nan],
        [0.5, -1.0, 0.0, 1.0, np.nan],
    ]
)
TABLES = {
    "pandas": pd.DataFrame(CELLS),
    "pandas nullable": pd.DataFrame(CELLS).convert_dtypes(),
    "pandas objects": pd.DataFrame(CELLS, dtype=object),
    "pandas categories": pd.DataFrame(CELLS).astype({"kind": "category"}),
    "pandas arrow": pd.DataFrame(CELLS).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame(CELLS),
    "pyarrow": pa.table(CELLS),
    "numpy objects": np.array(list(CELLS.values()), dtype=object).T,
    "other order": pl.DataFrame(CELLS).select("score", "kind", "age"),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("library", TABLES)
def test_every_library_gives_the_same_block(library):
    block = Encoder(DOMAIN).encode(TABLES[library])
    assert block.records == 5
    np.testing.assert_array_equal(block.x, ENCODED)


@pytest.mark.parametrize("library", TABLES)
def test_missing_values_become_the_centre_where_that_is_declared(library):
    centred = Encoder(Domain(DOMAIN.columns, missing="centre"))
    np.testing.assert_array_equal(centred.encode(TABLES[library]).x, np.nan_to_num(ENCODED))


def test_names_and_scaling_follow_the_declarations():
    encoder = Encoder(DOMAIN)
    assert encoder.names == ["age", "kind=b", "kind=c", "score"]
    assert encoder.centre.tolist() == [50, 0, 0, 0]
    assert encoder.half_width.tolist() == [50, 1, 1, 1]
    assert encoder.radius == pytest.approx(math.sqrt(3))


def test_no_encoded_row_is_longer_than_the_radius():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.uniform(-1e3, 1e3, 1000),
            "kind": rng.choice(["a", "b", "c"], 1000),
            "score": rng.normal(size=1000) * 9,
        }
    )
    encoder = Encoder(DOMAIN)
    assert np.linalg.norm(encoder.encode(table).x, axis=0).max() <= encoder.radius + 1e-12


@pytest.mark.parametrize("library", TABLES)
def test_the_design_is_what_was_encoded_in_the_users_units(library):
    encoder = Encoder(DOMAIN)
    design = encoder.design(TABLES[library])
    np.testing.assert_array_equal(design.T, encoder.centre[:, None] + encoder.half_width[:, None] * ENCODED)


def test_the_design_of_an_extrapolation_is_not_clipped():
    design = Encoder(DOMAIN).design(TABLES["polars"], extrapolate=True)
    np.testing.assert_array_equal(design[:, 0], [50, 0, np.nan, 150, 25])
    np.testing.assert_array_equal(design[1], [0, 1, 0, -3])


@pytest.mark.parametrize("norm", [None, 0.5, 20.0])
@pytest.mark.parametrize("missing", ["drop", "centre"])
def test_design_and_encoding_agree_under_every_declaration(norm, missing):
    """Also where a norm is below 1 and indicators are cut to it, and where a missing number has a
    centre beside 0.
    """
    domain = Domain((Numeric("a", -3, 10), Categorical("k", ("u", "v")), Numeric("b", -1, 1)), norm, missing)
    encoder = Encoder(domain)
    table = pl.DataFrame({"a": [None, 50.0, -9.0, 0.1], "k": ["v", "w", "u", None], "b": [0.7, None, 0.1, -0.2]})
    encoded = encoder.encode(table).x
    units = encoder.centre[:, None] + encoder.half_width[:, None] * encoded
    np.testing.assert_allclose(encoder.design(table).T, units, atol=1e-14)
    assert np.isfinite(encoded).all() == (missing == "centre")
    numbers = Encoder(domain.select(["a", "b"]))
    array, whole = table.select("a", "b").to_numpy(), np.empty((3, 4))
    numbers.write_whole(array, whole, 2.0**23)
    np.testing.assert_array_equal(whole[1:], np.rint(numbers.encode(array).x * 2.0**23))


def test_a_norm_scales_every_column_alike():
    encoder = Encoder(Domain.from_bounds(["a", "b"], None, data_norm=4.0))
    x = encoder.encode(np.array([[2.0, -1.0], [9.0, 0.0]])).x
    np.testing.assert_array_equal(x, [[0.5, 1.0], [-0.25, 0.0]])
    assert encoder.radius == 1
    assert (encoder.centre == 0).all()


def test_spellings_of_one_level_are_one_level():
    column = Categorical("flag", (0, 1))
    for values in ([0, 1, 1], [0.0, 1.0, 1.0], [False, True, True], ["0", "1", "1"], np.array([0, 1, 1], dtype="i1")):
        np.testing.assert_array_equal(column.encode(values), [[0, 1, 1]])


def test_a_list_is_read_cell_by_cell():
    """numpy would make texts of all cells, and no number of a truth value."""
    np.testing.assert_array_equal(as_floats([True, "x", 2]), [1, np.nan, 2])
    column = Categorical("flag", (0, 1))
    np.testing.assert_array_equal(column.encode([False, "x", True, 10**5000]), [[0, np.nan, 1, np.nan]])


def test_masked_cells_are_missing():
    masked = np.ma.MaskedArray([1.0, 2.0, 3.0], mask=[False, True, False])
    np.testing.assert_array_equal(as_floats(masked), [1, np.nan, 3])


def test_a_level_called_none_or_nan_is_not_a_missing_value():
    column = Categorical("smoker", ("None", "nan", "daily"))
    encoded = column.encode(["None", "nan", "daily", None, math.nan, np.float32("nan")])
    np.testing.assert_array_equal(np.isnan(encoded[0]), [False, False, False, True, True, True])


class Hostile:
    def __float__(self):
        raise RuntimeError("secret 4711")


class Unspeakable:
    def __str__(self):
        raise RuntimeError("secret 4711")

    def __ne__(self, other):
        raise RuntimeError("secret 4711")

    __hash__ = None


ODD = [
    *("text", None, Hostile(), 10**400, complex(1, 1), [1, 2], b"x", math.nan, pd.NA, "12", 10**5000, -(10**5000)),
    *(
        Unspeakable(),
        np.complex128(1),
        np.array([1.0]),
        np.array([1.0, 2.0]),
        [[1], [2, 3]],
        {},
        Decimal("sNaN"),
        pd.NaT,
    ),
    *(np.longdouble("1e4000"), np.timedelta64(5), datetime.date(2020, 1, 1), Fraction(10**5000, 3), b"\xff", "\ud800"),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("odd", ODD, ids=lambda value: type(value).__name__)
def test_no_cell_raises_or_warns(odd, place):
    table = np.empty((2, 3), dtype=object)
    table[0] = [50, "a", 0.5]
    table[1] = [50, "a", 0.5]
    table[1, place] = odd
    encoder = Encoder(DOMAIN, Numeric("y", 0, 1))
    y = np.empty(2, dtype=object)
    y[0], y[1] = 0.5, odd
    block = encoder.encode(table, y)
    assert np.isfinite(block.x[:, 0]).all()
    assert block.y[0] == 0
    assert encoder.design(table).shape == (2, 4)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("values", [[2**53 + 1, 5], [2**63 - 1, 5], [None, 2**53 + 1]])
@pytest.mark.parametrize("frame", [pl.DataFrame, pa.table, lambda cells: pd.DataFrame(cells).convert_dtypes()])
def test_integers_too_large_for_a_float_are_clipped_and_not_shown(frame, values):
    encoder = Encoder(Domain((Numeric("age", 0, 10),)))
    assert encoder.encode(frame({"age": values})).x[0, 0] in (1.0,) or values[0] is None


# R's missing number is one of these; arithmetic on it raises a flag, which numpy makes a warning.
SIGNALLING = {
    "f8": np.array([0x7FF00000000007A2], dtype="u8").view("f8")[0],
    "f4": np.array([0x7F800001], dtype="u4").view("f4")[0],
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("kind", ["array", "frame"])
def test_a_signalling_nan_is_a_missing_number_without_a_warning(dtype, kind):
    cells = np.zeros((5, 2), dtype=dtype)
    cells[3] = SIGNALLING[dtype]
    encoder = Encoder(Domain((Numeric("a", -1, 3), Numeric("b", -1, 3))), Numeric("y", -1, 3))
    block = encoder.encode(cells if kind == "array" else pl.DataFrame(cells, schema=["a", "b"]), cells[:, 0])
    whole = np.empty((3, 5))
    block.write_whole(whole, 2.0**23)
    for encoded in (block.x[0], block.x[1], block.y, whole[1]):
        np.testing.assert_array_equal(np.isnan(encoded), [False, False, False, True, False])


TYPES = ["f8", "f4", "f2", "i8", "i1", "u8", "?", "g", "O", ">f8"]


@pytest.mark.parametrize("dtype", TYPES)
def test_a_cell_is_read_the_same_in_an_array_of_any_type(dtype):
    """One odd cell can change the type of a whole array; it must not change what the others say."""
    cells = np.array([[0, 1], [1, 0], [0, 0]], dtype=dtype)
    if np.dtype(dtype).kind in "fO" and dtype != "f2":
        cells = (cells + np.float32(0.1)).astype(dtype)
    plain = np.array([[float(cell) for cell in row] for row in cells])
    domain = Domain((Numeric("a", -0.3, 1.7), Categorical("b", (float(plain[0, 1]), "x", float(plain[1, 1])))))
    expected = Encoder(domain).encode(plain.astype(object)).x
    assert np.isfinite(expected).all()
    np.testing.assert_array_equal(Encoder(domain).encode(cells).x, expected)
    numeric = Encoder(Domain((Numeric("a", -0.3, 1.7), Numeric("b", -0.1, 0.7))))
    np.testing.assert_array_equal(numeric.encode(cells).x, numeric.encode(plain.astype(object)).x)


@pytest.mark.filterwarnings("error")
def test_extended_precision_beyond_float_is_clipped():
    encoder = Encoder(Domain((Numeric("age", 0, 10),)), Numeric("y", 0, 10))
    huge = np.array([np.longdouble("1e4000"), np.longdouble(5)])
    block = encoder.encode(huge[:, np.newaxis], huge)
    assert block.x.tolist() == [[1.0, 0.0]]
    assert block.y.tolist() == [1.0, 0.0]


def test_rows_without_a_target_have_none():
    with pytest.raises(TypeError, match="these rows have no target"):
        Encoder(DOMAIN).encode(TABLES["polars"]).y
