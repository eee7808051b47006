"""Sums by cell are those of the products of both factors, to the last unit."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.domain import Domain, Numeric
from discreet.domain.encoding import Encoder
from discreet.rows import LinearMap, kernel_arrays, kernel_loops, kernels
from discreet.rows.gradient import LabelProfile
from discreet.rows.grid import parts_shape, product_parts, query_sum
from discreet.rows.histograms import Look
from discreet.rows.scores import Labels

LABELS, NONE = Labels(4.0, 4.0), np.array([])
ALONG = LinearMap(np.random.default_rng(1).normal(size=(1, 5)))
QUERIES = {
    "profile": LabelProfile(ALONG, LABELS, np.linspace(-2, 2, 19), 1.0, 6.0),
    "few cells": LabelProfile(ALONG, LABELS, np.linspace(-2, 2, 5), 1.0, 6.0),
    "labels": Look(LABELS, 4, np.linspace(0.5, 8, 30), NONE),
    "a few labels": Look(LABELS, 4, np.linspace(0.5, 8, 7), NONE),
    "labels and norms": Look(LABELS, 4, np.linspace(0.5, 8, 20), np.linspace(0.5, 2, 5)),
}


def block(records: int):
    rng = np.random.default_rng(records)
    x, y = rng.uniform(-1.5, 1.5, (records, 4)), rng.uniform(-2, 9, records)
    for cells in (x, y):
        odd = rng.random(cells.shape) < 0.03
        cells[odd] = rng.choice([np.nan, np.inf, -np.inf, 1e300], odd.sum())
    columns = tuple(Numeric(f"x{i}", -1.0, 1.0) for i in range(4))
    return Encoder(Domain(columns), Numeric("y", 0.0, 8.0)).encode(x, y)


@pytest.mark.parametrize("records", [0, 1, 7, 3000])
@pytest.mark.parametrize("name", QUERIES)
def test_sums_by_cell_are_those_of_both_factors(name, records, monkeypatch):
    monkeypatch.setattr(kernels, "_kernels", kernels._NUMPY)
    query, rows = QUERIES[name], block(records)
    for used in (None, np.arange(records) % 3 > 0):
        found = product_parts(query, rows, used)
        assert found.shape == parts_shape(query)
        with monkeypatch.context() as patch:
            patch.setattr(type(query), "cell_and_numbers", lambda self, block: None)
            expected = product_parts(query, rows, used)
        assert query_sum(query, found).tolist() == query_sum(query, expected).tolist()


@pytest.mark.parametrize("columns", [1, 2, 20])
def test_the_loop_that_sums_by_cell_has_the_bits_of_numpy(columns):
    rng = np.random.default_rng(columns)
    cell, used = rng.integers(-2, 9, 500), rng.random(500) < 0.8
    lines, halves = np.floor(rng.random((columns, 500)) * 2.0 ** (44 if columns < 17 else 22)), 1 + (columns < 17)
    found = np.zeros((2, halves, columns, 7), dtype=np.int64)
    for one, kernel in zip(found, (kernel_arrays, kernel_loops), strict=True):
        kernel.cell_sums(cell, used, lines, 2.0**22, one)
    assert (found[0] == found[1]).all()
    whole = found[0, 0] * (2**22 if halves == 2 else 1) + (found[0, 1] if halves == 2 else 0)
    there = used & (cell == 3)
    assert whole[:, 3].tolist() == lines[:, there].sum(axis=1).tolist()
