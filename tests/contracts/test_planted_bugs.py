"""The replay audit proves its power: each of these real mistakes must be caught."""

from __future__ import annotations

import math

import numpy as np
import pytest
from test_replay_audit import RELATIONS, make
from worst_neighbours import background, worst_pair

import discreet.curator
import discreet.rows.grid
from discreet import LinearRegression
from discreet.audit import replay
from discreet.curator import Curator, GridNoise
from discreet.privacy import GDP

EPSILONS = [0.5, 20.0]


def audit(estimator, pair=None):
    return replay(estimator, *(worst_pair(estimator) if pair is None else pair))


def caught(report) -> bool:
    """A leak, or noise that the claim does not need."""
    return not report.passed or not 0.9 <= report.efficiency <= 1


@pytest.fixture(params=[(epsilon, relation) for epsilon in EPSILONS for relation in RELATIONS], ids=str)
def estimator(request):
    epsilon, neighbours = request.param
    return make(LinearRegression, epsilon, neighbours)


def test_the_unbroken_code_is_not_caught(estimator):
    assert not caught(audit(estimator))


def test_clip_by_max_is_caught(estimator, monkeypatch):
    """RELU prints the clip with max for min: short rows are blown up to the bound, long ones are not cut.

    The queries' own clips are taken away too, so that the curator's is all there is.
    """

    def place(factor, norm_bound, scale, seed):
        norms = np.sqrt((factor**2).sum(axis=0))
        factor *= np.maximum(1.0, norm_bound / np.maximum(norms, 1e-12)) * scale
        np.floor(factor, out=factor)
        return norms

    monkeypatch.setattr(discreet.rows.grid, "place", place)
    monkeypatch.setattr(
        discreet.rows.queries, "shorten", lambda x, centre, per_unit, radius: _scale(x, centre, per_unit)
    )
    X, y = (part[:500] for part in background())  # few rows, so that the query wants to clip
    corner = np.ones(X.shape[1])
    data = (np.vstack([X, corner]), np.append(y, 1.0))
    neighbour = (np.vstack([X, -corner]), np.append(y, 1.0))
    pair = (data, (X, y)) if estimator.neighbours == "add_or_remove_one" else (data, neighbour)
    assert not audit(estimator, pair).passed


def _scale(x, centre, per_unit):
    x -= centre[:, np.newaxis]
    x *= per_unit
    return np.ones(x.shape[1])


def test_halved_sensitivity_is_caught(estimator, monkeypatch):
    real = discreet.curator.reach
    monkeypatch.setattr(discreet.curator, "reach", lambda *arguments: real(*arguments) / 2)
    assert not audit(estimator).passed


def test_sensitivity_of_the_other_relation_is_caught(estimator, monkeypatch):
    real = discreet.curator.reach
    other = {"replace_one": "add_or_remove_one", "add_or_remove_one": "replace_one"}
    monkeypatch.setattr(discreet.curator, "reach", lambda g, neighbours, c, k: real(g, other[neighbours], c, k))
    assert caught(audit(estimator))


def test_epsilon_for_epsilon_squared_is_caught(estimator, monkeypatch):
    """COST prints epsilon where its zCDP fact needs epsilon^2: too little noise below 1, too much above."""
    real = GridNoise.covering
    monkeypatch.setattr(GridNoise, "covering", lambda query, cost, *rest: real(query, GDP(math.sqrt(cost.mu)), *rest))
    assert caught(audit(estimator))


def test_one_release_more_than_charged_is_caught(estimator, monkeypatch):
    real = Curator.sum

    def twice(self, query, cost, *, every=1):
        answer = real(self, query, cost, every=every)
        real(self, query, cost, every=every)
        self._releases.pop()
        return answer

    monkeypatch.setattr(Curator, "sum", twice)
    report = audit(estimator)
    assert any("releases were made" in problem for problem in report.problems), str(report)


def test_missing_noise_is_caught(estimator, monkeypatch):
    monkeypatch.setattr(GridNoise, "draw", lambda self, bits: np.zeros(self.scales.shape, dtype=object))
    report = audit(estimator)
    assert any("declared size" in problem for problem in report.problems), str(report)


class RadiusFromTheData(LinearRegression):
    def fit(self, X, y, groups=None):
        self.bounds_X = None
        self.data_norm = float(np.linalg.norm(X, axis=1).max())
        return super().fit(X, y)


class ScaledByPrivateData(LinearRegression):
    def fit(self, X, y, groups=None):
        return super().fit(X / np.abs(X).max(axis=0), y)


class DividedByPrivateCount(LinearRegression):
    def fit(self, X, y, groups=None):
        super().fit(X, y)
        self.coef_ = self.coef_ / len(y)
        return self


class StopsWhenTheDataSay(LinearRegression):
    """A second release only where the data ask for it."""

    def fit(self, X, y, groups=None):
        super().fit(X, y)
        if X.max() > 0.99:
            super().fit(X, y)
        return self


class KeepsARow(LinearRegression):
    def fit(self, X, y, groups=None):
        super().fit(X, y)
        self.largest_ = float(np.abs(y).max())
        return self


@pytest.mark.parametrize("broken", [RadiusFromTheData, ScaledByPrivateData, StopsWhenTheDataSay, KeepsARow])
def test_a_look_past_the_door_is_caught(broken, estimator):
    corner = np.full(background()[0].shape[1], 1.0)
    X, y = background()
    X, y = np.clip(X, -0.9, 0.9), np.clip(y, -0.9, 0.9)
    data = (np.vstack([X, corner]), np.append(y, 1.0))
    neighbour = (np.vstack([X, corner * 0]), np.append(y, 0.0)) if estimator.neighbours == "replace_one" else (X, y)
    assert not audit(broken(**estimator.get_params()), (data, neighbour)).passed


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_division_by_a_private_count_is_caught(epsilon):
    broken = make(DividedByPrivateCount, epsilon, "add_or_remove_one")
    X, y = background()
    report = audit(broken, ((X, y), (X[:-1], y[:-1])))
    assert any("coef_" in problem for problem in report.problems), str(report)
