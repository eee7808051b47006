"""Sums over classes: contributions keep their norms, are unbiased, and depend on their own row
only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.rows import Labels, LinearMap, exact_sum, product_parts
from discreet.rows.class_scores import (
    ClassCounts,
    ClassCurvature,
    ClassMoment,
    ClassProfile,
    ClassScores,
    ClassScoresMoment,
    ClassSizes,
    ClassWeightedMoment,
    farthest_class,
)
from discreet.rows.contrasts import contrasts, probabilities

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
        ClassScores(both, LABELS, CLASSES, 0.8),
        ClassScores(both, LABELS, CLASSES, 50.0),
        ClassScores(both, LABELS, CLASSES, 1.6, 0.8),
        ClassCurvature(both, LABELS, CLASSES, 0.8, 1.1),
        ClassScoresMoment(both, LABELS, CLASSES, 0.8),
        ClassWeightedMoment(both, LABELS, CLASSES, 0.8, 1.1),
        ClassProfile(LinearMap(both.matrix[:CLASSES]), LABELS, np.array([0.5, 2.0]), np.zeros((2, CLASSES)), 0.7),
        ClassSizes(both, LABELS, CLASSES, np.array([0.5, 1.0, 2.0])),
    ]


NUMBERS = range(10)


@pytest.mark.parametrize("number", NUMBERS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([0.0, 1.0, 30.0, 1000.0]))
def test_factors_keep_their_declared_norms_without_any_clip(number, seed, scale):
    rng = np.random.default_rng(seed)
    query = queries(rng, scale)[number]
    left, right = (np.array(factor) for factor in query.factors(block_of(rng, 200)))
    if query.geometry == "cells":  # the number of a cell: see test_sizes_are_counted_once
        return
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


@pytest.mark.parametrize("bounds", [(0.3, 0.0), (1.0, 0.0), (100.0, 0.0), (2.0, 1.0)])
def test_scores_have_mean_zero_where_the_model_is_true_whatever_the_clip(bounds):
    """For every x: the sum over labels of p_label times the contribution is 0, so cutting moves no
    optimum.
    """
    rng = np.random.default_rng(5)
    both = LinearMap(np.vstack([rng.normal(size=(CLASSES, WIDTH + 1)) * 2, rng.normal(size=(3, WIDTH + 1))]))
    x = rng.uniform(-1, 1, size=(WIDTH, 40))
    p = _softmax(both.rounded[:CLASSES] @ np.vstack([np.ones(40), x]))
    query = ClassScores(both, LABELS, CLASSES, *bounds)
    total = np.zeros((3, CLASSES - 1, 40))
    for label in range(CLASSES):
        left, right = query.factors(ClassBlock(x, encoded(np.full(40, label))))
        total += p[label] * left[:, np.newaxis] * right[np.newaxis]
    assert np.max(np.abs(total)) < 1e-6


def _softmax(eta):
    return np.exp(eta) / np.sum(np.exp(eta), axis=0)


def seen_rows(seed: int, records: int = 50):
    """A map, a block, and what it shows: coordinates, probabilities, residuals and the sizes of
    scores.
    """
    rng = np.random.default_rng(seed)
    matrix = np.vstack([rng.normal(size=(CLASSES, WIDTH + 1)), rng.normal(size=(3, WIDTH + 1))])
    block = block_of(rng, records)
    eta, z = np.split(matrix @ np.vstack([np.ones(records), block.x]), [CLASSES])
    p = _softmax(eta)
    residual = p - (np.rint(LABELS.of(block)) == np.arange(CLASSES)[:, np.newaxis])
    farthest = np.max([np.linalg.norm(p - np.eye(CLASSES)[:, [k]], axis=0) for k in range(CLASSES)], axis=0)
    return LinearMap(matrix), block, z, p, residual, farthest * np.linalg.norm(z, axis=0)


@pytest.mark.parametrize(("top", "bottom"), [(1e4, 0.0), (1.5, 0.0), (2.0, 1.0)])
def test_scores_are_the_gradient_in_contrasts_with_what_the_bounds_let_pass(top, bottom):
    both, block, z, _, residual, size = seen_rows(6)
    weight = np.minimum(1, top / size) - np.minimum(1, bottom / size)
    left, right = ClassScores(both, LABELS, CLASSES, top, bottom).factors(block)
    expected = (z * weight) @ residual.T @ contrasts(CLASSES)
    assert np.allclose(left @ right.T, expected, atol=1e-5)


@pytest.mark.parametrize(("top", "norm"), [(1e4, 1e4), (1.5, 1e4), (1e4, 0.9)])
def test_the_curvature_is_the_derivative_of_the_scores(top, norm):
    both, block, z, p, _, size = seen_rows(7)
    turn = contrasts(CLASSES)
    expected = np.zeros((3, CLASSES - 1, 3, CLASSES - 1))
    for row, chance, weight in zip(z.T, p.T, np.minimum(1, top / size), strict=True):
        classes = turn.T @ (np.diag(chance) - np.outer(chance, chance)) @ turn
        part = weight * min(1.0, norm / (weight * (row @ row) * np.linalg.norm(classes)))
        expected += part * np.einsum("i,j,ab->iajb", row, row, classes)
    query = ClassCurvature(both, LABELS, CLASSES, top, norm)
    left, right = query.factors(block)
    assert np.allclose(query.unfolded(left @ right.T), expected.reshape(12, 12), atol=1e-5)


@pytest.mark.parametrize("top", [1e4, 1.5])
def test_the_weighted_moment_is_the_trace_of_the_curvature_over_the_classes(top):
    both, block, *_ = seen_rows(7)
    full = ClassCurvature(both, LABELS, CLASSES, top, 1e4)
    left, right = full.factors(block)
    whole = full.unfolded(left @ right.T).reshape(3, CLASSES - 1, 3, CLASSES - 1)
    left, right = ClassWeightedMoment(both, LABELS, CLASSES, top, 1e4).factors(block)
    assert np.allclose(left @ right.T, np.einsum("iaja->ij", whole), atol=1e-5)


def test_the_moment_of_scores_is_that_of_their_entries():
    both, block, z, _, residual, size = seen_rows(8)
    score = contrasts(CLASSES).T @ residual * np.minimum(1, 1.5 / size)
    stacked = np.einsum("in,kn->ikn", z, score).reshape(-1, 50)
    left, right = ClassScoresMoment(both, LABELS, CLASSES, 1.5).factors(block)
    assert np.allclose(left @ right.T, stacked @ stacked.T, atol=1e-5)


def test_a_profile_is_the_rise_of_the_loss_with_the_length_of_slopes():
    both, block, *_ = seen_rows(9)
    u = both.rounded[:CLASSES] @ np.vstack([np.ones(50), block.x])
    lengths, constants = np.array([0.5, 2.0]), np.random.default_rng(0).normal(size=(2, CLASSES))
    own = u[np.rint(LABELS.of(block)).astype(int), np.arange(50)]
    rises = [np.sum(_softmax(t * u + c[:, None]) * u, axis=0) - own for t, c in zip(lengths, constants, strict=True)]
    left, right = ClassProfile(LinearMap(both.matrix[:CLASSES]), LABELS, lengths, constants, 0.7).factors(block)
    assert np.allclose(left, np.clip(rises, -0.7, 0.7), atol=1e-9)
    assert np.array_equal(right, np.ones((1, 50)))


def test_sizes_are_counted_once():
    both, block, *_, size = seen_rows(10)
    edges = np.array([0.5, 1.0, 2.0])
    cells, ones = ClassSizes(both, LABELS, CLASSES, edges).factors(block)
    assert np.array_equal(cells[0], np.searchsorted(edges, size))
    assert np.array_equal(ones, np.ones((1, 50)))


def test_counts_are_the_numbers_of_rows():
    block = ClassBlock(np.zeros((WIDTH, 6)), encoded([0, 0, 3, 4, 4, 4]))
    left, right = ClassCounts(CLASSES, LABELS).factors(block)
    assert (left @ right.T)[:, 0].tolist() == [2, 0, 0, 1, 3]


def test_a_score_is_clipped_by_the_longest_that_any_class_could_give():
    rng = np.random.default_rng(4)
    query, block = queries(rng)[2], block_of(rng, 50)
    _, _, _, largest = query.seen(block)
    chances = probabilities(query.map.apply(block)[:CLASSES])
    assert largest == pytest.approx([farthest_class(one) for one in chances.T], rel=1e-12)
    everyone = [np.linalg.norm(chances - np.eye(CLASSES)[:, [k]], axis=0) for k in range(CLASSES)]
    assert largest == pytest.approx(np.max(everyone, axis=0), rel=1e-12)
