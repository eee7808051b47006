"""Types that cannot hold what was declared are refused before anything is paid for; what only cells
show is not.
"""

from __future__ import annotations

import datetime
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy import sparse

from discreet import (
    Categorical,
    Domain,
    DomainError,
    LinearRegression,
    LogisticRegression,
    Numeric,
    PoissonRegressor,
    PrivateGridSearchCV,
    Ridge,
    SparseLinearRegression,
    SparseLogisticRegression,
    collect_moments,
    dp_threshold,
    private_second_moment,
)

N = 60
PRIVATE = {"epsilon": 1.0, "delta": 1e-6}
NUMBERS = np.linspace(-1, 1, N)
DOMAIN = Domain((Numeric("a", -1, 1), Categorical("k", ("u", "v")), Numeric("t", 0.5, 2), Numeric("y", -1, 1)))
DATES = [datetime.date(2020, 1, 1) + datetime.timedelta(days=i) for i in range(N)]
TEXTS = ["1,5"] * N
# Cells that no number is made of, with a type that says so.
NO_NUMBERS = {
    "numpy dates": np.array(DATES, dtype="M8[D]"),
    "numpy durations": np.arange(N).astype("m8[s]"),
    "numpy texts": np.array(TEXTS),
    "numpy bytes": np.array(TEXTS, dtype="S"),
    "pandas dates": pd.Series(pd.to_datetime(DATES)),
    "pandas texts": pd.Series(TEXTS, dtype="string"),
    "pandas categories": pd.Series(TEXTS, dtype="category"),
    "polars dates": pl.Series(DATES),
    "polars texts": pl.Series(TEXTS),
    "polars categories": pl.Series(TEXTS, dtype=pl.Categorical),
    "polars lists": pl.Series([[1.0]] * N),
    "pyarrow dates": pa.chunked_array([DATES]),
    "pyarrow texts": pa.array(TEXTS),
    "pyarrow dictionary": pa.array(TEXTS).dictionary_encode(),
}
NUMBERS_OF_ANY_TYPE = {
    "numpy": NUMBERS,
    "numpy objects": NUMBERS.astype(object),
    "masked": np.ma.MaskedArray(NUMBERS, mask=NUMBERS > 0.9),
    "list": NUMBERS.tolist(),
    "tuple": tuple(NUMBERS.tolist()),
    "list with a text": [*NUMBERS.tolist()[1:], "SECRET"],
    "pandas": pd.Series(NUMBERS),
    "pandas nullable": pd.Series([*NUMBERS[1:], None], dtype="Float64"),
    "pandas objects": pd.Series([*NUMBERS[1:], "SECRET"], dtype=object),
    "pandas index": pd.Index(NUMBERS),
    "polars": pl.Series(NUMBERS),
    "polars nothing": pl.Series([None] * N),
    "pyarrow": pa.array(NUMBERS),
    "pyarrow chunks": pa.chunked_array([NUMBERS]),
    "pyarrow dictionary": pa.array(NUMBERS).dictionary_encode(),
}


def frame_of(column):
    """A frame of the column's own library, with a second column."""
    module = type(column).__module__.partition(".")[0]
    if module == "polars":
        return pl.DataFrame({"a": column, "t": NUMBERS + 1.5})
    if module == "pyarrow":
        return pa.table({"a": column, "t": NUMBERS + 1.5})
    return pd.DataFrame({"a": column, "t": NUMBERS + 1.5})


linear = partial(LinearRegression, **PRIVATE, bounds_X=(-1, 1), bounds_y=(-1, 1), solver="moments")
X = np.column_stack([NUMBERS, NUMBERS**2])


@pytest.fixture
def refused(ledger):
    """A context in which a DomainError with this message is raised and nothing is paid."""

    def expect(message):
        return pytest.raises(DomainError, match=message)

    yield expect
    assert ledger.history == []


@pytest.mark.parametrize("name", NO_NUMBERS)
def test_labels_that_are_no_numbers_by_their_type_are_refused(name, refused, ledger):
    with refused("y must be numbers, but holds"):
        linear(ledger=ledger).fit(X, NO_NUMBERS[name])
    with refused("y must be numbers, but holds"):
        search = PrivateGridSearchCV(
            Ridge(**PRIVATE, bounds_X=(-1, 1), bounds_y=(-1, 1), ledger=ledger), {"alpha": [1, 2]}
        )
        search.fit(X, NO_NUMBERS[name])
    with refused("values must be numbers, but holds"):
        dp_threshold(NO_NUMBERS[name], **PRIVATE, smallest=0.1, largest=1.0, ledger=ledger)
    with refused("exposure must be numbers, but holds"):
        model = PoissonRegressor(**PRIVATE, bounds_X=(-1, 1), bounds_y=(0, 9), bounds_exposure=(0.1, 9), ledger=ledger)
        model.fit(X, np.ones(N), exposure=NO_NUMBERS[name])


@pytest.mark.parametrize("name", [name for name in NO_NUMBERS if name not in ("numpy texts", "numpy bytes")])
def test_features_that_are_no_numbers_by_their_type_are_refused(name, refused, ledger):
    frame, domain = frame_of(NO_NUMBERS[name]), DOMAIN.select(["a", "t"])
    message = "column 'a' is declared with bounds but holds"
    with refused(message):
        LinearRegression(**PRIVATE, domain=domain, bounds_y=(-1, 1), ledger=ledger).fit(frame, NUMBERS)
    with refused(f"{message}|column 'a' has the type"):
        collect_moments(frame, **PRIVATE, domain=domain, ledger=ledger)
    with refused(message):
        private_second_moment(frame, **PRIVATE, domain=domain, ledger=ledger)
    with refused("'a' must be numbers"):
        SparseLinearRegression(**PRIVATE, domain=domain, bounds_y=(-1, 1), sparsity=1, ledger=ledger).fit(
            frame, NUMBERS
        )
    if isinstance(frame, pd.DataFrame):
        numbered = frame.set_axis([0, 1], axis=1)
        with refused("column 'x0' is declared with bounds but holds"):
            linear(ledger=ledger).fit(numbered, NUMBERS)


@pytest.mark.parametrize("name", [name for name in NO_NUMBERS if name.startswith("numpy")])
def test_arrays_that_are_no_numbers_by_their_type_are_refused(name, refused, ledger):
    table = np.column_stack([NO_NUMBERS[name]] * 2)
    with refused("column 'x0' is declared with bounds but holds"):
        linear(ledger=ledger).fit(table, NUMBERS)
    with refused("X must be numbers"):
        SparseLinearRegression(**PRIVATE, bounds_X=(-1, 1), bounds_y=(-1, 1), sparsity=1, ledger=ledger).fit(
            table, NUMBERS
        )
    with pytest.raises(DomainError, match="column 'x0' is declared with bounds"):
        linear().fit(X, NUMBERS).predict(table)


def test_no_message_tells_how_long_a_text_is():
    shown = []
    for cell in ("x", "x" * 99):
        with pytest.raises(DomainError) as caught:
            linear().fit(X, np.array(["a", *[cell] * (N - 1)]))
        shown.append(str(caught.value))
    assert shown[0] == shown[1]


# The noisy count of rows may tell that none of a column of nothing was usable.
@pytest.mark.filterwarnings("ignore::discreet.errors.UnusableRowsWarning")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", NUMBERS_OF_ANY_TYPE)
def test_numbers_of_any_type_are_labels_exposures_and_features(name):
    values = NUMBERS_OF_ANY_TYPE[name]
    linear().fit(X, values)
    dp_threshold(values, **PRIVATE, smallest=0.1, largest=1.0)
    model = PoissonRegressor(**PRIVATE, bounds_X=(-1, 1), bounds_y=(0, 9), bounds_exposure=(0.1, 9))
    model.fit(X, np.ones(N), exposure=values)
    if not isinstance(values, (list, tuple, pd.Index, np.ma.MaskedArray, pa.Array)):
        LinearRegression(**PRIVATE, domain=DOMAIN.select(["a", "t"]), bounds_y=(-1, 1)).fit(frame_of(values), NUMBERS)


# Categories.

CATEGORIES = {
    "texts for numbers": (Categorical("k", (1, 2)), ["1", "2"] * 30, True),
    "numbers for texts of numbers": (Categorical("k", ("1", "2")), [1, 2] * 30, True),
    "truth for numbers": (Categorical("k", (0, 1)), [True, False] * 30, True),
    "numbers for texts": (Categorical("k", ("u", "v")), [1, 2] * 30, False),
    "truth for texts": (Categorical("k", ("yes", "no")), [True, False] * 30, False),
    "truth for other numbers": (Categorical("k", (2, 3)), [True, False] * 30, False),
    "dates": (Categorical("k", ("2020-01-01", "2020-01-02")), DATES, False),
}


@pytest.mark.parametrize("library", [pl.DataFrame, pa.table], ids=["polars", "pyarrow"])
@pytest.mark.parametrize("what", CATEGORIES)
def test_categories_match_by_their_type_or_are_refused(what, library, tmp_path):
    column, cells, fits = CATEGORIES[what]
    domain = Domain((Numeric("a", -1, 1), column, Numeric("y", -1, 1)))
    table = library({"a": NUMBERS, "k": cells})
    model = LinearRegression(**PRIVATE, domain=domain, solver="moments")
    path = tmp_path / "rows.parquet"
    pa.parquet.write_table(pa.table({"a": NUMBERS, "k": cells, "y": NUMBERS}), path)
    if fits:
        model.fit(table, pd.Series(NUMBERS, name="y"))
        model.fit_table(path, target="y")
        return
    with pytest.raises(DomainError, match=r"column 'k' is declared with the values .*, but holds"):
        model.fit(table, pd.Series(NUMBERS, name="y"))
    with pytest.raises(DomainError, match="column 'k'"):
        model.fit_table(path, target="y")


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        ({"a": TEXTS}, "column 'a' is declared with bounds but holds string"),
        ({"y": TEXTS}, "y must be numbers, but holds string"),
        ({"k": [1, 2] * 30}, "column 'k' is declared with the values 'u', 'v', but holds int64"),
        ({"t": TEXTS}, "column 't' is declared with bounds but holds string"),
        ({"a": DATES}, "column 'a' has the type date32"),
    ],
)
def test_a_files_types_are_refused_before_anything_is_paid(odd, message, tmp_path, refused, ledger):
    cells = {"a": NUMBERS, "k": ["u", "v"] * 30, "t": NUMBERS + 1.5, "y": np.ones(N)} | odd
    pa.parquet.write_table(pa.table(cells), tmp_path / "rows.parquet")
    domain = Domain((*DOMAIN.columns[:3], Numeric("y", 0, 9)))
    with refused(message):
        model = PoissonRegressor(**PRIVATE, domain=domain, ledger=ledger)
        model.fit_table(tmp_path / "rows.parquet", target="y", exposure="t")


# Classes.

LABELS = {
    "texts": (np.array(["no", "yes"] * 30), (0, 1)),
    "texts of numbers": (np.array(["0", "1"] * 30), (0, 1)),
    "polars texts": (pl.Series(["no", "yes"] * 30), (0, 1)),
    "pandas texts": (pd.Series(["no", "yes"] * 30, dtype="string"), (0, 1)),
    "dates": (np.array(DATES, dtype="M8[D]"), (0, 1)),
    "numbers": (np.array([0, 1] * 30), ("no", "yes")),
    "truth": (np.array([True, False] * 30), ("no", "yes")),
    "truth for other numbers": (np.array([True, False] * 30), (-1, 2)),
}


@pytest.mark.parametrize("kind", [LogisticRegression, partial(SparseLogisticRegression, sparsity=1)])
@pytest.mark.parametrize("what", LABELS)
def test_labels_whose_type_holds_no_declared_class_are_refused(what, kind, refused, ledger):
    y, classes = LABELS[what]
    with refused("y holds .*, but the declared classes are"):
        kind(**PRIVATE, bounds_X=(-1, 1), classes=classes, ledger=ledger).fit(X, y)


@pytest.mark.parametrize("kind", [LogisticRegression, partial(SparseLogisticRegression, sparsity=1)])
@pytest.mark.parametrize(
    ("column", "classes", "message"),
    [
        (Numeric("y", 0, 4000), (0, 1), "target 'y' is declared as a number from 0 to 4000"),
        (Numeric("y", -1, 1), (0, 1), "target 'y' is declared as a number from -1 to 1"),
        (Numeric("y", 0, 1), ("no", "yes"), "target 'y' is declared as a number from 0 to 1"),
        (Categorical("y", ("no", "yes")), ("no", "No"), "class 'No' is not among the declared values of target 'y'"),
        (Categorical("y", ("no", "yes")), "no", "classes must be a list of labels, got 'no'"),
    ],
)
def test_classes_that_contradict_the_domain_are_refused(column, classes, message, kind, refused, ledger):
    domain = Domain((Numeric("x0", -1, 1), Numeric("x1", -1, 1), column))
    with refused(message):
        model = kind(**PRIVATE, domain=domain, classes=classes, ledger=ledger)
        model.fit(pd.DataFrame(X, columns=["x0", "x1"]), pd.Series(np.zeros(N), name="y"))


@pytest.mark.parametrize("classes", [range(3), np.arange(3), pd.Index([0, 1, 2]), [0, 1, 2]])
def test_classes_are_any_ordered_sequence(classes):
    model = LogisticRegression(**PRIVATE, bounds_X=(-1, 1), classes=classes).fit(X, np.arange(N) % 3)
    assert model.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("classes", [{0, 1}, 2, np.int64(2), b"01", (c for c in (0, 1))])
def test_classes_without_an_order_are_refused(classes, refused, ledger):
    with refused("classes must be a list of labels"):
        LogisticRegression(**PRIVATE, bounds_X=(-1, 1), classes=classes, ledger=ledger).fit(X, np.zeros(N))


@pytest.mark.parametrize(
    ("column", "classes"),
    [(Numeric("y", 0, 1), (0, 1)), (Categorical("y", (0, 1, 2)), (0, 2)), (Categorical("y", (0, 1)), (0, 1))],
)
def test_classes_that_agree_with_the_domain_are_fitted(column, classes):
    domain = Domain((Numeric("x0", -1, 1), Numeric("x1", -1, 1), column))
    model = LogisticRegression(**PRIVATE, domain=domain, classes=classes)
    model.fit(pd.DataFrame(X, columns=["x0", "x1"]), pd.Series(np.zeros(N), name="y"))
    assert tuple(model.classes_.tolist()) == classes


def test_classes_of_mixed_types_stay_what_they_are():
    model = LogisticRegression(**PRIVATE, bounds_X=(-1, 1), classes=("no", 1))
    y = np.array(["no", 1] * 30, dtype=object)
    assert model.fit(X, y).classes_.tolist() == ["no", 1]


# Shapes.


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([1.0, 2.0], "Expected 2D array, got 1D array instead"),
        ([[1.0, 2.0], [1.0]], "every row must have the same number of cells"),
        ([[1.0, 2.0], 3.0], "Expected 2D array"),
        (pd.Series([1.0]), "Expected 2D array, got 1D"),
        (sparse.eye(3), "Sparse data was passed"),
        (np.ones((2, 2, 2)), "Expected 2D array, got 3D"),
    ],
    ids=str,
)
def test_what_is_no_table_is_refused(table, message):
    with pytest.raises((ValueError, TypeError), match=message):
        linear().fit(table, [0.0, 1.0])


@pytest.mark.filterwarnings("ignore:A column-vector y")
@pytest.mark.parametrize(
    "y", [NUMBERS[:, None], [[value] for value in NUMBERS], [[value] for value in [None, *NUMBERS[1:]]]]
)
def test_a_column_of_labels_is_taken_with_a_warning(y):
    from sklearn.exceptions import DataConversionWarning

    with pytest.warns(DataConversionWarning, match="column-vector y"):
        linear().fit(X, y)


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
def test_a_masked_cell_is_missing():
    masked = np.ma.MaskedArray(X, mask=np.zeros(X.shape, dtype=bool))
    masked[3, 1] = np.ma.masked
    missing = X.copy()
    missing[3, 1] = np.nan
    first, second = (linear(random_state=1).fit(table, NUMBERS) for table in (masked, missing))
    assert np.array_equal(first.coef_, second.coef_)
