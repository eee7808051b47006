"""Every engine gives the same bits, however the rows are stored, cut, ordered and shared out."""

from __future__ import annotations

import csv
import math
import warnings
from functools import partial

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.domain import Categorical, Domain, Encoder, Numeric
from discreet.engines import CsvFiles, Layout, MemoryEngine
from discreet.engines import kept as keeping
from discreet.engines.csv_files import CsvTable
from discreet.engines.parquet import ParquetTable
from discreet.engines.stream import StreamEngine
from discreet.errors import DomainError, PrivacyLeakWarning
from discreet.estimators import LinearRegression, Ridge
from discreet.rows import (
    CrossMoment,
    Labels,
    LinearMap,
    PowerSums,
    Residues,
    SecondMoment,
    kernels,
    product_parts,
    query_sum,
    score_sum,
)

NAMES = ["a", "b", "c"]
DOMAIN = Domain(tuple(Numeric(name, -2.0, 3.0) for name in [*NAMES, "y"]))
ENCODER = Encoder(DOMAIN.select(NAMES), DOMAIN["y"])
QUERIES = [
    PowerSums(3, ENCODER.radius),
    SecondMoment(np.array([0.1, 0.0, -0.2]), 0.4, 1.7, 0.05, 0.3, 2.0, 1.0, 0.6),
    CrossMoment(3, ENCODER.radius, intercept=True, with_y=True),
    score_sum(
        LinearMap(np.random.default_rng(3).normal(size=(5, 4))),
        Labels(0.5, 2.5),
        lambda y, eta, bound: np.clip(eta - y, -bound, bound),
        1.5,
        0.8,
    ),
]
SPECIAL = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 0.0, -0.0, 1e-17]


@pytest.fixture(params=["numpy", "compiled"])
def loops(request):
    """Both versions of the inner loops."""
    kernels._kernels = kernels._NUMPY
    if request.param == "compiled":
        kernels.compile_kernels()
    yield request.param
    kernels._kernels = kernels._NUMPY


def rows(count: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    table = random.normal(size=(count, 4))
    odd = random.random(table.shape) < 0.03
    table[odd] = random.choice(SPECIAL, odd.sum())
    return table


def total(engine, query, every=1):
    """The exact sum: the two integers that carry it depend on the blocks, what they are worth
    together does not.
    """
    part = None if every == 1 else Residues(every, 0, 1)
    return query_sum(query, engine.sum_rows(partial(product_parts, query), part))


def in_memory(table, query, every=1, **options):
    return total(MemoryEngine(ENCODER.encode, table[:, :3], table[:, 3], **options), query, every)


def parquet(path, table, row_group=1000):
    arrays = dict(zip([*NAMES, "y"], table.T, strict=True))
    pq.write_table(pa.table(arrays), path, row_group_size=row_group)
    return path


def write_csv(path, names, records):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *records])
    return path


def file_engine(path, *, names=NAMES, encode=ENCODER.encode, width=3, batch_rows=None, read_bytes=1 << 22, **options):
    """The engine over a file, which reads and cuts it in pieces of these sizes."""
    layout = Layout(encode, tuple(names), "y", width=width, **options)
    if path.suffix == ".csv":
        batches = CsvTable([path], CsvFiles(path), read_bytes=read_bytes)
    else:
        batches = ParquetTable([path])
    batches.engine(layout)  # which checks names and types
    return StreamEngine(layout, batches, batch_rows=batch_rows)


def from_file(path, query, every=1, **options):
    return total(file_engine(path, **options), query, every)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.label)
def test_every_engine_gives_the_same_bits(query, loops, tmp_path):
    table = rows(5000)
    expected = in_memory(table, query, block_rows=512, workers=1)
    shuffled = np.random.default_rng(1).permutation(table)
    assert np.array_equal(in_memory(shuffled, query, block_rows=700, workers=2), expected)
    csv_path = write_csv(tmp_path / "rows.csv", [*NAMES, "y"], table.tolist())
    for bytes_read in (700, 1 << 20):
        assert np.array_equal(from_file(csv_path, query, read_bytes=bytes_read), expected)
    for row_group, batch_rows, block_rows in [(5000, 5000, 5000), (1700, 300, 128), (300, 1000, 77)]:
        path = parquet(tmp_path / "rows.parquet", table, row_group)
        options = {"batch_rows": batch_rows, "block_rows": block_rows}
        for workers in (1, 3):
            assert np.array_equal(from_file(path, query, workers=workers, **options), expected)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_small_file_is_read_once_and_a_large_one_again(suffix, tmp_path, monkeypatch):
    table = rows(3000)
    path = tmp_path / f"rows.{suffix}"
    for most_bytes, kept in ((1 << 26, True), (5000, False)):
        parquet(path, table) if suffix == "parquet" else write_csv(path, [*NAMES, "y"], table.tolist())
        monkeypatch.setattr(keeping, "MOST_BYTES", most_bytes)
        engine = file_engine(path)
        expected = [in_memory(table, query) for query in QUERIES]
        assert np.array_equal(total(engine, QUERIES[0], 7), in_memory(table, QUERIES[0], 7))  # of these, none is kept
        assert np.array_equal(total(engine, QUERIES[0]), expected[0])
        path.unlink()
        if kept:
            assert all(
                np.array_equal(total(engine, query), sums) for query, sums in zip(QUERIES, expected, strict=True)
            )
        else:
            with pytest.raises(DomainError):
                total(engine, QUERIES[0])


def test_compiled_loops_give_numpys_bits():
    table = rows(3000)
    sums = []
    for compile_first in (False, True):
        kernels._kernels = kernels._NUMPY
        if compile_first:
            kernels.compile_kernels()
        sums.append([in_memory(table, query) for query in QUERIES])
    kernels._kernels = kernels._NUMPY
    assert all(np.array_equal(a, b) for a, b in zip(*sums, strict=True))


@pytest.mark.parametrize("every", [2, 7, 999, 6000])
def test_every_so_many_rows_are_counted_over_the_whole_file(every, tmp_path):
    table = rows(5000)
    expected = in_memory(table, QUERIES[0], every)
    assert np.array_equal(in_memory(table[::every], QUERIES[0]), expected)
    path = parquet(tmp_path / "rows.parquet", table, row_group=433)
    for options in ({"workers": 1, "batch_rows": 100}, {"workers": 2, "batch_rows": 400, "block_rows": 13}):
        assert np.array_equal(from_file(path, QUERIES[0], every, **options), expected)
    csv_path = write_csv(tmp_path / "rows.csv", [*NAMES, "y"], table.tolist())
    assert np.array_equal(from_file(csv_path, QUERIES[0], every, read_bytes=900), expected)


@given(
    values=st.lists(st.lists(st.floats(width=64) | st.sampled_from(SPECIAL), min_size=4, max_size=4), max_size=40),
    row_group=st.integers(1, 50),
    batch_rows=st.integers(1, 50),
    every=st.integers(1, 5),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_floats_in_any_layout_give_the_same_bits(values, row_group, batch_rows, every, tmp_path):
    table = np.array(values, dtype=np.float64).reshape(-1, 4)
    path = parquet(tmp_path / "rows.parquet", table, row_group)
    expected = in_memory(table, QUERIES[1], every)
    assert np.array_equal(from_file(path, QUERIES[1], every, batch_rows=batch_rows, workers=2), expected)
    csv_path = write_csv(tmp_path / "rows.csv", [*NAMES, "y"], values)
    assert np.array_equal(from_file(csv_path, QUERIES[1], every, read_bytes=500), expected)


def test_no_rows_sum_to_zero_of_the_right_shape(tmp_path):
    table = np.empty((0, 4))
    path = parquet(tmp_path / "rows.parquet", table)
    csv_path = write_csv(tmp_path / "rows.csv", [*NAMES, "y"], [])
    for every in (1, 3):
        expected = in_memory(table, QUERIES[1], every)
        assert not expected.any()
        assert np.array_equal(from_file(path, QUERIES[1], every), expected)
        assert np.array_equal(from_file(csv_path, QUERIES[1], every), expected)


MIXED = Domain(
    (
        Numeric("count", 0.0, 10.0),
        Numeric("single", -1.0, 1.0),
        Categorical("flag", (False, True)),
        Categorical("city", ("Köln", "NA", "01")),
        Numeric("y", 0.0, 5.0),
    )
)


def mixed_table() -> pa.Table:
    counts = [1, None, 3, 12, 5, 6, 7, 8]
    return pa.table(
        {
            "count": pa.array(counts, pa.int32()),
            "single": pa.array([0.1, 0.2, None, 0.4, math.nan, 0.6, 0.7, -0.8], pa.float32()),
            "flag": pa.array([True, False, None, True, False, True, True, False]),
            "city": pa.array(["Köln", "NA", "01", "1", None, "", "Köln", "01"]).dictionary_encode(),
            "y": pa.array([1, 2, 3, 4, 5, 4, 3, None], pa.int64()),
        }
    ).append_column("id", pa.array(["p", "q", "p", "p", "q", None, None, None]))


def fitted(estimator, fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        return fit(estimator(epsilon=5.0, delta=1e-3, domain=MIXED, random_state=3))


@pytest.mark.parametrize("missing", ["drop", "centre"])
def test_nulls_and_odd_types_are_the_same_in_every_format(missing, tmp_path):
    table = mixed_table()
    names = ["count", "single", "flag", "city"]
    encoder = Encoder(Domain(MIXED.select(names).columns, missing=missing), MIXED["y"])
    query = SecondMoment(np.zeros(encoder.width), 0.5, 3.0, 0.0, 0.5, 2.0, 1.0, 0.6)
    frame = table.to_pandas()
    features = frame[names].astype({"city": object})
    expected = total(MemoryEngine(encoder.encode, nw.from_native(features), frame["y"].to_numpy()), query)
    assert expected.any()
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=3)
    engine = file_engine(tmp_path / "rows.parquet", encode=encoder.encode, names=names, batch_rows=2)
    assert np.array_equal(total(engine, query), expected)
    single = table.set_column(1, "single", table["single"].cast(pa.float64()))  # every digit of the float32
    write_csv(tmp_path / "rows.csv", single.column_names, zip(*(column.to_pylist() for column in single), strict=True))
    options = {"encode": encoder.encode, "names": names, "texts": frozenset(["city"])}
    texts = file_engine(tmp_path / "rows.csv", read_bytes=100, **options)
    assert np.array_equal(total(texts, query), expected)


@pytest.mark.parametrize("estimator", [LinearRegression, Ridge])
def test_fit_table_gives_the_bits_of_fit(estimator, tmp_path):
    frame = mixed_table().to_pandas()
    x = frame[["count", "single", "flag", "city"]].astype({"city": object})
    expected = fitted(estimator, lambda model: model.fit(x, frame["y"]))
    pq.write_table(mixed_table(), tmp_path / "rows.parquet")
    model = fitted(estimator, lambda model: model.fit_table(tmp_path / "rows.parquet", target="y"))
    assert np.array_equal(model.coef_, expected.coef_)
    assert model.intercept_ == expected.intercept_
    assert str(model.privacy_) == str(expected.privacy_)
    assert np.array_equal(model.predict(x), expected.predict(x), equal_nan=True)


@pytest.mark.parametrize("limit", [1, 2])
def test_at_most_so_many_rows_of_each_person_over_the_whole_file(limit, tmp_path):
    table = np.random.default_rng(4).uniform(-1, 1, (60, 4))
    person = np.random.default_rng(5).integers(0, 12, 60)
    table[-20:], person[-20:] = table[:20], person[:20]  # rows that are the same twice
    ids = [f"p{i}" if i else None for i in person]  # rows without an id are not used
    arrow = pa.table({**dict(zip([*NAMES, "y"], table.T, strict=True)), "id": ids})
    options = {"rows_per_person": limit, "width": 3}
    memory = MemoryEngine(ENCODER.encode, table[:, :3], table[:, 3], groups=np.array(ids, dtype=object), **options)
    expected = total(memory, QUERIES[1])
    counts = memory.sum_rows(lambda block, used: np.bincount(person[used], minlength=12))
    assert np.array_equal(counts, np.minimum(np.bincount(person, minlength=12), limit) * (np.arange(12) > 0))
    pq.write_table(arrow, tmp_path / "rows.parquet", row_group_size=7)
    write_csv(tmp_path / "rows.csv", arrow.column_names, zip(*(column.to_pylist() for column in arrow), strict=True))
    for batch_rows in (1, 5, 60):
        path = tmp_path / "rows.parquet"
        found = from_file(path, QUERIES[1], groups="id", batch_rows=batch_rows, workers=3, **options)
        assert np.array_equal(found, expected)
    assert np.array_equal(
        from_file(tmp_path / "rows.csv", QUERIES[1], read_bytes=400, groups="id", **options), expected
    )


def test_a_cell_that_is_no_number_raises_nothing(tmp_path):
    table = rows(40)
    cells = [list(map(repr, row)) for row in table.tolist()]
    with_odd = [row.copy() for row in cells]
    for position, odd in enumerate(["abc", "1,5", '"', "NA", "", "\N{SNOWMAN}", "two\nlines", "1e999"]):
        with_odd[position * 3][position % 3] = odd
    clean = table[[position for position in range(40) if position % 3 or position >= 24]]
    table[21, 1] = math.inf  # 1e999, which is moved to the bound
    clean = np.vstack([clean, table[21:22]])
    path = write_csv(tmp_path / "rows.csv", [*NAMES, "y"], with_odd)
    for bytes_read in (600, 1 << 20):
        found = from_file(path, QUERIES[1], read_bytes=bytes_read)
        assert np.array_equal(found, in_memory(clean, QUERIES[1]))


def test_a_missing_column_is_named(tmp_path):
    parquet(tmp_path / "rows.parquet", rows(5))
    write_csv(tmp_path / "rows.csv", [*NAMES, "y"], rows(5).tolist())
    for name in ("rows.parquet", "rows.csv"):
        with pytest.raises(DomainError, match="no column 'height'"):
            file_engine(tmp_path / name, names=[*NAMES, "height"])


def test_a_column_of_dates_is_refused_by_its_type(tmp_path):
    pq.write_table(pa.table({"a": pa.array([0], pa.date32()), "y": [1.0]}), tmp_path / "rows.parquet")
    with pytest.raises(DomainError, match="'a' has the type date32"):
        file_engine(tmp_path / "rows.parquet", names=["a"])


def test_a_broken_csv_file_shows_no_cell(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c,y\n1,2,3,4\n1,2,777\n", encoding="utf-8")
    with pytest.raises(DomainError) as caught:
        from_file(path, QUERIES[0])
    assert "777" not in str(caught.value)
    assert caught.value.__context__ is None
