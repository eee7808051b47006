"""Sums of products on the grid, against whole numbers computed one by one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import ArrayBlock, Product, Square

from discreet.rows import (
    Labels,
    LinearMap,
    grid_norm,
    grid_scale,
)
from discreet.rows.carries import carried, exact_sum
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
