"""One loop from cells to the sums of a descent's pass gives the bits of the steps one by one."""

from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest

from discreet.domain import Domain, Numeric
from discreet.domain.encoding import Encoder
from discreet.glm import Bernoulli, ClippedScore, Gaussian, Identity, Log, Logit, Poisson
from discreet.rows import (
    LinearMap,
    PowerSums,
    fused_loops,
    kernel_loops,
    kernels,
    law_loops,
    laws,
    look_loops,
)
from discreet.rows.gradient import BoundedSum, GradientSum, SizeHistogram, WeightedMoment
from discreet.rows.grid import parts_of_each, product_parts, query_sum, several_parts
from discreet.rows.histograms import ColumnHistograms
from discreet.rows.laws import Law, Rule
from discreet.rows.scores import Labels, MappedMoment

WIDTH = 17  # more than 16 entries have a grid of one half, whose squares a loop sums
LOOPS = {name: getattr(module, name) for module in (fused_loops, law_loops, look_loops) for name in module.NAMES}
LOOPS |= {name: getattr(kernel_loops, name) for name in ("square_sums", "weighted_squares")}
LAWS = {
    "gaussian": (Gaussian(), Identity(), (-3.0, 3.0), True),
    "bernoulli": (Bernoulli(), Logit(), (0.0, 1.0), True),
    "poisson": (Poisson(), Log(), (0.0, 7.0), True),
    "poisson without a centre": (Poisson(), Log(), (0.0, 7.0), False),
}


def queries(name: str, linear: LinearMap) -> list:
    """What a descent asks in its passes, with clip norms that some rows exceed."""
    family, link, (low, high), centred = LAWS[name]
    score = ClippedScore(family, link, low, high, 1.0, centred)
    law = Law(getattr(laws, name.split()[0].upper()), low, high, centred)
    labels = Labels((low + high) / 2, (high - low) / 2)

    def rule(what, function, *numbers):
        return Rule(function, law, what, *numbers)

    def clipped(y, eta, length):
        return score.score(y, eta, 2.0 / length)

    def level(y, eta, length):
        return score.score(y, eta, 4.0 / length) - score.score(y, eta, 2.0 / length)

    def root(y, eta, length):
        return np.sqrt(score.slope(y, eta, 2.0 / length))

    def size(y, eta, length):
        return np.where(family.weight(eta, link) > 0, score.size(y, eta) * length / 1.5, np.nan)

    def square(y, eta, length):
        return family.squared_residual(y, eta, link)

    def beyond(y, eta, length):
        return np.where(score.size(y, eta) < 2.0 / length, 0.0, 1 / length)

    edges = np.geomspace(0.1, 10, 9)
    asked = [
        SizeHistogram(linear, labels, rule(laws.SIZE, size, 1.5), edges),
        GradientSum(linear, labels, rule(laws.SCORE, clipped, 2.0), 2.0, 4.0),
        WeightedMoment(linear, labels, rule(laws.ROOT_SLOPE, root, 2.0), 1.7),
        GradientSum(linear, labels, rule(laws.SCORE, level, 4.0, 2.0), 2.0, 4.0),
        WeightedMoment(linear, labels, rule(laws.SCORE, clipped, 2.0), 2.0),
        GradientSum(linear, labels, rule(laws.CLIPPED, beyond, 2.0), 1.0, 4.0),
        SizeHistogram(linear, labels, rule(laws.LENGTH, lambda y, eta, length: length / 4.0 + 0 * y, 4.0), edges),
        MappedMoment(LinearMap(linear.matrix[1:]), labels, 0.1, 0.7, 2.0, 1.3, 4.0),
    ]
    if not family.dispersion_known:
        asked.append(BoundedSum(linear, labels, rule(laws.SQUARE, square), 1.2))
    return asked


def maps() -> list[LinearMap]:
    """All coefficients, and a triangle."""
    dense = np.random.default_rng(1).standard_normal((WIDTH + 2, WIDTH + 1)) / 3
    return [LinearMap(dense), LinearMap(np.tril(dense, 1))]


def blocks(name: str, records: int, missing: str):
    """The same rows by rows and by columns, some with odd cells and labels."""
    low, high = LAWS[name][2]
    columns = tuple(Numeric(f"x{i}", -1.0 - i / 7, 1.0) for i in range(WIDTH))
    code = Encoder(Domain(columns, missing=missing), Numeric("y", low, high))
    rng = np.random.default_rng(records)
    x, y = rng.uniform(-1.5, 1.5, (records, WIDTH)), np.rint(rng.uniform(low - 1, high + 1, records))
    for cells in (x, y):
        odd = rng.random(cells.shape) < 0.02
        cells[odd] = rng.choice([np.nan, np.inf, -np.inf, -0.0, 1e300], odd.sum())
    return [code.encode(x, y), code.encode(np.asfortranarray(x), y)]


@lru_cache(maxsize=1)
def _compiled() -> SimpleNamespace:
    return kernels._compiled(pytest.importorskip("numba"))


@pytest.fixture(params=["as written", "compiled"])
def loops(request, monkeypatch):
    """Switches loops on."""
    if request.param == "compiled":
        chosen = _compiled()
    else:
        chosen = SimpleNamespace(**{**vars(kernels._NUMPY), **LOOPS})
        monkeypatch.setattr(fused_loops, "_TILE", 16)
        monkeypatch.setattr(law_loops, "_TILE", 16)
        monkeypatch.setattr(look_loops, "_TILE", 16)
    return lambda: monkeypatch.setattr(kernels, "_kernels", chosen)


def sums(asked, block, used):
    parts = parts_of_each(asked, several_parts(asked, block, used))
    return [query_sum(query, part).tolist() for query, part in zip(asked, parts, strict=True)]


@pytest.mark.parametrize("missing", ["drop", "centre"])
@pytest.mark.parametrize("records", [0, 1, 100])
@pytest.mark.parametrize("name", LAWS)
def test_sums_are_those_of_the_steps(name, records, missing, loops, monkeypatch):
    monkeypatch.setattr(kernels, "_kernels", kernels._NUMPY)
    used = np.arange(records) % 5 > 0
    asked = [queries(name, linear) for linear in maps()]
    found = blocks(name, records, missing)
    expected = [(sums(some, found[0], None), sums(some, found[0], used)) for some in asked]
    loops()
    for block in found:
        for some, wanted in zip(asked, expected, strict=True):
            assert (sums(some, block, None), sums(some, block, used)) == wanted
            alone = [query_sum(query, product_parts(query, block)).tolist() for query in some]
            assert alone == wanted[0]


@pytest.mark.parametrize("missing", ["drop", "centre"])
@pytest.mark.parametrize("records", [0, 1, 100])
def test_first_looks_are_those_of_the_steps(records, missing, loops, monkeypatch):
    monkeypatch.setattr(kernels, "_kernels", kernels._NUMPY)
    used, radius = np.arange(records) % 5 > 0, WIDTH**0.5
    free = [PowerSums(WIDTH, radius, with_x=with_x) for with_x in (True, False)]
    asked = [*free, ColumnHistograms(WIDTH, 8), *(PowerSums.counting(WIDTH, radius, with_x=one.with_x) for one in free)]
    found = blocks("gaussian", records, missing)
    expected = sums(asked, found[0], None), sums(asked, found[0], used)
    loops()
    for block in found:
        assert (sums(asked, block, None), sums(asked, block, used)) == expected
        assert sums(asked[3:], block, used) == expected[1][3:]


def test_the_loop_runs_and_rows_beyond_its_tile_are_carried(monkeypatch):
    """As many rows as float64 cannot add at once."""
    chosen, calls = _compiled(), []

    def noting(*given):
        calls.append(given)
        return chosen.law_pass(*given)

    asked, block = queries("gaussian", maps()[0]), blocks("gaussian", 40_000, "drop")[0]
    monkeypatch.setattr(kernels, "_kernels", kernels._NUMPY)
    expected = sums(asked, block, None)
    monkeypatch.setattr(kernels, "_kernels", SimpleNamespace(**{**vars(chosen), "law_pass": noting}))
    assert sums(asked, block, None) == expected
    assert len(calls) == 2  # one for each map


def test_weighted_rows_and_exposures_take_the_steps():
    """Loops do not know weights of rows: sums must not be those without."""
    asked, (block, _) = queries("gaussian", maps()[0]), blocks("gaussian", 50, "drop")
    without = sums(asked, block, None)
    block.weight = np.full(50, 0.5)
    with_weights = sums(asked, block, None)
    before = kernels._kernels
    try:
        kernels._kernels = _compiled()
        assert sums(asked, block, None) == with_weights != without
    finally:
        kernels._kernels = before


def test_a_mean_score_is_summed_in_the_loop_of_its_gradient(loops, monkeypatch):
    """The sum of weights of rows of length one has the same predictor, but clip limits of its own."""
    linear, calls = maps()[1], []
    gradient, *others = queries("poisson", linear)[1:]
    alone = LinearMap(np.vstack([linear.matrix[0], np.eye(1, WIDTH + 1)]))
    mean = GradientSum(alone, gradient.labels, gradient.rule, 2.0, 1.0, "mean score")
    asked, (by_rows, by_columns) = [gradient, mean, *others], blocks("poisson", 100, "drop")
    monkeypatch.setattr(kernels, "_kernels", kernels._NUMPY)
    expected = sums(asked, by_rows, None)
    loops()
    chosen = kernels._kernels

    def noting(*given):
        calls.append(given)
        return chosen.law_pass(*given)

    monkeypatch.setattr(kernels, "_kernels", SimpleNamespace(**{**vars(chosen), "law_pass": noting}))
    assert sums(asked, by_rows, None) == expected
    assert sums(asked, by_columns, None) == expected
    assert len(calls) == 4  # two for each block: MappedMoment has a map without a predictor


def test_columns_beside_others_are_read_where_they_lie(loops, monkeypatch):
    """Eight neighbouring cells of eight rows are turned at a time; rows are further apart here."""
    rng = np.random.default_rng(2)
    wide, y = rng.uniform(-1.5, 1.5, (1003, WIDTH + 8)), rng.uniform(-3, 3, 1003)
    code = Encoder(Domain(tuple(Numeric(f"x{i}", -1.0, 1.0) for i in range(WIDTH))), Numeric("y", -3.0, 3.0))
    asked = queries("gaussian", maps()[0])
    monkeypatch.setattr(kernels, "_kernels", kernels._NUMPY)
    expected = sums(asked, code.encode(wide[:, 3 : 3 + WIDTH].copy(), y), None)
    loops()
    assert sums(asked, code.encode(wide[:, 3 : 3 + WIDTH], y), None) == expected
