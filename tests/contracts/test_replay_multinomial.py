"""Multinomial logistic regression keeps its promise on neighbouring data sets, behind the real
curator.
"""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest

from discreet.algorithms.descent import descend
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.audit import replay
from discreet.curator import Curator
from discreet.engines.memory import MemoryEngine
from discreet.glm import Bernoulli, link
from discreet.privacy import Budget
from discreet.rows import Labels

WIDTH, CLASSES = 3, 4
LABELS = Labels((CLASSES - 1) / 2, (CLASSES - 1) / 2)
RELATIONS = ["replace_one", "add_or_remove_one"]


class Block:
    offset = None

    def __init__(self, x, y):
        self._x, self.y, self.records = x.T, y, len(x)

    def write_x(self, out):
        out[:] = np.clip(self._x, -1, 1)


class Fit:
    """The algorithm as an estimator: classes are told apart by their index, all others are no
    class.
    """

    delta = 1e-6

    def __init__(self, epsilon: float, neighbours: str, origin: np.ndarray | None = None) -> None:
        self.epsilon, self.neighbours, self.origin = epsilon, neighbours, origin

    def fit(self, X, index):
        declared = np.isin(index, np.arange(CLASSES))
        y = np.where(declared, (index - LABELS.centre) / LABELS.half_width, np.nan)
        curator = Curator(MemoryEngine(Block, X, y, block_rows=400), neighbours=self.neighbours)
        model = GlmModel(
            Bernoulli(), link("logit"), LABELS, penalty=np.full(WIDTH, 0.5), origin=self.origin, classes=CLASSES
        )
        found = descend(curator, Budget.of(self.epsilon, self.delta), model, x_radius=math.sqrt(WIDTH))
        self.coef_, self.estimate_, self.count_ = found.coef, found.estimate, found.count
        self.errors_, self.steps_ = (found.noise_covariance, found.sampling_covariance), found.iterations
        self.privacy_ = curator.guarantee
        return self


def background(n: int):
    rng = np.random.default_rng(0)
    X = np.clip(rng.normal(0.1, 0.3, size=(n, WIDTH)), -1, 1)
    score = np.hstack([X, X[:, :1] * 0]) * 2 + rng.gumbel(size=(n, CLASSES))
    return X, np.argmax(score, axis=1).astype(float)


ODD = {
    "x at a corner": (np.full(WIDTH, 1.0), 3.0),
    "another class": (np.zeros(WIDTH), 2.0),
    "far outside, unlikely class": (np.array([50.0, -50.0, 50.0]), 1.0),
    "not a declared class": (np.full(WIDTH, 0.5), 9.0),
    "class between two": (np.full(WIDTH, 0.5), 1.5),
    "NaN in x": (np.full(WIDTH, np.nan), 1.0),
    "NaN in y": (np.full(WIDTH, 0.5), np.nan),
    "infinite": (np.full(WIDTH, np.inf), np.inf),
    "subnormal": (np.full(WIDTH, 5e-324), 0.0),
}


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("name", ODD)
def test_any_row_stays_within_the_claim(name, neighbours):
    """Both ways; 1,000 rows in blocks of 400, so that an added row stands in a block with others."""
    X, index = background(1000)
    x_odd, index_odd = ODD[name]
    if neighbours == "replace_one":
        X_odd, index_with = X.copy(), index.copy()
        X_odd[5], index_with[5] = x_odd, index_odd
        pair = (X, index), (X_odd, index_with)
    else:
        pair = (np.vstack([X[:5], x_odd, X[5:]]), np.insert(index, 5, index_odd)), (X, index)
    for data, neighbour in (pair, pair[::-1]):
        report = replay(Fit(1.0, neighbours), data, neighbour, clone=copy.copy)
        assert report.passed, str(report)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("epsilon", [0.2, 20.0])
def test_few_and_much_noise_and_no_intercept_stay_within_the_claim(epsilon, neighbours):
    X, index = background(1500)
    X_odd, index_with = X.copy(), index.copy()
    X_odd[-1], index_with[-1] = np.array([1.0, -1.0, 1.0]), 1.0
    other = (X_odd, index_with) if neighbours == "replace_one" else (X[:-1], index[:-1])
    report = replay(Fit(epsilon, neighbours, np.zeros(WIDTH)), (X, index), other, clone=copy.copy)
    assert report.passed, str(report)


def test_the_worst_row_loses_nearly_all_that_its_gradients_claim():
    """Nothing is wasted: a far row of the class that is least likely there fills every gradient's
    bound.
    """
    X, index = background(3000)
    best = 0.0
    for corner in (np.array([1.0, -1.0, -1.0]), np.array([-1.0, -1.0, 1.0])):
        for label in range(CLASSES):
            data = np.vstack([X, corner]), np.append(index, label)
            report = replay(Fit(1.0, "add_or_remove_one"), data, (X, index), clone=copy.copy)
            assert report.passed, str(report)
            used = [
                part
                for part, name in zip(report.release_efficiencies, report.labels, strict=True)
                if name == "gradient"
            ]
            best = max(best, *used)
    assert 0.95 < best <= 1 + 1e-9
