"""Cluster workers receive functions of rows, and neither the ledger, the seed, nor other rows."""

from __future__ import annotations

import io
import warnings

import cloudpickle
import numpy as np
import pytest
from engine_problems import DOMAIN, table

import discreet
from discreet import Ledger
from discreet.curator import Accountant, Curator
from discreet.engines import MemoryEngine
from discreet.noise import SeededBits, SystemBits

ROWS = table(300)
MODELS = {
    "linear": (discreet.LinearRegression, "cost", {}),
    "linear, moments": (discreet.LinearRegression, "cost", {"solver": "moments"}),
    "logistic": (discreet.LogisticRegression, "sick", {}),
    "logistic, newton": (discreet.LogisticRegression, "sick", {"solver": "newton"}),
    "logistic, objective": (discreet.LogisticRegression, "sick", {"solver": "objective"}),
    "three classes": (discreet.LogisticRegression, "site", {}),
    "poisson": (discreet.PoissonRegressor, "claims", {}),
    "gamma": (discreet.GammaRegressor, "years", {}),
    "relu": (discreet.ReLURegressor, "cost", {}),
    "single index": (discreet.SingleIndexRegressor, "cost", {}),
    "sparse linear": (discreet.SparseLinearRegression, "cost", {"sparsity": 1}),
    "sparse poisson": (discreet.SparsePoissonRegressor, "claims", {"sparsity": 1}),
}


class Guarded(cloudpickle.Pickler):
    """Refuses objects that must stay in the fit's process."""

    def reducer_override(self, value):
        at_home = (Curator, Accountant, Ledger, SystemBits, SeededBits, MemoryEngine)
        if isinstance(value, at_home):
            raise AssertionError(f"a {type(value).__name__} would be sent to the workers")
        return super().reducer_override(value)


@pytest.mark.parametrize("name", list(MODELS))
def test_no_question_takes_more_along_than_it_needs(name, tmp_path, monkeypatch):
    make, target, options = MODELS[name]
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=5, delta=1e-5)
    sum_rows, asked = MemoryEngine.sum_rows, []

    def sending(self, function, part=None):
        sent = io.BytesIO()
        Guarded(sent).dump(function)
        asked.append(sent.getvalue())
        return sum_rows(self, function, part)

    monkeypatch.setattr(MemoryEngine, "sum_rows", sending)
    public = discreet.Public(rows=ROWS.select(["age", "bmi"]).slice(0, 50)) if name in ("linear", "logistic") else None
    more = {} if public is None else {"public": public}
    model = make(epsilon=2.0, delta=1e-5, domain=DOMAIN, ledger=ledger, **options, **more)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit_table(ROWS, target=target, features=["age", "bmi"])
    assert asked
    for sent in asked:
        assert len(sent) < 30_000
        assert str(tmp_path).encode() not in sent
        assert np.float64(ROWS["bmi"][0].as_py()).tobytes() not in sent
