"""Walks, rankings and wide rows in whole numbers."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from tables import ArrayBlock

from discreet.rows import (
    Labels,
    LinearMap,
    Picked,
    Residues,
)
from discreet.rows.carries import exact_sum
from discreet.rows.logistic_loss import WholeTheta
from discreet.rows.loss_ranking import LossBlock, LossRanking
from discreet.rows.ranking import candidates, ranked_parts, ranking_reach, ranking_unit, whole_weights
from discreet.rows.walk import LONGEST, UNITS, Walk
from discreet.rows.wide import SparseRows, WideEncoding, wide_block_rows
from discreet.rows.wide_kernels import LIMIT, MOST_ROWS, whole_cells


def test_walked_rows_are_cut_to_whole_units():
    assert (UNITS, LONGEST) == (2.0**22, 2.0**22 * (1 + 2.0**-30))
    linear = LinearMap(np.array([[0.5, 1.0, 0.0], [0.0, 0.0, 2.0]]))
    block = ArrayBlock(np.array([[0.5, 1.0, 0.0], [0.25, 1.0, np.nan]]), np.array([0.5, -1.0, 0.0]))
    walk = Walk(linear, Labels(1.0, 2.0), 1.5)
    assert (walk.size, walk.label) == (2, "gradient")
    rows = walk.read(block)
    assert rows.y.tolist() == [2.0, -1.0, 1.0]
    assert rows.z[:2].tolist() == [[1.0, 0.5], [1.5, 2.0]]
    np.testing.assert_allclose(rows.short[:2], [[1.0, 0.5], [0.9, 1.2]], rtol=1e-15)
    np.testing.assert_allclose(rows.length[:2], [math.sqrt(1.25), 1.5], rtol=1e-15)
    theta = np.array([1.0, -1.0])
    seen = []

    def weight(y, index):
        seen.append((y, index))
        return 0.5

    # Not cut: in units of clip / UNITS.
    assert rows.units(0, theta, weight, 1.0).tolist() == [2.0**21, 2.0**20]
    assert seen == [(2.0, 0.5)]
    # Cut to the clip: the direction has UNITS units.
    cut = rows.units(1, theta, weight, 0.25)
    assert cut == pytest.approx([0.6 * UNITS, 0.8 * UNITS], abs=1.01)
    assert np.linalg.norm(cut) <= LONGEST
    assert (cut == np.trunc(cut)).all()
    assert rows.units(2, theta, weight, 1.0).tolist() == [0.0, 0.0]
    assert rows.units(0, theta, lambda y, index: math.inf, 1.0).tolist() == [0.0, 0.0]
    assert rows.units(0, theta, lambda y, index: -0.5, 1.0).tolist() == [-(2.0**21), -(2.0**20)]


@pytest.mark.parametrize("size", [1, 2, 5, 16, 17])
def test_coefficients_in_whole_numbers_have_exact_products(size):
    rng = np.random.default_rng(size)
    theta = WholeTheta.near(rng.normal(size=size) * 100, 2.0**-60)
    assert np.abs(theta.value - theta.whole.astype(float) * 2.0**-60).max() == 0
    z = rng.integers(-(2**22), 2**22, (size, 7)).astype(float)
    exact = [sum(int(a) * int(b) for a, b in zip(theta.whole, column, strict=True)) for column in z.T]
    largest = float(max(abs(entry) for entry in theta.whole)) * 2.0**22 * size
    np.testing.assert_allclose(
        theta.times(z), [float(one) * 2.0**-60 for one in exact], rtol=1e-15, atol=largest * 2.0**-112
    )
    total = sum(
        (
            np.array([int(entry) for entry in piece], dtype=object) * int(unit * 2.0**60)
            for piece, unit in theta._pieces
        ),
        np.zeros(size, dtype=object),
    )
    assert (total == theta.whole).all()
    bits = 29 - math.ceil(math.log2(size) / 2)
    assert all(np.abs(piece).max() < 2**bits for piece, _ in theta._pieces)
    moved = theta.moved(np.full(size, 3 * 2.0**-60))
    assert (moved.whole - theta.whole == 3).all()
    assert moved.unit == theta.unit


def test_ranking_in_whole_numbers():
    assert (LIMIT, MOST_ROWS) == (1024.0, 2**32)
    assert ranking_reach("add_or_remove_one", 1) == 2**20
    assert ranking_reach("replace_one", 1) == 2**21
    assert ranking_reach("replace_one", 3) == 3 * 2**21
    query = SimpleNamespace(
        label="ranking", weight_bound=2.0, cell_bound=0.5, width=3, sides="both", excluded=np.array([1]), offset=None
    )
    assert ranking_unit(query) == 2.0**-20
    assert whole_weights(np.array([2.0, -9.0, 1e-3, np.nan, np.inf]), 2.0).tolist() == [1024, -1024, 1, 0, 1024]
    query.offset = np.array([1.0, 1e300, -1e300])
    sums = np.array([5, 6, 7], dtype=object)
    indices, scores = candidates(query, sums)
    assert indices.tolist() == [0, 2, 3, 5]
    assert scores.tolist() == [2**20 - 5, -(2**100) - 7, 5 - 2**20, 2**100 + 7]
    query.weights = lambda block: np.ones(2)
    with pytest.raises(TypeError, match="ranking 'ranking' must give one weight per record"):
        ranked_parts(query, ArrayBlock(np.zeros((1, 3)), np.zeros(3)))
    picked = Picked(np.array([2, 0]), 0.5)
    assert Picked.of(picked.to_dict(), 0.5).whole is None
    with pytest.raises(TypeError, match="no values were released with this selection"):
        _ = picked.values
    valued = picked.with_values(np.array([4, -3], dtype=object))
    assert Picked.of(valued.to_dict(), 0.5).values.tolist() == [2.0, -1.5]
    assert valued.to_dict() == {"picked": [2, 0], "whole": [4, -3]}


def test_losses_of_models_are_ranked_from_the_middle_of_their_range():
    assert LossRanking(2).offset.tolist() == [2.0**31] * 2
    query = LossRanking(2)
    assert (query.label, query.sides, query.weight_bound, query.cell_bound) == (
        "choice among candidates",
        "absolute",
        1.0,
        1.0,
    )
    assert query.excluded.tolist() == []
    linear = LinearMap(np.array([[0.0, 1.0], [1.0, 0.0]]))
    x, y = np.array([[0.5, 0.25, np.nan, -0.5]]), np.array([0.5, 1.0, 0.0, -1.0])
    block = LossBlock(ArrayBlock(x, y), linear, Labels(0.0, 1.0), lambda y, eta: np.abs(y - eta), 1.0)
    assert block.records == 4
    # Losses 0, .75, none and .5 of the first; .5, 0, 1 and 2 (cut to 1) of the second; a row
    # without one adds nothing.
    weights = np.array([1.0, 2.0, 4.0, 8.0])
    found = exact_sum(block.weighted_sums(weights, 1.0)).tolist()
    assert found == [-1024 + 2 * 512, 0 - 2 * 1024 + 8 * 1024]
    assert exact_sum(block.weighted_sums(weights, 0.5)).tolist() == [-1024 + 2 * 1024, 0 - 2 * 1024 + 8 * 1024]


def test_wide_rows_in_whole_numbers():
    assert [wide_block_rows(width) for width in (0, 1, 512, 513, 2**19, 2**30)] == [16384, 16384, 16384, 16352, 16, 16]
    assert whole_cells(np.array([0.0, 1.0, 9.0, np.nan, -9.0]), 0.5, 1024.0).tolist() == [-512, 512, 1024, 0, -1024]
    code = WideEncoding(np.array([0.0, -1.0]), np.array([4.0, 1.0]), -2.0, 6.0)
    assert (code.width, code.cells, code.y_centre, code.y_half_width) == (2, 0, 2.0, 4.0)
    assert (code.centre.tolist(), code.half_width.tolist()) == ([2.0, 0.0], [2.0, 1.0])
    table = np.array([[1.0, 0.5], [4.0, np.nan], [9.0, -1.0]])
    block = code.encode(table, np.array([6.0, 99.0, np.nan]))
    assert block.records == 3
    assert block.offset is None
    assert block.y[:2].tolist() == [1.0, 1.0]
    weights = np.array([1.0, 2.0, 4.0])
    assert exact_sum(block.weighted_sums(weights, 1.0)).tolist() == [-512 + 2048 + 4096, 512 - 4096]
    assert exact_sum(block.weighted_sums(weights, 0.5)).tolist() == [-1024 + 2048 + 4096, 1024 - 4096]
    for bound in (1e-100, 1.0000001, np.nan):
        with pytest.raises(ValueError, match="a cell's bound must be above 0 and at most 1, got"):
            block.weighted_sums(weights, bound)
    narrow = block.take(np.array([1]))
    out = np.empty((1, 3))
    narrow.write_x(out)
    assert (narrow.records, narrow.offset, out[0, 0], out[0, 2]) == (3, None, 0.5, -1.0)
    assert narrow.y[:2].tolist() == [1.0, 1.0]
    huge = SimpleNamespace(shape=(2**32 + 1, 2))
    with pytest.raises(ValueError, match=r"a block may have at most 4294967296 rows for exact sums, got 4294967297"):
        code.encode(SparseRows(huge), None).weighted_sums(weights, 1.0)


def test_residues_at_their_ends():
    for low, high, modulus in ((-1, 1, 3), (1, 1, 3), (0, 4, 3), (2, 1, 3)):
        with pytest.raises(
            ValueError, match=f"remainders need 0 <= low < high <= modulus, got {low}, {high}, {modulus}"
        ):
            Residues(modulus, low, high)
    assert Residues(3, 0, 3).count(7) == 7
    assert [Residues(5, 1, 3).count(rows) for rows in range(9)] == [0, 0, 1, 2, 2, 2, 2, 3, 4]
    assert Residues(5, 1, 3).positions(6, 4).tolist() == [2, 3]
    for pieces in (3, 5):
        with pytest.raises(ValueError, match=f"4 remainders cannot be cut into {pieces} equal pieces"):
            Residues(9, 1, 5).cut(pieces)
    assert Residues(9, 1, 5).cut(2) == [Residues(9, 1, 3), Residues(9, 3, 5)]
    assert Residues.side_by_side([1, 2]) == [Residues(3, 0, 1), Residues(3, 1, 3)]
