"""Private evaluation: intervals that cover, one charge before rows are read, the same from every
table, the promise.
"""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import binom
from sklearn.metrics import log_loss, r2_score, roc_auc_score

from discreet import (
    BudgetError,
    Domain,
    GeneralizedLinearRegressor,
    Ledger,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    PrivateGridSearchCV,
    ReLURegressor,
    Ridge,
    SparseLinearRegression,
    UnusableRowsWarning,
    huber,
)
from discreet.audit import replay
from discreet.audit.functions import EvaluatedClasses, EvaluatedMeans, known_model
from discreet.domain import Encoder
from discreet.glm import Poisson
from discreet.inference.evaluation import area_under_curve, equal_groups, ratio_interval

ROWS = 3000
USUAL = {"epsilon": 1.0, "delta": 1e-6}
DECLARED = {**USUAL, "bounds_X": (-1, 1)}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (ROWS, 3))
    eta = X @ [0.8, 0.2, -0.4] + 0.1
    exposure = rng.uniform(0.2, 2, ROWS)
    return {
        "X": X,
        "binary": (rng.random(ROWS) < 1 / (1 + np.exp(-2 * eta))).astype(int),
        "linear": eta + rng.normal(0, 0.5, ROWS),
        "counts": rng.poisson(exposure * np.exp(eta)),
        "exposure": exposure,
    }


def models():
    return {
        "binary": known_model(LogisticRegression(**DECLARED), 3),
        "linear": known_model(LinearRegression(**DECLARED, bounds_y=(-6, 6)), 3),
        "counts": known_model(PoissonRegressor(**DECLARED, bounds_y=(0, 20), bounds_exposure=(0.2, 2)), 3),
    }


def truths(kind, model, rows):
    """What each measure is without noise."""
    X, y = rows["X"], rows[kind]
    if kind == "binary":
        chance = model.predict_proba(X)[:, 1]
        loss, null = log_loss(y, chance), log_loss(y, np.full(ROWS, y.mean()))
        return {"log_loss": loss, "deviance_explained": 1 - loss / null, "auc": roc_auc_score(y, chance)}
    if kind == "linear":
        return {"r2": r2_score(y, model.predict(X)), "rmse": np.sqrt(np.mean((y - model.predict(X)) ** 2))}
    own = Poisson().deviance(y, model.predict(X, rows["exposure"]))
    null = Poisson().deviance(y, y.sum() / rows["exposure"].sum() * rows["exposure"])
    return {"deviance_explained": 1 - own.sum() / null.sum(), "mean_deviance": own.mean()}


@pytest.mark.parametrize("kind", ["binary", "linear", "counts"])
def test_intervals_cover_what_is_there_without_noise(kind, rows):
    """Of 30 evaluations, no more miss at a level of 90 % than one in a million times would if one
    in eight did.
    """
    model, times = models()[kind], 30
    truth, missed = truths(kind, model, rows), dict.fromkeys(truths(kind, model, rows), 0)
    more = {"exposure": rows["exposure"]} if kind == "counts" else {}
    for number in range(times):
        found = model.evaluate(
            rows["X"], rows[kind], epsilon=2.0, delta=1e-6, alpha=0.1, **more,
            neighbours=("replace_one", "add_or_remove_one")[number % 2],
        )  # fmt: skip
        for name, value in truth.items():
            assert found.measures[name].low <= found.measures[name].value <= found.measures[name].high
            missed[name] += not found.measures[name].low <= value <= found.measures[name].high
    assert max(missed.values()) <= binom.isf(1e-6, times, 0.125), missed


def test_index_and_sparse_models_and_searches_are_evaluated(rows):
    """With little noise, the measures are those that scikit-learn computes."""
    X, much = rows["X"], {"epsilon": 50.0, "delta": 1e-6}
    relu = known_model(ReLURegressor(**DECLARED, bounds_y=(-6, 6)), 3)
    sparse = sparse_model((-1, 1), (-6, 6))
    search = PrivateGridSearchCV(Ridge(**DECLARED, bounds_y=(-6, 6)), {"alpha": [0.1, 1.0]}).fit(X, rows["linear"])
    for model in (relu, sparse, search):
        found = model.evaluate(X, rows["linear"], **much)
        truth = r2_score(rows["linear"], model.predict(X))
        assert found.r2.value == pytest.approx(truth, abs=0.02)
        assert len(found.calibration) > 3
    assert sparse.evaluate(csr_matrix(X), rows["linear"], **much).r2.value == pytest.approx(
        r2_score(rows["linear"], sparse.predict(X)), abs=0.02
    )
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"]).assign(y=rows["linear"])
    assert search.evaluate_table(frame, target="y", **much).r2.value > 0.3


def test_a_large_budget_tells_the_plain_measures_and_a_calibrated_table(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind, model in models().items():
            more = {"exposure": rows["exposure"]} if kind == "counts" else {}
            found = model.evaluate(rows["X"], rows[kind], epsilon=1e6, delta=1e-6, **more)
            for name, value in truths(kind, model, rows).items():
                assert found.measures[name].value == pytest.approx(value, abs=0.003), (kind, name)
            assert found.rows == pytest.approx(ROWS, abs=1)
            assert len(found.calibration) == 10
            total = rows["exposure"].sum() if kind == "counts" else ROWS
            assert sum(row.rows for row in found.calibration) == pytest.approx(total, rel=1e-3)
            labels = sum(row.rows * row.observed for row in found.calibration)
            assert labels == pytest.approx(rows[kind].sum(), abs=1)


def test_frames_tables_and_formulas(rows, tmp_path):
    frame = pd.DataFrame(rows["X"], columns=["a", "b", "c"]).assign(y=rows["linear"])
    frame.to_parquet(tmp_path / "rows.parquet")
    declared = {**USUAL, "bounds_X": {"a": (-1, 1), "b": (-1, 1), "c": (-1, 1)}, "bounds_y": (-6, 6)}
    plain = LinearRegression(**declared).fit(frame[["a", "b", "c"]], frame["y"])
    formula = LinearRegression(**declared, formula="y ~ a * b + c").fit(frame)
    seeded = {**USUAL, "random_state": 5}
    with pytest.warns(match="not private"):
        expected = plain.evaluate(frame[["a", "b", "c"]], frame["y"], **seeded)
    with pytest.warns(match="not private"):
        table = plain.evaluate_table(str(tmp_path / "rows.parquet"), **seeded)
    assert table.to_dict()["measures"] == expected.to_dict()["measures"]
    assert formula.evaluate(frame, **USUAL).r2.value == pytest.approx(expected.r2.value, abs=0.2)
    assert "R^2" in str(expected)
    assert json.loads(json.dumps(expected.to_dict()))["guarantee"]["neighbours"] == "replace_one"
    expected.plot(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5000
    with pytest.raises(ValueError, match="feature names should match"):
        plain.evaluate(frame[["a", "c", "b"]], frame["y"], **USUAL)
    with pytest.raises(AttributeError, match="has no 'auc'; it has r2, rmse"):
        expected.auc


def test_in_the_terminal(rows, tmp_path):
    from click.testing import CliRunner

    from discreet.cli import main

    frame = pd.DataFrame(rows["X"], columns=["a", "b", "c"]).assign(cost=4000 * rows["linear"])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    declared = {**USUAL, "bounds_X": {"a": (-1, 1), "b": (-1, 1), "c": (-1, 1)}, "bounds_y": (-24_000, 24_000)}
    LinearRegression(**declared, formula="cost ~ a * b + c").fit(frame).save(tmp_path / "model.json")
    Ledger.create(tmp_path / "budget.ledger", epsilon=1.2, delta=1e-6)
    common = ["evaluate", str(tmp_path / "model.json"), str(tmp_path / "rows.csv"), "--epsilon", "1", "--delta", "1e-6"]
    paid = [*common, "--ledger", str(tmp_path / "budget.ledger")]
    run = CliRunner().invoke
    assert "no row was read and nothing was spent" in run(main, [*paid, "--dry-run"]).output
    found = run(main, [*paid, "--out", str(tmp_path / "found.json")])
    assert found.exit_code == 0, found.output
    assert "R^2" in found.output
    assert "is left: epsilon" in found.output
    assert "e+0" not in found.output
    measures = json.loads((tmp_path / "found.json").read_text())["measures"]
    assert measures["r2"]["low"] < measures["r2"]["value"] < measures["r2"]["high"]
    again = run(main, paid)
    assert again.exit_code != 0
    assert "no folder" in run(main, [*common, "--out", str(tmp_path / "no" / "found.json")]).output


def test_it_is_paid_for_as_a_whole_before_rows_are_read(rows, tmp_path):
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=1.5, delta=1e-6)
    model = models()["binary"]
    found = model.evaluate(rows["X"], rows["binary"], **USUAL, ledger=ledger)
    assert found.privacy.epsilon(1e-6) == pytest.approx(1.0, rel=1e-6)
    left = ledger.remaining
    with pytest.raises(BudgetError):
        model.evaluate(rows["X"], rows["binary"], epsilon=1.4, delta=1e-6, ledger=ledger)
    assert ledger.remaining == left


def test_three_classes_and_persons(rows):
    labels = np.where(rows["X"][:, 0] > 0.3, 2, rows["binary"])
    model = LogisticRegression(**DECLARED, classes=(0, 1, 2)).fit(rows["X"], labels)
    found = model.evaluate(rows["X"], labels, epsilon=5.0, delta=1e-6)
    assert found.log_loss.value == pytest.approx(log_loss(labels, model.predict_proba(rows["X"])), abs=0.05)
    persons = models()["binary"].evaluate(
        rows["X"], rows["binary"], np.arange(ROWS) // 2, rows_per_person=2, epsilon=5.0, delta=1e-6
    )
    assert persons.privacy.grouped
    assert persons.rows == pytest.approx(ROWS, rel=0.1)


class EvaluatedIndex(EvaluatedMeans):
    """``evaluate`` of a ReLU model that is known beforehand."""

    def fit(self, X, y):
        declared = {"epsilon": 1.0, "delta": 1e-6, "bounds_X": self.bounds_X, "bounds_y": self.bounds_y}
        return self._ask(known_model(ReLURegressor(**declared), X.shape[1]), X, y)

    def _ask(self, model, X, y):
        asked = {name: getattr(self, name) for name in ("epsilon", "delta", "neighbours", "ledger")}
        self.privacy_ = model.evaluate(X, y, **asked).privacy
        return self


class EvaluatedSparse(EvaluatedIndex):
    """``evaluate`` of a sparse model, whose columns and coefficients are known beforehand."""

    def fit(self, X, y):
        return self._ask(sparse_model(self.bounds_X, self.bounds_y), X, y)


def sparse_model(bounds_X, bounds_y):
    common = {"epsilon": 1.0, "delta": 1e-6, "bounds_X": bounds_X, "bounds_y": bounds_y}
    model = known_model(SparseLinearRegression(**common, sparsity=2), 3)
    model.support_ = np.array([0, 2])
    model._encoder = Encoder(Domain(tuple(model._encoder.domain.columns[i] for i in (0, 2))), model._encoder.target)
    model.coef_, model.coef_names_ = np.array([0.8, 0.0, -0.4]), model._encoder.names
    return model


MEANS = {"linear": EvaluatedMeans, "index": EvaluatedIndex, "sparse": EvaluatedSparse}
CORNERS = {"opposite": (-1.0, "low"), "missing": (np.nan, "high"), "endless": (np.inf, "high"), "no label": (1.0, None)}


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("other", list(CORNERS))
@pytest.mark.parametrize("kind", ["binary", "linear", "index", "sparse"])
def test_no_more_is_lost_than_claimed(kind, other, neighbours, rows):
    low, high = (0, 1) if kind == "binary" else (-6.0, 6.0)
    cell, label = CORNERS[other]
    X, y = rows["X"].copy(), rows["binary" if kind == "binary" else "linear"].astype(float)
    X[7], y[7] = 1.0, low
    X_other, y_other = X.copy(), y.copy()
    X_other[7], y_other[7] = cell, {"low": low, "high": high, None: np.nan}[label]
    if neighbours == "add_or_remove_one":
        X_other, y_other = np.delete(X, 7, axis=0), np.delete(y, 7)
    common = {**DECLARED, "neighbours": neighbours}
    audited = EvaluatedClasses(**common, classes=(0, 1)) if kind == "binary" else None
    audited = audited or MEANS[kind](**common, bounds_y=(-6, 6))
    report = replay(audited, (X, y), (X_other, y_other))
    assert report.passed, str(report)
    assert max(report.release_efficiencies) <= 1 + 1e-9


@pytest.mark.parametrize("squared", [0.0, 8.0, 30.0])
def test_the_interval_of_a_ratio_holds_where_noise_leans_to_one_side(squared):
    """The constant model's deviance is off by the square of its mean's noise; normal quantiles
    alone hold in 91 %.
    """
    rng = np.random.default_rng(5)
    above = 900 + rng.normal(0, 10, 1500)
    below = 1000 + rng.normal(0, 10, 1500) + squared * (rng.standard_normal(1500) ** 2 - 1)
    ends = [ratio_interval(a, b, (10.0, 10.0), 0.05, squared=squared) for a, b in zip(above, below, strict=True)]
    low, high = np.array(ends).T
    assert 0.935 < np.mean((low <= 0.9) & (high >= 0.9)) < 0.975
    assert max(np.mean(low > 0.9), np.mean(high < 0.9)) < 0.045


@pytest.mark.parametrize("kind", ["linear", "binary"])
def test_no_usable_row_is_told_and_no_number_is_made_of_noise(kind, rows):
    model, labels = models()[kind], np.full(ROWS, np.nan)
    with pytest.warns(UnusableRowsWarning, match="no row was usable"):
        found = model.evaluate(rows["X"], labels, **USUAL)
    assert "no row was usable" in str(found)
    assert all(np.isnan(one.value) for one in found.measures.values() if one.name != "auc")
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["measures"]
    few = model.evaluate(rows["X"][:30], rows[kind][:30], **USUAL)
    assert "too noisy to tell" in str(few)
    assert not re.search(r"\bnan\b|\binf\b|e\+0", str(few))
    assert all(not abs(one.value) > 1e3 for one in few.measures.values())
    assert model._public_rows is None  # a model does not take the evaluation's rows for its own


def test_parts_of_the_arithmetic():
    assert ratio_interval(3.0, 2.0, (0.0, 0.0), 0.05) == (1.5, 1.5)
    assert ratio_interval(3.0, 0.1, (0.1, 1.0), 0.05) == (-np.inf, np.inf)
    value, low, high = area_under_curve(np.array([50.0, 0.0]), np.array([0.0, 70.0]), 0.01, 0.05)
    assert (value, high) == (1.0, 1.0)
    assert low > 0.99
    assert area_under_curve(np.array([1.0, 0.0]), np.array([0.0, 70.0]), 5.0, 0.05) is None
    assert equal_groups(np.array([5.0, 5.0, 5.0, 5.0]), 2) == [1]
    assert equal_groups(np.array([-5.0, -1.0]), 3) == []


def test_a_loss_with_labels_below_0_is_compared_with_their_mean():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (ROWS, 2))
    y = X @ [0.5, -0.5] - 2 + rng.normal(0, 0.3, ROWS)
    declared = {**USUAL, "bounds_X": (-1, 1), "bounds_y": (-4, 4)}
    model = GeneralizedLinearRegressor(**declared, loss=huber(1.0)).fit(X, y)
    found = model.evaluate(X, y, epsilon=50.0, delta=1e-6)
    measure = found.measures["deviance_explained"]
    assert measure.value == pytest.approx(r2_score(y, model.predict(X)), abs=0.05)
    assert all(row.predicted == pytest.approx(row.observed, abs=0.4) for row in found.calibration)
