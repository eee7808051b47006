"""Features from declared values alone, and the warning where a step before a model learns from
private rows.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.interpolate import BSpline
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.ensemble import StackingRegressor
from sklearn.feature_selection import RFE
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet import (
    Categorical,
    Domain,
    DomainEncoder,
    DomainError,
    LinearRegression,
    LogisticRegression,
    Numeric,
    PrivacyLeakWarning,
    PrivateGridSearchCV,
    Ridge,
    SparseLinearRegression,
)

DOMAIN = Domain((Numeric("age", 0, 100), Categorical("kind", ("a", "b", "c")), Numeric("bmi", 10, 60)))
CELLS = {"age": [50.0, 0.0, 200.0, None], "kind": ["a", "b", "z", "c"], "bmi": [10.0, 35.0, 60.0, 20.0]}
SCALED = np.array([[0, 0, 0, -1], [-1, 1, 0, 0], [1, np.nan, np.nan, 1], [np.nan, 0, 1, -0.6]])


def drawn(n, low=0.0, high=0.0):
    """Rows within the bounds, or beyond them by so much."""
    rng = np.random.default_rng(0)
    age, bmi = rng.uniform(low, 100 + high, n), rng.uniform(10 + low / 5, 60 + high / 5, n)
    return pl.DataFrame({"age": age, "kind": rng.choice(["a", "b", "c"], n), "bmi": bmi})


LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("library", LIBRARIES)
def test_numbers_are_scaled_by_their_bounds_and_categories_become_indicators(library):
    encoder = DomainEncoder(DOMAIN)
    made = encoder.fit_transform(LIBRARIES[library](CELLS))
    assert type(made) is type(LIBRARIES[library](CELLS))
    names = list(made.columns) if library != "pyarrow" else made.column_names
    assert names == list(encoder.get_feature_names_out()) == ["age", "kind=b", "kind=c", "bmi"]
    assert np.column_stack([np.asarray(made[name]) for name in names]) == pytest.approx(SCALED, nan_ok=True)
    array = pd.DataFrame(CELLS).to_numpy()
    by_place = Domain(tuple(type(c)(f"x{i}", *list(vars(c).values())[1:3]) for i, c in enumerate(DOMAIN.columns)))
    assert DomainEncoder(by_place).fit_transform(array) == pytest.approx(SCALED, nan_ok=True)


def test_nothing_is_learnt_from_the_rows():
    encoder = DomainEncoder(DOMAIN, degree=2, splines={"bmi": 4})
    one, other = clone(encoder).fit(pd.DataFrame(CELLS)), clone(encoder).fit(pd.DataFrame(CELLS).iloc[:0])
    assert vars(one).keys() == vars(other).keys()
    assert one.output_domain == other.output_domain == encoder.output_domain
    expected = encoder.transform(pd.DataFrame(CELLS))  # without a fit
    pd.testing.assert_frame_equal(other.transform(pd.DataFrame(CELLS)), expected)
    alone = one.transform(pd.DataFrame(CELLS).iloc[1:2]).to_numpy()
    np.testing.assert_array_equal(alone, expected.to_numpy()[1:2])


def test_a_pandas_index_is_kept():
    frame = pd.DataFrame(CELLS, index=[7, 5, 3, 1])
    assert DomainEncoder(DOMAIN).transform(frame).index.tolist() == [7, 5, 3, 1]


@pytest.mark.parametrize("interaction_only", [False, True])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_products_are_those_of_scikit_learn_but_for_those_that_say_nothing_new(degree, interaction_only):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (20, 3))
    encoder = DomainEncoder(bounds_X=(-1, 1), degree=degree, interaction_only=interaction_only).fit(x)
    peer = PolynomialFeatures(degree, interaction_only=interaction_only, include_bias=False).fit(x)
    assert encoder.transform(x) == pytest.approx(peer.transform(x))
    assert list(encoder.get_feature_names_out()) == list(peer.get_feature_names_out())
    mixed = DomainEncoder(DOMAIN, degree=degree, interaction_only=interaction_only)
    names = list(mixed.get_feature_names_out())
    assert not any("kind=b^2" in name or "kind=b kind=c" in name for name in names)
    values = mixed.transform(drawn(500))
    assert np.linalg.matrix_rank(values.to_numpy()) == len(names)


@pytest.mark.parametrize("degree", [0, 1, 3])
def test_splines_are_a_basis_with_knots_over_the_bounds(degree):
    x = np.linspace(-5, 15, 41)[:, None]  # beyond the bounds as well
    encoder = DomainEncoder(bounds_X=(0, 10), splines=5, spline_degree=degree).fit(x)
    knots = np.concatenate([[0] * degree, np.linspace(0, 10, 5), [10] * degree])
    inside = np.clip(x[:, 0], 0, 10 - 1e-9)
    expected = BSpline.design_matrix(inside, knots, degree).toarray()[:, 1:]
    assert encoder.transform(x) == pytest.approx(expected, abs=1e-6)
    assert np.isnan(encoder.transform([[np.nan]])).all()


@pytest.mark.parametrize("options", [{}, {"degree": 3}, {"splines": 4}, {"splines": {"age": 3}, "degree": 2}])
def test_the_output_domain_is_true_and_tight(options):
    rows = drawn(20_000, -50, 50)
    encoder = DomainEncoder(DOMAIN, **options)
    made = encoder.fit_transform(rows)
    for column in encoder.output_domain.columns:
        values = made[column.name].to_numpy()
        assert column.low <= values.min() <= column.low + 0.05
        assert column.high - 0.6 <= values.max() <= column.high


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"degree": 0}, "degree must be a whole number >= 1, got 0"),
        ({"degree": 1.5}, "degree must be a whole number >= 1"),
        ({"splines": 1}, "splines must be a whole number >= 2, got 1"),
        ({"splines": {"kind": 4}}, "splines are for numeric columns, and 'kind' is not numeric"),
        ({"splines": {"height": 4}}, "'height' is not numeric"),
        ({"spline_degree": -1}, "spline_degree must be a whole number >= 0"),
        ({"domain": None}, "no bounds were declared for 3 columns"),
        ({"bounds_X": (0, 1)}, "declare either domain or bounds_X"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    encoder = DomainEncoder(**{"domain": DOMAIN} | parameters)
    with pytest.raises(ValueError, match=message):
        encoder.fit(pd.DataFrame(CELLS))


def test_other_columns_are_refused():
    encoder = DomainEncoder(DOMAIN)
    with pytest.raises(DomainError, match="column 1 of the table is not declared"):
        encoder.fit(pd.DataFrame({"height": [1.0]}))
    encoder.fit(pd.DataFrame(CELLS))
    with pytest.raises(ValueError, match="same order"):
        encoder.transform(pd.DataFrame(CELLS)[["bmi", "kind", "age"]])
    with pytest.raises(DomainError, match="column 'age' is declared with bounds but holds"):
        encoder.transform(pd.DataFrame(CELLS).astype({"age": "string"}))
    with pytest.raises(DomainError, match="the number of columns is known after fit"):
        DomainEncoder(bounds_X=(0, 1)).output_domain


@pytest.mark.filterwarnings("error::discreet.errors.PrivacyLeakWarning")
def test_a_pipeline_with_declared_features_fits_a_curve():
    frame = drawn(4000).to_pandas()
    y = np.sin(frame["age"] / 15) + 0.3 * (frame["kind"] == "b")
    encoder = DomainEncoder(DOMAIN, splines={"age": 6})
    declared = {"epsilon": 1e6, "delta": 1e-6, "bounds_y": (-2, 2)}
    model = make_pipeline(encoder, LinearRegression(**declared, domain=encoder.output_domain)).fit(frame, y)
    assert model.score(frame, y) > 0.99
    assert "age spline 3" in str(model[-1].summary())
    assert "NOT COVERED" not in str(model[-1].summary())


@pytest.mark.filterwarnings("error")
def test_the_page_about_pipelines_runs_as_it_is_printed():
    page = (Path(__file__).parents[3] / "docs/howto/pipelines.md").read_text(encoding="utf-8")
    names = {}
    exec(page.split("```python")[1].split("```")[0], names)
    assert len(names["model"].predict(names["frame"])) == len(names["frame"]) > 0


@parametrize_with_checks(
    [DomainEncoder(bounds_X=(-20, 20)), DomainEncoder(bounds_X=(-20, 20), degree=2, splines=4)],
    expected_failed_checks=lambda _: {
        "check_dtype_object": "a cell that is no number is missing by a fixed rule, and raises nothing",
        "check_estimators_empty_data_messages": "an empty table is one row away from another, and raises nothing",
    },
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


# The warning.

PRIVATE = {"epsilon": 1.0, "delta": 1e-6, "bounds_X": (-1, 1)}
X = np.random.default_rng(0).uniform(-1, 1, (200, 2))
Y = X[:, 0]


def linear():
    return LinearRegression(**PRIVATE, bounds_y=(-2, 2), solver="moments")


class Learns(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X


LEAKS = {
    "a scaler": (make_pipeline(StandardScaler(), linear()), "StandardScaler learnt"),
    "two steps": (make_pipeline(StandardScaler(), PCA(2), linear()), "StandardScaler, PCA learnt"),
    "a step of one's own": (make_pipeline(Learns(), linear()), "Learns learnt"),
    "within columns": (
        make_pipeline(ColumnTransformer([("s", MinMaxScaler(), [0, 1])]), linear()),
        "MinMaxScaler learnt",
    ),
    "within a union": (make_pipeline(FeatureUnion([("s", StandardScaler())]), linear()), "StandardScaler learnt"),
    "within a pipeline": (make_pipeline(make_pipeline(StandardScaler()), linear()), "StandardScaler learnt"),
    "of labels": (TransformedTargetRegressor(linear(), transformer=StandardScaler()), "StandardScaler learnt"),
    "splines": (make_pipeline(SplineTransformer(), linear()), "SplineTransformer learnt"),
    "before a search": (
        make_pipeline(StandardScaler(), PrivateGridSearchCV(Ridge(**PRIVATE, bounds_y=(-2, 2)), {"alpha": [1, 2]})),
        "StandardScaler learnt",
    ),
    "before a sparse model": (
        make_pipeline(StandardScaler(), SparseLinearRegression(**PRIVATE, bounds_y=(-2, 2), sparsity=1)),
        "StandardScaler learnt",
    ),
    "before a classifier": (make_pipeline(StandardScaler(), LogisticRegression(**PRIVATE)), "StandardScaler learnt"),
    "the remaining columns": (
        make_pipeline(ColumnTransformer([("a", FunctionTransformer(), [0])], remainder=StandardScaler()), linear()),
        "StandardScaler learnt",
    ),
    "scores decide": (GridSearchCV(linear(), {"fit_intercept": [True, False]}, cv=2), "GridSearchCV computes scores"),
    "labels decide": (StackingRegressor([("a", linear())], cv=2), "StackingRegressor computes scores"),
    "calibrated": (CalibratedClassifierCV(LogisticRegression(**PRIVATE), cv=2), "CalibratedClassifierCV computes"),
}
SAFE = {
    "no pipeline": linear(),
    "declared features": make_pipeline(DomainEncoder(bounds_X=(-1, 1), degree=2), linear()),
    "powers": make_pipeline(PolynomialFeatures(2, include_bias=False), linear()),
    "a fixed function": make_pipeline(FunctionTransformer(np.tanh), linear()),
    "given knots": make_pipeline(SplineTransformer(knots=np.array([[-1.0, -1], [0, 0], [1, 1]])), linear()),
    "nothing at all": make_pipeline("passthrough", linear()),
    "a fixed function of labels": TransformedTargetRegressor(linear(), func=np.tanh, inverse_func=np.arctanh),
    "coefficients decide": RFE(linear(), n_features_to_select=1),
    "private from end to end": StackingRegressor([("a", linear())], final_estimator=linear(), cv=2),
}


@pytest.mark.parametrize("what", LEAKS)
def test_a_step_that_learns_from_private_rows_is_told(what):
    model, message = LEAKS[what]
    with pytest.warns(PrivacyLeakWarning, match=message):
        clone(model).fit(X, (Y > 0).astype(int) if what in ("before a classifier", "calibrated") else Y)


@pytest.mark.parametrize("what", SAFE)
def test_a_step_that_learns_nothing_is_not_told(what):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(SAFE[what]).fit(X, Y)


def test_the_summary_says_what_is_not_covered():
    with pytest.warns(PrivacyLeakWarning):
        model = make_pipeline(StandardScaler(), linear()).fit(X, Y)
    assert "NOT COVERED  StandardScaler, fitted to the same rows" in str(model[-1].summary())
    assert "NOT COVERED" in model[-1].summary()._repr_html_()
    assert "NOT COVERED" not in str(model[-1].fit(X, Y).summary())


def test_folds_are_told_as_well():
    with pytest.warns(PrivacyLeakWarning) as told:
        cross_val_score(make_pipeline(StandardScaler(), linear()), X, Y, cv=2)
    said = " ".join(str(one.message) for one in told)
    assert "StandardScaler learnt" in said
    assert "cross_validate computes scores of private rows" in said


def test_a_model_that_scores_have_chosen_says_so():
    with pytest.warns(PrivacyLeakWarning):
        found = GridSearchCV(linear(), {"fit_intercept": [True, False]}, cv=2).fit(X, Y)
    assert "NOT COVERED  GridSearchCV, fitted to the same rows" in str(found.best_estimator_.summary())
