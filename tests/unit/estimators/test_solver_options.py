"""A solver honours its options or raises: no option is ignored, and no other algorithm runs."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

from discreet import (
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Public,
    ReLURegressor,
    Ridge,
    SparseLinearRegression,
)
from discreet.audit.catalogue import estimators, ready, solvers
from discreet.errors import WeakGuaranteeWarning

MUCH = {"epsilon": 1e6, "delta": 1e-6}
OPTIONS = {"max_iter": 9, "step": 0.07, "radius": 0.3, "clip": 0.1, "eta": 0.001, "l1_ratio": 0.9}


def costs(rows=4000, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(18, 90, rows), rng.uniform(15, 45, rows)])
    return X, 40 * X[:, 0] + 110 * X[:, 1] - 2000 + rng.normal(0, 100, rows)


DECLARED = {"bounds_X": ([18, 15], [90, 45]), "bounds_y": (0, 8000)}


def with_every_solver():
    return list(_with_every_solver())


def _with_every_solver():
    for name, kind in estimators().items():
        for calibration in ("tight", "paper"):
            asked = inspect.signature(kind).parameters
            if calibration == "paper" and "calibration" not in asked:
                continue
            for solver in solvers(kind, calibration) if "solver" in asked else ():
                yield pytest.param(kind, solver, calibration, id=f"{name}-{solver}-{calibration}")


@pytest.mark.parametrize(("kind", "solver", "calibration"), with_every_solver())
@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_is_used_or_refused_before_anything_is_spent(kind, solver, calibration, option):
    """A solver's options are part of the job's key; an option that it lacks is named in an error."""
    given = Public(rows=np.random.default_rng(0).uniform(-1, 1, (60, 4)), y=np.linspace(0.5, 1, 60).round())
    made = ready(kind, 1.0, 1e-6, "replace_one").set_params(solver=solver)
    if "calibration" in inspect.signature(kind).parameters:
        made.set_params(calibration=calibration)
    if "public" in inspect.signature(kind).parameters:
        made.set_params(public=given)
    try:
        made._check_parameters()
    except ValueError:
        return  # the catalogue's tests read why
    if option not in inspect.signature(kind).parameters:
        with pytest.raises(ValueError, match="Invalid parameter"):
            made.set_params(**{option: OPTIONS[option]})
        return
    made.set_params(**{option: OPTIONS[option]})
    if option not in made._options():
        with pytest.raises(ValueError, match=f"{option} is not an option of solver='{solver}'"):
            made._check_parameters()
        return
    made._check_parameters()
    with pytest.raises(ValueError, match=f"{option} must be None or"):
        made.set_params(**{option: -1})._check_parameters()


SEEDED = {"epsilon": 50.0, "delta": 1e-6, "bounds_X": (-1, 1), "random_state": 1}
LABELLED = {"bounds_y": (-1, 1), **SEEDED}
PUBLIC = Public(rows=np.random.default_rng(0).uniform(-1, 1, (60, 3)))


@pytest.mark.parametrize(
    ("made", "place"),
    [
        (LinearRegression(**LABELLED, solver="pmt", public=PUBLIC, eta=0.1), "calibration='paper' with solver='pmt'"),
        (LinearRegression(**LABELLED, clip=2.0), "solver='dp_gd'"),
        (LinearRegression(**LABELLED, solver="cost_gd", l1_ratio=1.0), "solver='auto', 'moments' or 'pmt'"),
    ],
)
def test_an_option_that_few_solvers_have_is_refused_with_the_place_where_it_is(made, place):
    """`--eta` in the terminal said that the solver has no such option, and nothing of the calibration that has it."""
    with pytest.raises(ValueError, match=place):
        made._check_parameters()


def changed(make, option, rows):
    """Whether an option changes the fit under the same noise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain, other = make(), make().set_params(**{option: OPTIONS[option]})
        plain.fit(*rows), other.fit(*rows)
    same = np.shape(plain.coef_) == np.shape(other.coef_) and np.allclose(plain.coef_, other.coef_, rtol=1e-9)
    return not same


def rows_of_one_spread(binary=False):
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (600, 3))
    y = np.clip(X @ [0.5, -0.4, 0.3] + 0.1 * rng.normal(size=600), -1, 1)
    return X, (y > 0).astype(int) if binary else y


def public_rows():
    X, y = rows_of_one_spread()
    return Public(rows=X[:100], y=y[:100])


USED = {
    "linear cost_gd": (lambda: LinearRegression(**LABELLED, solver="cost_gd"), ["max_iter", "step", "radius"]),
    "linear gd, printed": (
        lambda: LinearRegression(**LABELLED | {"epsilon": 5.0}, solver="gd", calibration="paper"),
        ["max_iter", "step", "radius"],
    ),
    "ridge cost_gd": (lambda: Ridge(**LABELLED, solver="cost_gd"), ["max_iter", "step", "radius"]),
    "linear dp_gd": (lambda: LinearRegression(**LABELLED, solver="dp_gd"), ["max_iter", "step", "clip"]),
    "linear moments": (lambda: LinearRegression(**LABELLED, solver="moments", alpha=20.0), ["l1_ratio"]),
    "linear pmt": (
        lambda: LinearRegression(**LABELLED, solver="pmt", alpha=20.0, public=public_rows()),
        ["l1_ratio"],
    ),
    "linear pmt, printed": (
        lambda: LinearRegression(
            **LABELLED | {"epsilon": 5.0}, solver="pmt", calibration="paper", public=public_rows()
        ),
        ["eta"],
    ),
    "logistic newton, printed": (
        lambda: LogisticRegression(
            **SEEDED | {"epsilon": 5.0}, solver="newton", calibration="paper", public=Public(rows=public_rows().rows)
        ),
        ["eta", "max_iter"],
    ),
    "logistic dp_gd": (lambda: LogisticRegression(**SEEDED, solver="dp_gd"), ["max_iter", "step", "clip"]),
    "logistic newton": (lambda: LogisticRegression(**SEEDED, solver="newton"), ["max_iter", "radius"]),
    "logistic cost_gd": (lambda: LogisticRegression(**SEEDED, solver="cost_gd"), ["max_iter", "step", "radius"]),
    "gaussian newton": (lambda: GeneralizedLinearRegressor(**LABELLED, solver="newton"), ["max_iter", "radius"]),
    "relu pgd": (lambda: ReLURegressor(**LABELLED, solver="pgd"), ["max_iter", "step"]),
    "relu tree": (lambda: ReLURegressor(**LABELLED, solver="tree"), ["max_iter", "step"]),
    "relu minibatch": (lambda: ReLURegressor(**LABELLED, solver="minibatch"), ["max_iter"]),
    "relu sgd": (lambda: ReLURegressor(**LABELLED, solver="sgd"), ["step"]),
    "relu glmtron": (lambda: ReLURegressor(**LABELLED, solver="glmtron", public=public_rows()), ["step"]),
    "sparse frank_wolfe": (
        lambda: SparseLinearRegression(**LABELLED, sparsity=3, solver="frank_wolfe"),
        ["max_iter", "radius"],
    ),
    "sparse, printed": (
        lambda: SparseLinearRegression(**LABELLED | {"epsilon": 5.0}, sparsity=2, calibration="paper"),
        ["max_iter", "step"],
    ),
}


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
@pytest.mark.parametrize(("case", "option"), [(case, option) for case, (_, has) in USED.items() for option in has])
def test_an_option_that_a_solver_has_changes_its_fit(case, option):
    assert changed(USED[case][0], option, rows_of_one_spread(binary="logistic" in case))


@pytest.mark.parametrize("solver", ["gd", "cost_gd"])
def test_the_printed_descent_of_a_linear_model_is_a_descent(solver):
    """It ran DP-RR, whose releases are a second moment and a cross moment."""
    fitted = LinearRegression(
        epsilon=1, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-1, 1), solver=solver, calibration="paper", max_iter=7
    ).fit(*rows_of_one_spread())
    assert [release.label for release in fitted.privacy_.releases] == ["gradient"] * 7
    assert fitted.n_iter_ == 7
    assert fitted.privacy_.epsilon(1e-6) <= 1


@pytest.mark.parametrize("solver", ["auto", "moments"])
def test_the_printed_moments_of_a_linear_model_are_dp_rr(solver):
    fitted = LinearRegression(
        epsilon=1, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-1, 1), solver=solver, calibration="paper"
    ).fit(*rows_of_one_spread())
    assert len(fitted.privacy_.releases) == 2


@pytest.mark.parametrize("kind", [LinearRegression, GeneralizedLinearRegressor])
@pytest.mark.parametrize("intercept", [True, False])
def test_cost_gd_finds_least_squares_in_whatever_units_y_has(kind, intercept):
    """The ball of radius 3 was one in y's own units: a model of costs in thousands never left it."""
    X, y = costs()
    model = kind(**MUCH, **DECLARED, solver="cost_gd", max_iter=300, step=0.3, fit_intercept=intercept).fit(X, y)
    design = np.column_stack([np.ones(len(X)), X]) if intercept else X
    plain = np.linalg.lstsq(design, y, rcond=None)[0][int(intercept) :]
    assert model.coef_ == pytest.approx(plain, rel=0.05)


@pytest.mark.parametrize("public", [None, Public(rows=costs(300, seed=1)[0], y=costs(300, seed=1)[1])])
def test_cost_gd_starts_from_the_public_fit_in_the_right_units(public):
    X, y = costs()
    model = LinearRegression(**MUCH, **DECLARED, solver="cost_gd", max_iter=200, step=0.3, public=public).fit(X, y)
    assert model.coef_ == pytest.approx([40, 110], rel=0.05)


def test_a_fit_that_the_ball_decided_says_so():
    X, y = costs()
    asked = {**MUCH, **DECLARED, "solver": "cost_gd", "max_iter": 50, "step": 0.3}
    with pytest.warns(UserWarning, match=r"edge of the ball .* radius 0\.1 .* A larger radius="):
        LinearRegression(**asked, radius=0.1).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", WeakGuaranteeWarning)
        LinearRegression(**asked).fit(X, y)


def test_cost_gd_needs_a_ball_for_counts_and_takes_the_one_it_is_given():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (3000, 2))
    y = rng.poisson(np.exp(4.0 + X @ [0.5, -0.5]))  # the constant alone is longer than 3
    asked = {**MUCH, "bounds_X": (-1, 1), "bounds_y": (0, 300), "solver": "cost_gd", "max_iter": 400, "step": 0.01}
    with pytest.warns(UserWarning, match="edge of the ball"):
        held = PoissonRegressor(**asked).fit(X, y)
    free = PoissonRegressor(**asked, radius=6.0).fit(X, y)
    assert abs(free.intercept_ - 4.0) < 0.05
    assert held.intercept_ < 3.0
