"""Whole fits with compiled loops give the bits of those in numpy, in memory and on a stream.

Tables of other contracts are too small for compiled loops, which engines ask for from 300,000 rows
on.
"""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_problems import PROBLEMS, bits, fitted, table

from discreet import Categorical, Domain, LinearRegression, LogisticRegression, Numeric, PoissonRegressor
from discreet.errors import PrivacyLeakWarning, WeakGuaranteeWarning
from discreet.rows import kernels

pytest.importorskip("numba")
WIDTH = 17  # more than 16 entries have a grid of one half, whose squares a loop sums
LABELS = {
    LinearRegression: Numeric("y", -5.0, 5.0),
    LogisticRegression: Categorical("y", (0, 1)),
    PoissonRegressor: Numeric("y", 0.0, 20.0),
}


@pytest.fixture(scope="module")
def compiled():
    before = kernels._kernels
    kernels.compile_kernels()
    found = kernels._kernels
    kernels._kernels = before
    assert found is not kernels._NUMPY
    return found


def both(compiled, monkeypatch, fit):
    """The outcomes of a fit in numpy and compiled; the latter must have run."""
    found = []
    used = set()

    class Noting:
        def __getattr__(self, name):
            used.add(name)
            return getattr(compiled, name)

    for chosen in (kernels._NUMPY, Noting()):
        monkeypatch.setattr(kernels, "_kernels", chosen)
        found.append(fit())
    return *found, used


@pytest.mark.parametrize("name", PROBLEMS)
def test_problems_of_every_engine(name, compiled, monkeypatch, tmp_path):
    rows = table(1300)
    path = tmp_path / "rows.parquet"
    pq.write_table(rows, path, row_group_size=600)
    in_numpy, in_loops, used = both(compiled, monkeypatch, lambda: fitted(PROBLEMS[name], path))
    assert in_loops == in_numpy
    # With persons, what is hashed are encoded rows.
    assert ("product_digest" if PROBLEMS[name].groups is None else "fold_floats") in used


@pytest.mark.parametrize("kind", [LinearRegression, LogisticRegression, PoissonRegressor])
@pytest.mark.parametrize("missing", ["drop", "centre"])
def test_correlated_columns_with_odd_cells(kind, missing, compiled, monkeypatch, tmp_path):
    """So large a budget that rows are whitened by a matrix without zeros."""
    rng = np.random.default_rng(5)
    x = np.clip(rng.normal(size=(2100, WIDTH)) @ rng.normal(size=(WIDTH, WIDTH)) / 6, -1.5, 1.5)
    eta = x @ np.linspace(-1, 1, WIDTH)
    y = {
        LinearRegression: eta + rng.normal(size=len(x)) / 5,
        LogisticRegression: (rng.random(len(x)) < 1 / (1 + np.exp(-eta))).astype(int),
        PoissonRegressor: rng.poisson(np.exp(eta / 2)).astype(float),
    }[kind]
    odd = rng.random(x.shape) < 0.003
    x[odd] = rng.choice([np.nan, np.inf, -np.inf, -0.0, 1e300], odd.sum())
    names = [f"x{i}" for i in range(WIDTH)]
    domain = Domain((*(Numeric(one, -1.0, 1.0) for one in names), LABELS[kind]), missing=missing)
    path, rows = tmp_path / "rows.parquet", pa.table(dict(zip([*names, "y"], [*x.T, y], strict=True)))
    pq.write_table(rows, path, row_group_size=800)
    frame = rows.to_pandas()

    def fit():
        options = {"epsilon": 1e4, "delta": 1e-5, "domain": domain, "random_state": 3}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyLeakWarning)
            warnings.simplefilter("ignore", WeakGuaranteeWarning)
            in_memory = kind(**options).fit(frame[names], frame["y"])
            streamed = kind(**options).fit_table(path, target="y", features=names)
        return bits(in_memory), bits(streamed)

    in_numpy, in_loops, used = both(compiled, monkeypatch, fit)
    assert in_loops == in_numpy
    assert in_loops[0] == in_loops[1]
    assert {"law_pass", "look_pass", "count_cells"} <= used
