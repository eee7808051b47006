"""Every sparse solver keeps its promise on neighbouring data sets, and the audit catches what
breaks it.
"""

from __future__ import annotations

import numpy as np
import pytest

import discreet.curator.curator
import discreet.noise.ranking
import discreet.rows.ranking
from discreet import SparseLinearRegression, SparseLogisticRegression, SparsePoissonRegressor
from discreet.audit import replay
from discreet.curator import Curator
from discreet.noise.ranking import RankNoise
from discreet.privacy import Repeated

RELATIONS = ["replace_one", "add_or_remove_one"]
SOLVERS = ["auto", "two_stage", "iht", "frank_wolfe"]
ROWS, COLUMNS = 2_000, 12


def make(solver="auto", neighbours="replace_one", epsilon=1.0, kind=SparseLogisticRegression, **more):
    declared = {"bounds_X": (-1, 1), "sparsity": 3, "epsilon": epsilon, "delta": 1e-6}
    if kind is not SparseLogisticRegression:
        declared["bounds_y"] = (0, 4)
    return kind(solver=solver, neighbours=neighbours, **declared, **more)


def background(kind=SparseLogisticRegression):
    """Half of the columns go up with the label and half down: one row can raise some scores and
    lower others.
    """
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (ROWS, COLUMNS))
    eta = X @ np.tile([0.9, -0.9], COLUMNS // 2)
    if kind is SparseLogisticRegression:
        return X, (rng.random(ROWS) < 1 / (1 + np.exp(-eta))).astype(int)
    return X, np.clip(np.round(1 + eta + rng.normal(0, 0.5, ROWS)), 0, 4)


def worst_pair(estimator):
    """All columns of one row at +1 or at -1, with the highest label: every signed sum moves the
    same way, far.

    So scores of columns with positive sums fall and those of the others rise: the range is twice
    the reach.
    """
    kind = type(estimator)
    while kind.__module__ != "discreet.estimators.sparse":
        kind = kind.__mro__[1]
    X, y = background(kind)
    high = 1 if kind is SparseLogisticRegression else 4
    up, down = (np.vstack([X, x]) for x in (np.ones(COLUMNS), -np.ones(COLUMNS)))
    labels = np.append(y, high)
    return ((up, labels), (down, labels)) if estimator.neighbours == "replace_one" else ((up, labels), (X, y))


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("epsilon", [0.5, 5.0])
@pytest.mark.parametrize("solver", SOLVERS)
def test_worst_neighbour_loses_no_more_than_is_claimed_and_selections_lose_nearly_all(solver, epsilon, neighbours):
    estimator = make(solver, neighbours, epsilon)
    report = replay(estimator, *worst_pair(estimator))
    assert report.passed, str(report)
    first = report.labels.index("selection")
    # Residuals are about a noisy mean, so a label at the end of its range is not quite as far out
    # as it may be.
    assert 0.7 <= report.release_efficiencies[first] <= 1, str(report)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("kind", [SparseLinearRegression, SparsePoissonRegressor])
def test_other_families_stay_within_the_claim(kind, neighbours):
    for solver in SOLVERS:
        estimator = make(solver, neighbours, kind=kind)
        report = replay(estimator, *worst_pair(estimator))
        assert report.passed, str(report)


def test_an_automatic_sparsity_is_within_the_claim():
    estimator = make().set_params(sparsity="auto", epsilon=5.0)
    report = replay(estimator, *worst_pair(estimator))
    assert report.passed, str(report)


@pytest.mark.parametrize("epsilon", [0.3, 5.0])
def test_printed_noise_gives_at_least_the_guarantee_that_is_reported(epsilon):
    estimator = make("iht", epsilon=epsilon, calibration="paper", max_iter=4)
    report = replay(estimator, *worst_pair(estimator))
    assert report.passed, str(report)
    # At the start all probabilities are 1/2, so no score is longer than half of what may come
    # later.
    assert 0.49 <= report.release_efficiencies[0] <= 1, str(report)
    assert report.claimed_mu < 0.5 * make(epsilon=epsilon)._check_parameters().mu


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("solver", ["auto", "iht"])
def test_odd_rows_stay_within_the_claim(solver, neighbours):
    X, y = background()
    y = y.astype(float)
    for cells, label in [(np.nan, 1.0), (np.inf, 0.0), (1e308, 1.0), (5e-324, 7.0), (0.0, np.nan)]:
        odd = np.vstack([X, np.full(COLUMNS, cells)]), np.append(y, label)
        other = (X, y) if neighbours == "add_or_remove_one" else (np.vstack([X, X[:1]]), np.append(y, y[0]))
        for pair in ((odd, other), (other, odd)):
            report = replay(make(solver, neighbours), *pair)
            assert report.passed, f"{cells}, {label}: {report}"


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_a_person_with_many_rows_stays_within_the_claim(neighbours):
    (X, y), (X_other, y_other) = worst_pair(make(neighbours=neighbours))
    estimator = make(neighbours=neighbours, rows_per_person=2)
    ids = np.arange(len(y))
    data = (np.vstack([X, *[X[-1]] * 3]), np.append(y, [y[-1]] * 3), np.append(ids, [ids[-1]] * 3))
    if neighbours == "replace_one":
        again = (np.vstack([X_other, *[X_other[-1]] * 3]), np.append(y_other, [y_other[-1]] * 3), data[2])
    else:
        again = (X_other, y_other, ids[:-1])
    report = replay(estimator, data, again)
    assert report.passed, str(report)
    assert 0.7 <= report.release_efficiencies[report.labels.index("selection")] <= 1, str(report)


class ScaledByPrivateData(SparseLogisticRegression):
    def fit(self, X, y, groups=None):
        return super().fit(X / np.abs(X).max(axis=0), y)


class TestPlantedBugs:
    """Each of these mistakes must be caught, by one pair of fits."""

    @pytest.fixture(params=RELATIONS)
    def estimator(self, request):
        return make("two_stage", request.param)

    def audit(self, estimator):
        return replay(estimator, *worst_pair(estimator))

    def test_halved_reach(self, estimator, monkeypatch):
        real = discreet.rows.ranking.ranking_reach
        monkeypatch.setattr(discreet.curator.curator, "ranking_reach", lambda *arguments: real(*arguments) // 2)
        report = self.audit(estimator)
        assert report.release_efficiencies[report.labels.index("selection")] > 1
        # The whole claim may hide it, as sums lose less than they may on this pair; the selection's
        # own must not.
        assert not report.passed or max(report.release_efficiencies) > 1.2

    def test_no_absolute_value(self, estimator, monkeypatch):
        real = discreet.rows.ranking.candidates

        def signed(query, sums):
            indices, _ = real(query, sums)
            return indices, sums[indices]

        monkeypatch.setattr(discreet.curator.curator, "candidates", signed)
        report = self.audit(estimator)
        assert any("did not rank by what its query declares" in problem for problem in report.problems), str(report)

    def test_all_picks_charged_as_one(self, estimator, monkeypatch):
        real = Curator.select

        def cheaply(self, query, cost, *, values=None):
            picked = real(self, query, cost, values=values)
            last = self._releases[-1]
            object.__setattr__(last, "cost", Repeated(cost.each, 1))
            return picked

        monkeypatch.setattr(Curator, "select", cheaply)
        report = self.audit(estimator)
        assert any("charged for others" in problem for problem in report.problems), str(report)

    def test_unclipped_weights(self, estimator, monkeypatch):
        def wild(weights, bound):
            return np.rint(np.nan_to_num(weights * (3 * discreet.rows.ranking.LIMIT / bound)))

        monkeypatch.setattr(discreet.rows.ranking, "whole_weights", wild)
        assert max(self.audit(estimator).release_efficiencies) > 1.5

    def test_no_noise(self, monkeypatch):
        """Where all columns are alike, an honest choice among 200 is as good as random; the best
        ones are not.

        Ten picks that are each the best of what is left: chance below 1e-15 under the law.
        """
        monkeypatch.setattr(RankNoise, "choose", lambda self, scores, bits: np.argsort(-scores)[: self.picks])
        rng = np.random.default_rng(0)
        X, y = rng.uniform(-1, 1, (300, 200)), rng.integers(0, 2, 300)
        report = replay(make("two_stage", epsilon=0.1).set_params(sparsity=10), (X, y), (X, y))
        assert any("declared size" in problem for problem in report.problems), str(report)

    def test_noise_for_ten_times_the_cost(self, monkeypatch):
        real = RankNoise.choose
        monkeypatch.setattr(RankNoise, "choose", lambda self, scores, bits: real(self, scores * 1000, bits))
        rng = np.random.default_rng(0)
        X, y = rng.uniform(-1, 1, (300, 200)), rng.integers(0, 2, 300)
        report = replay(make("two_stage", epsilon=0.1).set_params(sparsity=10), (X, y), (X, y))
        assert any("declared size" in problem for problem in report.problems), str(report)

    def test_a_look_at_the_rows_before_the_choice(self, estimator):
        X, y = background()
        X = 0.5 * X
        data = (np.vstack([X, np.ones(COLUMNS)]), np.append(y, 1))
        neighbour = (np.vstack([X, np.zeros(COLUMNS)]), np.append(y, 1))
        if estimator.neighbours == "add_or_remove_one":
            neighbour = (X, y)
        assert not replay(ScaledByPrivateData(**estimator.get_params()), data, neighbour).passed
