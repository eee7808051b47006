"""Queries on numbers that floats hold exactly: factors, shapes and bounds are what the definitions
say.

Entries of rows are multiples of 2^-10 and those of the map of 2^-4, so the exact map rounds
nothing.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from tables import ArrayBlock

from discreet.rows import CrossMoment, CurvatureSum, Labels, LinearMap, MappedMoment, PowerSums, SecondMoment, score_sum
from discreet.rows.column_sums import ChosenSums, LargestSums
from discreet.rows.evaluation import ClassLosses, LossCells, LossSums, ScoreCells
from discreet.rows.gradient import BoundedSum, GradientSum, LabelProfile, SizeHistogram, WeightedMoment
from discreet.rows.histograms import Look, ResidualCounts, ResidualHistogram, Residuals, cell_of, one_hot
from discreet.rows.query import reach, silence, weight_of
from discreet.rows.scores import ExposureSum, coordinates_of
from discreet.rows.truncated import (
    RowCount,
    ShortenedInformation,
    TruncatedInformation,
    TruncatedMoment,
    TruncatedScores,
)
from discreet.rows.wide_queries import ResidualRanking, WideLook

RNG = np.random.default_rng(3)
N, D = 24, 3
X = RNG.integers(-1024, 1025, (D, N)) / 1024
X[:, 0] = 0.0  # whose coordinates below are all zero
Y = RNG.integers(-8, 9, N) / 8
LABELS = Labels(2.0, 4.0)
NAMED = 2.0 + 4.0 * Y
OFFSET = RNG.integers(-8, 9, N) / 16
MATRIX = RNG.integers(-32, 33, (1 + D, 1 + D)) / 16
MATRIX[1:, 0] = 0.0
MAP = LinearMap(MATRIX)
ETA, Z = (MATRIX @ np.vstack([np.ones(N), X]))[0], MATRIX[1:, 1:] @ X
NORMS = np.sqrt((Z**2).sum(axis=0))
RADIUS = float(np.median(NORMS))
SHORT = RADIUS / np.maximum(NORMS, RADIUS)
EDGES = np.array([0.5, 1.0, 2.0])
OFFSETS = pytest.mark.parametrize("offset", [None, OFFSET], ids=["plain", "exposure"])


def block(offset=None) -> ArrayBlock:
    return ArrayBlock(X, Y, offset)


def with_offset(offset) -> np.ndarray:
    return ETA if offset is None else ETA + offset


def declared(query) -> tuple:
    return query.label, query.geometry, query.shape, query.left_norm, query.right_norm


def same(found, expected) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-300)


def weight(y, eta, length):
    assert (length >= 1e-100).all()  # what is divided by it must stay a number
    return (y - eta) / (1 + length)


@OFFSETS
def test_a_gradient_is_the_weighted_coordinates(offset):
    query = GradientSum(MAP, LABELS, weight, 1.5, RADIUS)
    assert declared(query) == ("gradient", "mapped", (3, 1), 1.5, 1.0)
    left, right = query.factors(block(offset))
    same(left, Z)
    same(right[0], (NAMED - with_offset(offset)) / (1 + NORMS))
    assert GradientSum(MAP, LABELS, lambda y, eta, length: 1 / length, 1.5, RADIUS).factors(block())[1][0, 0] == 1e100


@OFFSETS
def test_a_weighted_moment_is_cut_to_its_clip(offset):
    query = WeightedMoment(MAP, LABELS, weight, 0.75)
    assert declared(query) == ("curvature", "square", (3, 3), 0.75, 0.75)
    assert not query.weighs_squares
    left, right = query.factors(block(offset))
    assert left is right
    row = Z * (NAMED - with_offset(offset)) / (1 + NORMS)
    row *= 0.75 / np.maximum(np.sqrt((row**2).sum(axis=0)), 0.75)
    np.testing.assert_allclose(left, row, rtol=1e-12, atol=1e-15)
    assert np.sqrt((row**2).sum(axis=0)).max() == pytest.approx(0.75)
    never = WeightedMoment(MAP, LABELS, lambda y, eta, length: 1 / length, 0.75).factors(block())[0]
    assert never[:, 0].tolist() == [0.0] * 3


@OFFSETS
def test_sizes_of_rows_are_counted_in_cells(offset):
    query = SizeHistogram(MAP, LABELS, lambda y, eta, length: np.abs(eta) + 0 * weight(y, eta, length), EDGES)
    assert declared(query) == ("sizes of scores", "cells", (4, 1), 1.0, 1.0)
    cells, ones = query.factors(block(offset))
    assert cells.tolist() == [[int((size > EDGES).sum()) for size in np.abs(with_offset(offset))]]
    assert ones.tolist() == [[1.0] * N]


def test_values_between_edges_are_in_the_cell_of_the_upper_one():
    values = np.array([0.0, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, np.nan])
    assert cell_of(values, EDGES).tolist() == [[0, 0, 1, 1, 2, 2, 3, -1]]
    marks = np.full((4, 8), 7.0)
    one_hot(values, EDGES, marks)
    assert marks.argmax(axis=0)[:-1].tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert marks.sum(axis=0).tolist() == [1.0] * 7 + [0.0]


@OFFSETS
def test_a_profile_of_labels_counts_exposures_and_labels_in_their_range(offset):
    query = LabelProfile(MAP, LABELS, EDGES, -1.0, 4.0, 1.25)
    assert declared(query) == ("labels along a direction", "nonnegative", (4, 2), 1.0, math.sqrt(2))
    cells, numbers = query.factors(block(offset))
    assert cells.sum(axis=0).tolist() == [1.0] * N
    assert cells.argmax(axis=0).tolist() == [int((place > EDGES).sum()) for place in ETA]
    exposure = np.ones(N) if offset is None else np.minimum(np.exp(offset) / 1.25, 1.0)
    same(numbers[0], exposure)
    same(numbers[1], (np.clip(NAMED, -1.0, 4.0) + 1.0) / 5.0)
    assert (NAMED < -1.0).any()
    assert (NAMED > 4.0).any()
    assert LabelProfile(MAP, LABELS, EDGES, 0.0, 1.0).largest_exposure == 1.0


@OFFSETS
def test_a_bounded_sum_is_measured_from_the_middle(offset):
    query = BoundedSum(MAP, LABELS, lambda y, eta, length: np.abs(y - eta) + 0 * weight(y, eta, length), 3.0)
    assert declared(query) == ("dispersion", "free", (1, 1), 1.5, 1.0)
    left, right = query.factors(block(offset))
    same(left[0], np.minimum(np.abs(NAMED - with_offset(offset)), 3.0) - 1.5)
    assert right.tolist() == [[1.0] * N]


def losses(y, eta, offset):
    return (y - eta) ** 2 + (0.0 if offset is None else offset)


@OFFSETS
def test_losses_are_counted_and_summed(offset):
    cells = LossCells(MAP, LABELS, losses, EDGES)
    assert declared(cells) == ("sizes of losses", "cells", (4, 1), 1.0, 1.0)
    shift = 0.0 if offset is None else offset
    found, ones = cells.factors(block(offset))
    mapped = MATRIX @ np.vstack([np.ones(N), X]) + shift
    expected = (NAMED - mapped) ** 2 + shift
    assert found.tolist() == [[int((loss > EDGES).sum()) for loss in expected[0]]]
    assert ones.tolist() == [[1.0] * N]
    bounds = np.array([2.0, 4.0, 8.0, 16.0])
    sums = LossSums(MAP, LABELS, losses, bounds)
    assert declared(sums) == ("losses", "nonnegative", (1, 5), 1.0, math.sqrt(5))
    ones, numbers = sums.factors(block(offset))
    assert (ones.tolist(), numbers[0].tolist()) == ([[1.0] * N], [1.0] * N)
    same(numbers[1:], np.clip(expected / bounds[:, np.newaxis], 0.0, 1.0))


def test_losses_by_class_count_each_class():
    labels = Labels(1.0, 1.0)
    y = np.array([-1.0, 0.0, 1.0, 0.45, -0.55, np.nan])
    rows = ArrayBlock(X[:, :6], y)
    query = ClassLosses(MAP, labels, losses, 4.0, 3)
    assert declared(query) == ("losses by class", "nonnegative", (1, 4), 1.0, math.sqrt(2))
    ones, numbers = query.factors(rows)
    assert ones.tolist() == [[1.0] * 6]
    assert numbers[:3].argmax(axis=0)[:5].tolist() == [0, 1, 2, 1, 0]
    assert numbers[:3].sum(axis=0).tolist() == [1, 1, 1, 1, 1, 0]
    same(numbers[3, :5], np.clip((1.0 + y - ETA[:6])[:5] ** 2 / 4.0, 0.0, 1.0))
    assert np.isnan(numbers[3, 5])


@pytest.mark.parametrize("by_label", [False, True])
def test_predictions_are_counted_by_label(by_label):
    labels = Labels(0.5, 0.5)
    y = np.where(np.arange(N) % 3 == 0, 1.0, -1.0)
    y[5] = np.nan
    query = ScoreCells(MAP, labels, EDGES, by_label)
    assert declared(query) == ("predictions", "cells", (8 if by_label else 4, 1), 1.0, 1.0)
    cells, ones = query.factors(ArrayBlock(X, y))
    plain = [int((place > EDGES).sum()) for place in ETA]
    expected = [cell + 4 * (by_label and one > 0) for cell, one in zip(plain, y, strict=True)]
    expected[5] = -1
    assert (cells.tolist(), ones.tolist()) == ([expected], [[1.0] * N])
    assert ScoreCells(MAP, labels, EDGES).by_label is False


@OFFSETS
def test_scores_are_told_how_large_they_may_be(offset):
    seen = {}

    def score(y, eta, bound):
        seen["bound"] = bound
        return np.clip(y - eta, -bound, bound)

    query = score_sum(MAP, LABELS, score, RADIUS, 1.5)
    assert declared(query) == ("gradient", "mapped", (3, 1), 1.5, 1.0)
    left, right = query.factors(block(offset))
    length = np.maximum(NORMS * SHORT, 1e-100)
    same(seen["bound"], 1.5 / length)
    same(left, Z)
    same(right[0], SHORT * np.clip(NAMED - with_offset(offset), -1.5 / length, 1.5 / length))
    eta, z, shrink, short = coordinates_of(MAP, block(offset), RADIUS)
    for found, expected in zip((eta, z, shrink, short), (with_offset(offset), Z, SHORT, length), strict=True):
        same(found, expected)


def test_curvature_has_a_row_of_slopes_and_one_of_scores():
    def score(y, eta, bound):
        return np.clip(y - eta, -bound, bound)

    def slope(y, eta, bound):
        return np.where(np.abs(y - eta) < bound, 1.0 + eta, -1.0)

    query = CurvatureSum(MAP, LABELS, score, slope, RADIUS, 1.5, 0.75, 1.25, 0.5)
    assert declared(query)[:3] == ("curvature", "square", (4, 4))
    assert query.left_norm == query.right_norm == math.hypot(0.75, 0.5 * 1.25)
    row, again = query.factors(block())
    assert row is again
    length = np.maximum(NORMS * SHORT, 1e-100)
    bound = 1.5 / length
    root = np.sqrt(np.maximum(slope(NAMED, ETA, bound), 0.0) * SHORT)
    root *= 0.75 / np.maximum(root * length / SHORT, 0.75)
    same(row[:-1], Z * root)
    same(row[-1], 0.5 * np.minimum(np.abs(score(NAMED, ETA, bound)) * length, 1.25))


def test_a_mapped_moment_is_that_of_shortened_rows_and_labels():
    query = MappedMoment(MAP, LABELS, 1.0, 2.0, 1.25, 0.5, 2.0)
    assert declared(query)[:3] == ("second moment of (1, z, y)", "square", (5, 5))
    assert query.left_norm == query.right_norm == math.hypot(2.0, 0.625)
    row, again = query.factors(block())
    assert row is again
    whole = MATRIX @ np.vstack([np.ones(N), X])
    short = 2.0 / np.maximum(np.sqrt((whole**2).sum(axis=0)), 2.0)
    same(row[:-1], whole * short)
    same(row[-1], np.clip((NAMED - 1.0) / 2.0, -1.25, 1.25) * 0.5 * short)


def test_declarations_of_the_other_queries():
    residuals = Residuals(MAP, LABELS, np.tanh)
    root = math.sqrt
    cases = {
        ExposureSum(2.0): ("exposure", "nonnegative", (1, 1), 1.0, 1.0),
        RowCount(): ("count", "nonnegative", (1, 1), 1.0, 1.0),
        ResidualHistogram(residuals, EDGES): ("sizes of residuals", "cells", (4, 1), 1.0, 1.0),
        ResidualCounts(residuals, EDGES): ("counts of small residuals", "free", (3, 1), root(3) / 2, 1.0),
        TruncatedScores(MAP, LABELS, None, 2.0, 1.5): ("gradient", "free", (3, 1), 3.0, 1.0),
        TruncatedInformation(MAP, None, 2.0, 2.25): ("information", "printed_square", (3, 3), 3.0, 3.0),
        ShortenedInformation(MAP, None, 2.0, 2.25): ("information", "square", (3, 3), 3.0, 3.0),
        TruncatedMoment(MAP, 2.0): ("second moment", "square", (4, 4), 2.0, 2.0),
        WideLook(5): ("first look", "free", (1, 4), 1.0, root(1.75)),
        WideLook.counting(5): ("first look", "counted", (1, 4), 1.0, root(1.25)),
        ChosenSums(4): ("sums of chosen columns", "free", (4, 1), 2.0, 1.0),
        PowerSums(3, 2.0): ("first look", "free", (1, 7), 1.0, root(0.25 + 1.25 + 5.0)),
        PowerSums(3, 2.0, with_x=False): ("first look", "free", (1, 3), 1.0, root(1.5)),
        CrossMoment(3, 2.0, True, True): ("x y", "free", (4, 1), root(5), 1.0),
        CrossMoment(3, 2.0, False, False): ("x x^T", "printed_square", (3, 3), 2.0, 2.0),
        SecondMoment((0.0,) * 3, 1.0, 2.0, 0.0, 1.0, 3.0, 1.0, 2.0): (
            "second moment of (1, x, y)",
            "square",
            (5, 5),
            root(1 + 4 + 36),
            root(1 + 4 + 36),
        ),
    }
    for query, expected in cases.items():
        assert declared(query) == expected


@pytest.mark.parametrize(
    ("y_edges", "norm_edges", "shape", "norm"),
    [(EDGES, EDGES[:2], 7, math.sqrt(2)), (EDGES, EDGES[:0], 4, 1.0), (EDGES[:0], EDGES[:1], 2, 1.0)],
)
def test_a_look_has_a_histogram_for_each_list_of_edges(y_edges, norm_edges, shape, norm):
    query = Look(LABELS, D, y_edges, norm_edges)
    assert declared(query) == ("first look", "nonnegative", (shape, 1), norm, 1.0)
    row, ones = query.factors(block())
    of_y, of_norm = query.read(row @ ones.T)
    lengths = np.sqrt((X**2).sum(axis=0))
    if len(y_edges):
        counts = np.bincount([int((y_edges < y).sum()) for y in NAMED], minlength=len(y_edges) + 1)
        assert of_y.tolist() == counts.tolist()
    else:
        assert of_y.size == 0
    if len(norm_edges):
        counts = np.bincount([int((norm_edges < length).sum()) for length in lengths], minlength=len(norm_edges) + 1)
        assert of_norm.tolist() == counts.tolist()
    else:
        assert of_norm.size == 0


def test_residual_counts_say_nothing_of_a_row_without_a_residual():
    y = Y.copy()
    y[2] = np.nan
    query = ResidualCounts(Residuals(MAP, LABELS, np.tanh), EDGES)
    row, ones = query.factors(ArrayBlock(X, y))
    assert row[:, 2].tolist() == [0.0] * 3
    sizes = np.abs(2 + 4 * y - np.tanh(ETA))
    assert np.delete(row, 2, axis=1).tolist() == np.delete((sizes <= EDGES[:, np.newaxis]) - 0.5, 2, axis=1).tolist()
    assert ones.tolist() == [[1.0] * N]


@pytest.mark.parametrize("label", ["known", "missing"])
@pytest.mark.parametrize("kind", [TruncatedInformation, ShortenedInformation])
def test_information_of_a_row_without_a_label_is_silent(kind, label):
    y = Y.copy()
    y[1] = np.nan if label == "missing" else 0.5
    left, right = kind(MAP, lambda eta: 1.0 + eta**2, RADIUS, 2.0).factors(ArrayBlock(X, y))
    assert left is right
    assert np.isnan(left[:, 1]).all() == (label == "missing")
    assert not np.isnan(np.delete(left, 1, axis=1)).any()
    # Weights above the bound are cut to it, and those below zero are none.
    assert np.sqrt((left[:, 2:] ** 2).sum(axis=0)).max() <= RADIUS * math.sqrt(2.0) * (1 + 1e-12)
    silent, _ = kind(MAP, lambda eta: -1.0 - eta**2, RADIUS, 2.0).factors(ArrayBlock(X, Y))
    assert not silent.any()


def test_cross_moments_have_their_constant_first_and_speak_of_labelled_rows():
    y = Y.copy()
    y[3] = np.nan
    for with_y in (True, False):
        left, right = CrossMoment(D, 2.0, True, with_y).factors(ArrayBlock(X, y))
        assert np.isnan(left).any(axis=0).tolist() == [i == 3 for i in range(N)]
        assert np.delete(left, 3, axis=1)[0].tolist() == [1.0] * (N - 1)
        assert (left is right) == (not with_y)
        if with_y:
            assert right[0, 4:].tolist() == Y[4:].tolist()
            assert right.base is not y


def test_the_look_at_a_wide_table_takes_missing_cells_for_the_middle():
    x = X.copy()
    x[1, 4] = np.nan
    left, right = WideLook(D).factors(ArrayBlock(x, Y))
    assert left.tolist() == [[1.0] * N]
    squares = (np.nan_to_num(x) ** 2).sum(axis=0) / 3 - 0.5
    for found, expected in zip(right, (np.full(N, 0.5), Y, Y**2 - 0.5, squares), strict=True):
        same(found, expected)
    cells, ones = ChosenSums(D).factors(ArrayBlock(x, Y))
    same(cells, np.nan_to_num(x) * Y)
    assert ones.tolist() == [[1.0] * N]


def test_rankings_declare_what_they_rank():
    largest = LargestSums(5)
    assert (largest.label, largest.sides, largest.weight_bound, largest.cell_bound) == (
        "selection",
        "absolute",
        1.0,
        1.0,
    )
    assert (largest.offset, largest.excluded.tolist()) == (None, [])
    assert largest.weights(block()).tolist() == Y.tolist()
    ranking = ResidualRanking(5, MAP, np.arange(3), LABELS, lambda y, eta: y - 2 * eta, 1.0, 1.0)
    assert (ranking.label, ranking.sides, ranking.offset, ranking.excluded.size) == ("selection", "absolute", None, 0)


def test_a_missing_exposure_or_feature_silences_a_row():
    x, offset = X.copy(), OFFSET.copy()
    x[2, 3], offset[5] = np.nan, np.nan
    assert np.isnan(silence(ArrayBlock(x, Y), D)).tolist() == [i == 3 for i in range(N)]
    assert np.isnan(silence(ArrayBlock(x, Y, offset), D)).tolist() == [i in (3, 5) for i in range(N)]
    assert silence(ArrayBlock(X, Y, OFFSET), D).tolist() == [0.0] * N
    assert weight_of(block()) is None
    # Where x is left out, its missing cells count all the same.
    _, right = PowerSums(D, 2.0, with_x=False).factors(ArrayBlock(x, Y, offset))
    assert np.isnan(right[0]).tolist() == [i in (3, 5) for i in range(N)]
    _, right = PowerSums(D, 2.0).factors(ArrayBlock(X, Y, offset))
    assert np.isnan(right[0]).tolist() == [i == 5 for i in range(N)]


def test_the_first_look_has_its_numbers_in_this_order():
    _, right = PowerSums(D, 2.0, count_weight=0.25).factors(block())
    square = (X**2).sum(axis=0) / 2.0 - 1.0
    for found, expected in zip(right, (np.full(N, 0.25), Y, Y**2 - 0.5, square, *X), strict=True):
        same(found, expected)


@pytest.mark.parametrize("geometry", ["free", "mapped", "signs", "square", "printed_square", "nonnegative", "cells"])
def test_reach(geometry):
    assert reach(geometry, "add_or_remove_one", 3.0) == 3.0
    far = 2.0 if geometry in ("free", "mapped", "signs") else math.sqrt(2.0)
    assert reach(geometry, "replace_one", 3.0, 2) == 6.0 * far


def test_labels_have_ends():
    assert (LABELS.low, LABELS.high) == (-2.0, 6.0)
    assert LABELS.of(block()).tolist() == NAMED.tolist()
