"""The grid, mapped sums and the small parts of a pass over the rows, against whole numbers worked out one by one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import ArrayBlock, Product, Square

from discreet.rows import (
    Answer,
    Labels,
    LinearMap,
    LogisticLoss,
    Picked,
    Residues,
    RowsUsed,
    grid,
    grid_norm,
    grid_scale,
    linear_map,
    mapped,
)
from discreet.rows.carries import carried, exact_sum
from discreet.rows.columns import Coded
from discreet.rows.gradient import GradientSum
from discreet.rows.grid import (
    grid_bits,
    left_grid,
    parts_of_each,
    parts_shape,
    product_parts,
    query_sum,
    right_grid,
    several_parts,
)
from discreet.rows.hashing import row_hashes
from discreet.rows.kernels import column_norms, encode_table, fold_cells, scratch, shorten, whole_numbers
from discreet.rows.linear_map import with_offset
from discreet.rows.logistic_loss import WholeTheta
from discreet.rows.loss_ranking import LossBlock, LossRanking
from discreet.rows.mapped import mapped_grid, mapped_shape
from discreet.rows.ranking import candidates, ranked_parts, ranking_reach, ranking_unit, whole_weights
from discreet.rows.walk import LONGEST, UNITS, Walk
from discreet.rows.weighted import weigh, weigh_cut
from discreet.rows.weighted import whole_weights as whole_row_weights
from discreet.rows.wide import SparseRows, WideEncoding, wide_block_rows
from discreet.rows.wide_kernels import LIMIT, MOST_ROWS, whole_cells

RNG = np.random.default_rng(5)


@pytest.mark.parametrize(("entries", "bits"), [(1, 44), (16, 44), (17, 22), (500, 22)])
def test_short_factors_have_two_halves(entries, bits):
    assert grid_bits(entries) == bits
    for bound in (1.0, 0.3, 7.0, 1.001e-100, 0.999e100):
        for asked in (None, 22):
            radius = 2 ** (bits if asked is None else asked)
            scale = grid_scale(bound, entries, asked)
            assert math.log2(scale).is_integer()
            # The finest power of two for which the norm stays within the bits.
            room = radius - math.sqrt(entries) - 1
            assert bound * scale <= room < 2 * bound * scale
            assert grid_norm(bound, entries, asked) == bound * scale + math.sqrt(entries) + 1


@pytest.mark.parametrize("bound", [1e-100, 1e100])
def test_bounds_at_the_ends_of_their_range_are_refused(bound):
    with pytest.raises(ValueError, match="a factor's norm bound must be between 1e-100 and 1e100, got 1e"):
        grid_scale(bound, 3)


def test_grids_of_every_geometry():
    free = Product(3, 2.0, 5.0)
    assert left_grid(free) == (grid_scale(2.0, 3), grid_norm(2.0, 3))
    assert right_grid(free) == (grid_scale(5.0, 1), grid_norm(5.0, 1))
    signs = SimpleNamespace(geometry="signs", shape=(9, 2), left_norm=1.0, right_norm=5.0)
    assert left_grid(signs) == (1.0, 3.0)
    assert right_grid(signs) == (grid_scale(5.0, 2, 22), grid_norm(5.0, 2, 22))
    cells = SimpleNamespace(geometry="cells", shape=(9, 1), left_norm=1.0, right_norm=1.0)
    assert left_grid(cells) == (1.0, 1.0)
    assert right_grid(cells) == (grid_scale(1.0, 1), grid_norm(1.0, 1))
    assert parts_shape(signs) == (2, 9, 2)
    assert parts_shape(cells) == (4, 9, 1)
    assert parts_shape(free) == (6, 3, 1)
    assert parts_shape(Product(17, 1.0, 1.0)) == (4, 17, 1)
    assert parts_shape(Square(17, 1.0)) == (2, 17, 17)


def whole_product(query, block) -> np.ndarray:
    """The sum in unbounded integers of what one record after another puts on the grid."""
    total = 0
    for i in range(block.records):
        one = ArrayBlock(block.x[:, i : i + 1], block.y[i : i + 1])
        total = total + query_sum(query, product_parts(query, one))
    return total


@pytest.mark.parametrize("records", [1, 511, 512, 513, 1024, 1100])
@pytest.mark.parametrize("width", [2, 17])
def test_a_block_of_any_length_is_the_sum_of_its_records(records, width):
    rng = np.random.default_rng(records)
    block = ArrayBlock(rng.uniform(-1, 1, (width, records)), rng.uniform(-1, 1, records))
    for query in (Product(width, math.sqrt(width), 1.0), Square(width, 0.5 * math.sqrt(width))):
        parts = product_parts(query, block)
        assert parts.shape == parts_shape(query)
        assert parts.dtype == np.int64
        whole = query_sum(query, parts)
        if records < 520 and width == 2:
            assert (whole == whole_product(query, block)).all()
        unit = left_grid(query)[0] * right_grid(query)[0]
        left, right = query.factors(block)
        left *= query.left_norm / np.maximum(np.linalg.norm(left, axis=0), query.left_norm)
        if query.geometry == "square":
            right = left
        bits = grid_bits(width) - 2
        near = records * 2.0**-bits * max(1.0, query.left_norm) * math.sqrt(width) * 4
        np.testing.assert_allclose(whole.astype(float) / unit, left @ right.T, atol=near, rtol=0)


def test_rows_that_may_not_contribute_are_left_out_of_every_geometry():
    rng = np.random.default_rng(2)
    block = ArrayBlock(rng.uniform(-1, 1, (2, 60)), rng.uniform(-1, 1, 60))
    used = rng.random(60) < 0.5
    kept = ArrayBlock(block.x[:, used], block.y[used])
    linear = LinearMap(np.array([[0.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    mapped = GradientSum(linear, Labels(0.0, 1.0), lambda y, eta, length: y - eta, 1.0, 1.0)
    for query in (Product(2, 1.0, 1.0), Square(2, 1.0), Product(2, 1.0, 1.0, geometry="nonnegative"), mapped):
        some = query_sum(query, product_parts(query, block, used))
        assert (some == query_sum(query, product_parts(query, kept))).all()
        assert (some != query_sum(query, product_parts(query, block))).any()
    together = several_parts([Product(2, 1.0, 1.0), mapped, Square(2, 1.0)], block, used)
    apart = parts_of_each([Product(2, 1.0, 1.0), mapped, Square(2, 1.0)], together)
    for part, query in zip(apart, (Product(2, 1.0, 1.0), mapped, Square(2, 1.0)), strict=True):
        assert np.array_equal(part, product_parts(query, block, used))


def test_a_nonnegative_query_has_no_negative_entries():
    block = ArrayBlock(np.array([[-1.0, 0.5]]), np.array([1.0, -1.0]))
    assert not query_sum(Product(1, 1.0, 1.0), product_parts(Product(1, 1.0, 1.0, geometry="nonnegative"), block)).any()


@dataclass
class _Wrong(Product):
    """A query whose factors are not what it declares."""

    wrong: str = ""

    def factors(self, block):
        x, y = super().factors(block)
        return (x[:1], y) if self.wrong == "left" else (x, np.vstack([y, y]))


@pytest.mark.parametrize("wrong", ["left", "right"])
def test_other_factors_than_declared_are_refused(wrong):
    block = ArrayBlock(np.ones((2, 3)), np.ones(3))
    with pytest.raises(TypeError, match="the factors of query 'product' differ from their declaration"):
        product_parts(_Wrong(2, 1.0, 1.0, wrong=wrong), block)
    square = Square(2, 1.0)
    square.factors = lambda block: (block.x.copy(), block.x.copy())
    with pytest.raises(TypeError, match="the factors of query 'square' differ from their declaration"):
        product_parts(square, block)


@given(st.lists(st.integers(-(2**53), 2**53), min_size=1, max_size=5), st.integers(1, 30))
@settings(max_examples=60, deadline=None)
def test_pairs_of_integers_carry_sums_exactly(entries, worth):
    runs = np.array([[float(entry)] for entry in entries])
    pair = carried(runs)
    assert exact_sum(pair)[0] == sum(entries)
    assert (pair[1] >= 0).all()
    assert pair[1, 0] < len(entries) * 2**26
    two = np.concatenate([pair, 3 * pair])
    assert exact_sum(two, worth)[0] == (sum(entries) << worth) + 3 * sum(entries)
    assert exact_sum(two)[0] == (sum(entries) << 22) + 3 * sum(entries)


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
    # The finest output but the first: 2^-10 has 10 bits more than 1, and what is nothing has no say.
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
    rows, eta, length = linear.predictor_and_length(block)
    assert rows.tolist() == (np.vstack([np.ones(30), x]) * 2.0**linear.row_bits).tolist()
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
    assert 2.0 ** (linear_map.ROW_BITS + mapped._DIGIT_BITS) * mapped._EXACT_ROWS == 2.0**53
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


def test_weighted_contributions_are_clipped_first():
    rows = RNG.uniform(-2, 2, (3, 20))
    norms = np.linalg.norm(rows, axis=0)
    weight = np.linspace(0, 1, 20)
    cut = rows * 1.5 / np.maximum(norms, 1.5)
    for query, part in (
        (Square(3, 1.5), np.sqrt(weight)),
        (Product(3, 1.5, 1.0), weight),
        (SimpleNamespace(geometry="printed_square", left_norm=1.5), np.sqrt(weight)),
        (SimpleNamespace(geometry="square", left_norm=1.5, weighs_squares=True), weight),
        (SimpleNamespace(geometry="square", left_norm=1.5, weighs_squares=False), np.sqrt(weight)),
    ):
        factor = rows.copy()
        weigh(query, factor, weight)
        np.testing.assert_allclose(factor, cut * part, rtol=1e-14)
    lengths, numbers = np.array([0.0, 0.5, 1.0, 4.0]), np.array([9.0, -9.0, 0.5, 2.0])
    found = weigh_cut(numbers, lengths, 2.0, 0.25, np.array([1.0, 0.5, 0.5, 0.25]))
    assert found.tolist() == [8.0, -2.0, 0.25, 0.125]
    assert whole_row_weights(np.array([1.0, 0.5, np.nan, 1e-7])).tolist() == [2.0**20, 2.0**19, 0.0, 0.0]


@dataclass
class WeightedBlock(ArrayBlock):
    weight: np.ndarray | None = None


def test_rows_of_weight_one_half_count_half_in_every_geometry():
    x, y = np.array([[0.5, 0.25]]), np.array([1.0, 0.5])
    cells = SimpleNamespace(label="cells", geometry="cells", shape=(2, 1), left_norm=1.0, right_norm=1.0)
    cells.factors = lambda block: (np.array([[0, 1]]), np.ones((1, 2)))
    linear = LinearMap(np.array([[0.0, 0.0], [0.0, 1.0]]))
    mapped = GradientSum(linear, Labels(0.0, 1.0), lambda y, eta, length: y, 1.0, 1.0)
    for query in (Square(1, 1.0), Product(1, 1.0, 1.0), Product(1, 1.0, 1.0, geometry="nonnegative"), cells, mapped):
        unit = left_grid(query)[0] * right_grid(query)[0]
        sums = [
            query_sum(query, product_parts(query, WeightedBlock(x, y, weight=weight))).astype(float) / unit
            for weight in (None, np.ones(2), np.array([0.5, 0.5]), np.array([0.5, np.nan]))
        ]
        np.testing.assert_allclose(sums[1], sums[0], atol=1e-9)
        np.testing.assert_allclose(sums[2], sums[0] / 2, atol=1e-9)
        alone = query_sum(query, product_parts(query, WeightedBlock(x, y, weight=np.array([0.5, 0.0]))))
        np.testing.assert_allclose(sums[3], alone.astype(float) / unit, atol=1e-9)


def test_rows_used():
    assert RowsUsed.seen(-5.0, 1.0, 100) == RowsUsed(0.0, 1.0, 100)
    assert RowsUsed.seen(105.0, 1.0, 100) == RowsUsed(100.0, 1.0, 100)
    assert RowsUsed.seen(105.0, 1.0, None) == RowsUsed(105.0, 1.0)
    assert RowsUsed(10.25, 2.0).most == 17
    # At three standard deviations a count is still taken for none; above, it is not.
    assert RowsUsed(6.0, 2.0, 100).none
    assert not RowsUsed(6.01, 2.0, 100).none
    assert RowsUsed(6.0, 2.0).none
    assert not RowsUsed(6.0, 2.0, 12).none  # 12 are all of them
    assert RowsUsed(6.0, 2.0, 12).unclear
    assert RowsUsed(6.0, 2.0, 13).none
    assert not RowsUsed(6.0, 2.0, 13).unclear
    assert not RowsUsed(6.5, 2.0, 12).unclear
    assert str(RowsUsed(6.0, 2.0, 100)) == "6 (std err 2): no row was usable, or at most 12 were"
    assert str(RowsUsed(6.0, 2.0, 12)) == "6 (std err 2): too noisy to tell whether any row was usable"
    assert str(RowsUsed(90.0, 2.0, 100)) == "90 (std err 2)"


def test_an_answer_knows_the_variance_of_every_entry():
    answer = Answer(np.zeros((2, 2)), 3.0)
    assert answer.noise_variance.tolist() == [[9.0, 9.0], [9.0, 9.0]]
    assert not answer.isotropic
    assert Answer(np.zeros((2, 2)), 3.0, True).noise_variance.tolist() == [[9.0, 4.5], [4.5, 9.0]]


def test_coded_columns():
    coded = Coded.of(["a", b"a", "b", "a", None, 2.5, float("nan"), np.float64(2.5), 2, True])
    assert coded.codes.tolist() == [0, 1, 2, 0, 3, 4, 3, 5, 6, 7]
    assert coded.distinct.dtype == object
    assert len(coded) == 10
    some = coded[2:5]
    assert (some.codes.tolist(), some.distinct is coded.distinct) == ([2, 0, 3], True)
    assert coded.map(lambda cells: np.array([len(str(cell)) for cell in cells])).tolist()[:3] == [1, 4, 1]
    assert len(Coded.of([])) == 0


def test_hashes_of_rows_are_fixed_numbers():
    """They are kept in files: another hash would not find what was written."""
    columns = np.array([[0.0, -0.0, 1.5, np.nan], [2.0, 2.0, np.nan, -1.0]])
    hashes = row_hashes(list(columns), 4)
    assert hashes.tolist() == row_hashes([columns], 4).tolist()
    assert hashes[0] == hashes[1]
    mask = 2**64 - 1

    def folded(state: int, word: int) -> int:
        state = (state ^ word) * 0xBF58476D1CE4E5B9 & mask
        state = (state ^ state >> 29) * 0x94D049BB133111EB & mask
        return state ^ state >> 32

    for row in range(4):
        state = 0x9E3779B97F4A7C15
        for cell in columns[:, row]:
            word = 0x7FF8000000000000 if np.isnan(cell) else int(np.float64(cell + 0.0).view(np.uint64))
            state = folded(state, word)
        assert int(hashes[row]) == state
    words = np.array([1, 2], dtype=np.uint64)
    state = np.array([3, 4], dtype=np.uint64)
    fold_cells(state, words)
    assert state.tolist() == [folded(3, 1), folded(4, 2)]
    assert row_hashes([], 2).tolist() == [0x9E3779B97F4A7C15] * 2


def test_encoding_clips_centres_and_scales():
    table = np.array([[5.0, -3.0], [1.0, 0.5], [-9.0, 2.0]])
    low, high, centre, per_unit = (
        np.array([0.0, -1.0]),
        np.array([4.0, 1.0]),
        np.array([2.0, 0.0]),
        np.array([0.5, 1.0]),
    )
    expected = [[1.0, -0.5, -1.0], [-1.0, 0.5, 1.0]]
    for one in (table, np.asfortranarray(table), table.astype(np.float32)):
        out = np.empty((2, 3))
        encode_table(one, low, high, centre, per_unit, out)
        assert out.tolist() == expected
        encode_table(one, low, high, centre, per_unit, out, 4.0)
        assert out.tolist() == (4 * np.array(expected)).tolist()
    lines = np.array(expected) / 3
    whole_numbers(lines, 8.0)
    assert lines.tolist() == np.rint(np.array(expected) * 8 / 3).tolist()


def test_rows_are_shortened_to_the_radius():
    x = np.array([[3.0, 0.5], [4.0, 0.0]])
    shrink = shorten(x, np.array([0.0, 0.0]), 2.0, 5.0)
    assert shrink.tolist() == [0.5, 1.0]
    assert x.tolist() == [[3.0, 1.0], [4.0, 0.0]]
    assert column_norms(x).tolist() == [5.0, 1.0]


def test_scratch_memory_is_used_again_for_the_same_role():
    first = scratch("a test", (3, 3))
    assert np.shares_memory(scratch("a test", (3, 3)), first)
    assert np.shares_memory(scratch("a test", (2, 3)), first)
    assert not np.shares_memory(scratch("another test", (3, 3)), first)
    larger = scratch("a test", (4, 3))
    assert (larger.shape, larger.flags.c_contiguous) == ((4, 3), True)
    assert np.shares_memory(scratch("a test", (3, 3)), larger)


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
    # Losses 0, .75, none and .5 of the first; .5, 0, 1 and 2 (cut to 1) of the second; a row without one adds nothing.
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
