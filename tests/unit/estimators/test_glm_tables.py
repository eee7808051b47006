"""Generalized linear models from every form of data: frames, files, classes in any spelling."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from glm_rows import BOX, FREE, PRIVATE, exposed, mixed, model_of, peer_of, rows
from sklearn.base import clone

from discreet import Categorical, Domain, LogisticRegression, Numeric, PoissonRegressor


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_categories_of_any_frame_are_indicators(library):
    columns, domain, design, y = mixed()
    model = LogisticRegression(**FREE, domain=domain).fit(library(columns), y)
    expected = peer_of("bernoulli").fit(design, y)
    assert model.coef_ == pytest.approx(expected.coef_, abs=5e-3)
    assert model.coef_names_ == ["age", "kind=b", "kind=c"]
    assert model.predict_proba(library(columns)) == pytest.approx(expected.predict_proba(design), abs=5e-3)


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_gives_the_bits_of_its_frame(ending, tmp_path):
    columns, domain, _, y = mixed()
    answers = np.where(y == 1, "yes", "no")
    table = pa.table(columns | {"answer": answers})
    path = tmp_path / f"rows.{ending}"
    (pa.parquet.write_table if ending == "parquet" else pa.csv.write_csv)(table, path)
    domain = Domain((*domain.columns, Categorical("answer", ("no", "yes"))))
    estimator = LogisticRegression(**PRIVATE, domain=domain, classes=["no", "yes"], random_state=3)
    memory = clone(estimator).fit(table.select(["age", "kind"]), answers)
    file = clone(estimator).fit_table(path, target="answer")
    assert np.array_equal(file.coef_, memory.coef_)
    assert np.array_equal(file.intercept_, memory.intercept_)
    assert list(file.classes_) == ["no", "yes"]
    assert file.predict(table.select(["age", "kind"]))[0] in ("no", "yes")


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
@pytest.mark.parametrize("grouped", [False, True], ids=["rows", "persons"])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_with_exposures_gives_the_bits_of_its_arrays(ending, grouped, tmp_path):
    X, y, times, _ = exposed(2000)
    ids = np.arange(2000) // 4
    table = pa.table({f"x{i}": X[:, i] for i in range(3)} | {"t": times, "claims": y, "who": ids})
    path = tmp_path / f"rows.{ending}"
    (pa.parquet.write_table if ending == "parquet" else pa.csv.write_csv)(table, path)
    domain = Domain((*(Numeric(f"x{i}", -2, 2) for i in range(3)), Numeric("t", 0.1, 4), Numeric("claims", 0, 60)))
    estimator = PoissonRegressor(**PRIVATE, domain=domain, rows_per_person=2 if grouped else 1, random_state=3)
    memory = clone(estimator).fit(
        table.select(["x0", "x1", "x2"]),
        pd.Series(y, name="claims"),
        ids if grouped else None,
        exposure=pd.Series(times, name="t"),
    )
    file = clone(estimator).fit_table(path, target="claims", exposure="t", groups="who" if grouped else None)
    assert np.array_equal(file.coef_, memory.coef_)
    assert file.intercept_ == memory.intercept_


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
def test_the_order_of_rows_does_not_change_a_bit():
    X, y = rows("poisson", 40_000)
    order = np.random.default_rng(0).permutation(len(y))
    estimator = model_of("poisson", epsilon=1.0, random_state=1)
    first, second = clone(estimator).fit(X, y), clone(estimator).fit(X[order], y[order])
    assert np.array_equal(first.coef_, second.coef_)


# Classes.

SPELLINGS = {
    "numbers": ([0, 1], lambda y: y),
    "floats for whole classes": ([0, 1], lambda y: y.astype(float)),
    "other numbers": ([-1, 5], lambda y: np.where(y == 1, 5, -1)),
    "truth values": ([False, True], lambda y: y.astype(bool)),
    "texts": (["no", "yes"], lambda y: np.where(y == 1, "yes", "no")),
    "objects": (["no", "yes"], lambda y: np.where(y == 1, "yes", "no").astype(object)),
    "a list": (["no", "yes"], lambda y: np.where(y == 1, "yes", "no").tolist()),
    "polars": (["no", "yes"], lambda y: pl.Series(np.where(y == 1, "yes", "no"))),
    "categorical": (["no", "yes"], lambda y: pd.Series(np.where(y == 1, "yes", "no"), dtype="category")),
}


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
@pytest.mark.parametrize("spelt", list(SPELLINGS))
def test_classes_may_be_spelt_in_any_way(spelt):
    X, y = rows("bernoulli", 600)
    classes, turn = SPELLINGS[spelt]
    estimator = LogisticRegression(**PRIVATE, **BOX, random_state=1)
    expected = clone(estimator).fit(X, y)
    model = estimator.set_params(classes=classes).fit(X, turn(y))
    assert np.array_equal(model.coef_, expected.coef_)
    assert list(model.classes_) == classes
    assert set(np.asarray(model.predict(X)).tolist()) <= set(classes)
    assert model.score(X, np.asarray(turn(y))) == expected.score(X, y)


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
@pytest.mark.parametrize("odd", [7, np.nan, "perhaps", None])
def test_rows_with_undeclared_labels_contribute_nothing(odd):
    X, y = rows("bernoulli", 600)
    strange = y.astype(object)
    strange[::5] = odd
    missing = y.astype(float)
    missing[::5] = np.nan
    estimator = LogisticRegression(**PRIVATE, **BOX, random_state=1)
    first, second = clone(estimator).fit(X, strange), clone(estimator).fit(X, missing)
    assert np.array_equal(first.coef_, second.coef_)
