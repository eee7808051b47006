"""Linear and ridge regression as a user meets them."""

from __future__ import annotations

import math
import pickle
import struct
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.linear_model as plain
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from discreet import (
    BudgetError,
    Categorical,
    Domain,
    DomainError,
    GuaranteeError,
    Ledger,
    LinearRegression,
    Numeric,
    PrivacyLeakWarning,
    Public,
    Ridge,
    collect_moments,
)

PRIVATE = {"epsilon": 1.0, "delta": 1e-6}
FREE = {"epsilon": 1e9, "delta": 1e-6}  # as good as no noise
BOUNDS = {"bounds_X": (-2, 2), "bounds_y": (-4, 4)}


@pytest.fixture(autouse=True)
def state_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger.create(tmp_path / "budget.ledger", epsilon=4.0, delta=1e-6)


def rows(n: int = 3000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.clip(rng.normal(0.2, 0.6, (n, 3)), -2, 2)
    y = np.clip(0.7 + X @ np.array([0.8, -0.5, 0.1]) + 0.4 * rng.normal(size=n), -4, 4)
    return X, y


# Without noise: what everybody else computes.


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("declared", [BOUNDS, {"data_norm": 4.0, "bounds_y": (-4, 4)}], ids=["bounds", "norm"])
def test_at_an_endless_budget_it_is_least_squares(declared, fit_intercept):
    X, y = rows()
    model = LinearRegression(**FREE, **declared, fit_intercept=fit_intercept).fit(X, y)
    expected = plain.LinearRegression(fit_intercept=fit_intercept).fit(X, y)
    assert model.coef_ == pytest.approx(expected.coef_, abs=1e-4)
    assert model.intercept_ == pytest.approx(expected.intercept_, abs=1e-4)
    assert model.predict(X[:9]) == pytest.approx(expected.predict(X[:9]), abs=1e-3)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [1.0, 1000.0])
@pytest.mark.parametrize("declared", [BOUNDS, {"data_norm": 4.0, "bounds_y": (-4, 4)}], ids=["bounds", "norm"])
def test_at_an_endless_budget_it_is_ridge(declared, alpha, fit_intercept):
    X, y = rows()
    model = Ridge(**FREE, **declared, alpha=alpha, fit_intercept=fit_intercept).fit(X, y)
    expected = plain.Ridge(alpha, fit_intercept=fit_intercept).fit(X, y)
    assert model.coef_ == pytest.approx(expected.coef_, abs=1e-4)
    assert model.intercept_ == pytest.approx(expected.intercept_, abs=1e-4)


def test_at_an_endless_budget_categories_are_indicators():
    X, y = rows()
    kind = np.random.default_rng(1).choice(["a", "b", "c"], len(y))
    y = np.clip(y + (kind == "b") * 0.5 - (kind == "c") * 0.25, -4, 4)
    frame = pd.DataFrame({"age": X[:, 0], "kind": kind})
    domain = Domain((Numeric("age", -2, 2), Categorical("kind", ("a", "b", "c"))))
    model = LinearRegression(**FREE, domain=domain, bounds_y=(-4, 4)).fit(frame, y)
    expected = plain.LinearRegression().fit(np.column_stack([X[:, 0], kind == "b", kind == "c"]), y)
    assert model.coef_ == pytest.approx(expected.coef_, abs=1e-4)
    assert model.coef_names_ == ["age", "kind=b", "kind=c"]
    assert model.predict(frame.head()) == pytest.approx(
        expected.predict(np.column_stack([X[:5, 0], kind[:5] == "b", kind[:5] == "c"])), abs=1e-3
    )


def test_at_an_endless_budget_standard_errors_are_the_textbook_ones():
    statsmodels = pytest.importorskip("statsmodels.api")
    X, y = rows()
    model = LinearRegression(**FREE, **BOUNDS).fit(X, y)
    expected = statsmodels.OLS(y, statsmodels.add_constant(X)).fit()
    assert model.bse == pytest.approx(expected.bse[1:], rel=0.01)
    assert model.conf_int() == pytest.approx(expected.conf_int()[1:], abs=1e-3)


# One release, many questions.


def test_every_label_and_penalty_is_free_after_one_release(ledger):
    X, y = rows()
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y})
    domain = Domain((*(Numeric(name, -2, 2) for name in "abc"), Numeric("y", -4, 4)))
    moments = collect_moments(frame, **PRIVATE, domain=domain, ledger=ledger)
    paid = ledger.spent.mu
    assert len(ledger.history) == 2
    for target in "abcy":
        for alpha in (0.0, 10.0):
            assert np.isfinite(moments.regress(target, alpha=alpha).params).all()
    moments.regress("y", ["b"], fit_intercept=False)
    assert (ledger.spent.mu, len(ledger.history)) == (paid, 2)
    assert moments.privacy.epsilon(1e-6) <= 1.0


def test_at_an_endless_budget_any_column_may_be_the_label():
    X, y = rows()
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y})
    domain = Domain((*(Numeric(name, -2, 2) for name in "abc"), Numeric("y", -4, 4)))
    moments = collect_moments(frame, **FREE, domain=domain)
    expected = plain.Ridge(5.0).fit(frame[["y", "c"]], frame["a"])
    result = moments.regress("a", ["y", "c"], alpha=5.0)
    assert result.shrunk == pytest.approx([expected.intercept_, *expected.coef_], abs=1e-3)


def test_unknown_or_repeated_columns_are_refused():
    X, y = rows(100)
    moments = LinearRegression(**PRIVATE, **BOUNDS, solver="moments").fit(X, y).moments_
    for target, features in [("z", None), ("y", ["z"]), ("y", ["x0", "x0"]), ("y", ["y"]), ("y", [])]:
        with pytest.raises(DomainError):
            moments.regress(target, features)


# Persons.


def test_only_the_first_rows_of_each_person_are_used():
    X, y = rows(600)
    groups = np.random.default_rng(2).integers(0, 100, 600)
    first = pd.Series(groups).groupby(groups).cumcount().to_numpy() < 3
    y_odd = np.where(first, y, -4.0)
    model = LinearRegression(**FREE, **BOUNDS, rows_per_person=3).fit(X, y_odd, groups=groups)
    expected = plain.LinearRegression().fit(X[first], y[first])
    assert model.coef_ == pytest.approx(expected.coef_, abs=1e-3)
    assert model.privacy_.unit == "person"
    assert "per person" in str(model.privacy_)
    assert "at most 3 rows of each person were used" in str(model.privacy_)


def test_noise_is_for_all_rows_of_a_person():
    X, y = rows(600)
    groups = np.repeat(np.arange(200), 3)
    sensitivities = [
        LinearRegression(**PRIVATE, **BOUNDS, rows_per_person=k)
        .fit(X, y, groups=groups)
        .privacy_.releases[0]
        .sensitivity
        for k in (1, 3)
    ]
    assert sensitivities[1] == pytest.approx(3 * sensitivities[0], rel=1e-5)


def test_several_rows_per_person_need_ids():
    X, y = rows(100)
    with pytest.raises(ValueError, match="rows_per_person needs fit"):
        LinearRegression(**PRIVATE, **BOUNDS, rows_per_person=2).fit(X, y)


@pytest.mark.parametrize("odd", [None, math.nan, 7, "x", pd.NA])
def test_no_persons_id_raises(odd):
    X, y = rows(100)
    groups = np.array(["a", "b"] * 50, dtype=object)
    groups[3] = odd
    LinearRegression(**PRIVATE, **BOUNDS, rows_per_person=2).fit(X, y, groups=groups)


# Seeds.


def test_a_seed_reproduces_the_fit_with_a_warning_and_a_mark():
    X, y = rows(500)
    with pytest.warns(PrivacyLeakWarning, match="not private"):
        first = LinearRegression(**PRIVATE, **BOUNDS, random_state=1).fit(X, y)
    with pytest.warns(PrivacyLeakWarning):
        second = LinearRegression(**PRIVATE, **BOUNDS, random_state=1).fit(X, y)
    assert (first.coef_ == second.coef_).all()
    assert first.privacy_.seeded
    assert "NOT PRIVATE" in str(first.summary())


def test_without_a_seed_every_fit_differs_and_is_not_marked():
    X, y = rows(500)
    first, second = (LinearRegression(**PRIVATE, **BOUNDS, solver="moments").fit(X, y) for _ in range(2))
    assert (first.moments_.answer.value != second.moments_.answer.value).all()
    assert not first.privacy_.seeded


# Declarations and special values.


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"bounds_y": (0, 1)}, "no bounds were declared for 3 columns"),
        ({"bounds_X": (0, 1)}, "no range was declared for y"),
        (
            {"bounds_X": (0, 1), "domain": Domain((Numeric("x0", 0, 1),)), "bounds_y": (0, 1)},
            "either domain or bounds_X",
        ),
        ({"domain": Domain((Numeric("x0", 0, 1),)), "bounds_y": (0, 1)}, "column 'x1' is not declared"),
        ({"bounds_X": (0, 1), "bounds_y": (0, 1), "public": [[1]]}, "public must be a discreet.Public, got list"),
    ],
)
def test_missing_declarations_are_refused(declared, message):
    X, y = rows(10)
    with pytest.raises(DomainError, match=message):
        LinearRegression(**PRIVATE, **declared).fit(X, y)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epsilon": 0.0}, "epsilon must be"),
        ({"delta": 0.0}, "delta must be > 0"),
        ({"alpha": -1.0}, "alpha must be finite and >= 0"),
        ({"alpha": math.inf}, "alpha must be finite and >= 0"),
        ({"solver": "sgd"}, "solver must be one of auto, gd, moments"),
        ({"calibration": "loose"}, "calibration must be one of tight, paper"),
        ({"neighbours": "both"}, "neighbours must be one of"),
        ({"rows_per_person": 0}, "rows_per_person must be a whole number >= 1"),
    ],
)
def test_wrong_parameters_are_refused_before_anything_is_paid(changed, message, ledger):
    X, y = rows(10)
    with pytest.raises(ValueError, match=message):
        Ridge(**PRIVATE | BOUNDS | {"ledger": ledger} | changed).fit(X, y)
    assert ledger.history == []


SPECIAL = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0]


@pytest.mark.parametrize("calibration", ["tight", "paper"])
@pytest.mark.parametrize("value", SPECIAL)
@pytest.mark.parametrize("place", ["X", "y", "both", "column"])
def test_no_value_shows_in_a_warning_or_breaks_the_fit(place, value, calibration):
    X, y = rows(200)
    X[3, 1] = value if place in ("X", "both") else X[3, 1]
    y[3] = value if place in ("y", "both") else y[3]
    if place == "column":
        X[:, 2] = value
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LinearRegression(**PRIVATE, **BOUNDS, calibration=calibration).fit(X, y)
    assert caught == []
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_)


def test_a_row_with_a_missing_value_contributes_nothing():
    X, y = rows()
    X[::3, 0] = np.nan
    y[1::7] = np.nan
    complete = np.isfinite(X).all(axis=1) & np.isfinite(y)
    for calibration in ("tight", "paper"):
        model = LinearRegression(**FREE, **BOUNDS, calibration=calibration).fit(X, y)
        expected = plain.LinearRegression().fit(X[complete], y[complete])
        assert model.coef_ == pytest.approx(expected.coef_, abs=1e-3)


@pytest.mark.parametrize("odd", ["text", None, math.nan, "0.5"])
def test_lists_with_odd_cells_are_fitted(odd):
    X, y = rows(100)
    cells, labels = X.tolist(), y.tolist()
    cells[3][1] = labels[5] = odd
    assert np.isfinite(LinearRegression(**PRIVATE, **BOUNDS).fit(cells, labels).coef_).all()


def test_nothing_of_a_message_is_a_data_value():
    """Wrong shapes raise; their messages speak of shapes only."""
    X, y = rows(50)
    X[:] = 1234.5678
    y[:] = 8765.4321
    model = LinearRegression(**PRIVATE, **BOUNDS)
    for bad_X, bad_y in [(X, y[:-1]), (X[:, 0], y), (X, np.column_stack([y, y])), (X, None), (X.astype(complex), y)]:
        with pytest.raises(ValueError) as caught:
            model.fit(bad_X, bad_y)
        assert "1234.5" not in str(caught.value)
        assert "8765.4" not in str(caught.value)


# The printed noise.


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_paper_calibration_releases_the_printed_noise_and_reports_what_it_gives(fit_intercept):
    X, y = rows()
    model = LinearRegression(
        **PRIVATE, data_norm=4.0, bounds_y=(-4, 4), calibration="paper", fit_intercept=fit_intercept
    ).fit(X, y)
    asked = LinearRegression(**PRIVATE, **BOUNDS)._check_parameters()
    mu = asked.mu / math.sqrt(2)  # of each of the two releases, as GDP composes
    radius = math.sqrt(1 + fit_intercept)
    gram, cross = model.privacy_.releases
    assert gram.noise_std == pytest.approx(2 * radius**2 / mu, rel=1e-9)
    assert cross.noise_std == pytest.approx(2 * radius / mu, rel=1e-9)
    for release in (gram, cross):
        assert release.cost.mu >= release.sensitivity / release.noise_std * (1 - 1e-9)
    # sigma_1 is sqrt(2) times what is needed, so 3/4 of mu^2 is used.
    assert model.privacy_.mu == pytest.approx(asked.mu * math.sqrt(0.75), rel=1e-5)
    assert model.privacy_.epsilon(1e-6) <= 1.0


def test_paper_calibration_is_refused_where_it_is_weaker_than_asked(ledger):
    X, y = rows(300)
    model = LinearRegression(**PRIVATE, **BOUNDS, calibration="paper", rows_per_person=2, ledger=ledger)
    with pytest.raises(GuaranteeError, match="weaker than the 1 asked for"):
        model.fit(X, y, groups=np.arange(300) // 2)
    assert ledger.history == []


def test_at_an_endless_budget_paper_calibration_is_ridge():
    X, y = rows()
    model = Ridge(**FREE, **BOUNDS, alpha=10.0, calibration="paper").fit(X, y)
    expected = plain.Ridge(10.0).fit(X, y)
    assert model.coef_ == pytest.approx(expected.coef_, abs=1e-3)
    assert model.intercept_ == pytest.approx(expected.intercept_, abs=1e-3)


# What a fitted model holds and tells.


@pytest.mark.parametrize("calibration", ["tight", "paper"])
def test_a_fitted_model_holds_no_data(calibration):
    marker = struct.unpack("<d", bytes.fromhex("efcdab8967452301"[:14]) + b"\x3f")[0]
    X, y = rows(400)
    X[7, 1] = y[9] = marker
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    groups = np.arange(400)
    groups[5] = 0x1234567890ABCDE
    for table in (X, frame):
        model = LinearRegression(**PRIVATE, **BOUNDS, calibration=calibration).fit(table, y, groups=groups)
        stored = pickle.dumps(model)
        shown = repr(model) + str(model.privacy_) + (str(model.summary()) if calibration == "tight" else "")
        for secret in (marker, X[0, 0], y[0]):
            for order in "<>":
                assert struct.pack(order + "d", secret) not in stored
            assert repr(float(secret)).encode() not in stored
            assert repr(float(secret)) not in shown
        assert struct.pack("<q", 0x1234567890ABCDE) not in stored
        assert len(stored) < 10_000
        assert (pickle.loads(stored).predict(X[:3] if table is X else frame.head(3)) == model.predict(table)[:3]).all()


@pytest.mark.parametrize(("n", "epsilon", "fits"), [(3000, 1e9, 1), (50_000, 1.0, 3), (5000, 1.0, 40)])
def test_prediction_intervals_cover_new_labels(n, epsilon, fits):
    """95 percent on average over the noise; where noise hides the residual spread (small n), rather more.

    One fit's coverage has a standard deviation of 0.025 at n = 5000, so six of its mean over 40 fits are 0.024.
    """
    new_X, new_y = rows(20_000, seed=99)
    covered = []
    for seed in range(fits):
        low, high = (
            LinearRegression(epsilon=epsilon, delta=1e-6, **BOUNDS).fit(*rows(n, seed)).predict_interval(new_X).T
        )
        covered.append(np.mean((low <= new_y) & (new_y <= high)))
    assert 0.93 < np.mean(covered) < 0.985


def test_confidence_intervals_cover_the_truth_and_noise_intervals_the_fit_without_noise():
    """100 fits of 3 coefficients at 95 percent: a mean below 87 percent is more than six standard deviations away."""
    truth = np.array([0.8, -0.5, 0.1])
    covered, noise_covered = [], []
    for seed in range(100):
        X, y = rows(2000, seed)
        model = LinearRegression(epsilon=2.0, delta=1e-6, **BOUNDS).fit(X, y)
        low, high = model.conf_int().T
        covered.append((low <= truth) & (truth <= high))
        low, high = model.noise_int().T
        fit = plain.LinearRegression().fit(X, y).coef_
        noise_covered.append((low <= fit) & (fit <= high))
    assert np.mean(covered) > 0.87
    assert np.mean(noise_covered) > 0.87


def test_parameters_can_be_read_set_and_cloned():
    model = Ridge(**PRIVATE, **BOUNDS, alpha=3.0)
    assert model.get_params()["alpha"] == 3.0
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(epsilon=2.0).epsilon == 2.0
    X, y = rows(200)
    before = model.get_params()
    model.fit(X, y)
    assert model.get_params() == before
    assert not hasattr(clone(model), "coef_")


def test_public_rows_tell_the_scale_for_free():
    X, y = rows()
    public = Public(rows=X[:50])
    model = LinearRegression(**FREE, **BOUNDS, public=public).fit(X, y)
    assert model.coef_ == pytest.approx(plain.LinearRegression().fit(X, y).coef_, abs=1e-3)
    moment = np.column_stack([np.ones(50), X[:50]])
    again = LinearRegression(**FREE, **BOUNDS, public=Public(second_moment=moment.T @ moment / 50, n=50)).fit(X, y)
    assert again.coef_ == pytest.approx(model.coef_, abs=1e-3)


# Paying.


def test_one_job_is_paid_once_and_gives_one_model(ledger):
    X, y = rows(500)
    first, second = (LinearRegression(**PRIVATE, **BOUNDS, ledger=ledger).fit(X, y, job="monday") for _ in range(2))
    assert (first.coef_ == second.coef_).all()
    assert len(ledger.history) == len(first.privacy_.releases)
    assert ledger.spent.epsilon <= 1.0


def test_a_job_with_another_penalty_asks_other_questions_and_pays_for_them(ledger):
    X, y = rows(500)
    first, second = (Ridge(**PRIVATE, **BOUNDS, alpha=a, ledger=ledger).fit(X, y, job="monday") for a in (1.0, 5.0))
    assert len(ledger.history) == len(first.privacy_.releases) + len(second.privacy_.releases)


@pytest.mark.parametrize(
    "changed", [{"bounds_y": (-40, 40)}, {"bounds_X": (-3, 2)}, {"bounds_X": None, "data_norm": 4.0}]
)
def test_a_job_under_other_declarations_is_another_job(ledger, changed):
    X, y = rows(500)
    LinearRegression(**PRIVATE, **BOUNDS, ledger=ledger, solver="moments").fit(X, y, job="monday")
    LinearRegression(**PRIVATE | BOUNDS | changed, ledger=ledger, solver="moments").fit(X, y, job="monday")
    assert len(ledger.history) == 4


def test_a_job_needs_a_ledger():
    X, y = rows(10)
    with pytest.raises(ValueError, match="pass ledger= as well"):
        LinearRegression(**PRIVATE, **BOUNDS).fit(X, y, job="monday")


def test_every_fold_and_candidate_pays_from_one_ledger_until_it_is_empty(ledger):
    X, y = rows(600)
    model = Ridge(epsilon=1.0, delta=1e-6, **BOUNDS, ledger=str(ledger.path), solver="moments")
    cross_val_score(model, X, y, cv=3, error_score="raise")
    assert len(ledger.history) == 6
    fold = ledger.spent.mu / math.sqrt(3)
    assert ledger.spent.mu == pytest.approx(fold * math.sqrt(3))
    with pytest.raises(BudgetError):
        GridSearchCV(model, {"alpha": [0.1, 1.0, 10.0]}, cv=5, error_score="raise").fit(X, y)
    assert ledger.spent.mu <= ledger.total.mu
    before = len(ledger.history)
    with pytest.raises(BudgetError):
        model.fit(X, y)
    assert len(ledger.history) - before <= 1


def test_a_grid_search_pays_for_every_candidate_fold_and_the_last_fit(ledger):
    X, y = rows(600)
    model = Ridge(epsilon=0.3, delta=1e-6, **BOUNDS, ledger=ledger, solver="moments")
    GridSearchCV(model, {"alpha": [0.1, 1.0]}, cv=2, error_score="raise").fit(X, y)
    assert len(ledger.history) == 2 * (2 * 2 + 1)


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
def test_the_guarantee_is_the_one_asked_for(neighbours):
    X, y = rows(500)
    model = LinearRegression(**PRIVATE, **BOUNDS, neighbours=neighbours).fit(X, y)
    assert 0.999 < model.privacy_.epsilon(1e-6) <= 1.0
    assert model.privacy_.neighbours == neighbours


def test_an_empty_table_is_no_news_where_the_number_of_rows_is_private():
    X, y = rows(10)
    model = LinearRegression(**PRIVATE, **BOUNDS, neighbours="add_or_remove_one").fit(X[:0], y[:0])
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_text_in_a_column_declared_with_bounds_is_refused_before_anything_is_paid(library):
    frame = library({"age": [30.0, 40.0], "smoker": ["no", "yes"]})
    model = LinearRegression(epsilon=1, delta=1e-6, bounds_X=(0, 100), bounds_y=(0, 1))
    with pytest.raises(DomainError, match="'smoker' is declared with bounds but holds"):
        model.fit(frame, [0.1, 0.2])
