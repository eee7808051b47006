"""Wrong public facts get clear errors; no private value is quoted in a message or breaks a fit."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from glm_rows import BOUNDS_Y, PRIVATE, rows

from discreet import (
    Categorical,
    Domain,
    DomainError,
    GammaRegressor,
    GeneralizedLinearRegressor,
    Ledger,
    LogisticRegression,
    Numeric,
    PoissonRegressor,
    Public,
)
from discreet.errors import UnusableRowsWarning, WeakGuaranteeWarning

BOX = {"bounds_X": (-2, 2)}
RELATIONS = ["replace_one", "add_or_remove_one"]


def logistic(**more):
    return LogisticRegression(**PRIVATE | BOX | more)


def poisson(**more):
    return PoissonRegressor(**PRIVATE | BOX | {"bounds_y": BOUNDS_Y["poisson"]} | more)


def general(**more):
    return GeneralizedLinearRegressor(**PRIVATE | BOX | {"bounds_y": (0, 1)} | more)


REFUSED = {
    "counts below 0": (lambda: poisson(bounds_y=(-1, 5)), "poisson needs labels >= 0, got bounds_y from -1"),
    "amounts of 0": (lambda: GammaRegressor(**PRIVATE, **BOX, bounds_y=(0, 5)), "gamma needs labels > 0"),
    "chances above 1": (lambda: general(family="bernoulli", bounds_y=(0, 2)), r"bernoulli needs labels in \[0, 1\]"),
    "no range of y": (lambda: poisson(bounds_y=None), "no range was declared for y"),
    "no bounds of x": (lambda: logistic(bounds_X=None), "no bounds were declared for 3 columns"),
    "one class": (lambda: logistic(classes=[1]), "classes must be at least two different labels"),
    "no class": (lambda: logistic(classes=[]), "classes must be at least two different labels"),
    "the same class twice": (lambda: logistic(classes=["a", "a"]), "classes must be at least two different labels"),
    "the same class in two types": (lambda: logistic(classes=[1, 1.0]), "classes must be at least two different"),
    "unknown family": (lambda: general(family="normal"), "family must be one of gaussian"),
    "unknown link": (lambda: general(link="square"), "link must be one of identity"),
    "link of another family": (lambda: general(family="bernoulli", link="log"), "bernoulli allows the links logit"),
    "negative penalty": (lambda: logistic(alpha=-1.0), "alpha must be finite and >= 0"),
    "endless penalty": (lambda: logistic(alpha=math.inf), "alpha must be finite and >= 0"),
    "one step": (lambda: logistic(solver="newton", max_iter=1), "max_iter must be None or a whole number >= 2, got 1"),
    "half a step": (lambda: logistic(solver="newton", max_iter=2.5), "max_iter must be None or a whole number >= 2"),
    "unknown solver": (lambda: logistic(solver="sgd"), "solver must be one of auto, gd"),
    "no epsilon": (lambda: logistic(epsilon=0.0), "epsilon must be"),
    "no delta": (lambda: poisson(delta=0.0), "delta must be > 0"),
    "unknown neighbours": (lambda: poisson(neighbours="both"), "neighbours must be one of"),
    "public that is none": (lambda: logistic(public=np.ones((5, 3))), "public must be a discreet.Public, got ndarray"),
    "public rows too narrow": (lambda: logistic(public=Public(np.ones((5, 2)))), "public rows"),
    "public rows too wide": (lambda: logistic(public=Public(np.ones((5, 4)))), "public rows"),
    "one public row": (lambda: logistic(public=Public(np.ones((1, 3)))), "public rows must be at least two"),
    "public rows with gaps": (lambda: logistic(public=Public(np.full((5, 3), np.nan))), "public rows must be"),
    "public labels too few": (lambda: logistic(public=Public(np.ones((5, 3)), [0, 1])), "public y must have one"),
    "public labels unknown": (lambda: logistic(public=Public(np.ones((2, 3)), [0, 7])), "public y must have one"),
    "public moment of x alone, where the bounds leave 0 out": (
        lambda: logistic(bounds_X=(1, 3), public=Public(second_moment=np.eye(3), n=5)),
        "does not give the mean of 'x0'",
    ),
    "public moment of another width": (
        lambda: logistic(public=Public(second_moment=np.eye(5), n=5)),
        r"second_moment must be that of \(1, x\): 4 rows and columns, or of x alone: 3, got shape \(5, 5\)",
    ),
    "public moment of no rows": (
        lambda: logistic(public=Public(second_moment=np.diag([0.0, 1, 1, 1]), n=5)),
        "second_moment must",
    ),
    "public moment of nothing possible": (
        lambda: logistic(public=Public(second_moment=np.diag([1.0, -1, 1, 1]), n=5)),
        "second_moment must",
    ),
}


@pytest.mark.parametrize("what", list(REFUSED))
def test_a_wrong_public_fact_is_named_before_anything_is_paid(what, tmp_path):
    make, message = REFUSED[what]
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=4.0, delta=1e-6)
    X, y = rows("poisson", 50)
    with pytest.raises(ValueError, match=message):
        make().set_params(ledger=ledger).fit(X, np.minimum(y, 1))
    assert ledger.history == []


EXPOSURES = {
    "no bounds": (lambda: poisson(), "no range was declared for exposure: pass bounds_exposure="),
    "no log link": (
        lambda: general(family="gaussian", bounds_exposure=(1, 2)),
        "exposure multiplies the mean, so it needs the log link",
    ),
    "bounds from 0": (lambda: poisson(bounds_exposure=(0, 2)), "exposure must be declared > 0, got bounds from 0"),
    "bounds turned": (lambda: poisson(bounds_exposure=(2, 1)), "bounds_exposure"),
    "endless bounds": (lambda: poisson(bounds_exposure=(1, math.inf)), "bounds_exposure"),
    "not for classes": (lambda: logistic(), "exposure"),
}


@pytest.mark.parametrize("what", list(EXPOSURES))
def test_a_wrong_exposure_is_named(what):
    make, message = EXPOSURES[what]
    X, y = rows("poisson", 50)
    with pytest.raises(ValueError, match=message):
        make().fit(X, np.minimum(y, 1), exposure=np.ones(50))


def test_an_exposure_of_another_length_is_refused():
    X, y = rows("poisson", 50)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        poisson(bounds_exposure=(0.5, 2)).fit(X, y, exposure=np.ones(49))


def test_a_categorical_exposure_is_refused():
    X, y = rows("poisson", 50)
    domain = Domain((*(Numeric(f"x{i}", -2, 2) for i in range(3)), Categorical("t", ("short", "long"))))
    model = PoissonRegressor(**PRIVATE, domain=domain, bounds_y=(0, 9))
    with pytest.raises(DomainError, match="exposure 't' must be declared with low and high"):
        model.fit(pd.DataFrame(X, columns=["x0", "x1", "x2"]), y, exposure=pd.Series(np.ones(50), name="t"))


# Private values: always a finite model, and never a word.

TABLES = {
    "separable classes": lambda X, y: (X, (X[:, 0] > 0).astype(float)),
    "all-zero columns": lambda X, y: (X * [1, 0, 0], y),
    "all-zero rows": lambda X, y: (X * 0, y),
    "constant labels 0": lambda X, y: (X, y * 0),
    "constant labels 1": lambda X, y: (X, y * 0 + 1),
    "the same column twice": lambda X, y: (X[:, [0, 0, 1]], y),
    "rows at the corners": lambda X, y: (np.sign(X) * 2, y),
    "rows far outside": lambda X, y: (X * 1e9, y * 1e9),
    "endless values": lambda X, y: (np.where(X > 0, np.inf, -np.inf), y),
    "nothing but NaN": lambda X, y: (X * np.nan, y),
    "no label": lambda X, y: (X, y * np.nan),
    "one row": lambda X, y: (X[:1], y[:1]),
    "two rows": lambda X, y: (X[:2], y[:2]),
    "three rows": lambda X, y: (X[:3], y[:3]),
}
MODELS = {
    "logistic": lambda **more: logistic(**more),
    "poisson": lambda **more: poisson(**more),
    "gamma": lambda **more: GammaRegressor(**PRIVATE | BOX | {"bounds_y": (0.01, 50)} | more),
    "gaussian": lambda **more: general(**{"bounds_y": (-5, 5)} | more),
    "logistic without intercept": lambda **more: logistic(fit_intercept=False, **more),
    "poisson without intercept": lambda **more: poisson(fit_intercept=False, **more),
}


def finite(model, X) -> bool:
    parts = [np.ravel(model.coef_), np.ravel(model.intercept_), np.ravel(model.results_.std_errors)]
    parts.append(np.ravel(model.mean_interval(np.nan_to_num(X, posinf=2, neginf=-2))))
    return bool(np.isfinite(np.concatenate(parts)).all())


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("table", list(TABLES))
@pytest.mark.parametrize("name", list(MODELS))
def test_no_table_breaks_a_fit_or_shows_in_a_message(name, table, neighbours):
    X, y = rows("poisson", 200)
    X, y = TABLES[table](X, np.minimum(y, 1).astype(float))
    if table == "one row" and neighbours == "replace_one":  # their number is public
        with pytest.raises(ValueError, match=r"Found 1 sample\(s\)"):
            MODELS[name](neighbours=neighbours).fit(X, y)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", UnusableRowsWarning)  # which a released count decides
        model = MODELS[name](neighbours=neighbours).fit(X, y)
    # A noisy count, which is released, may say that no row was usable.
    assert [one for one in caught if one.category is not UnusableRowsWarning] == []
    assert finite(model, np.zeros((2, 3)))


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 1e6])
@pytest.mark.parametrize("name", ["logistic", "poisson", "gamma"])
def test_more_columns_than_rows_give_a_finite_model(name, epsilon):
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-2, 2, (20, 40)), rng.integers(0, 2, 20)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = MODELS[name](epsilon=epsilon).fit(X, y)
    assert [one for one in caught if one.category not in (WeakGuaranteeWarning, UnusableRowsWarning)] == []
    assert finite(model, X)


@pytest.mark.parametrize("name", list(MODELS))
def test_an_empty_table_is_fitted_where_the_number_of_rows_is_private(name):
    model = MODELS[name](neighbours="add_or_remove_one").fit(np.empty((0, 3)), np.empty(0))
    assert finite(model, np.zeros((2, 3)))


@pytest.mark.parametrize("epsilon", [1.0, 1e6])
@pytest.mark.parametrize("rows_of", ["few", "wide", "equal", "far away", "one value"])
def test_no_public_rows_break_a_fit(rows_of, epsilon):
    X, y = rows("bernoulli", 300)
    rng = np.random.default_rng(1)
    public = {
        "few": X[:2],
        "wide": rng.uniform(-2, 2, (2, 3)),
        "equal": np.repeat(X[:1], 20, axis=0),
        "far away": np.full((20, 3), 1e9) * rng.choice([-1, 1], (20, 3)),
        "one value": np.zeros((20, 3)),
    }[rows_of]
    for given in (
        Public(public),
        Public(public, rng.integers(0, 2, len(public))),
        Public(public, np.ones(len(public))),
    ):
        model = logistic(epsilon=epsilon, public=given).fit(X, y)
        assert finite(model, X)


def test_public_labels_outside_the_declared_range_are_cut_as_private_ones_are():
    X, y = rows("poisson", 300)
    wild = np.array([-5.0, 1e300, 3.0, 1.0])
    model = poisson(public=Public(X[:4], wild)).fit(X, y)
    assert finite(model, X)


SPECIAL = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0]


@pytest.mark.parametrize("value", SPECIAL)
@pytest.mark.parametrize("place", ["X", "y", "exposure"])
def test_no_value_shows_in_a_warning_or_breaks_the_fit(place, value):
    X, y = rows("poisson", 300)
    y, times = y.astype(float), np.ones(300)
    {"X": X[:, 1], "y": y, "exposure": times}[place][3] = value
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = poisson(bounds_exposure=(0.5, 2.0)).fit(X, y, exposure=times)
    # A noisy count, which is released, may say that no row was usable.
    assert [one for one in caught if one.category is not UnusableRowsWarning] == []
    assert finite(model, X[:2] * 0)
