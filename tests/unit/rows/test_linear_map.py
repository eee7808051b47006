"""Linear maps of rows: each row's outputs depend on the row alone, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import ArrayBlock, blocks

from discreet.rows import LinearMap
from discreet.rows.look import one_look, shared


def rows(rng: np.random.Generator, width: int, records: int) -> ArrayBlock:
    """Encoded rows: numbers in [-1, 1], among them the ends, zero and indicators."""
    x = np.where(
        rng.random((width, records)) < 0.2,
        rng.choice([-1.0, 0.0, 1.0, 2.0**-30], (width, records)),
        rng.uniform(-1, 1, (width, records)),
    )
    return ArrayBlock(x, np.zeros(records))


def matrix(rng: np.random.Generator, outputs: int, width: int) -> np.ndarray:
    """Rows of very different length, one of them zero."""
    entries = rng.normal(size=(outputs, width + 1)) * 10.0 ** rng.uniform(-6, 6, (outputs, 1))
    entries[rng.integers(outputs)] = 0.0
    return entries


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 12), st.lists(st.integers(0, 700), max_size=8))
@settings(max_examples=60, deadline=None)
def test_no_cut_into_blocks_changes_a_bit(seed, width, outputs, cuts):
    rng = np.random.default_rng(seed)
    block, linear = rows(rng, width, 700), LinearMap(matrix(rng, outputs, width))
    whole = linear.apply(block).copy()
    pieces = [linear.apply(piece).copy() for piece in blocks(block, cuts)]
    assert np.array_equal(np.hstack(pieces), whole)


def test_a_row_alone_has_the_bits_that_it_has_among_others():
    rng = np.random.default_rng(0)
    block, linear = rows(rng, 9, 300), LinearMap(matrix(rng, 5, 9))
    whole = linear.apply(block).copy()
    for i in range(block.records):
        alone = ArrayBlock(block.x[:, i : i + 1], block.y[:1])
        assert np.array_equal(linear.apply(alone)[:, 0], whole[:, i])


@given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_it_is_the_matrix_product_to_its_rounding(seed, width, outputs):
    rng = np.random.default_rng(seed)
    block, linear = rows(rng, width, 50), LinearMap(matrix(rng, outputs, width))
    ones = np.vstack([np.ones(50), block.x])
    largest = np.abs(linear.matrix).max(axis=1, keepdims=True)
    # Of 52 bits, the sum takes log2(width + 1) and the two factors share the rest: half a unit of
    # each for each entry.
    bits = (52 - np.ceil(np.log2(width + 1))) // 2
    assert (np.abs(linear.apply(block) - linear.matrix @ ones) <= 2 * (width + 1) * 2.0**-bits * largest).all()
    assert (np.abs(linear.rounded - linear.matrix) <= 2.0**-bits * largest).all()


@given(st.integers(0, 2**32 - 1), st.integers(1, 60))
@settings(max_examples=30, deadline=None)
def test_outputs_are_exact_for_the_rounded_matrix(seed, width):
    """On rows that lie on the grid already, the result is that of rational arithmetic: nothing is
    ever rounded.
    """
    from fractions import Fraction

    rng = np.random.default_rng(seed)
    linear = LinearMap(matrix(rng, 3, width))
    block = ArrayBlock(rng.integers(-(2**20), 2**20, (width, 4)) * 2.0**-20, np.zeros(4))
    got = linear.apply(block)
    for i in range(3):
        for j in range(4):
            column = [1.0, *block.x[:, j]]
            exact = sum(Fraction(m) * Fraction(v) for m, v in zip(linear.rounded[i], column, strict=True))
            assert Fraction(got[i, j]) == exact


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("width", [1, 4, 33])
def test_a_nan_stays_in_its_row(width):
    rng = np.random.default_rng(1)
    block, linear = rows(rng, width, 400), LinearMap(matrix(rng, 6, width))
    clean = linear.apply(block).copy()
    odd = rng.random(400) < 0.1
    block.x[rng.integers(width, size=odd.sum()), np.flatnonzero(odd)] = np.nan
    got = linear.apply(block)
    assert np.array_equal(got[:, ~odd], clean[:, ~odd])
    assert np.isnan(got[:, odd]).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [0.0, 5e-324, 1e-308, 1e-300, 1e-200, 1e200, 1e300])
def test_matrices_of_any_size_give_finite_outputs(size):
    block = rows(np.random.default_rng(2), 3, 20)
    entries = np.array([[0.5, -1.0, 0.25, 1.0]]) * size
    got = LinearMap(entries).apply(block)
    assert np.isfinite(got).all()
    assert (np.abs(got) <= 3 * size).all()


class Counted(ArrayBlock):
    """A block that knows how often its rows were written."""

    written, offset = 0, None

    def write_x(self, out):
        self.written += 1
        super().write_x(out)


def test_queries_of_one_pass_share_a_look_and_no_other_block_is_taken_for_it():
    rng = np.random.default_rng(4)
    first, second = (Counted(rows(rng, 6, 200).x, np.zeros(200)) for _ in range(2))
    linear, other = LinearMap(matrix(rng, 4, 6)), LinearMap(matrix(rng, 4, 6))
    for block in (first, second):
        with one_look(block):
            for one in (linear, LinearMap(linear.matrix.copy()), other, linear):
                mapped, length = one.seen(block)
                expected = one.apply(ArrayBlock(block.x, block.y)).copy()
                again, norms = one.seen(block)  # the scratch memory was written in between
                assert np.array_equal(again, expected)
                assert np.array_equal(length, norms)
    with one_look(first):
        linear.seen(first)
        before = first.written
        for _ in range(3):
            mapped, _ = LinearMap(linear.matrix.copy()).seen(first)
        assert first.written == before
        with pytest.raises(ValueError, match="read-only"):
            mapped[0] = 0.0
        eta, _ = linear.predictor_and_length(second)
        assert np.array_equal(eta, LinearMap(linear.matrix).apply(ArrayBlock(second.x, second.y))[0])
        assert np.array_equal(linear.whole_lines(second)[1:], np.rint(second.x * 2.0**linear.row_bits))
        eta, _ = linear.predictor_and_length(first)
        assert np.array_equal(eta, linear.apply(ArrayBlock(first.x, first.y))[0])
        assert np.array_equal(linear.whole_lines(first)[1:], np.rint(first.x * 2.0**linear.row_bits))
    first.x *= 0.5  # nobody looks at it now, so it may change
    assert np.array_equal(linear.seen(first)[0], linear.apply(first))


def test_what_queries_have_in_common_is_computed_once_a_look():
    rng = np.random.default_rng(5)
    first, second = rows(rng, 3, 10), rows(rng, 3, 10)
    computed = []

    def answer(name):
        return shared(name, lambda: computed.append(name) or len(computed))

    with one_look(first):
        assert [answer("a"), answer("b"), answer("a")] == [1, 2, 1]
        with one_look(second):  # another block's answers are its own
            assert answer("a") == 3
    with one_look(first):
        assert answer("a") == 4
    assert [answer("a"), answer("a")] == [5, 6]  # nobody looks, so nothing is kept
