"""Sums of scores: contributions keep their declared norms, and depend on their own row to the last
bit.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.glm import ClippedScore, Family, Gamma, Link, family, link
from discreet.glm.families import FAMILIES
from discreet.rows import (
    CurvatureSum,
    ExposureSum,
    Labels,
    LinearMap,
    MappedMoment,
    WholeBlock,
    left_grid,
    product_parts,
    query_sum,
    score_sum,
)
from discreet.rows.gradient import GradientSum

PAIRS = [(one, link(name)) for one in FAMILIES.values() for name in one.allowed_links]
NAMES = [f"{one.name}-{other.name}" for one, other in PAIRS]
WIDTH = 5


@dataclass
class GlmBlock(WholeBlock):
    """Encoded rows with labels and, perhaps, log exposures."""

    x: np.ndarray
    y: np.ndarray
    offset: np.ndarray | None = None
    memory: dict = field(default_factory=dict)

    @property
    def records(self) -> int:
        return self.x.shape[1]

    def write_x(self, out: np.ndarray) -> None:
        out[:] = self.x

    def write_whole(self, out: np.ndarray, scale: float) -> None:
        out[0] = scale
        out[1:] = np.rint(self.x * scale)

    def part(self, rows) -> GlmBlock:
        return GlmBlock(self.x[:, rows], self.y[rows], None if self.offset is None else self.offset[rows])


def label_range(one: Family) -> Labels:
    low, high = {"gaussian": (-3.0, 5.0), "bernoulli": (0.0, 1.0), "gamma": (0.01, 40.0)}.get(one.name, (0.0, 30.0))
    return Labels((low + high) / 2, (high - low) / 2)


def block_of(rng: np.random.Generator, one: Family, records: int, exposed: bool = False) -> GlmBlock:
    x = rng.uniform(-1, 1, (WIDTH, records))
    x[:, rng.random(records) < 0.2] = rng.choice([-1.0, 1.0], WIDTH)[:, np.newaxis]
    y = rng.uniform(-1, 1, records)
    corners = rng.random(records) < (1.0 if one.name == "bernoulli" else 0.3)
    y[corners] = rng.choice([-1.0, 1.0], corners.sum())
    return GlmBlock(x, y, np.log(rng.uniform(0.01, 50, records)) if exposed else None)


def map_of(rng: np.random.Generator, far: float = 1.0, negative: bool = False) -> LinearMap:
    """The predictor (perhaps below 0, where the gamma's canonical link has a meaning), then six
    coordinates.
    """
    matrix = rng.normal(size=(WIDTH + 2, WIDTH + 1))
    matrix[0] *= far * 0.3
    if negative:
        matrix[0, 0] = -np.abs(matrix[0]).sum()
    matrix[1] = np.eye(WIDTH + 1)[0]
    return LinearMap(matrix)


def queries(one: Family, other: Link, linear: LinearMap, radius: float, clip: float):
    labels = label_range(one)
    score = ClippedScore(one, other, labels.low, labels.high, 0.7)
    yield score_sum(linear, labels, score.score, radius, clip)
    yield CurvatureSum(linear, labels, score.score, score.slope, radius, clip, 1.3, 0.9, 0.4)
    yield MappedMoment(LinearMap(linear.matrix[1:]), labels, 0.3, 0.9, 2.5, 0.5, radius)


# Elementwise functions: f(array)[i] is f(array[i]), whichever SIMD lane or tail the entry falls
# into.


def elementwise(one: Family, other: Link):
    labels = label_range(one)
    score = ClippedScore(one, other, labels.low, labels.high, 0.7)
    return {
        "mean": lambda y, eta, bound: other.mean(eta),
        "slope": lambda y, eta, bound: other.slope(eta),
        "relative slope": lambda y, eta, bound: other.relative_slope(eta),
        "variance": lambda y, eta, bound: one.variance(other.mean(eta)),
        "gain": lambda y, eta, bound: one.gain(eta, other),
        "score": lambda y, eta, bound: one.score(y, eta, other),
        "weight": lambda y, eta, bound: one.weight(eta, other),
        "deviance": lambda y, eta, bound: one.deviance(y, other.mean(eta)),
        "clipped score": score.score,
        "clipped slope": score.slope,
    }


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=NAMES)
def test_no_function_of_a_row_depends_on_where_the_row_stands(one, other):
    rng = np.random.default_rng(3)
    labels, records = label_range(one), 1003
    y = rng.uniform(labels.low, labels.high, records)
    eta = np.concatenate([rng.normal(0, 2, 900), rng.normal(0, 40, 100), [-800.0, 0.0, 800.0]])
    eta = -np.abs(eta) if other.name == "negative_inverse" else eta
    bound = 10.0 ** rng.uniform(-2, 3, records)
    for name, function in elementwise(one, other).items():
        whole = function(y, eta, bound)
        some = [*range(0, records, 7), *range(records - 3, records)]
        alone = np.array([function(y[i : i + 1], eta[i : i + 1], bound[i : i + 1])[0] for i in some])
        assert np.array_equal(whole[some], alone, equal_nan=True), name
        for start in (1, 2, 3, 5):  # slices that are not aligned, of lengths with every tail
            for length in (2, 3, 4, 7, 8, 9, 15, 17, 31, 63, 999):
                rows = slice(start, start + length)
                assert np.array_equal(function(y[rows], eta[rows], bound[rows]), whole[rows], equal_nan=True), name
        strided = tuple(np.repeat(part, 3)[::3] for part in (y, eta, bound))
        assert np.array_equal(function(*strided), whole, equal_nan=True), name
        back = tuple(part[::-1] for part in (y, eta, bound))
        assert np.array_equal(function(*back)[::-1], whole, equal_nan=True), name


@pytest.mark.parametrize("exposed", [False, True], ids=["plain", "exposed"])
@pytest.mark.parametrize(("one", "other"), PAIRS, ids=NAMES)
def test_no_contribution_depends_on_the_rows_beside_it(one, other, exposed):
    rng = np.random.default_rng(4)
    block = block_of(rng, one, 333, exposed)
    for query in queries(one, other, map_of(rng), 1.5, 0.8):
        left, right = (factor.copy() for factor in query.factors(block))
        for start, stop in [(0, 1), (1, 2), (5, 12), (13, 333), (332, 333), (100, 117)]:
            part = query.factors(block.part(slice(start, stop)))
            assert np.array_equal(part[0], left[:, start:stop])
            assert np.array_equal(part[1], right[:, start:stop])


@given(st.integers(0, 2**32 - 1), st.sampled_from(range(len(PAIRS))), st.lists(st.integers(0, 600), max_size=6))
@settings(max_examples=60, deadline=None)
def test_neither_order_nor_blocks_change_a_bit_of_a_sum(seed, pair, cuts):
    rng = np.random.default_rng(seed)
    block = block_of(rng, PAIRS[pair][0], 600, exposed=seed % 2 == 0)
    order = rng.permutation(600)
    edges = [0, *sorted(cuts), 600]
    for query in queries(*PAIRS[pair], map_of(rng), 1.5, 0.8):
        parts = [product_parts(query, block.part(order[a:b])) for a, b in itertools.pairwise(edges)]
        total = functools.reduce(np.add, parts)
        assert (query_sum(query, total) == query_sum(query, product_parts(query, block))).all()


# Norms: what a query writes is within its declaration by itself, up to the correction that the
# grid's clip then cuts.


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(range(len(PAIRS))),
    st.floats(0.05, 50),
    st.floats(1e-3, 1e3),
    st.floats(0.1, 100),
)
@settings(max_examples=150, deadline=None)
def test_contributions_keep_their_declared_norms(seed, pair, radius, clip, far):
    rng = np.random.default_rng(seed)
    one, other = PAIRS[pair]
    block = block_of(rng, one, 200, exposed=seed % 2 == 0)
    for query in queries(one, other, map_of(rng, far), radius, clip):
        left, right = query.factors(block)
        assert np.isfinite(left).all()
        assert (len(left), len(right)) == query.shape
        if isinstance(query, GradientSum):  # the bound is on the two together
            left, right = left * right, np.ones_like(right)
        # Giving back what a cut takes from the mean can add as much as the bound again.
        room = 2.0 if isinstance(query, GradientSum) and one.name in ("poisson", "gamma", "negative_binomial") else 1.0
        assert np.linalg.norm(left, axis=0).max() <= room * query.left_norm * (1 + 1e-9)
        assert np.linalg.norm(right, axis=0).max() <= query.right_norm * (1 + 1e-9)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(range(len(PAIRS))),
    st.floats(1e-6, 1e6),
    st.floats(1e-6, 1e6),
    st.floats(1e-12, 1e12),
)
@settings(max_examples=150, deadline=None)
def test_no_row_moves_a_gradient_by_more_than_its_grid_says(seed, pair, radius, clip, spread):
    """In whole numbers, so without any rounding: also where coordinates differ by many powers of
    ten.
    """
    rng = np.random.default_rng(seed)
    one, other = PAIRS[pair]
    block = block_of(rng, one, 12, exposed=seed % 2 == 0)
    linear = map_of(rng, far=10.0)
    linear = LinearMap(linear.matrix * np.geomspace(1, spread, WIDTH + 2)[:, np.newaxis])
    query = next(iter(queries(one, other, linear, radius, clip)))
    unit, bound = left_grid(query)
    left, right = (factor.copy() for factor in query.factors(block))
    for i in range(block.records):
        whole = query_sum(query, product_parts(query, block.part(slice(i, i + 1))))[:, 0]
        assert sum(entry * entry for entry in whole) <= Fraction(bound) ** 2
        # And it is the contribution that the factors declare, cut to its bound; very short rows are
        # cut more.
        if np.linalg.norm(left[:, i]) < radius / 1e4:
            continue
        declared = left[:, i] * right[0, i]
        declared *= min(1.0, clip / max(np.linalg.norm(declared), 1e-300))
        far = max(1.0, np.linalg.norm(left[:, i]) / radius)
        assert whole.astype(float) / unit == pytest.approx(declared, rel=1e-9, abs=2.0**-30 * clip * far)


def test_a_gradient_at_another_point_sees_the_same_lengths():
    """Lengths are remembered with the rows; the memory must notice when coordinates change, and
    only then.
    """
    rng = np.random.default_rng(8)
    block, labels = block_of(rng, family("poisson"), 90), label_range(family("poisson"))
    score = ClippedScore(family("poisson"), link("log"), labels.low, labels.high).score
    first = map_of(rng)
    moved, turned = first.matrix.copy(), first.matrix.copy()
    moved[0] += 0.1
    turned[2] *= 0.5
    for matrix in (first.matrix, moved, turned, moved, first.matrix):
        query = score_sum(LinearMap(matrix), labels, score, 1.5, 0.8)
        fresh = query_sum(query, product_parts(query, block.part(slice(None))))
        assert (query_sum(query, product_parts(query, block)) == fresh).all()


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=NAMES)
def test_a_short_row_with_a_small_score_is_not_cut(one, other):
    rng = np.random.default_rng(5)
    block = block_of(rng, one, 50)
    linear, labels = map_of(rng, negative=other.name == "negative_inverse"), label_range(one)
    low = 0.0 if isinstance(one, Gamma) or one.name == "poisson" else -1e9
    query = score_sum(linear, labels, ClippedScore(one, other, low, 1e9).score, 1e6, 1e9)
    mapped = linear.apply(block).copy()
    expected = mapped[1:] * one.score(labels.of(block), mapped[0], other)
    scale = np.abs(expected).max()
    assert np.multiply(*query.factors(block)) == pytest.approx(expected, rel=1e-6, abs=1e-9 * scale)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("one", "other"), PAIRS, ids=NAMES)
def test_a_label_or_feature_that_is_no_number_contributes_nothing_and_warns_of_nothing(one, other, value):
    rng = np.random.default_rng(6)
    block = block_of(rng, one, 40, exposed=True)
    odd = np.array([3, 17, 25])
    block.x[1, 3], block.y[17], block.offset[25] = np.nan, np.nan, value
    kept = np.setdiff1d(np.arange(40), odd)
    for query in queries(one, other, map_of(rng), 1.5, 0.8):
        # An infinite predictor saturates, and the moment does not look at it.
        kept_here = np.union1d(kept, [25]) if isinstance(query, MappedMoment) or math.isinf(value) else kept
        total = query_sum(query, product_parts(query, block.part(slice(None))))
        assert (total == query_sum(query, product_parts(query, block.part(kept_here)))).all()


def test_the_sum_of_exposures_is_that_of_the_rows():
    rng = np.random.default_rng(7)
    block = block_of(rng, family("poisson"), 500, exposed=True)
    left, right = ExposureSum(50.0).factors(block)
    assert float(left[0] @ right[0]) * 50 == pytest.approx(np.exp(block.offset).sum(), rel=1e-12)
    assert right.max() <= 1 + 1e-12
    with pytest.raises(TypeError, match="no exposure"):
        ExposureSum(50.0).factors(replace(block, offset=None))
