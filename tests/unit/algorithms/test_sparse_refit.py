"""The refit of sparse models: the default descent on the picked columns, and what dropping spare
ones does to it.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, PoissonRegressor

from discreet import SparseLinearRegression, SparseLogisticRegression, SparsePoissonRegressor
from discreet.algorithms.sparse_two_stage import Rounds, _direction, _kept, select_then_fit
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel
from discreet.algorithms.steps.sparse_model import kept_columns
from discreet.curator import Curator
from discreet.engines import MemoryEngine
from discreet.errors import DiscreetError
from discreet.glm import Bernoulli, Gamma, Log, Probit
from discreet.privacy import Budget
from discreet.rows import Labels, WideEncoding, wide_block_rows

RNG = np.random.default_rng(11)
ROWS, WIDTH, TRUE = 6_000, 30, np.array([4, 11, 25])
X = RNG.uniform(-1, 1, (ROWS, WIDTH))
ETA = X[:, TRUE] @ [0.9, -0.7, 0.5] + 0.2
DECLARED = {"delta": 1e-6, "sparsity": 3, "bounds_X": (-1, 1)}


def least_squares() -> GlmFit:
    """Plain least squares of correlated columns: the covariance is exactly the inverse curvature."""
    x = RNG.standard_normal((500, 5)) @ RNG.standard_normal((5, 5))
    design = np.column_stack([np.ones(500), x])
    y = x[:, 0] - x[:, 2] + RNG.standard_normal(500)
    inverse = np.linalg.inv(design.T @ design)
    coef = inverse @ design.T @ y
    zero = np.zeros_like(inverse)
    fit = GlmFit(coef, coef, 500.0, 1, zero, inverse, inverse)
    return replace(fit, dispersion=1.0), design, y


def test_dropping_columns_gives_the_fit_without_them():
    fit, design, y = least_squares()
    keep = np.array([0, 2, 3])
    kept = kept_columns(fit, keep)
    some = design[:, [0, 1, 3, 4]]
    assert kept.estimate == pytest.approx(np.linalg.lstsq(some, y, rcond=None)[0], abs=1e-9)
    assert kept.coef == pytest.approx(kept.estimate, abs=1e-12)
    assert kept.sampling_covariance == pytest.approx(np.linalg.inv(some.T @ some), abs=1e-12)
    everything = kept_columns(fit, np.arange(5))
    assert everything.estimate == pytest.approx(fit.estimate)


def test_an_error_that_grows_with_the_estimate_does_not_decide_what_is_dropped():
    """Where the curvature is uncertain, large slopes have large errors, and stand farther from 0
    than small ones.
    """
    estimate = np.array([0.0, 5.0, 0.3, -4.0])
    noise = np.diag([1.0, 5.0**2, 0.05**2, 4.0**2])
    fit = GlmFit(estimate, estimate, 100.0, 1, noise, 0 * noise, np.eye(4))
    assert _kept(fit, Rounds((3,), 2)).tolist() == [0, 2]
    # How many are clear at all is a question of errors.
    assert _kept(fit, Rounds((3,), None)).tolist() == [1]


def test_of_two_columns_that_echo_each_other_one_stays():
    """Together each looks uncertain, and a weaker third column clearer than both."""
    rng = np.random.default_rng(3)
    first, third = rng.standard_normal((2, 400))
    x = np.column_stack([first, first + 0.02 * rng.standard_normal(400), third])
    design = np.column_stack([np.ones(400), x])
    inverse = np.linalg.inv(design.T @ design)
    coef = inverse @ design.T @ (first + 0.4 * third + 0.5 * rng.standard_normal(400))
    fit = GlmFit(coef, coef, 400.0, 1, 0 * inverse, inverse, inverse)
    clear = np.abs(coef[1:]) / np.sqrt(np.diag(inverse)[1:])
    assert np.argmax(clear) == 2
    (kept,) = _kept(fit, Rounds((3,), 1))
    assert kept in (0, 1)


def test_cells_are_clipped_later_where_the_budget_is_large():
    clips = [Rounds.planned(3, 80, Budget.from_mu(e, 1e-6), 20_000).cell_clip for e in (0.1, 0.3, 2.0)]
    assert clips[0] <= clips[1] < clips[2]
    assert clips[2] > 2


def plain(kind, y):
    """The fit without privacy, on the true columns."""
    x = X[:, TRUE]
    if kind is SparseLinearRegression:
        return np.linalg.lstsq(np.column_stack([np.ones(ROWS), x]), y, rcond=None)[0]
    model = LogisticRegression(C=np.inf) if kind is SparseLogisticRegression else PoissonRegressor(alpha=0.0)
    model.fit(x, y)
    return np.concatenate([np.ravel(model.intercept_), np.ravel(model.coef_)])


LABELS = {
    SparseLinearRegression: (ETA + RNG.normal(0, 0.5, ROWS), {"bounds_y": (-4, 4)}),
    SparseLogisticRegression: ((RNG.random(ROWS) < 1 / (1 + np.exp(-ETA))).astype(int), {}),
    SparsePoissonRegressor: (RNG.poisson(np.exp(ETA)), {"bounds_y": (0, 30)}),
}


@pytest.mark.filterwarnings("ignore::discreet.errors.WeakGuaranteeWarning")
@pytest.mark.parametrize(("solver", "errors"), [("auto", 0.15), ("two_stage", 0.05)])
@pytest.mark.parametrize("kind", LABELS)
def test_with_a_huge_budget_the_fit_is_the_plain_one(kind, solver, errors):
    """... up to a small part of a standard error; what spare columns leave is taken over to first
    order.
    """
    y, bounds = LABELS[kind]
    model = kind(epsilon=1e7, solver=solver, **DECLARED, **bounds).fit(X, y)
    assert model.support_.tolist() == TRUE.tolist()
    found = np.concatenate([np.ravel(model.intercept_), np.ravel(model.coef_)[TRUE]])
    assert np.all(np.abs(found - plain(kind, y)) < errors * model.results_.std_errors)


@pytest.fixture(scope="module")
def fitted():
    y, bounds = LABELS[SparsePoissonRegressor]
    table = X.copy()
    table[::10, TRUE[0]] = np.nan
    table[1::10, 0] = np.nan  # a column that is not picked
    return SparsePoissonRegressor(epsilon=8.0, **DECLARED, **bounds).fit(table, y)


@pytest.mark.parametrize("solver", ["auto", "two_stage"])
def test_all_that_was_asked_for_is_spent(solver):
    y, bounds = LABELS[SparseLinearRegression]
    model = SparseLinearRegression(epsilon=2.0, solver=solver, **DECLARED, **bounds).fit(X, y)
    spent = math.fsum(release.cost.mu**2 for release in model.privacy_.releases)
    assert spent == pytest.approx(Budget.of(2.0, 1e-6).mu ** 2, rel=1e-9)
    assert spent <= Budget.of(2.0, 1e-6).mu ** 2


def test_rows_that_miss_a_picked_cell_are_not_counted(fitted):
    assert fitted.n_used_ == pytest.approx(0.9 * ROWS, abs=0.04 * ROWS)


def test_errors_signal_and_intervals_are_those_of_the_descent(fitted):
    assert fitted.signal_ == "clear"
    assert fitted.coef_names_ == [f"x{column}" for column in TRUE]
    low, high = fitted.conf_int(1e-6).T
    assert np.all((low < [0.9, -0.7, 0.5]) & (high > [0.9, -0.7, 0.5]))
    assert np.all(fitted.pvalues < 1e-3)
    assert np.all(np.abs(fitted.results_.shrunk - fitted.results_.estimates) < fitted.results_.std_errors)
    assert np.all(fitted.results_.noise_std_errors < fitted.results_.std_errors)
    rows = X[:5]
    mean, label = fitted.mean_interval(rows), fitted.predict_interval(rows)
    predicted = fitted.predict(rows)
    assert np.all((mean[:, 0] < predicted) & (predicted < mean[:, 1]))
    assert np.all((label[:, 0] <= mean[:, 0]) & (mean[:, 1] <= label[:, 1]))
    shown = str(fitted.summary())
    assert "SparsePoissonRegressor" in shown
    assert "x11" in shown
    assert "3 of 30 columns were chosen" in shown


def test_a_solver_without_errors_says_so():
    y, bounds = LABELS[SparseLinearRegression]
    model = SparseLinearRegression(epsilon=2.0, solver="iht", **DECLARED, **bounds).fit(X, y)
    assert [record["std_err"] for record in model.results_.records()] == [None] * 4
    with pytest.raises(DiscreetError, match="solver='auto'"):
        model.conf_int()


@pytest.mark.parametrize(
    ("family", "link", "y", "high"),
    [
        (Gamma(), Log(), RNG.gamma(2.0, np.exp(ETA) / 2), 30.0),
        (Bernoulli(), Probit(), (RNG.standard_normal(ROWS) < ETA).astype(float), 1.0),
    ],
    ids=["gamma", "probit"],
)
def test_every_family_and_link_of_the_descent_has_a_sparse_fit(family, link, y, high):
    code = WideEncoding(np.full(WIDTH, -1.0), np.full(WIDTH, 1.0), 0.0, high, X.size)
    source = Curator(MemoryEngine(code.encode, X, y, block_rows=wide_block_rows(WIDTH)))
    model = GlmModel(family, link, Labels(high / 2, high / 2), penalty=np.zeros(0))
    found = select_then_fit(source, model, Budget.of(20.0, 1e-6), width=WIDTH, sparsity=3)
    assert found.columns.tolist() == TRUE.tolist()
    covariance = found.fit.noise_covariance + found.fit.sampling_covariance
    error = np.sqrt(np.diag(covariance))
    assert np.all(np.abs(found.fit.estimate - [0.2, 0.9, -0.7, 0.5]) < 5 * error)
    assert error.max() < 0.1


def test_many_slopes_of_one_sign_do_not_move_the_level_of_predictions():
    """Every column is a little off its noisy centre, in the same direction."""
    rng = np.random.default_rng(0)
    y = rng.random(8000) < 0.5
    wide = np.clip((rng.standard_normal((len(y), 150)) + 0.25 * y[:, np.newaxis]) / 4, -1, 1)
    model = SparseLogisticRegression(epsilon=0.5, delta=1e-4, sparsity=80, bounds_X=(-1, 1))
    assert np.mean(model.fit(wide, y).predict(wide) != y) < 0.19  # it was .22 to .24


def test_slopes_that_are_shrunk_away_keep_a_direction():
    """Strongly correlated columns hide each slope, but not what they predict together."""
    fit, _, _ = least_squares()
    assert np.array_equal(_direction(fit), fit.coef[1:])
    shrunk = replace(fit, coef=np.concatenate([fit.coef[:1], np.zeros(5)]))
    assert np.array_equal(_direction(shrunk), fit.estimate[1:])
