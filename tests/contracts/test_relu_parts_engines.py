"""A part of the rows has the same bits on every engine, and so have the queries of index models."""

from __future__ import annotations

from functools import partial

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from test_engines import ENCODER, NAMES, file_engine, from_file, in_memory, parquet, rows, total, write_csv

from discreet.engines import MemoryEngine
from discreet.glm.index_links import INDEX_LINKS
from discreet.rows import Labels, LinearMap, PowerSums, Residues, exact_sum, product_parts
from discreet.rows.histograms import Look, ResidualCounts, ResidualHistogram, Residuals
from discreet.rows.index_sums import IndexGradient

LABELS = Labels(ENCODER.target.centre, ENCODER.target.half_width)
MAP = LinearMap(np.random.default_rng(5).normal(size=(4, 4)))
EDGES = np.array([0.1, 0.5, 2.0])


def queries(link):
    residuals = Residuals(MAP, LABELS, link.mean)
    return [
        IndexGradient(MAP, LABELS, link.mean, link.slope, 1.2, 0.7, 2.0, 0.1),
        Look(LABELS, 3, EDGES, EDGES),
        ResidualHistogram(residuals, EDGES),
        ResidualCounts(residuals, EDGES),
    ]


@pytest.mark.parametrize("link", list(INDEX_LINKS))
def test_queries_of_index_models_do_not_see_how_rows_are_cut(link, tmp_path):
    table = rows(1500)
    shuffled = np.random.default_rng(1).permutation(table)
    path = parquet(tmp_path / "rows.parquet", table, 333)
    for query in queries(INDEX_LINKS[link]):
        expected = in_memory(table, query, block_rows=400, workers=1)
        assert expected.any()
        assert np.array_equal(in_memory(shuffled, query, block_rows=7, workers=2), expected)
        assert np.array_equal(from_file(path, query, batch_rows=100, block_rows=33), expected)


@pytest.mark.parametrize(
    "part", [Residues(7, 2, 3), Residues(5, 1, 4), Residues(900, 17, 18), Residues(2000, 1500, 1999)]
)
def test_a_part_has_the_same_rows_on_every_engine(part, tmp_path):
    table, query = rows(900), PowerSums(3, ENCODER.radius)
    chosen = [i for i in range(900) if part.low <= i % part.modulus < part.high]
    expected = in_memory(table[chosen], query)
    path = parquet(tmp_path / "rows.parquet", table, 130)
    csv_path = write_csv(tmp_path / "rows.csv", [*NAMES, "y"], table.tolist())
    engines = [
        MemoryEngine(ENCODER.encode, table[:, :3], table[:, 3], block_rows=64),
        file_engine(path, batch_rows=50, workers=2),
        file_engine(csv_path, read_bytes=900),
    ]
    for frame in (pd.DataFrame(table[:, :3], columns=NAMES), pl.DataFrame(table[:, :3], schema=NAMES)):
        engines.append(MemoryEngine(ENCODER.encode, nw.from_native(frame), table[:, 3]))
    for engine in engines:
        assert np.array_equal(exact_sum(engine.sum_rows(partial(product_parts, query), part)), expected)
        assert total(engine, query).shape == expected.shape
