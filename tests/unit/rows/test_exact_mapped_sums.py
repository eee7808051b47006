"""Mapped sums, linear maps and the logistic loss, against exact whole numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tables import ArrayBlock

from discreet.rows import (
    Labels,
    LinearMap,
    LogisticLoss,
    grid,
    grid_norm,
    grid_scale,
    linear_map,
    mapped,
)
from discreet.rows.carries import exact_sum
from discreet.rows.gradient import GradientSum
from discreet.rows.grid import (
    product_parts,
    query_sum,
)
from discreet.rows.linear_map import with_offset
from discreet.rows.logistic_loss import WholeTheta
from discreet.rows.mapped import mapped_grid, mapped_shape

RNG = np.random.default_rng(5)


def mapped_query(radius=1.0, clip=1.0, spread=1.0) -> GradientSum:
    matrix = np.array([[0.5, 1.0], [0.0, 1.0], [0.25, 0.5]]) * np.array([[1.0], [1.0], [spread]])
    return GradientSum(LinearMap(matrix), Labels(0.0, 1.0), lambda y, eta, length: y - eta, clip, radius)


@pytest.mark.parametrize(("radius", "clip"), [(1.0, 1.0), (4.0, 0.3), (0.5, 100.0)])
def test_weights_of_a_mapped_sum_have_47_bits_at_its_shortest_row(radius, clip):
    query = mapped_query(radius, clip)
    scale, bound = mapped_grid(query)
    weight_scale = scale / query.map.fine_scale
    assert math.log2(weight_scale).is_integer()
    largest = clip / (radius * 2.0**-16) * weight_scale
    assert 2.0**46 < largest <= 2.0**47
    assert bound == clip * scale * (1 + 2.0**-36)
    assert mapped_shape(query) == (6, 2, 1)


@pytest.mark.parametrize(("radius", "clip"), [(1e-100, 1.0), (1e100, 1.0), (1.0, 1e-100), (1.0, 1e100)])
def test_bounds_of_a_mapped_sum_must_be_floats_with_room(radius, clip):
    with pytest.raises(ValueError, match="bounds of a mapped sum must be between 1e-100 and 1e100"):
        mapped_grid(mapped_query(radius, clip))


def test_a_map_whose_entries_leave_the_float_range_is_refused():
    def query(size):
        linear = LinearMap(np.array([[0.5, 1.0], [0.0, 1.0]]) * size)
        return GradientSum(linear, Labels(0.0, 1.0), lambda y, eta, length: y, 1.1e-99, 0.9e99)

    with pytest.raises(ValueError, match="the linear map of query 'gradient' has entries that are too small"):
        mapped_grid(query(1e-59))
    scale, _ = mapped_grid(query(1e-55))
    assert 1e275 < scale < 1e280
    assert mapped_grid(query(1e120))[0] > 0


def test_a_mapped_sum_is_that_of_whole_weights_and_rows():
    rng = np.random.default_rng(8)
    query = mapped_query(radius=0.5, clip=0.4)
    block = ArrayBlock(rng.integers(-64, 65, (1, 40)) / 64, rng.integers(-8, 9, 40) / 8)
    scale, bound = mapped_grid(query)
    weight_scale = Fraction(scale) / Fraction(query.map.fine_scale)
    matrix, row_unit = query.map.rounded, Fraction(2) ** query.map.row_bits
    expected = [Fraction(0), Fraction(0)]
    for x, y in zip(block.x[0], block.y, strict=True):
        z = [Fraction(float(row[0])) + Fraction(float(row[1])) * Fraction(float(x)) for row in matrix]
        length = math.hypot(float(z[1]), float(z[2]))
        most = 0.4 / max(length, 0.5 * 2.0**-16)
        whole = math.trunc(Fraction(min(max(float(y) - float(z[0]), -most), most)) * weight_scale)
        expected = [total + whole * part for total, part in zip(expected, z[1:], strict=True)]
    found = query_sum(query, product_parts(query, block))[:, 0]
    assert [Fraction(int(entry)) for entry in found] == pytest.approx(
        [float(total * Fraction(query.map.fine_scale)) for total in expected], rel=1e-12, abs=1e-9
    )
    assert row_unit == 2**23
    assert bound > 0.4 * scale


def test_a_linear_map_shares_53_bits_between_row_and_matrix():
    for width, row_bits, matrix_bits in (
        (1, 23, 28),
        (3, 23, 27),
        (4, 23, 26),
        (7, 23, 26),
        (8, 23, 25),
        (200, 22, 22),
    ):
        linear = LinearMap(np.full((2, width + 1), 0.75))
        assert linear.row_bits == row_bits
        # One unit of the first output is the matrix's unit times the row's.
        assert linear._whole[1].tolist() == [2.0 ** -(matrix_bits + row_bits)] * 2
    assert linear.outputs == 2
    matrix = np.array([[1.0, 1.0], [1.0, 0.5], [2.0**-10, 2.0**-11], [0.0, 0.0], [2.0**-201, 2.0**-202]])
    linear = LinearMap(matrix)
    assert linear.rounded.tolist() == [*matrix[:3].tolist(), [0.0, 0.0], [0.0, 0.0]]
    # The finest output but the first: 2^-10 has 10 bits more than 1, and what is nothing has no
    # say.
    assert linear.fine_scale == 2.0 ** (28 + 23 + 10)
    exact = [
        [int(Fraction(entry) * Fraction(linear.fine_scale) / 2**23) for entry in row] for row in matrix[1:3].tolist()
    ]
    assert linear.fine_matrix[:2].tolist() == exact
    apart = LinearMap(np.array([[1.0], [1.0], [2.0**-100]]))
    assert apart._whole[1][2] == apart._whole[1][1] * 2.0**-60  # no bits of its own any more
    assert apart.rounded[2, 0] == 0.0
    assert LinearMap(np.array([[1.0], [2.0**-199]])).rounded[1, 0] == 0.0


def test_a_map_gives_outputs_and_lengths_without_the_first():
    matrix = np.array([[0.5, 1.0, -1.0], [1.0, 0.5, 0.25], [0.0, 2.0, 1.0]])
    linear, x = LinearMap(matrix), RNG.integers(-64, 65, (2, 30)) / 64
    block = ArrayBlock(x, np.zeros(30), RNG.integers(-8, 9, 30) / 8)
    expected = matrix @ np.vstack([np.ones(30), x])
    assert linear.apply(block).tolist() == expected.tolist()
    for skipped in (0, 1, 2):
        mapped, length = linear.with_norms(block, skipped=skipped)
        assert mapped.tolist() == expected.tolist()
        np.testing.assert_allclose(length, np.linalg.norm(expected[skipped:], axis=0), rtol=1e-15)
    eta, length = linear.predictor_and_length(block)
    assert linear.whole_lines(block).tolist() == (np.vstack([np.ones(30), x]) * 2.0**linear.row_bits).tolist()
    assert eta.tolist() == (expected[0] + block.offset).tolist()
    np.testing.assert_allclose(length, np.linalg.norm(expected[1:], axis=0), rtol=1e-15)
    first = expected[0]
    assert with_offset(first, ArrayBlock(x, np.zeros(30))) is first


def test_what_is_too_small_to_be_scaled_is_nothing():
    assert LinearMap(np.array([[2.0**-199, 0.0]])).rounded.tolist() == [[2.0**-199, 0.0]]
    assert LinearMap(np.array([[2.0**-200, 0.0]])).rounded.tolist() == [[0.0, 0.0]]


def test_so_many_products_fit_a_float():
    """What float64 adds exactly has 53 bits: 22 + 22 and 512 rows, or 23 + 16 and 2^14 rows."""
    assert 2.0**44 * grid._EXACT_ROWS == 2.0**53
    assert 2.0 ** (linear_map.ROW_BITS + mapped._DIGIT_BITS) * mapped.EXACT_ROWS == 2.0**53
    full = np.full((1, 1026), 2.0**22 - 1)
    assert exact_sum(grid._exact_product(full, full))[0, 0] == 1026 * (2**22 - 1) ** 2


def test_the_gradient_of_the_logistic_loss_is_exact_to_47_bits_a_row():
    rng = np.random.default_rng(9)
    block = ArrayBlock(rng.uniform(-1, 1, (2, 50)), rng.choice([-1.0, 1.0], 50))
    query = LogisticLoss(LinearMap(np.eye(3)), Labels(0.5, 0.5), 1.25, np.zeros((3, 3)), np.zeros(3))
    theta = WholeTheta.near(np.array([0.5, -1.5, 2.0]), 2.0**-40)
    z, short, y = (part.astype(np.longdouble) for part in query.rows(block, None))
    scale = query._scale
    assert scale == grid_scale(1.25, 3, 22)
    assert query.bound == grid_norm(1.25, 3, 22) / scale
    eta = theta.value.astype(np.longdouble) @ z / scale / short
    score = (1 / (1 + np.exp(-eta)) - y) * short
    gradient, hessian = query.read(exact_sum(query.parts(theta, block, None)))
    assert np.abs(gradient - (z / scale) @ score).max() <= 50 * 2.0**-47 * query.bound
    weight = np.exp(-eta) / (1 + np.exp(-eta)) ** 2
    assert np.abs(hessian - (z / scale * weight) @ (z / scale).T).max() <= 50 * 2.0**-20
    assert (hessian == hessian.T).all()
    odd = ArrayBlock(block.x.copy(), block.y.copy())
    odd.x[0, 3], odd.y[4] = np.nan, np.nan
    used = np.arange(50) != 5
    silent = query.rows(odd, used)[0]
    assert [column for column in range(50) if not silent[:, column].any()] == [3, 4, 5]
