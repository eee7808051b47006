"""Weights, counts, hashes, encoding and clipping of rows, against exact numbers."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
from tables import ArrayBlock, Product, Square

from discreet.rows import (
    Answer,
    Labels,
    LinearMap,
    RowsUsed,
)
from discreet.rows.columns import Coded
from discreet.rows.gradient import GradientSum
from discreet.rows.grid import (
    left_grid,
    product_parts,
    query_sum,
    right_grid,
)
from discreet.rows.hashing import digest_of, row_hashes
from discreet.rows.kernels import column_norms, encode_table, fold_cells, scratch, shorten, whole_numbers
from discreet.rows.weighted import weigh, weigh_cut
from discreet.rows.weighted import whole_weights as whole_row_weights

RNG = np.random.default_rng(5)


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


def test_a_digest_changes_with_any_cell_and_not_with_the_order_of_rows():
    rng = np.random.default_rng(3)
    numbers, words = rng.standard_normal((3, 50)), rng.integers(0, 2**63, 50).astype(np.uint64)
    numbers[0, :2] = 0.0, np.nan
    known = digest_of([*numbers, words], 50, None)
    order = rng.permutation(50)
    assert digest_of([*numbers[:, order], words[order]], 50, None) == known
    halves = np.arange(50) < 20
    some = [digest_of([*numbers, words], 50, used) for used in (halves, ~halves)]
    assert sum(some) % 2**64 == known
    assert digest_of([*numbers[:, :20], words[:20]], 20, None) == some[0]
    alike = numbers.copy()
    alike[0, :2] = -0.0, -np.abs(np.nan)
    assert digest_of([*alike, words], 50, None) == known
    found = {known, digest_of([numbers[1], numbers[0], numbers[2], words], 50, None)}
    for row in range(50):
        for column in range(4):
            others, codes = numbers.copy(), words.copy()
            if column < 3:
                others[column, row] = np.nextafter(others[column, row], 9.0) if row != 1 or column else 1.0
            else:
                codes[row] ^= np.uint64(1 << row)
            found.add(digest_of([*others, codes], 50, None))
    swapped = numbers.copy()
    swapped[1, [4, 5]] = numbers[1, [5, 4]]  # the same cells in other rows
    found.add(digest_of([*swapped, words], 50, None))
    assert len(found) == 3 + 200


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
