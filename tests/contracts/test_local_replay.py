"""Local reports in the audit: exact probabilities, near the claim for the worst row; bugs are
caught.
"""

from __future__ import annotations

import numpy as np
import pytest

from discreet.audit import catalogue, replay, worst_neighbours
from discreet.audit.functions import LocalReports
from discreet.local.codebook import candidates, codebook_key
from discreet.local.unit import Unit


def model(epsilon=1.0):
    return LocalReports(epsilon=epsilon, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-1, 1))


def opposite_labels(seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.uniform(-1, 1, size=(5, 3)), rng.uniform(-1, 1, size=5)
    X[2] = 1.0
    one, other = y.copy(), y.copy()
    one[2], other[2] = 1.0, -1.0
    return (X, one), (X, other)


def test_local_reports_are_in_the_catalogue():
    assert catalogue.estimators()["LocalReports"] is LocalReports


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_only_the_replaced_row_shows_and_never_more_than_epsilon(epsilon):
    seen = replay(model(epsilon), *opposite_labels())
    assert seen.passed, seen.problems
    assert [loss > 0 for loss in seen.losses] == [False, False, True, False, False]
    assert 0.5 * seen.claimed_mu < seen.realised_mu <= seen.claimed_mu


def test_the_worst_neighbours_lose_nearly_all_that_is_claimed():
    background = np.zeros((4, 3)), np.zeros(4)
    found = worst_neighbours(model(), background=background, climbs=3)
    assert found.passed, found.problems
    assert found.efficiency > 0.95


def test_a_randomizer_that_favours_by_a_threshold_is_caught(monkeypatch):
    """The number of favoured candidates then varies with the record, and with it every probability."""

    def by_threshold(self, digest, vector, identity):
        book = candidates([codebook_key(digest, identity)], self.dimension, self.candidates)[0]
        weights = np.where(book @ vector > 0.3, self.high, self.low)
        return weights / weights.sum()

    monkeypatch.setattr(Unit, "chances", by_threshold)
    problems = [problem for seed in range(8) for problem in replay(model(), *opposite_labels(seed)).problems]
    assert any("claimed" in problem for problem in problems)


def test_a_randomizer_with_larger_weights_than_it_says_is_caught(monkeypatch):
    honest = Unit.chances

    def bold(self, *arguments):
        skewed = honest(self, *arguments) ** 1.5
        return skewed / skewed.sum()

    monkeypatch.setattr(Unit, "chances", bold)
    found = [replay(model(), *opposite_labels(seed)) for seed in range(3)]
    assert any("claimed" in problem for seen in found for problem in seen.problems)
