"""Loops that read a block's cells themselves give the bits of the steps one by one."""

from __future__ import annotations

import pickle
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest

from discreet.domain import Domain, Numeric
from discreet.domain.encoding import Encoder
from discreet.domain.formula.encoder import FormulaEncoder
from discreet.rows import CellsInMemory, Columns, LinearMap, digest_of, fused_loops, kernels
from discreet.rows.cells import cells_at
from discreet.rows.gradient import GradientSum
from discreet.rows.grid import product_parts, query_sum
from discreet.rows.look import one_look
from discreet.rows.query import encoded_x
from discreet.rows.scores import Labels

WIDTH = 5
LOOPS = {name: getattr(fused_loops, name) for name in fused_loops.NAMES}


def maps() -> list[LinearMap]:
    """All coefficients, a diagonal (as before whitening), a triangle, and one output without any."""
    rng = np.random.default_rng(1)
    dense = rng.standard_normal((WIDTH + 2, WIDTH + 1)) / 3
    diagonal = np.vstack([np.zeros(WIDTH + 1), np.eye(WIDTH + 1) * 0.3])
    diagonal[1:, 0] = 0.1
    return [LinearMap(dense), LinearMap(diagonal), LinearMap(np.tril(dense)), LinearMap(dense[:4])]


def encoder(missing: str) -> Encoder:
    columns = tuple(Numeric(f"x{i}", -1.0 - i / 7, 1.0) for i in range(WIDTH))
    return Encoder(Domain(columns, missing=missing), Numeric("y", -1.0, 1.0))


def table(records: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(records)
    x = rng.uniform(-1.5, 1.5, (records, WIDTH))
    odd = rng.random(x.shape) < 0.05
    x[odd] = rng.choice([np.nan, np.inf, -np.inf, -0.0, 1e300], odd.sum())
    return x, rng.uniform(-1, 1, records)


def in_memory(x: np.ndarray) -> list[object]:
    """The same rows by rows, by columns, and with other columns between."""
    apart = np.zeros((len(x), 2 * WIDTH))
    apart[:, ::2] = x
    return [x, np.asfortranarray(x), Columns([column.copy() for column in x.T], len(x)), apart[:, ::2]]


def outcomes(block: object) -> list[list[object]]:
    found = [[part.copy() for part in encoded_x(block, WIDTH)]]
    for linear in maps():
        mapped, length = linear.with_norms(block, skipped=1)
        found.append([mapped.copy(), length.copy()])
        block.memory.clear()
        for _ in range(2):  # the second time lengths are known
            found.append(list(linear.predictor_and_length(block)))
        query = GradientSum(linear, Labels(0.0, 1.0), lambda y, eta, length: (y - eta) / length, 1.0, 2.0)
        found.append([query_sum(query, product_parts(query, block)).astype(float)])
    return found


def alike(first: list[list[object]], second: list[list[object]]) -> bool:
    pairs = [pair for one, other in zip(first, second, strict=True) for pair in zip(one, other, strict=True)]
    return all(np.array_equal(one, other, equal_nan=True) for one, other in pairs)


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
    return lambda: monkeypatch.setattr(kernels, "_kernels", chosen)


@pytest.mark.parametrize("missing", ["drop", "centre"])
@pytest.mark.parametrize("records", [0, 1, 40])
def test_a_block_in_memory_gives_the_bits_of_its_steps(loops, missing, records, monkeypatch):
    monkeypatch.setattr(kernels, "_kernels", kernels._NUMPY)
    (x, y), code = table(records), encoder(missing)
    expected = outcomes(code.encode(x, y))
    loops()
    for cells in in_memory(x):
        block = code.encode(cells, y)
        assert block.cells is not None or records == 0
        assert alike(outcomes(block), expected)


def test_sums_are_moved_to_integers_before_they_are_too_large(loops, monkeypatch):
    monkeypatch.setattr(kernels, "_kernels", kernels._NUMPY)
    code, linear = encoder("drop"), maps()[0]
    block = code.encode(np.ones((48, WIDTH)), np.ones(48))
    weight, length = np.full(48, 1.0), np.full(48, 0.5)
    grid = 1.0, 0.1, 2.0**40, 2.0**16
    lines = kernels.weighted_sum(linear.whole_lines(block), weight, length, *grid)
    loops()
    found = kernels.sum_cells(block.cells, 2.0**linear.row_bits, weight, length, grid, 16)
    assert (found[0] * 2.0**26 + found[1]).tolist() == lines.tolist()
    assert found[1].max() < 48 * 2**26


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("records", [0, 1, 40])
def test_the_digest_of_columns_is_that_of_their_steps(loops, records, monkeypatch):
    monkeypatch.setattr(kernels, "_kernels", kernels._NUMPY)
    x, words = table(records)[0], np.arange(records, dtype=np.uint64) << np.uint64(40)
    columns, used = [*x.T, words], np.arange(records) % 3 > 0
    expected = digest_of(columns, records, used), digest_of(columns, records, None)
    zeros_and_nans = np.where(np.isnan(x), -np.nan, np.where(x == 0, 0.0, x))
    changed = [*x[::-1].T, words]
    loops()
    assert (digest_of(columns, records, used), digest_of(columns, records, None)) == expected
    assert digest_of([*zeros_and_nans.T, words], records, used) == expected[0]
    assert records < 2 or digest_of(changed, records, used) != expected[0]


def test_what_loops_cannot_read_has_no_cells():
    code = encoder("drop")
    x, y = table(4)
    for other in (x.astype(np.float32), x.astype(">f8"), x[::-1], np.ones((4, WIDTH), dtype=int)):
        assert code.encode(other, y).cells is None
    assert CellsInMemory.of_table(x[:, ::-1], code.encode(x, y).cells.scaling) is not None


def test_queries_of_one_pass_share_predictors(loops):
    loops()
    (x, y), linear = table(40), maps()[0]
    block = encoder("drop").encode(x, y)
    with one_look(block):
        eta, length = linear.predictor_and_length(block)
        again, same = LinearMap(linear.matrix).predictor_and_length(block)
        assert again is eta
        assert same is length
        with pytest.raises(ValueError, match="read-only"):
            eta[0] = 0.0


def test_an_encoder_that_writes_otherwise_has_no_cells():
    """Loops that read a formula's columns themselves would not see its terms."""
    assert FormulaEncoder in Encoder.__subclasses__()
    for kind in Encoder.__subclasses__():
        own = [kind.__dict__.get(name) for name in ("write_whole", "cells")]
        assert (own[0] is None) == (own[1] is None), kind


def test_a_block_that_moves_to_another_process_finds_its_cells_again():
    """Addresses of the first process would be those of anything in the second."""
    x, y = table(40)
    for cells in in_memory(x):
        block = encoder("drop").encode(cells, y)
        assert block.cells is not None
        moved = pickle.loads(pickle.dumps(block))
        again = (cells_at(place, 1)[0] for place in moved.cells.addresses)
        assert [*again] == pytest.approx([*x[0]], nan_ok=True)
        assert not set(moved.cells.addresses.tolist()) & set(block.cells.addresses.tolist())
