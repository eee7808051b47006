"""A search on a table gives the same bits as on arrays, for every rule that splits the rows."""

from __future__ import annotations

import dask
import dask.dataframe as dd
import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from engine_problems import PROBLEMS, parts, table
from sklearn.base import clone

from discreet import DomainError, Ledger, PrivateGridSearchCV

ROWS = table(600)
SEARCHED = ("linear", "groups", "poisson with exposure", "groups, categories and missing cells")


def search(problem, neighbours, ledger=None):
    estimator = problem.estimator(neighbours=neighbours, epsilon=4.0, ledger=ledger, random_state=3)
    return PrivateGridSearchCV(estimator, {"alpha": [0.1, 10.0]})


def found(searched):
    best = searched.best_estimator_
    return searched.best_index_, np.asarray(best.coef_).tobytes(), str(searched.privacy_)


def in_memory(problem, neighbours):
    frame = ROWS.to_pandas()
    more = {} if problem.exposure is None else {"exposure": frame[problem.exposure]}
    groups = None if problem.groups is None else frame[problem.groups].to_numpy()
    return found(search(problem, neighbours).fit(frame[list(problem.features)], frame[problem.target], groups, **more))


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("name", SEARCHED)
def test_a_search_of_a_table_has_the_bits_of_its_arrays(name, neighbours, tmp_path):
    problem = PROBLEMS[name]
    expected = in_memory(problem, neighbours)
    pq.write_table(ROWS, tmp_path / "rows.parquet", row_group_size=77)
    tables = {"file": tmp_path / "rows.parquet", "frame": ROWS.to_pandas()}
    if neighbours == "add_or_remove_one" or problem.groups is not None:
        tables["duckdb"] = duckdb.from_arrow(ROWS)
        tables["dask"] = dd.from_delayed([dask.delayed(part.to_pandas()) for part in parts(ROWS, 2)], verify_meta=False)
    for kind, given in tables.items():
        assert found(search(problem, neighbours).fit_table(given, **problem.asked)) == expected, kind


def test_rows_without_positions_cannot_be_parted_by_them(tmp_path):
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=5, delta=1e-5)
    problem = PROBLEMS["linear"]
    with pytest.raises(DomainError, match="add_or_remove_one"):
        search(problem, "replace_one", ledger).fit_table(duckdb.from_arrow(ROWS), **problem.asked)
    assert len(ledger.history) == 0


def test_too_few_rows_are_refused(tmp_path):
    problem = PROBLEMS["linear"]
    with pytest.raises(ValueError, match="too few"):
        clone(search(problem, "replace_one")).fit_table(ROWS.slice(0, 3), **problem.asked)
