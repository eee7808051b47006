"""Prediction clips features to their bounds as the fit did, and gives NaN for missing values."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from discreet import (
    Categorical,
    Domain,
    DomainError,
    GammaRegressor,
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
    Numeric,
    PoissonRegressor,
    PrivateGridSearchCV,
    ReLURegressor,
    Ridge,
    SingleIndexRegressor,
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegressor,
)

PRIVATE = {"epsilon": 1000.0, "delta": 1e-6}
BOX = {"bounds_X": {"x0": (-1, 2), "x1": (0, 3)}}
COUNTS = {"bounds_y": (0, 9)}
MODELS = {
    "linear": LinearRegression(**PRIVATE, **BOX, bounds_y=(-5, 5)),
    "moments": LinearRegression(**PRIVATE, **BOX, bounds_y=(-5, 5), solver="moments"),
    "ridge": Ridge(**PRIVATE, **BOX, bounds_y=(-5, 5)),
    "general": GeneralizedLinearRegressor(**PRIVATE, **BOX, bounds_y=(-5, 5)),
    "poisson": PoissonRegressor(**PRIVATE, **BOX, **COUNTS),
    "gamma": GammaRegressor(**PRIVATE, **BOX, bounds_y=(0.1, 9)),
    "relu": ReLURegressor(**PRIVATE, **BOX, **COUNTS),
    "index": SingleIndexRegressor(**PRIVATE, **BOX, bounds_y=(0, 1)),
    "search": PrivateGridSearchCV(LinearRegression(**PRIVATE, **BOX, bounds_y=(-5, 5)), {"alpha": [0.0, 1.0]}),
    "logistic": LogisticRegression(**PRIVATE, **BOX),
    "classes": LogisticRegression(**PRIVATE, **BOX, classes=[0, 1, 2]),
    "sparse linear": SparseLinearRegression(**PRIVATE, **BOX, bounds_y=(-5, 5), sparsity=2),
    "sparse poisson": SparsePoissonRegressor(**PRIVATE, **BOX, **COUNTS, sparsity=2),
    "sparse logistic": SparseLogisticRegression(**PRIVATE, **BOX, sparsity=2),
}
CLASSIFIERS = [name for name in MODELS if "logistic" in name or name == "classes"]
INTERVALS = ["linear", "moments", "ridge", "general", "poisson", "gamma", "relu", "index", "logistic"]


def fitted(name):
    rng = np.random.default_rng(0)
    X = rng.uniform([-1, 0], [2, 3], (400, 2))
    return MODELS[name].fit(X, (X[:, 0] + rng.normal(size=400) > 0.5).astype(int))


def scores(model):
    return model.predict_proba if hasattr(model, "predict_proba") else model.predict


OUTSIDE = np.array([[-7.0, 50.0], [9.0, -2.0], [0.5, np.inf]])
INSIDE = np.array([[-1.0, 3.0], [2.0, 0.0], [0.5, 3.0]])


@pytest.mark.parametrize("name", MODELS)
def test_features_are_moved_into_their_bounds_unless_asked_otherwise(name):
    predict = scores(fitted(name))
    assert np.array_equal(predict(OUTSIDE), predict(INSIDE))
    assert np.array_equal(predict(INSIDE, extrapolate=True), predict(INSIDE))
    assert not np.array_equal(predict(OUTSIDE[:2], extrapolate=True), predict(INSIDE[:2]))


@pytest.mark.parametrize("name", MODELS)
def test_a_model_predicts_the_same_after_it_was_stored(name):
    model = fitted(name)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(OUTSIDE), model.predict(OUTSIDE))
    assert np.array_equal(scores(again)(OUTSIDE), scores(model)(OUTSIDE))


def test_an_extrapolation_is_the_plain_line():
    model = fitted("linear")
    assert model.predict(OUTSIDE[:2], extrapolate=True) == pytest.approx(OUTSIDE[:2] @ model.coef_ + model.intercept_)


@pytest.mark.parametrize("name", ["linear", "ridge", "general", "sparse linear", "sparse poisson", "poisson", "relu"])
def test_predictions_are_moved_into_the_bounds_of_labels_unless_asked_otherwise(name):
    """Labels are at most 1, and the line goes beyond; no mean of labels does."""
    rng = np.random.default_rng(0)
    X = rng.uniform([-1, 0], [2, 3], (400, 2))
    model = clone(MODELS[name]).set_params(bounds_y=(0, 1)).fit(X, np.round(np.clip(2 * X[:, 0], 0, 1)))
    line = model.predict(X, extrapolate=True)
    assert line.max() > 1
    assert np.array_equal(model.predict(X), np.clip(line, 0, 1))


@pytest.mark.parametrize(
    ("name", "method"),
    [
        *((name, "predict_interval") for name in INTERVALS if name != "logistic"),
        *((name, "mean_interval") for name in INTERVALS),
    ],
)
def test_intervals_are_about_the_same_rows(name, method):
    interval = getattr(fitted(name), method)
    assert np.array_equal(interval(OUTSIDE), interval(INSIDE))
    assert np.array_equal(interval(INSIDE, extrapolate=True), interval(INSIDE))
    if method == "mean_interval":
        assert not np.array_equal(interval(OUTSIDE[:2], extrapolate=True), interval(INSIDE[:2]))
    assert (np.diff(interval(INSIDE), axis=1) >= 0).all()


@pytest.mark.parametrize("name", [name for name in MODELS if name not in CLASSIFIERS])
def test_a_regressor_predicts_nan_for_a_row_with_a_missing_value(name):
    model = fitted(name)
    with np.errstate(all="raise"):
        assert np.isnan(model.predict([[np.nan, 1.0], [0.0, 1.0]])).tolist() == [True, False]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_refuses_to_choose_and_names_the_column(name):
    model = fitted(name)
    rows = [[0.0, 1.0], [0.0, np.nan], [1.0, np.nan]]
    chances = model.predict_proba(rows)
    assert np.isnan(chances).all(axis=1).tolist() == [False, True, True]
    with pytest.raises(DomainError, match=r"column 'x1' is missing.* in 2 of the rows.*predict_proba"):
        model.predict(rows)
    assert len(model.predict(rows[:1])) == 1


def test_an_unknown_category_is_named_by_its_column():
    domain = Domain((Numeric("age", 0, 9), Categorical("kind", ("a", "b", "c"))))
    frame = pd.DataFrame({"age": np.arange(90) % 9.0, "kind": np.tile(["a", "b", "c"], 30)})
    model = LogisticRegression(**PRIVATE, domain=domain).fit(frame, np.arange(90) % 2)
    with pytest.raises(DomainError, match="column 'kind' is missing, or has an undeclared value, in 1 of"):
        model.predict(pd.DataFrame({"age": [1.0, 2.0], "kind": ["a", "A"]}))
    both = pd.DataFrame({"age": [None, 2.0], "kind": ["a", "A"]})
    with pytest.raises(DomainError, match=r"column 'age' \(and 'kind'\) is missing"):
        model.predict(both)


def test_missing_values_that_count_as_the_centre_are_predicted_as_the_centre():
    domain = Domain((Numeric("x0", -1, 2), Numeric("x1", 0, 3)), missing="centre")
    rng = np.random.default_rng(0)
    X = rng.uniform([-1, 0], [2, 3], (400, 2))
    model = LogisticRegression(**PRIVATE, domain=domain).fit(X, (X[:, 0] > 0.5).astype(int))
    assert np.array_equal(model.predict_proba([[np.nan, 1.0]]), model.predict_proba([[0.5, 1.0]]))
    assert len(model.predict([[np.nan, 1.0]])) == 1
