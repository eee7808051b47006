"""A job is one fit: other columns, types or declarations under its name are refused or paid anew."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from discreet import Domain, LinearRegression, Numeric, PrivateGridSearchCV, Public, Ridge, SparseLinearRegression
from discreet.engines.types import types_of
from discreet.errors import StoredResultWarning
from discreet.estimators.job import job_key, spelt

SETTINGS = {"epsilon": 0.5, "delta": 1e-6, "bounds_X": (-1, 1), "bounds_y": (-1, 1)}


def rows(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(seed).uniform(-1, 1, (n, 2))
    return X, np.clip(X @ [0.5, 0.2], -1, 1)


def frame(library, n: int = 300, dtype: str = "float64"):
    X, y = rows(n)
    return library.DataFrame({"a": X[:, 0].astype(dtype), "b": X[:, 1]}), pd.Series(y, name="y")


OTHERS = {
    "more rows": lambda: rows(301),
    "another type": lambda: (rows()[0].astype(np.float32), rows()[1]),
    "named columns": lambda: frame(pd),
    "labels of another type": lambda: (rows()[0], rows()[1].astype(np.float32)),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_other_data_under_the_same_name_is_another_fit(ledger, other):
    with warnings.catch_warnings():
        warnings.simplefilter("error", StoredResultWarning)
        for data in (rows(), other()):
            LinearRegression(**SETTINGS, ledger=ledger).fit(*data, job="monthly")
    assert len(ledger.history) == 2


def test_a_private_number_of_rows_is_not_in_the_name(ledger):
    """Whether it pays again would tell it."""
    model = LinearRegression(**SETTINGS, neighbours="add_or_remove_one", ledger=ledger)
    first = model.fit(*rows(), job="monthly").coef_
    with pytest.warns(StoredResultWarning):
        again = model.fit(*rows(301), job="monthly").coef_
    assert np.array_equal(first, again)
    grouped = LinearRegression(**SETTINGS, ledger=ledger)
    grouped.fit(*rows(), groups=np.arange(300), job="people")
    with pytest.warns(StoredResultWarning):
        grouped.fit(*rows(301), groups=np.arange(301), job="people")
    assert len(ledger.history) == 2


def test_a_stored_result_says_so_and_since_when(ledger):
    model = Ridge(**SETTINGS, ledger=ledger)
    with warnings.catch_warnings():
        warnings.simplefilter("error", StoredResultWarning)
        model.fit(*rows(), job="monthly")
    (entry,) = ledger.history
    with pytest.warns(StoredResultWarning) as said:
        model.fit(*rows(seed=1), job="monthly")  # other cells, which must not matter
    (warning,) = said
    assert f"{len(entry.releases)} of {len(entry.releases)} answers" in str(warning.message)
    assert entry.time in str(warning.message)
    assert warning.filename == __file__


def test_the_same_frame_from_another_library_is_the_same_fit(ledger):
    domain = Domain((Numeric("a", -1, 1), Numeric("b", -1, 1), Numeric("y", -1, 1)))
    settings = {"epsilon": 0.5, "delta": 1e-6, "domain": domain, "ledger": ledger}
    LinearRegression(**settings).fit(*frame(pd), job="monthly")
    with pytest.warns(StoredResultWarning):
        LinearRegression(**settings).fit(frame(pl)[0], pl.Series("y", frame(pl)[1].to_numpy()), job="monthly")
    LinearRegression(**settings).fit(*frame(pd, dtype="float32"), job="monthly")
    assert len(ledger.history) == 2


def test_other_public_rows_are_another_question_also_where_their_text_is_the_same(ledger):
    """numpy writes a long array as its corners; the middle counts as well."""
    public = np.random.default_rng(3).uniform(-1, 1, (2000, 2))
    changed = public.copy()
    changed[1000] = 0.123
    assert repr(public) == repr(changed)
    for one in (public, changed):
        LinearRegression(**SETTINGS, solver="moments", public=Public(rows=one), ledger=ledger).fit(*rows(), job="j")
    assert len(ledger.history) == 2


def test_a_file_is_told_apart_by_its_rows_and_types_and_not_by_other_columns(ledger, tmp_path):
    domain = Domain((Numeric("a", -1, 1), Numeric("b", -1, 1), Numeric("y", -1, 1)))
    model = LinearRegression(epsilon=0.5, delta=1e-6, domain=domain, ledger=ledger)
    table, y = frame(pd)
    for changed, charges in (
        (table, 1),
        (table.assign(other=1), 1),
        (table.astype({"a": "float32"}), 2),
        (pd.concat([table, table.iloc[:1]]), 3),
    ):
        changed.assign(y=np.resize(y, len(changed))).to_parquet(tmp_path / "rows.parquet")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StoredResultWarning)
            model.fit_table(tmp_path / "rows.parquet", target="y", job="monthly")
        assert len(ledger.history) == charges


def test_sparse_fits_and_searches_are_told_apart_by_their_data_too(ledger):
    for n in (300, 301):
        SparseLinearRegression(**SETTINGS, sparsity=1, ledger=ledger).fit(*rows(n), job="sparse")
        search = PrivateGridSearchCV(Ridge(**SETTINGS, ledger=ledger), {"alpha": [0.0, 1.0]})
        search.fit(*rows(n), job="search")
    assert len(ledger.history) == 4
    with pytest.warns(StoredResultWarning):
        search.fit(*rows(301), job="search")
    PrivateGridSearchCV(Ridge(**SETTINGS, ledger=ledger), {"alpha": [0.0, 2.0]}).fit(*rows(301), job="search")
    assert len(ledger.history) == 5
    X, y = rows(301)
    search.fit(X, y.astype(np.float32), job="search")
    assert len(ledger.history) == 6


class Plain:
    def __init__(self, value):
        self.value = value


EQUAL = [
    (1, 1.0),
    (np.float64(0.1), 0.1),
    ((1, 2), [1, 2]),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({1, 2}, {2, 1}),
    (np.arange(3), np.arange(3)),
    (Plain(1), Plain(1)),
    (pd.DataFrame({"a": [1.0]}), pl.DataFrame({"a": [1.0]})),
]
DIFFERENT = [
    (1, True),
    (1, "1"),
    (0.1, np.nextafter(0.1, 1)),
    (2**60, 2**60 + 1),
    ([1, 2], [12]),
    (["a,b"], ["a", "b"]),
    (np.arange(4), np.arange(4).reshape(2, 2)),
    (np.arange(3), np.arange(3.0)),
    (np.array(["a", None], dtype=object), np.array(["a", "None"], dtype=object)),
    (Plain(1), Plain(2)),
    (Numeric("a", 0, 1), Numeric("a", 0, 2)),
    (pd.DataFrame({"a": [1.0]}), pd.DataFrame({"b": [1.0]})),
    (pd.Series([1, 2]), pd.Series([2, 1])),
]


@pytest.mark.parametrize(("one", "other"), EQUAL, ids=lambda value: type(value).__name__)
def test_equal_values_are_spelt_alike(one, other):
    assert spelt(one) == spelt(other)
    assert "0x" not in spelt(one)


@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=lambda value: type(value).__name__)
def test_different_values_are_spelt_apart(one, other):
    assert spelt(one) != spelt(other)


def test_a_key_keeps_the_users_name_and_does_not_quote_the_facts():
    key = job_key("nightly", {"epsilon": 1.0}, np.arange(5))
    assert key.startswith("nightly/")
    assert len(key) == len("nightly/") + 16


def test_types_do_not_show_categories():
    """The categories of a column may be its cells."""
    import narwhals as nw

    frame = nw.from_native(pd.DataFrame({"a": pd.Categorical(["secret"]), "b": [1.0]}))
    assert types_of(frame) == {"a": "Categorical", "b": "Float64"}
