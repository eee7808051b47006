"""Sums over classes: contributions keep their norms, bias nothing, and depend on their own row to the last bit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.rows import Labels, LinearMap, exact_sum, product_parts
from discreet.rows.class_scores import (
    ClassCounts,
    ClassInformation,
    ClassMoment,
    ClassScores,
    _probabilities,
    _weighed,
    farthest_class,
)

WIDTH, CLASSES = 4, 5
LABELS = Labels((CLASSES - 1) / 2, (CLASSES - 1) / 2)


@dataclass
class ClassBlock:
    x: np.ndarray
    y: np.ndarray

    @property
    def records(self) -> int:
        return self.x.shape[1]

    def write_x(self, out: np.ndarray) -> None:
        out[:] = self.x

    def part(self, rows) -> ClassBlock:
        return ClassBlock(self.x[:, rows], self.y[rows])


def encoded(index) -> np.ndarray:
    return (np.asarray(index, dtype=float) - LABELS.centre) / LABELS.half_width


def block_of(rng, records: int) -> ClassBlock:
    return ClassBlock(rng.uniform(-1, 1, size=(WIDTH, records)), encoded(rng.integers(CLASSES, size=records)))


def queries(rng, scale: float = 3.0):
    matrix = rng.normal(size=(WIDTH + 1, WIDTH + 1))
    both = LinearMap(np.vstack([rng.normal(size=(CLASSES, WIDTH + 1)) * scale, matrix]))
    shares = rng.dirichlet(np.ones(CLASSES))
    return [
        ClassCounts(CLASSES, LABELS),
        ClassMoment(LinearMap(matrix), LABELS, shares, 0.7, 1.5),
        ClassScores(both, LABELS, CLASSES, radius=2.0, clip=0.8),
        ClassScores(both, LABELS, CLASSES, radius=1.0, clip=50.0),
        ClassInformation(both, LABELS, CLASSES, radius=2.0, clip=0.8, norm=1.1),
    ]


NUMBERS = range(5)


@pytest.mark.parametrize("number", NUMBERS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([0.0, 1.0, 30.0, 1000.0]))
def test_factors_keep_their_declared_norms_without_any_clip(number, seed, scale):
    rng = np.random.default_rng(seed)
    query = queries(rng, scale)[number]
    left, right = (np.array(factor) for factor in query.factors(block_of(rng, 200)))
    assert (len(left), len(right)) == query.shape
    assert np.all(np.linalg.norm(left, axis=0) <= query.left_norm * (1 + 1e-12))
    assert np.all(np.linalg.norm(right, axis=0) <= query.right_norm * (1 + 1e-12))


@pytest.mark.parametrize("number", NUMBERS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(1, 68))
def test_a_row_has_the_same_bits_alone_and_in_any_block(number, seed, cut):
    rng = np.random.default_rng(seed)
    query, block = queries(rng)[number], block_of(rng, 69)
    whole = [np.array(factor) for factor in query.factors(block)]
    for rows in (slice(0, cut), slice(cut, 69), slice(cut - 1, cut)):
        for mine, all_rows in zip(query.factors(block.part(rows)), whole, strict=True):
            assert np.array_equal(mine, all_rows[:, rows])


@pytest.mark.parametrize("number", NUMBERS)
def test_a_row_without_a_declared_class_contributes_nothing(number):
    rng = np.random.default_rng(number)
    query, block = queries(rng)[number], block_of(rng, 30)
    without = exact_sum(product_parts(query, block.part(np.arange(30) != 7)))
    block.y[7] = np.nan
    assert np.array_equal(exact_sum(product_parts(query, block)), without)


@pytest.mark.parametrize("clip", [0.3, 1.0, 100.0])
def test_scores_have_mean_zero_where_the_model_is_true_whatever_the_clip(clip):
    """For every x: the sum over labels of p_label times the contribution is 0, so cutting moves no optimum."""
    rng = np.random.default_rng(5)
    both = LinearMap(np.vstack([rng.normal(size=(CLASSES, WIDTH + 1)) * 2, rng.normal(size=(3, WIDTH + 1))]))
    x = rng.uniform(-1, 1, size=(WIDTH, 40))
    eta = both.rounded[:CLASSES] @ np.vstack([np.ones(40), x])
    p = np.exp(eta) / np.sum(np.exp(eta), axis=0)
    query = ClassScores(both, LABELS, CLASSES, radius=1.5, clip=clip)
    total = np.zeros((3, CLASSES, 40))
    for label in range(CLASSES):
        left, right = query.factors(ClassBlock(x, encoded(np.full(40, label))))
        total += p[label] * left[:, np.newaxis] * right[np.newaxis]
    assert np.max(np.abs(total)) < 1e-6


def test_without_a_bound_the_scores_are_the_gradient_and_the_information_is_their_square():
    rng = np.random.default_rng(6)
    matrix = np.vstack([rng.normal(size=(CLASSES, WIDTH + 1)), rng.normal(size=(3, WIDTH + 1))])
    block = block_of(rng, 50)
    row = np.vstack([np.ones(50), block.x])
    eta, z = np.split(matrix @ row, [CLASSES])
    p = np.exp(eta) / np.sum(np.exp(eta), axis=0)
    residual = p - (np.rint(LABELS.of(block)) == np.arange(CLASSES)[:, np.newaxis])
    left, right = ClassScores(LinearMap(matrix), LABELS, CLASSES, 1e3, 1e4).factors(block)
    assert np.allclose(left @ right.T, z @ residual.T, atol=1e-5)
    left, right = ClassInformation(LinearMap(matrix), LABELS, CLASSES, 1e3, 1e4, 1e4).factors(block)
    stacked = np.einsum("in,kn->ikn", z, residual).reshape(-1, 50)
    assert np.allclose(left @ right.T, stacked @ stacked.T, atol=1e-5)


def test_counts_are_the_numbers_of_rows():
    block = ClassBlock(np.zeros((WIDTH, 6)), encoded([0, 0, 3, 4, 4, 4]))
    left, right = ClassCounts(CLASSES, LABELS).factors(block)
    assert (left @ right.T)[:, 0].tolist() == [2, 0, 0, 1, 3]


def test_a_score_is_clipped_by_the_longest_that_any_class_could_give():
    rng = np.random.default_rng(4)
    query, block = queries(rng)[2], block_of(rng, 50)
    _, score, largest, _, _ = _weighed(query, block)
    probabilities = _probabilities(query.map.apply(block)[:CLASSES])
    assert largest == pytest.approx([farthest_class(one) for one in probabilities.T], rel=1e-12)
    assert np.all(np.linalg.norm(score, axis=0) <= largest * (1 + 1e-12))
    everyone = [np.linalg.norm(probabilities - np.eye(CLASSES)[:, [k]], axis=0) for k in range(CLASSES)]
    assert largest == pytest.approx(np.max(everyone, axis=0), rel=1e-12)
