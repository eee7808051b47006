"""How far one person can move a sum: never farther than ``reach``, and the worst pair almost so
far.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import ArrayBlock

from discreet.rows import (
    Labels,
    LinearMap,
    PowerSums,
    SecondMoment,
    column_norms,
    count_units,
    left_grid,
    product_parts,
    query_sum,
    reach,
    right_grid,
)
from discreet.rows.gradient import LabelProfile
from discreet.rows.histograms import Look
from discreet.rows.query import SummedRows

WIDTH = 3


def contributions(geometry: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Sums of k rows' outer products of norm at most 1 each, for many persons at once: persons x k
    x WIDTH factors.
    """

    def clipped(factor: np.ndarray) -> np.ndarray:
        factor = np.maximum(factor, 0) if geometry == "nonnegative" else factor
        return factor / np.maximum(1, np.linalg.norm(factor, axis=-1, keepdims=True))

    left, right = clipped(left), clipped(left if geometry == "square" else right)
    return np.einsum("pki,pkj->pij", left, right)


def moved(geometry: str, neighbours: str, people: np.ndarray) -> np.ndarray:
    """How far each pair of persons (before, after) moves the sum; 4 x pairs x k x WIDTH factors."""
    before = contributions(geometry, people[0], people[1])
    after = contributions(geometry, people[2], people[3])
    change = before if neighbours == "add_or_remove_one" else before - after
    return np.linalg.norm(change, axis=(1, 2))


@pytest.mark.parametrize("rows_per_person", [1, 3])
@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("geometry", ["square", "nonnegative", "free"])
def test_no_pair_moves_the_sum_farther_than_reach_and_the_worst_almost_so_far(geometry, neighbours, rows_per_person):
    limit = reach(geometry, neighbours, 1.0, rows_per_person)
    rng = np.random.default_rng(0)
    shape = (4, 4000, rows_per_person, WIDTH)
    people = rng.standard_normal(shape) * 10.0 ** rng.uniform(-1, 1, shape[:3])[..., np.newaxis]
    farthest = moved(geometry, neighbours, people)
    assert farthest.max() <= limit * (1 + 1e-12)
    # From the best of them, climb by random steps that are kept when they help.
    best, step = people[:, np.argsort(farthest)[-200:]], 0.5
    for _ in range(600):
        trial = best + step * rng.standard_normal(best.shape)
        better = moved(geometry, neighbours, trial) > moved(geometry, neighbours, best)
        best = np.where(better[np.newaxis, :, np.newaxis, np.newaxis], trial, best)
        step = max(0.02, step * 0.995)
    # The worst pair that theory names, with everything else at random.
    worst = np.zeros((4, 1, rows_per_person, WIDTH))
    worst[0, ..., 0] = worst[1, ..., 0] = 1
    worst[2, ..., 1 if geometry != "free" else 0] = 1 if geometry != "free" else -1
    worst[3, ..., 1 if geometry != "free" else 0] = 1
    reached = max(moved(geometry, neighbours, best).max(), moved(geometry, neighbours, worst).max())
    assert 0.99 * limit <= reached <= limit * (1 + 1e-12)
    assert moved(geometry, neighbours, best).max() >= 0.9 * limit  # the search alone comes near


def test_reach_is_what_the_papers_page_states():
    assert reach("square", "replace_one", 9.0) == pytest.approx(math.sqrt(2) * 9)
    assert reach("printed_square", "replace_one", 9.0) == pytest.approx(math.sqrt(2) * 9)
    assert reach("nonnegative", "replace_one", 9.0) == pytest.approx(math.sqrt(2) * 9)
    assert reach("free", "replace_one", 9.0) == 18
    for geometry in ("square", "nonnegative", "free"):
        assert reach(geometry, "add_or_remove_one", 9.0, 2) == 18


unit = st.floats(-1, 1)


@settings(max_examples=200, deadline=None)
@given(st.lists(unit, min_size=4, max_size=4), unit, st.floats(0.1, 3), st.booleans())
def test_no_row_of_the_domain_is_clipped_in_the_first_look(x, y, radius, with_x):
    x = np.array(x) * radius / 2  # |x| <= radius for every x in the cube
    for query, first in ((PowerSums(4, radius, with_x), 0), (PowerSums.counting(4, radius, with_x=with_x), 1)):
        _, right = query.factors(ArrayBlock(x[:, np.newaxis], np.array([y])))
        assert column_norms(right[first:])[0] <= query.right_norm * (1 + 1e-14)


def test_the_bound_of_the_first_look_is_reached():
    query = PowerSums(2, 1.5)
    _, right = query.factors(ArrayBlock(np.array([[1.5], [0.0]]), np.array([-1.0])))
    assert column_norms(right)[0] == pytest.approx(query.right_norm, rel=1e-14)


@pytest.mark.parametrize("query", [PowerSums(3, 1.0), PowerSums.counting(3, 1.0)])
def test_the_first_look_reads_back_means_when_there_is_no_noise(query):
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-0.5, 0.5, (3, 500)), rng.uniform(-1, 1, 500)
    left, right = query.factors(ArrayBlock(x, y))
    means = query.read(left @ right.T, 0.0)
    assert means.count == pytest.approx(500)
    assert (means.y, means.y_square) == pytest.approx((y.mean(), (y**2).mean()))
    assert means.x == pytest.approx(x.mean(axis=1))
    assert means.x_square == pytest.approx((x**2).sum(axis=0).mean())


@pytest.mark.parametrize("with_x", [True, False])
@pytest.mark.parametrize("missing", ["x", "y", "exposure"])
def test_an_incomplete_row_adds_nothing_to_any_first_look(missing, with_x):
    x, y, offset = np.zeros((2, 3)), np.zeros(3), np.zeros(3)
    {"x": x[1], "y": y, "exposure": offset}[missing][1] = np.nan
    looks = PowerSums(2, 1.0, with_x=with_x), PowerSums.counting(2, 1.0, with_x=with_x)
    for query in (*looks, Look(Labels(0.0, 1.0), 2, np.array([0.5]), np.empty(0))):
        left, right = query.factors(ArrayBlock(x, y, offset))
        silenced = np.isnan(left).any(axis=0) | np.isnan(right).any(axis=0)
        assert silenced.tolist() == [False, True, False]


def test_where_the_number_of_rows_is_public_only_rows_that_stand_clear_of_the_noise_are_missing():
    query = PowerSums(2, 1.0, with_x=False)

    def count(seen: float, noise: float) -> float:
        return query.read(np.array([[query.count_weight * seen, 0.0, 0.0]]), query.count_weight * noise, 1000).count

    assert count(1100, 50) == 1000
    assert count(400, 0.001) == pytest.approx(400)
    assert count(900, 100) == pytest.approx(1000 - 100 / 2)  # as many missing as the noise: half of them are believed
    assert count(900, 1e6) == pytest.approx(1000, rel=1e-3)
    assert count(-5000, 1.0) == 1.0


def grid_reach(query, neighbours: str) -> float:
    """The sensitivity of the exact sum in its grid's units, before the sum is rounded."""
    (left_scale, left), (_, right) = left_grid(query), right_grid(query)
    return reach(query.geometry, neighbours, left * right, 1, left_scale * count_units(query))


def exact_rows(query, blocks) -> np.ndarray:
    """The exact contribution of each one-row block, and of no row at all."""
    exact = [query_sum(query, product_parts(query, block)).ravel() for block in blocks]
    return np.array([*exact, 0 * exact[0]], dtype=object)


def farthest(exact: np.ndarray, neighbours: str) -> float:
    """How far exchanging two rows, or adding one, moves the sum; the last row is that of none."""
    others = exact[-1:] if neighbours == "add_or_remove_one" else exact
    return math.sqrt(max(int(((one - others) ** 2).sum(axis=1).max()) for one in exact))


def rows_of_every_kind(rng: np.random.Generator, width: int, radius: float, rows: int) -> list[ArrayBlock]:
    """Rows at the bounds, inside, outside, incomplete, infinite and zero."""
    x = rng.standard_normal((width, rows))
    x *= radius / np.linalg.norm(x, axis=0) * rng.choice([1.0, 1 + 2.0**-50, 0.7, 1e-9, 3.0, 1e200], rows)
    y = rng.choice([-1.0, 1.0, 0.0, 0.3, -1.5, 1e200, np.nan, np.inf], rows)
    x[0, rng.random(rows) < 0.1] = np.nan
    x[-1, rng.random(rows) < 0.05] = -np.inf
    end = np.full((width, 1), radius / math.sqrt(width))
    ends = [ArrayBlock(sign * end, np.array([label])) for sign in (1, -1) for label in (1.0, -1.0)]
    return ends + [ArrayBlock(x[:, i : i + 1], y[i : i + 1]) for i in range(rows)]


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize(("width", "radius"), [(1, 1.0), (4, 2.0), (30, math.sqrt(30))])
@pytest.mark.parametrize("with_x", [True, False])
def test_a_first_look_with_a_public_count_uses_its_reach_and_no_more(width, radius, with_x, neighbours):
    """On the grid, for every pair of 154 rows and none."""
    query = PowerSums.counting(width, radius, with_x=with_x)
    exact = exact_rows(query, rows_of_every_kind(np.random.default_rng(width), width, radius, 150))
    share = farthest(exact, neighbours) / grid_reach(query, neighbours)
    assert 1 - 1e-5 <= share <= 1
    complete = int(left_grid(query)[0]) * count_units(query)
    assert set(exact[:, 0]) == {0, complete}  # the count is exact: no rounding tells rows apart


@dataclass
class Hostile(SummedRows):
    """Claims the geometry of counted rows, and gives whatever it likes in every line."""

    head: np.ndarray
    body: np.ndarray
    count_weight: float
    label: str = "hostile"
    geometry: str = "counted"
    left_norm: float = 1.0
    right_norm: float = 1.0

    @property
    def shape(self):
        return 1, len(self.head) + len(self.body)

    def summed_rows(self, block):
        return self.head.copy(), self.body


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("count_weight", [0.25, 1.7, 5.0])
@pytest.mark.parametrize("lines", [1, 18])
def test_no_author_moves_a_counted_sum_farther_than_its_reach(lines, count_weight, neighbours):
    """Lines that are missing one by one, and values in the line of the count."""
    rng = np.random.default_rng(lines)
    exact, block = [], ArrayBlock(np.zeros((1, 1)), np.zeros(1))
    for _ in range(150):
        values = rng.standard_normal((2 + lines, 1)) * 10.0 ** rng.choice([-3, 0, 9, 200])
        values[rng.integers(2 + lines)] *= rng.choice([1.0, np.nan, np.inf])
        for sign in (1, -1):
            query = Hostile(sign * values[:2], sign * values[2:], count_weight)
            exact.append(query_sum(query, product_parts(query, block)).ravel())
    moved = farthest(np.array([*exact, 0 * exact[0]], dtype=object), neighbours)
    assert moved <= grid_reach(query, neighbours)
    assert moved >= 0.9 * grid_reach(query, neighbours)


def test_rows_that_count_by_a_weight_are_no_counted_rows():
    block = ArrayBlock(np.zeros((2, 3)), np.zeros(3))
    block.weight = np.ones(3)
    with pytest.raises(TypeError, match="count once"):
        product_parts(PowerSums.counting(2, 1.0), block)


def second_moment(radius: float, y_bound: float) -> SecondMoment:
    return SecondMoment(np.array([0.1, -0.2, 0.3]), 0.4, radius, 0.05, 0.5, y_bound, 0.7 * radius, 0.6 * radius)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), st.floats(-1e6, 1e6), st.floats(0.1, 5), st.floats(1, 9))
def test_no_row_at_all_is_clipped_in_the_second_moment(x, y, radius, y_bound):
    query = second_moment(radius, y_bound)
    row, again = query.factors(ArrayBlock(np.array(x)[:, np.newaxis], np.array([y])))
    assert row is again
    assert column_norms(row)[0] <= query.left_norm * (1 + 1e-14)


def test_the_bound_of_the_second_moment_is_reached():
    query = second_moment(1.0, 2.0)
    x = query.x_centre + np.array([query.x_scale, 0, 0])  # just at the radius, so nothing is shortened
    row, _ = query.factors(ArrayBlock(x[:, np.newaxis], np.array([1e3])))
    assert column_norms(row)[0] == pytest.approx(query.left_norm, rel=1e-12)


def test_a_row_of_a_label_profile_is_as_long_as_it_says_and_no_longer():
    profile = LabelProfile(LinearMap(np.ones((1, 2))), Labels(0.0, 1.0), np.array([0.0]), 0.0, 1.0)
    block = ArrayBlock(np.array([[-1.0, 1.0, 1.0]]), np.array([1.0, 1.0, 0.0]))
    cells, numbers = profile.factors(block)
    assert np.max(np.linalg.norm(cells, axis=0)) == profile.left_norm
    assert np.max(np.linalg.norm(numbers, axis=0)) == profile.right_norm
