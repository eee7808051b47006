"""Rows with weights: the weighted fit and its sandwich at a huge budget, the same bits everywhere,
and the promise.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from discreet import DomainError, LinearRegression, LogisticRegression, PoissonRegressor, SparseLinearRegression
from discreet.audit import replay

ROWS = 3000
HUGE = {"epsilon": 1e7, "delta": 1e-6, "bounds_X": (-1, 1), "bounds_weight": (0, 8)}
USUAL = {**HUGE, "epsilon": 1.0}
KINDS = {
    "linear": (LinearRegression, {"bounds_y": (-6, 6)}, sm.families.Gaussian()),
    "logistic": (LogisticRegression, {}, sm.families.Binomial()),
    "poisson": (PoissonRegressor, {"bounds_y": (0, 60)}, sm.families.Poisson()),
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (ROWS, 2))
    # Weights go with x, and the model is wrong, so that a fit that left them out would differ.
    eta = X @ [1.0, -0.5] + X[:, 0] ** 2
    y = {
        "linear": eta + rng.normal(0, 0.5, ROWS),
        "logistic": (rng.random(ROWS) < 1 / (1 + np.exp(-eta))).astype(int),
        "poisson": rng.poisson(np.exp(eta)),
    }
    return X, y, np.where(X[:, 0] > 0, rng.uniform(2, 5, ROWS), rng.uniform(0, 1, ROWS))


@pytest.mark.parametrize("kind", list(KINDS))
def test_estimates_and_errors_are_those_of_the_weighted_fit(kind, rows):
    X, labels, weight = rows
    make, options, family = KINDS[kind]
    model = make(**HUGE, **options).fit(X, labels[kind], sample_weight=weight)
    design = sm.add_constant(X)
    truth = sm.GLM(labels[kind], design, family=family, var_weights=weight).fit()
    mean = truth.fittedvalues
    slope = {"linear": np.ones(ROWS), "logistic": mean * (1 - mean), "poisson": mean}[kind]
    bread = np.linalg.inv(design.T @ (design * (weight * slope)[:, np.newaxis]))
    scores = design * (weight * (labels[kind] - mean))[:, np.newaxis]
    errors = np.sqrt(np.diag(bread @ scores.T @ scores @ bread))
    assert np.abs(model.results_.estimates - truth.params).max() < 0.05 * errors.min()
    assert np.allclose(model.results_.std_errors, errors, rtol=0.08)
    assert model.n_used_ == pytest.approx(weight.sum(), rel=1e-3)


def test_weights_of_one_say_nothing_and_a_weight_of_none_leaves_a_row_out(rows):
    X, labels, _ = rows
    half = np.arange(ROWS) % 2.0
    kept = LinearRegression(**HUGE, bounds_y=(-6, 6)).fit(X, labels["linear"], sample_weight=half)
    alone = LinearRegression(**HUGE, bounds_y=(-6, 6)).fit(X[1::2], labels["linear"][1::2])
    assert np.allclose(kept.coef_, alone.coef_, atol=1e-3)
    hidden = LinearRegression(**HUGE, bounds_y=(-6, 6)).fit(
        X, labels["linear"], sample_weight=np.where(half > 0, 1.0, np.nan)
    )
    assert np.allclose(hidden.coef_, alone.coef_, atol=1e-3)


def test_a_table_gives_the_same_bits(rows, tmp_path):
    X, labels, weight = rows
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "w": weight, "t": weight / 4 + 0.1, "y": labels["poisson"]})
    frame.to_parquet(tmp_path / "rows.parquet")
    options = {**USUAL, "bounds_y": (0, 60), "bounds_exposure": (0.1, 2), "random_state": 1}
    names = {"target": "y", "exposure": "t", "sample_weight": "w"}
    with pytest.warns(match="not private"):
        arrays = PoissonRegressor(**options).fit(
            frame[["a", "b"]], frame["y"], exposure=frame["t"], sample_weight=frame["w"]
        )
    with pytest.warns(match="not private"):
        table = PoissonRegressor(**options).fit_table(str(tmp_path / "rows.parquet"), **names)
    assert arrays.coef_.tobytes() == table.coef_.tobytes()


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("kind", ["linear", "poisson"])
def test_no_more_is_lost_than_claimed(kind, neighbours, rows):
    X, labels, weight = rows
    make, options, _ = KINDS[kind]
    one, other = [X.copy(), labels[kind].copy(), weight.copy()], None
    one[0][7], one[1][7], one[2][7] = 1.0, labels[kind].max(), 8.0
    if neighbours == "replace_one":
        other = [part.copy() for part in one]
        other[0][7], other[1][7], other[2][7] = -1.0, labels[kind].min(), 1e300
    else:
        other = [np.delete(part, 7, axis=0) for part in one]
    data = [(x, y, {"sample_weight": w}) for x, y, w in (one, other)]
    report = replay(make(**USUAL, **options, neighbours=neighbours), *data)
    assert report.passed, str(report)
    assert max(report.release_efficiencies) <= 1 + 1e-9


def test_what_is_wrong_is_said(rows):
    X, labels, weight = rows
    y = labels["linear"]
    with pytest.raises(DomainError, match="pass bounds_weight="):
        LinearRegression(epsilon=1, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-6, 6)).fit(X, y, sample_weight=weight)
    with pytest.raises(DomainError, match="declared >= 0"):
        LinearRegression(**{**USUAL, "bounds_weight": (-1, 2)}, bounds_y=(-6, 6)).fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match="sample_weight is for solver='gd'"):
        LinearRegression(**USUAL, bounds_y=(-6, 6), solver="moments").fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match="X and sample_weight differ in length"):
        LinearRegression(**USUAL, bounds_y=(-6, 6)).fit(X, y, sample_weight=weight[:-1])
    with pytest.raises(TypeError, match="no sample_weight"):
        SparseLinearRegression(epsilon=1, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-6, 6), sparsity=1).fit_table(
            pd.DataFrame({"a": y, "y": y, "w": weight}), target="y", sample_weight="w"
        )


def test_weights_of_three_classes_count_as_rows_do():
    """A row of weight 2 among rows of weight 1 is two rows, once noise is next to nothing."""
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, size=(1500, 2))
    y = np.argmax(X @ rng.normal(size=(2, 3)) * 2 + rng.gumbel(size=(1500, 3)), axis=1)
    weight = 1.0 + (np.arange(1500) % 3 == 0)
    same = {"epsilon": 1e8, "delta": 1e-6, "bounds_X": (-1, 1), "classes": (0, 1, 2), "neighbours": "add_or_remove_one"}
    weighted = LogisticRegression(**same, bounds_weight=(0, 2)).fit(X, y, sample_weight=weight)
    repeated = LogisticRegression(**same).fit(
        np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int))
    )
    assert np.allclose(weighted.coef_, repeated.coef_, atol=1e-3)
