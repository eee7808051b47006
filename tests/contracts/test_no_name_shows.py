"""A file without a header line, read as if it had one: its first record must not be quoted.

Every form of a table through every entry point, with undeclared column names. Each is refused by a
message without the names. Where nothing was declared by name, names that are not numbers are used.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

from discreet import (
    Categorical,
    Domain,
    DomainEncoder,
    DomainError,
    LinearRegression,
    LogisticRegression,
    Numeric,
    PiecewiseExponentialRegressor,
    PrivateGridSearchCV,
    Ridge,
    SparseLinearRegression,
    collect_moments,
    private_second_moment,
)

SECRET = "SECRET"
PRIVATE = {"epsilon": 1.0, "delta": 1e-6}
DOMAIN = Domain(
    (Numeric("a", -1, 1), Numeric("b", -1, 1), Categorical("k", ("u", "v")), Numeric("t", 0.5, 2), Numeric("y", 0, 1))
)
MAPPING = {"a": (-1, 1), "b": (-1, 1), "k": (0, 1), "t": (0, 2)}
DECLARED = {
    "domain": {"domain": DOMAIN},
    "bounds by name": {"bounds_X": MAPPING, "bounds_y": (0, 1)},
    "formula": {"domain": DOMAIN, "formula": "y ~ a * k + bs(b, 4)"},
    "formula, bounds": {"bounds_X": (-1, 1), "bounds_y": (0, 1), "formula": "y ~ a + bs(b, 4)"},
    # The text column is refused by its type, without its name.
    "bounds": {"bounds_X": (-1, 1), "bounds_y": (0, 1)},
}
HEADERS = {
    "none": [f"{SECRET} 34", f"{SECRET} 1.5", f"{SECRET} u", f"{SECRET} 1", f"{SECRET} 0"],
    "some": ["a", f"{SECRET} 1.5", f"{SECRET} u", "t", "y"],
    "near": ["a", "B_", f"{SECRET} u", "t", "y"],
}
CELLS = [
    np.linspace(-1, 1, 8),
    np.linspace(1, -1, 8),
    np.array(["u", "v"] * 4),
    np.linspace(0.5, 2, 8),
    np.array([0.0, 1.0] * 4),
]


def tables(names: list[str], folder: Any) -> dict[str, Any]:
    columns = dict(zip(names, CELLS, strict=True))
    frame = pd.DataFrame(columns)
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet")
    return {
        "pandas": frame,
        "polars": pl.DataFrame(columns),
        "arrow": pa.table(columns),
        "csv": str(folder / "t.csv"),
        "parquet": str(folder / "t.parquet"),
        "dataset": pa.dataset.dataset(folder / "t.parquet"),
        "lazy": pl.scan_parquet(folder / "t.parquet"),
    }


def refused(call: Any) -> str:
    """The message of what was raised, with its causes and all warnings: none has a name of the
    table.
    """
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(ValueError) as raised:
            call()
    text, error = "", raised.value
    while error is not None:  # as a traceback goes on, without lines of source, which are this file's
        text += str(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    told = text + "".join(str(one.message) for one in warned)
    assert SECRET not in told
    assert "B_" not in told
    return told


def estimators(declared: dict[str, Any]) -> dict[str, Any]:
    without = {name: value for name, value in declared.items() if name != "bounds_y"}
    made = {
        "linear": LinearRegression(**declared, **PRIVATE),
        "logistic": LogisticRegression(**without, **PRIVATE),
        "survival": PiecewiseExponentialRegressor(breaks=(1, 2), **without, **PRIVATE),
        "search": PrivateGridSearchCV(Ridge(**declared, **PRIVATE), {"alpha": [0.1, 1]}),
    }
    if "formula" not in declared:
        made["sparse"] = SparseLinearRegression(sparsity=1, **declared, **PRIVATE)
    return made


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("header", HEADERS)
def test_a_fit_shows_no_name_that_only_the_table_has(header, declared, tmp_path):
    names = HEADERS[header]
    for kind, table in tables(names, tmp_path).items():
        if kind == "csv" and declared == "bounds" and header != "none":
            continue  # cells of a CSV file have no type to be refused by
        for estimator in estimators(DECLARED[declared]).values():
            refused(lambda e=estimator, t=table: e.fit_table(t, target="y"))
            if kind not in ("pandas", "polars", "arrow"):
                continue
            X = table.drop(columns=names[-1:]) if kind == "pandas" else table.drop(names[-1:])
            refused(lambda e=estimator, x=X: e.fit(x, pd.Series(CELLS[-1], name=names[-1])))


@pytest.mark.parametrize("header", HEADERS)
def test_other_entries_show_none_either(header, tmp_path):
    names, fitted = HEADERS[header], LinearRegression(domain=DOMAIN, random_state=1, **PRIVATE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted.fit_table(pd.DataFrame(dict(zip("abkty", CELLS, strict=True))), target="y", features=["a", "b", "k"])
    encoder = DomainEncoder(DOMAIN).fit(pd.DataFrame(dict(zip("abk", CELLS, strict=False))))
    survival = PiecewiseExponentialRegressor(breaks=(1, 2), bounds_X=(-1, 1), **PRIVATE)
    for kind, table in tables(names, tmp_path).items():
        refused(lambda t=table: fitted.evaluate_table(t, **PRIVATE))
        refused(lambda t=table: collect_moments(t, domain=DOMAIN, **PRIVATE))
        if kind not in ("pandas", "polars", "arrow"):
            continue
        X = table.drop(columns=names[-2:]) if kind == "pandas" else table.drop(names[-2:])
        for ask in (fitted.predict, fitted.mean_interval, encoder.transform):
            refused(lambda a=ask, x=X: a(x))
        refused(lambda x=X: fitted.evaluate(x, CELLS[-1], **PRIVATE))
        refused(lambda x=X: survival.fit(x, CELLS[3], event="happened"))
        for made in (DomainEncoder(DOMAIN), DomainEncoder(bounds_X=MAPPING), DomainEncoder(bounds_X=(-1, 1))):
            refused(lambda m=made, x=X: m.fit(x))
        refused(lambda x=X: private_second_moment(x, domain=DOMAIN, **PRIVATE))
        refused(lambda x=X: private_second_moment(x, bounds_X=MAPPING, **PRIVATE))


def test_messages_say_what_is_wrong_all_the_same(tmp_path):
    headless = pd.DataFrame(dict(zip(HEADERS["none"], CELLS, strict=True)))
    model = LinearRegression(domain=DOMAIN, **PRIVATE)
    assert "has no column 'a'; it has 5 columns, none of them" in refused(lambda: model.fit_table(headless, target="y"))
    assert "header=None" in refused(lambda: model.fit_table(headless, target="y"))
    assert "column 1 of the table is not declared, nor is any" in refused(lambda: model.fit(headless, CELLS[-1]))
    near = pd.DataFrame(dict(zip(HEADERS["near"], CELLS, strict=True)))
    assert "one has this name except for capitals" in refused(lambda: model.fit_table(near, target="y"))
    assert "Did you mean 'b'?" in refused(
        lambda: LinearRegression(domain=DOMAIN, **PRIVATE).fit_table(near, target="a", features=["bb"])
    )


@pytest.mark.parametrize("entry", ["fit", "fit_table", "encoder", "moment"])
def test_names_that_are_numbers_are_refused_where_none_was_declared(entry, tmp_path):
    """They would be coefficients' names, in the summary and in files."""
    rows = pd.DataFrame({"34.5": CELLS[0], "1.5": CELLS[1], "y": CELLS[4]})
    bounds = {"bounds_X": (-1, 1), "bounds_y": (0, 1)}
    calls = {
        "fit": lambda: LinearRegression(**bounds, **PRIVATE).fit(rows[["34.5", "1.5"]], rows["y"]),
        "fit_table": lambda: LinearRegression(**bounds, **PRIVATE).fit_table(rows, target="y"),
        "encoder": lambda: DomainEncoder(bounds_X=(-1, 1)).fit(rows[["34.5", "1.5"]]),
        "moment": lambda: private_second_moment(rows[["34.5", "1.5"]], bounds_X=(-1, 1), **PRIVATE),
    }
    told = refused(calls[entry])
    assert "the names of 2 columns are numbers" in told
    assert "34" not in told


def test_names_that_are_numbers_may_be_declared_or_count():
    years = pd.DataFrame({"2019": CELLS[0], "2020": CELLS[1]})
    by_name = LinearRegression(bounds_X={"2019": (-1, 1), "2020": (-1, 1)}, bounds_y=(0, 1), **PRIVATE)
    assert by_name.fit(years, CELLS[-1]).coef_names_ == ["2019", "2020"]
    counted = years.set_axis(["0", "1"], axis=1)
    model = LinearRegression(bounds_X=(-1, 1), bounds_y=(0, 1), **PRIVATE)
    assert model.fit(counted, CELLS[-1]).coef_names_ == ["0", "1"]
    # A label's name that is a number is none.
    assert model.fit(counted, pd.Series(CELLS[-1], name="17.5")).results_.target == "y"


def test_a_name_that_is_there_twice_is_refused():
    twice = pd.DataFrame(np.column_stack([CELLS[0], CELLS[1]]), columns=[f"{SECRET} 1", f"{SECRET} 1"])
    refused(lambda: LinearRegression(bounds_X=(-1, 1), bounds_y=(0, 1), **PRIVATE).fit(twice, CELLS[-1]))
    with pytest.raises(DomainError, match="two columns of the table have one name"):
        LinearRegression(domain=DOMAIN, **PRIVATE).fit_table(twice, target="y", features=["a"])
