"""Piecewise exponential models: the Poisson fit of expanded rows at a huge budget, and a promise to
whole persons.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from click.testing import CliRunner
from sklearn.base import BaseEstimator

from discreet import (
    Categorical,
    DiscreetError,
    Domain,
    DomainError,
    Numeric,
    PiecewiseExponentialRegressor,
    WeakGuaranteeWarning,
    load,
)
from discreet.audit import replay
from discreet.cli import main
from discreet.domain import Encoder
from discreet.domain.piecewise import PiecewiseEncoder

ROWS, BREAKS = 4000, (3, 6, 12, 24)
USUAL = {"epsilon": 2.0, "delta": 1e-6, "bounds_X": (-1, 1), "breaks": BREAKS}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (ROWS, 2))
    death, censored = rng.exponential(10 / np.exp(X @ [1.0, -0.5])), rng.uniform(2, 30, ROWS)
    return X, np.minimum(death, censored), death <= censored


@pytest.fixture(scope="module")
def poisson(rows):
    """The same model without privacy: one line for each interval that a row reached."""
    X, duration, event = rows
    parts = []
    for number, (low, high) in enumerate(zip((0, *BREAKS), BREAKS, strict=False)):
        there = duration > low
        intervals = np.zeros((there.sum(), len(BREAKS) - 1))
        if number:
            intervals[:, number - 1] = 1
        design = np.column_stack([np.ones(there.sum()), X[there], intervals])
        parts.append((event[there] & (duration[there] <= high), design, np.minimum(duration[there], high) - low))
    y, design, time = (np.concatenate(part) for part in zip(*parts, strict=True))
    return sm.GLM(y.astype(float), design, family=sm.families.Poisson(), offset=np.log(time)).fit()


@pytest.fixture(scope="module")
def fitted(rows):
    X, duration, event = rows
    return PiecewiseExponentialRegressor(**{**USUAL, "epsilon": 1e7}).fit(X, duration, event=event)


def test_a_huge_budget_gives_the_poisson_fit(fitted, poisson):
    assert fitted.coef_names_ == ["x0", "x1", "interval (3, 6]", "interval (6, 12]", "interval (12, 24]"]
    assert np.abs((fitted.results_.estimates - poisson.params) / poisson.bse).max() < 0.05
    assert np.allclose(fitted.results_.std_errors, poisson.bse, rtol=0.1)
    ratios = fitted.hazard_ratios()
    assert list(ratios.index) == ["x0", "x1"]
    assert (ratios["0.025"] < ratios["hazard ratio"]).all()
    assert np.allclose(ratios["hazard ratio"], np.exp(poisson.params[1:3]), rtol=0.01)
    assert np.allclose(np.log(fitted.baseline_hazard_[0]), poisson.params[0], atol=0.01)
    assert fitted.n_used_ == pytest.approx(poisson.nobs, rel=1e-3)


def test_events_are_0_or_1_and_rows_with_another_code_are_not_used(rows):
    """As 1 and 2, for instance, of which both would be events if they were moved into the bounds."""
    X, duration, event = rows
    made = PiecewiseExponentialRegressor(**{**USUAL, "epsilon": 1e4})
    one_two = made.fit(X, duration, event=event + 1)
    only_ones = made.fit(X[~event], duration[~event])
    assert np.allclose(one_two.results_.estimates, only_ones.results_.estimates, atol=0.02)
    assert one_two.n_used_ == pytest.approx(only_ones.n_used_, rel=0.01)


@pytest.mark.parametrize("declared", [Numeric("dead", 1, 2), Categorical("dead", ("no", "yes"))])
def test_events_that_are_declared_otherwise_are_refused(rows, declared):
    X, duration, event = rows
    frame = pd.DataFrame({"x": X[:, 0], "time": duration, "dead": event.astype(int)})
    domain = Domain((Numeric("x", -1, 1), Numeric("time", 0, 24), declared))
    made = PiecewiseExponentialRegressor(epsilon=1, delta=1e-6, breaks=BREAKS, domain=domain)
    with pytest.raises(DomainError, match="events must be 0"):
        made.fit_table(frame, target="time", event="dead", features=["x"])
    with pytest.raises(DomainError, match="events must be 0"):
        made.fit(frame[["x", "dead"]], duration, event="dead")


def test_the_number_of_rows_is_public_where_a_row_is_replaced(rows):
    X, duration, event = rows
    with pytest.warns(WeakGuaranteeWarning, match="not below 1 / number of rows"):
        fitted = PiecewiseExponentialRegressor(**{**USUAL, "delta": 1e-3}).fit(X, duration, event=event)
    assert "4,000 rows (public); counted by weight or record" in str(fitted.summary()).replace("\n             ", " ")
    with pytest.raises(ValueError, match="needs at least 2 rows"):
        PiecewiseExponentialRegressor(**USUAL).fit(X[:1], duration[:1])


def test_a_saved_model_is_the_same(fitted, rows, tmp_path):
    fitted.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert np.array_equal(again.predict(rows[0]), fitted.predict(rows[0]))
    assert again.hazard_ratios().equals(fitted.hazard_ratios())
    assert np.array_equal(again.baseline_hazard_, fitted.baseline_hazard_)


def test_a_report_draws_intervals_from_0_to_1(fitted, tmp_path):
    fitted.report(tmp_path / "report.html")
    spans = fitted._spans()
    assert list(spans) == list(fitted.coef_names_)
    assert all(spans[name] == 1.0 for name in spans if name.startswith("interval"))


def test_predictions_belong_together(fitted, rows):
    X = rows[0][:5]
    hazard = fitted.predict_hazard(X)
    assert np.allclose(hazard, np.exp(X @ fitted.coef_[:2])[:, np.newaxis] * fitted.baseline_hazard_)
    times = np.linspace(0, 24, 2001)
    survival = fitted.predict_survival(X, times)
    assert np.allclose(survival[:, 0], 1)
    assert np.allclose(fitted.predict(X), np.trapezoid(survival, times, axis=1), rtol=1e-4)
    assert np.allclose(-np.log(fitted.predict_survival(X, 3.0)[:, 0]), 3 * hazard[:, 0])
    with pytest.raises(ValueError, match="between 0 and the last break, 24"):
        fitted.predict_survival(X, 25)


def test_one_row_makes_a_record_for_each_interval_that_it_reached():
    rows = Encoder(Domain((Numeric("x", -1, 1),)), Numeric("duration", 0, 24.1), None, Numeric("event", 0, 1))
    encoder = PiecewiseEncoder(rows, (3.0, 6.0, 12.0))
    table = np.array([[0.5], [0.5], [0.5], [0.5], [0.5]])
    ends = np.array([[2.0, 1], [3.0, 1], [7.0, 0], [20.0, 1], [5.0, np.nan]])
    block = encoder.see(rows.encode(table, ends))
    events = (block.y * encoder.target.half_width + encoder.target.centre).reshape(3, -1)
    time = np.exp(block.offset).reshape(3, -1)
    nan = np.nan
    assert np.allclose(time, [[2, 3, 3, 3, 3], [nan, nan, 3, 3, 2], [nan, nan, 1, 6, nan]], equal_nan=True)
    assert np.allclose(events, [[1, 1, 0, 0, nan], [nan, nan, 0, 0, nan], [nan, nan, 0, 0, nan]], equal_nan=True)
    x = np.empty((3, 15))
    block.write_x(x)
    assert np.linalg.norm(x, axis=0).max() <= encoder.radius
    assert x[1:].sum(axis=1).tolist() == [5, 5]


def test_tables_formulas_and_persons(rows, tmp_path):
    X, duration, event = rows
    frame = pd.DataFrame({"a": X[:, 0], "sex": np.where(X[:, 1] > 0, "f", "m"), "months": duration, "died": event})
    frame["person"] = np.arange(ROWS) // 2
    frame.to_parquet(tmp_path / "rows.parquet")
    domain = Domain((Numeric("a", -1, 1), Categorical("sex", ("m", "f"))))
    options = {"epsilon": 2.0, "delta": 1e-6, "domain": domain, "breaks": BREAKS, "random_state": 1}

    def bits(fit, **more):
        with pytest.warns(match="not private"):
            return fit(PiecewiseExponentialRegressor(**options, **more)).coef_.tobytes()

    plain = bits(lambda model: model.fit(frame[["a", "sex"]], frame["months"], event=frame["died"]))
    path = str(tmp_path / "rows.parquet")
    assert bits(lambda model: model.fit_table(path, target="months", event="died")) == plain
    formula = bits(lambda model: model.fit(frame, event="died"), formula="months ~ a * sex")
    assert bits(lambda model: model.fit_table(path, event="died"), formula="months ~ a * sex") == formula
    persons = {"groups": "person", "target": "months", "event": "died"}
    with pytest.warns(match="not private"):
        two = PiecewiseExponentialRegressor(**options, rows_per_person=2).fit_table(path, **persons)
    assert two.privacy_.grouped
    with pytest.warns(match="not private"):
        one = PiecewiseExponentialRegressor(**options).fit_table(path, target="months", event="died")
    ratio = two.privacy_.releases[0].sensitivity / one.privacy_.releases[0].sensitivity
    assert ratio == pytest.approx(2, rel=1e-3)
    assert one.predict_survival(frame[["a", "sex"]], [6, 12]).shape == (ROWS, 2)


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("other", [(np.array([-1.0, -1.0]), 1e-9, 1), (np.array([np.nan, 1.0]), np.inf, 0)])
def test_no_more_is_lost_than_claimed_by_whole_persons(other, neighbours, rows):
    X, duration, event = (part.copy() for part in rows)
    X[7], duration[7], event[7] = 1.0, 24.0, True  # a record in every interval
    X_other, duration_other, event_other = X.copy(), duration.copy(), event.copy()
    X_other[7], duration_other[7], event_other[7] = other
    if neighbours == "add_or_remove_one":
        X_other, duration_other, event_other = (np.delete(part, 7, axis=0) for part in (X, duration, event))
    model = PiecewiseExponentialRegressor(**USUAL, neighbours=neighbours)
    report = replay(model, (X, duration, {"event": event}), (X_other, duration_other, {"event": event_other}))
    assert report.passed, str(report)
    assert max(report.release_efficiencies) <= 1 + 1e-9


def test_noise_covers_all_records_of_a_row(rows):
    X, duration, event = rows
    first = [
        PiecewiseExponentialRegressor(**{**USUAL, "breaks": breaks}).fit(X, duration, event=event).privacy_.releases[0]
        for breaks in ((12, 24), BREAKS)
    ]
    assert first[1].sensitivity / first[0].sensitivity == pytest.approx(2, rel=1e-3)


def test_the_audit_notices_noise_for_one_record_only(rows, monkeypatch):
    monkeypatch.setattr("discreet.curator.Curator.expand", lambda curator, records: None)
    monkeypatch.setattr("discreet.curator.Curator.public_rows", None)
    X, duration, event = (part.copy() for part in rows)
    X[7], duration[7], event[7] = 1.0, 24.0, False
    other = tuple(np.delete(part, 7, axis=0) for part in (X, duration, event))
    model = PiecewiseExponentialRegressor(**USUAL, neighbours="add_or_remove_one")
    report = replay(model, (X, duration, {"event": event}), (*other[:2], {"event": other[2]}))
    assert not report.passed


def test_what_is_wrong_is_said(rows, fitted):
    X, duration, event = rows
    for ask in (fitted.mean_interval, fitted.predict_interval):
        with pytest.raises(DiscreetError, match="intervals of survival times are not available"):
            ask(X)
    for breaks in ((), (6, 3), (0, 6), "ab", (6, np.inf)):
        with pytest.raises(DomainError, match="breaks must be increasing numbers > 0"):
            PiecewiseExponentialRegressor(**{**USUAL, "breaks": breaks}).fit(X, duration)
    with pytest.raises(DomainError, match="at least 1 / 10,000 of the last one apart"):
        PiecewiseExponentialRegressor(**{**USUAL, "breaks": (1, np.nextafter(1, 2), 24)}).fit(X, duration)
    with pytest.raises(ValueError, match="X and event differ in length"):
        PiecewiseExponentialRegressor(**USUAL).fit(X, duration, event=event[:-1])
    with pytest.raises(DomainError, match="has no column names"):
        PiecewiseExponentialRegressor(**USUAL).fit(X, duration, event="died")
    with pytest.raises(TypeError, match="event"):
        fitted.evaluate(X, duration, epsilon=1, delta=1e-6)
    with pytest.raises(ValueError, match="2 features"):
        fitted.evaluate(X[:, :1], duration, event=event, epsilon=1, delta=1e-6)


def plain_measures(model, X, duration, event):
    """Deviances of deviance residuals, without noise, and those of one hazard ratio for all rows."""
    low = np.array([0, *BREAKS[:-1]])
    there = np.clip(duration[:, np.newaxis] - low, 0, np.array(BREAKS) - low)
    expected = (model.predict_hazard(X) * there).sum(axis=1)
    seen = (event & (duration <= BREAKS[-1])).astype(float)
    baseline = expected / np.exp(X @ model.coef_[:2])
    constant = baseline * seen.sum() / baseline.sum()
    own, null = (2 * (np.where(seen > 0, -np.log(mean), 0.0) - (seen - mean)) for mean in (expected, constant))
    return 1 - own.sum() / null.sum(), own.mean()


def test_an_evaluation_is_of_deviance_residuals(fitted, rows):
    explained, mean = plain_measures(fitted, *rows)
    X, duration, event = rows
    found = fitted.evaluate(X, duration, event=event, epsilon=1e7, delta=1e-6)
    assert found.deviance_explained.value == pytest.approx(explained, abs=1e-3)
    assert found.mean_deviance.value == pytest.approx(mean, rel=1e-3)
    assert found.rows == pytest.approx(ROWS, abs=1)
    table = np.array([(row.predicted, row.observed) for row in found.calibration])
    assert len(table) == 10
    assert table[:, 0] == pytest.approx(table[:, 1], rel=0.2)
    assert "exposure" in str(found)


def test_intervals_of_an_evaluation_cover(fitted, rows):
    explained, mean = plain_measures(fitted, *rows)
    X, duration, event = rows
    found = [fitted.evaluate(X, duration, event=event, epsilon=1.0, delta=1e-6) for _ in range(40)]
    assert sum(one.deviance_explained.low <= explained <= one.deviance_explained.high for one in found) >= 33
    assert sum(one.mean_deviance.low <= mean <= one.mean_deviance.high for one in found) >= 33


class Evaluated(BaseEstimator):
    """``evaluate`` of a survival model that does not depend on these rows."""

    def __init__(self, evaluate, neighbours):
        self.evaluate = evaluate
        self.neighbours = neighbours

    def fit(self, X, y, event):
        found = self.evaluate(X, y, event=event, epsilon=1.0, delta=1e-6, neighbours=self.neighbours)
        self.privacy_ = found.privacy
        return self


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("other", [(np.array([-1.0, 1.0]), 24.0, 0), (np.array([np.nan, 1.0]), np.inf, 1)])
def test_an_evaluation_loses_no_more_than_it_claims(other, neighbours, rows, fitted):
    X, duration, event = (part.copy() for part in rows)
    X[7], duration[7], event[7] = (1.0, -1.0), 24.0, True
    X_other, duration_other, event_other = X.copy(), duration.copy(), event.astype(float)
    X_other[7], duration_other[7], event_other[7] = other
    if neighbours == "add_or_remove_one":
        X_other, duration_other, event_other = (np.delete(part, 7, axis=0) for part in (X, duration, event))
    model = Evaluated(fitted.evaluate, neighbours)
    report = replay(model, (X, duration, {"event": event}), (X_other, duration_other, {"event": event_other}))
    assert report.passed, str(report)
    assert max(report.release_efficiencies) <= 1 + 1e-9


def test_in_the_terminal(rows, tmp_path):
    X, duration, event = rows
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "months": duration, "died": event.astype(int)})
    frame.to_parquet(tmp_path / "rows.parquet")
    domain = Domain((Numeric("a", -1, 1), Numeric("b", -1, 1)))
    (tmp_path / "domain.toml").write_text(domain.to_toml())
    data, spent = str(tmp_path / "rows.parquet"), ["--epsilon", "2", "--delta", "1e-6"]
    asked = ["fit", data, "--domain", str(tmp_path / "domain.toml"), *spent, "--formula", "months ~ a + b"]
    run, out = CliRunner().invoke, str(tmp_path / "model.json")
    survival = [*asked, "--model", "survival", "--event", "died"]
    assert "needs --breaks" in run(main, survival).output
    assert "--event belongs to --model survival" in run(main, [*asked, "--event", "died"]).output
    assert "numbers with commas" in run(main, [*survival, "--breaks", "6;12"]).output
    assert "nothing is spent" in run(main, [*survival, "--breaks", "6,12,24", "--dry-run"]).output
    fitted = run(main, [*survival, "--breaks", "6,12,24", "--out", out])
    assert fitted.exit_code == 0, fitted.output
    assert "interval (6, 12]" in fitted.output
    found = run(main, ["evaluate", out, data, *spent])
    assert found.exit_code == 0, found.output
    assert "deviance explained" in found.output
