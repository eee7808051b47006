"""Every query computes what its docstring says: factors beside the same formula in plain floats.

The exact map rounds its matrix to some twenty bits, so numbers agree to six digits.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit
from tables import ArrayBlock

from discreet.rows import CrossMoment, Labels, LinearMap, LogisticLoss, SecondMoment, WideLook
from discreet.rows.carries import exact_sum
from discreet.rows.histograms import Look, ResidualCounts, ResidualHistogram, Residuals
from discreet.rows.index_sums import IndexGradient
from discreet.rows.logistic_loss import WholeTheta
from discreet.rows.loss_ranking import LossBlock, LossRanking
from discreet.rows.scores import ExposureSum
from discreet.rows.truncated import (
    RowCount,
    ShortenedInformation,
    TruncatedInformation,
    TruncatedMoment,
    TruncatedScores,
)
from discreet.rows.wide import WideEncoding, wide_block_rows
from discreet.rows.wide_kernels import LIMIT

RNG = np.random.default_rng(11)
N, D = 40, 3
X, Y = RNG.uniform(-1, 1, (D, N)), RNG.uniform(-1, 1, N)
LABELS = Labels(2.0, 3.0)
NAMED = 2.0 + 3.0 * Y
OFFSET = RNG.uniform(-0.5, 0.5, N)
MATRIX = RNG.normal(size=(1 + D, 1 + D))
MAP = LinearMap(MATRIX)
MAPPED = MATRIX @ np.vstack([np.ones(N), X])
ETA, Z = MAPPED[0], MAPPED[1:]
NORMS = np.linalg.norm(Z, axis=0)
RADIUS = float(np.median(NORMS))  # half of the rows are far
SHORT = np.minimum(1.0, RADIUS / NORMS)
NEAR = {"rel": 1e-5, "abs": 1e-6}


def block(offset=None) -> ArrayBlock:
    return ArrayBlock(X, Y, offset)


def summed(query, offset=None) -> np.ndarray:
    left, right = query.factors(block(offset))
    if query.geometry == "cells":
        assert right.tolist() == [[1.0] * N]
        return np.bincount(left[0], minlength=query.shape[0])[:, np.newaxis]
    assert (left.shape[0], right.shape[0]) == query.shape
    assert np.linalg.norm(left, axis=0).max() <= query.left_norm * (1 + 1e-12)
    own = right[query.geometry == "counted" :]  # beside the count
    assert np.linalg.norm(own, axis=0).max() <= query.right_norm * (1 + 1e-12)
    return left @ right.T


def score(y, eta):
    return y - eta


def weight(eta):
    return 0.5 + 0.5 * np.tanh(eta)


@pytest.mark.parametrize("offset", [None, OFFSET], ids=["plain", "exposure"])
def test_scores_of_truncated_rows(offset):
    eta = SHORT * ETA + (0 if offset is None else offset)
    expected = (SHORT * Z) @ np.clip(NAMED - eta, -2.5, 2.5)
    assert summed(TruncatedScores(MAP, LABELS, score, RADIUS, 2.5), offset)[:, 0] == pytest.approx(expected, **NEAR)


def test_information_of_truncated_and_of_shortened_rows():
    z = SHORT * Z
    truncated = z * np.clip(weight(SHORT * ETA), 0, 0.6) @ z.T
    assert summed(TruncatedInformation(MAP, weight, RADIUS, 0.6)) == pytest.approx(truncated, **NEAR)
    shortened = z * np.clip(weight(ETA), 0, 0.6) @ z.T
    assert summed(ShortenedInformation(MAP, weight, RADIUS, 0.6)) == pytest.approx(shortened, **NEAR)


def test_moments_and_counts_of_rows():
    whole = MAPPED * np.minimum(1.0, RADIUS / np.linalg.norm(MAPPED, axis=0))
    assert summed(TruncatedMoment(MAP, RADIUS)) == pytest.approx(whole @ whole.T, **NEAR)
    assert summed(RowCount()) == N
    exposure = np.exp(OFFSET)
    assert summed(ExposureSum(4.0), OFFSET)[0, 0] * 4.0 == pytest.approx(exposure.sum())


def test_cross_moments_with_and_without_a_constant():
    radius = math.sqrt(D)
    assert summed(CrossMoment(D, radius, False, False)) == pytest.approx(X @ X.T)
    assert summed(CrossMoment(D, radius, False, True))[:, 0] == pytest.approx(X @ Y)
    constant = np.vstack([np.ones(N), X])
    assert summed(CrossMoment(D, radius, True, False)) == pytest.approx(constant @ constant.T)


def test_the_second_moment_is_about_scaled_and_clipped_rows():
    query = SecondMoment(np.array([0.1, -0.2, 0.3]), 0.4, 2.0, 0.05, 0.5, 1.2, 0.7, 0.6)
    u = (X - query.x_centre[:, np.newaxis]) / 0.4
    w = np.minimum(1.0, 2.0 / np.linalg.norm(u, axis=0))
    row = w * np.vstack([np.full(N, 0.7), u, 0.6 * np.clip((Y - 0.05) / 0.5, -1.2, 1.2)])
    assert summed(query) == pytest.approx(row @ row.T, rel=1e-9)


@pytest.mark.parametrize("of_slope", [False, True])
def test_the_gradient_of_an_index_model(of_slope):
    query = IndexGradient(MAP, LABELS, np.tanh, weight if of_slope else None, RADIUS, 1.5, 4.0, 0.3)
    residual = NAMED - np.tanh(ETA)
    rows = SHORT * residual * (weight(ETA) if of_slope else 1.0) * Z
    rows *= np.minimum(1.0, 1.5 / np.linalg.norm(rows, axis=0))
    sizes = 0.3 * (np.minimum(np.abs(residual), 4.0) - 2.0)
    assert summed(query)[:, 0] == pytest.approx([*rows.sum(axis=1), sizes.sum()], **NEAR)
    without = IndexGradient(MAP, LABELS, np.tanh, weight if of_slope else None, RADIUS, 1.5)
    assert summed(without)[:, 0] == pytest.approx(rows.sum(axis=1), **NEAR)


def test_histograms_count_rows_in_cells_that_hold_their_upper_edge():
    edges, lengths = np.array([0.0, 2.0, 3.5]), np.array([0.6, 1.1])
    query = Look(LABELS, D, edges, lengths)
    of_y, of_norm = query.read(summed(query))
    assert of_y == pytest.approx(np.bincount(np.searchsorted(edges, NAMED), minlength=4))
    assert of_norm == pytest.approx(np.bincount(np.searchsorted(lengths, np.linalg.norm(X, axis=0)), minlength=3))
    residuals = Residuals(MAP, LABELS, np.tanh)
    sizes = np.abs(NAMED - np.tanh(ETA))
    counts = np.bincount(np.searchsorted(edges, sizes), minlength=4)
    assert summed(ResidualHistogram(residuals, edges))[:, 0] == pytest.approx(counts)
    at_most = [(sizes <= edge).sum() - N / 2 for edge in edges]
    assert summed(ResidualCounts(residuals, edges))[:, 0] == pytest.approx(at_most)


def test_the_look_at_a_wide_table():
    squares = (X**2).sum(axis=0) / D
    expected = [N / 2, Y.sum(), (Y**2 - 0.5).sum(), (squares - 0.5).sum()]
    assert summed(WideLook(D))[0] == pytest.approx(expected)
    counted = [N, Y.sum(), (Y**2 - 1).sum(), (squares - 0.5).sum()]
    assert summed(WideLook.counting(D))[0] == pytest.approx(counted)


def test_the_logistic_loss_has_its_gradient_and_its_hessian():
    labels, y = Labels(0.5, 0.5), (Y > 0).astype(float)
    rows = ArrayBlock(X, np.where(Y > 0, 1.0, -1.0))
    radius = float(np.median(np.linalg.norm(MAPPED, axis=0)))
    query = LogisticLoss(MAP, labels, radius, np.zeros((4, 4)), np.zeros(4))
    theta = np.array([0.3, -0.2, 0.5, 0.1])
    f = np.minimum(1.0, radius / np.linalg.norm(MAPPED, axis=0))
    mean = expit(theta @ MAPPED)
    used = np.arange(N) % 5 > 0
    for which in (None, used):
        kept = np.ones(N, dtype=bool) if which is None else which
        gradient, hessian = query.read(exact_sum(query.parts(WholeTheta.near(theta, 2.0**-40), rows, which)))
        assert gradient == pytest.approx(((mean - y) * f * f * MAPPED)[:, kept].sum(axis=1), **NEAR)
        bent = (MAPPED * f * mean * (1 - mean) * kept) @ (MAPPED * f).T
        assert hessian == pytest.approx(bent, rel=1e-4, abs=1e-4)


def test_losses_of_candidates_are_centred_and_cut():
    bound = 9.0

    def loss(y, eta):
        return (y - eta) ** 2

    sums = exact_sum(LossBlock(block(), MAP, LABELS, loss, bound).weighted_sums(np.ones(N), 1.0))
    centred = np.clip(loss(NAMED, MAPPED), 0, bound) * 2 / bound - 1
    assert sums.astype(float) / LIMIT == pytest.approx(centred.sum(axis=1), abs=N / LIMIT)
    ranking = LossRanking(4)
    assert ranking.weights(block()).tolist() == [1.0] * N
    assert (ranking.offset == 2.0**31).all()


def test_a_wide_table_is_encoded_by_its_declared_bounds():
    code = WideEncoding(np.array([0.0, -2.0]), np.array([4.0, 6.0]), 10.0, 30.0)
    rows = code.encode(np.array([[0.0, 6.0], [3.0, -9.0]]), np.array([10.0, 99.0]))
    out = np.empty((2, 2))
    rows.write_x(out)
    assert out.tolist() == [[-1.0, 0.5], [1.0, -1.0]]
    assert rows.y.tolist() == [-1.0, 1.0]
    assert (code.y_centre, code.y_half_width, code.cells) == (20.0, 10.0, 0)
    # Blocks hold about as many cells, and never fewer than 16 or more than 16384 rows.
    assert wide_block_rows(1) == 16384
    assert wide_block_rows(10**9) == 16
