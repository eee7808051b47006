"""Properties of every table engine: exact sums, unchanged rows, positions, no cell in a message."""

from __future__ import annotations

import math
import pickle
import threading

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_problems import DOMAIN, PROBLEMS, engine_of, fitted, in_memory, sums, table

from discreet import (
    ChangedError,
    CsvFiles,
    DomainError,
    Ledger,
    LinearRegression,
    ReadError,
    ReLURegressor,
    SparseLinearRegression,
    collect_moments,
)
from discreet.engines import MemoryEngine, kept, open_table, stream
from discreet.engines.total import Total

ROWS = table()
LINEAR = PROBLEMS["linear"]


class Stream:
    """Gives the tables one after the other, the last one again and again."""

    def __init__(self, *tables: pa.Table) -> None:
        self._tables = list(tables)

    def __arrow_c_stream__(self, requested_schema=None):
        rows = self._tables.pop(0) if len(self._tables) > 1 else self._tables[0]
        return rows.__arrow_c_stream__(requested_schema)


# Exactness.


def large(block, used):
    return np.full((1, 2), 2**62, dtype=np.int64) * np.array([[1, -1]])


@pytest.mark.parametrize("kind", ["memory", "stream"])
def test_sums_beyond_63_bits_are_exact(kind, monkeypatch):
    monkeypatch.setattr(stream, "_BATCH_ROWS", 50)
    encoder_engine = engine_of(LINEAR, ROWS if kind == "memory" else Stream(ROWS))
    if kind == "memory":
        encoder_engine = MemoryEngine(lambda x, y: _Block(), np.zeros((400, 1)), block_rows=50)
    found = encoder_engine.sum_rows(large)
    blocks = int(found[0, 0]) // 2**62
    assert blocks >= 8
    assert found[0, 0] == blocks * 2**62
    assert found[0, 1] == -blocks * 2**62


class _Block:
    pass


@pytest.mark.parametrize("seed", range(5))
def test_totals_are_those_of_pythons_integers(seed):
    random = np.random.default_rng(seed)
    parts = [random.integers(-(2**63), 2**63 - 1, (3, 2), endpoint=True) for _ in range(200)]
    first, *others = map(Total, parts)
    for other in others:
        first.add(other)
    assert first.value.tolist() == sum(part.astype(object) for part in parts).tolist()


@pytest.mark.parametrize("value", [2**62, -(2**63), 2**63 - 1, 0, -1])
def test_a_total_that_fits_stays_64_bits(value):
    found = Total(np.array([value])).value
    assert found.tolist() == [value]
    assert abs(value) > 2**62 or found.dtype == np.int64


def test_an_engine_adds_whole_numbers_only():
    with pytest.raises(TypeError, match="64-bit integers"):
        Total(np.ones(2))


def test_sums_travel_as_plain_bytes():
    """A worker's numpy may be of another version than the driver's, whose modules it does not have."""
    total = Total(np.array([[2**62, -5], [0, 7]]))
    total.add(total)
    sent = pickle.dumps(total, protocol=5)
    assert b"numpy" not in sent
    back = pickle.loads(sent)
    back.add(total)  # what came may be added to
    assert back.value.tolist() == [[2**64, -20], [0, 28]]


def test_no_rows_are_summed_on_every_engine():
    nothing = ROWS.slice(0, 0)
    expected = sums(LINEAR, nothing)
    for given in (Stream(nothing), pl.from_arrow(nothing).lazy(), duckdb.from_arrow(nothing)):
        assert sums(LINEAR, given) == expected


# Rows that change.


def changed(rows: pa.Table) -> dict[str, pa.Table]:
    def with_cell(name, row, value):
        cells = rows[name].to_pylist()
        cells[row] = value
        return rows.set_column(rows.column_names.index(name), name, pa.array(cells, rows[name].type))

    swapped = rows["bmi"].to_pylist()
    swapped[0], swapped[1] = swapped[1], swapped[0]
    return {
        "a row less": rows.slice(1),
        "a row twice": pa.concat_tables([rows, rows.slice(3, 1)]),
        "another row": pa.concat_tables([rows.slice(1), rows.slice(3, 1)]),
        "a cell": with_cell("bmi", 5, 20.000000001),
        "a label": with_cell("cost", 5, 1.0),
        "a sign": with_cell("bmi", 5, -rows["bmi"][5].as_py()),
        "cells of two rows exchanged": rows.set_column(1, "bmi", pa.array(swapped)),
    }


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("change", list(changed(ROWS)))
def test_rows_that_change_between_passes_stop_the_fit(change, neighbours, monkeypatch, tmp_path):
    monkeypatch.setattr(kept, "MOST_BYTES", 0)
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=5, delta=1e-5)
    model = LINEAR.estimator(ledger=ledger, neighbours=neighbours, random_state=None)
    # The schema, the count where it is public, and the first pass see the rows as they were.
    before = [ROWS] * (3 if neighbours == "replace_one" else 2)
    with pytest.raises(ChangedError) as caught:
        model.fit_table(Stream(*before, changed(ROWS)[change]), **LINEAR.asked)
    assert not any(character.isdigit() for character in str(caught.value))
    assert len(ledger.history) >= 1
    assert not hasattr(model, "coef_")


def test_a_changed_category_stops_the_fit(monkeypatch):
    monkeypatch.setattr(kept, "MOST_BYTES", 0)
    problem = PROBLEMS["categories"]
    cells = ROWS["sex"].to_pylist()
    cells[7] = "m" if cells[7] != "m" else "f"
    after = ROWS.set_column(ROWS.column_names.index("sex"), "sex", pa.array(cells))
    with pytest.raises(ChangedError):
        fitted(problem, Stream(ROWS, ROWS, ROWS, after))


def test_rows_in_another_order_are_the_same_rows(monkeypatch):
    monkeypatch.setattr(kept, "MOST_BYTES", 0)
    order = [ROWS.take(np.random.default_rng(seed).permutation(400)) for seed in range(40)]
    assert fitted(LINEAR, Stream(*order)) == in_memory(LINEAR, ROWS)


@pytest.mark.parametrize("most", [0, kept.MOST_BYTES])
def test_nobody_contributes_more_rows_where_ids_change_after_they_were_looked_at(most, monkeypatch):
    monkeypatch.setattr(kept, "MOST_BYTES", most)
    problem = PROBLEMS["groups"]
    somebody = next(one for one in ROWS["person"].to_pylist() if one is not None)
    theirs = pa.array([somebody] * ROWS.num_rows, pa.int64())
    after = ROWS.set_column(ROWS.column_names.index("person"), "person", theirs)
    # The schema, and the pass that looks at persons, see the rows as they were.
    with pytest.raises(ChangedError):
        engine_of(problem, Stream(ROWS, ROWS, after)).sum_rows(_count)


@pytest.mark.parametrize("most", [0, kept.MOST_BYTES])
def test_a_row_that_changes_after_persons_were_looked_at_stops_the_fit(most, monkeypatch):
    """A small table is kept after its first sum: no later pass would notice the change."""
    monkeypatch.setattr(kept, "MOST_BYTES", most)
    problem = PROBLEMS["groups"]
    persons, cells = ROWS["person"].to_pylist(), ROWS["bmi"].to_pylist()
    # All rows of a person who has few are used.
    row = min(range(len(cells)), key=lambda row: (persons[row] is None, persons.count(persons[row])))
    cells[row] = 21.5
    after = ROWS.set_column(ROWS.column_names.index("bmi"), "bmi", pa.array(cells))
    with pytest.raises(ChangedError):
        engine_of(problem, Stream(ROWS, ROWS, after)).sum_rows(_count)


def test_of_rows_that_are_encoded_alike_any_may_be_used(monkeypatch):
    """Cells beyond the bounds differ in the table and not once they are encoded: which of a
    person's rows is used depends on the order, and that is no change.
    """
    monkeypatch.setattr(kept, "MOST_BYTES", 0)
    problem = PROBLEMS["groups"]
    beyond = np.arange(400.0)
    rows = ROWS.set_column(ROWS.column_names.index("bmi"), "bmi", pa.array(100 + beyond))
    rows = rows.set_column(rows.column_names.index("age"), "age", pa.array(100 + beyond))
    rows = rows.set_column(rows.column_names.index("cost"), "cost", pa.array(500 + beyond))
    order = [rows.take(np.random.default_rng(seed).permutation(400)) for seed in range(40)]
    assert fitted(problem, Stream(*order)) == in_memory(problem, rows)


def test_a_file_that_is_written_again_stops_the_fit(monkeypatch, tmp_path):
    monkeypatch.setattr(kept, "MOST_BYTES", 0)
    path = tmp_path / "rows.parquet"
    pq.write_table(ROWS, path, row_group_size=30)
    engine = engine_of(LINEAR, path)
    engine.sum_rows(_count)
    pq.write_table(ROWS.slice(1), path, row_group_size=50)
    with pytest.raises(ChangedError):
        engine.sum_rows(_count)


def _count(block, used):
    return np.array([block.records])


# Positions.


@pytest.mark.parametrize(
    "given", [Stream(ROWS), pl.from_arrow(ROWS).lazy(), duckdb.from_arrow(ROWS)], ids=["stream", "lazy", "duckdb"]
)
def test_solvers_by_position_are_refused_where_rows_have_none(given, tmp_path):
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=5, delta=1e-5)
    for solver in ("minibatch", "tree", "sgd"):
        model = ReLURegressor(epsilon=1.0, delta=1e-5, domain=DOMAIN, solver=solver, ledger=ledger)
        with pytest.raises(ValueError, match="by position"):
            model.fit_table(given, target="cost", features=["age", "bmi"])
    assert len(ledger.history) == 0


def test_a_reader_that_can_be_read_once_is_refused():
    with pytest.raises(DomainError, match="once only"):
        fitted(LINEAR, ROWS.to_reader())


# What is refused, and what is not said.


def test_columns_are_refused_by_name_and_type():
    dates = ROWS.set_column(0, "age", pa.array([0] * 400, pa.date32()))
    texts = ROWS.set_column(0, "age", pa.array(["1"] * 400))
    for make in (lambda rows: rows, Stream, lambda rows: pl.from_arrow(rows).lazy(), duckdb.from_arrow):
        with pytest.raises(DomainError, match="no column 'age'"):
            fitted(LINEAR, make(ROWS.drop_columns(["age"])))
        with pytest.raises(DomainError, match="'age' has the type"):
            fitted(LINEAR, make(dates))
        with pytest.raises(DomainError, match="'age' is declared with bounds"):
            fitted(LINEAR, make(texts))


def test_what_is_no_table_is_named():
    with pytest.raises(DomainError, match="a list is no table"):
        fitted(LINEAR, [[1, 2]])


@pytest.mark.parametrize(
    ("name", "message"),
    [("rows.xlsx", "ending"), ("none.parquet", "no file"), ("*.parquet", "no file"), ("mixed", "one kind")],
)
def test_paths_that_are_no_tables_are_named(name, message, tmp_path):
    (tmp_path / "rows.xlsx").write_text("")
    (tmp_path / "mixed").mkdir()
    pq.write_table(ROWS, tmp_path / "mixed" / "a.parquet")
    (tmp_path / "mixed" / "b.csv").write_text("age\n")
    with pytest.raises(DomainError, match=message):
        fitted(LINEAR, tmp_path / name)


def test_a_query_that_fails_shows_no_cell():
    failing = "case when i = 50 then error('secret 777') else i end"
    query = duckdb.connect().sql(f"select {failing} as age from range(100) t(i)")
    with pytest.raises(ReadError) as caught:
        engine_of(LINEAR, query.select("age, age as bmi, age as cost")).sum_rows(_count)
    assert "777" not in str(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("options", [{"sep": ";;"}, {"decimal": "x"}, {"encoding": "none"}])
def test_csv_options_are_checked(options):
    with pytest.raises(DomainError):
        CsvFiles("rows.csv", **options)


def test_a_point_is_no_decimal_comma(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("age;bmi;cost\n1,5;2;3\n1.5;2;3\n7;1.000,5;3\n")
    found = []
    given = CsvFiles(path, sep=";", decimal=",")
    engine_of(LINEAR, given).sum_rows(lambda block, used: found.append(block.x.tolist()) or np.zeros(1, dtype=np.int64))
    (ages, bmis) = next(x for x in found if x[0])
    assert [math.isnan(cell) for cell in ages] == [False, True, False]
    assert [math.isnan(cell) for cell in bmis] == [False, False, True]


# Who takes tables.


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
def test_moments_of_any_table(tmp_path):
    pq.write_table(ROWS, tmp_path / "rows.parquet")
    domain = DOMAIN.select(["age", "bmi", "cost"])
    found = [
        collect_moments(given, epsilon=1, delta=1e-5, domain=domain, random_state=1)
        .regress("cost", ["age", "bmi"])
        .params
        for given in (ROWS, tmp_path / "rows.parquet", duckdb.from_arrow(ROWS))
    ]
    for params in found[1:]:
        assert np.array_equal(params, found[0])


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
@pytest.mark.parametrize("grouped", [False, True])
def test_a_sparse_model_of_a_table_has_the_bits_of_its_frame(grouped, tmp_path):
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, (600, 40))
    names = [f"x{i}" for i in range(40)]
    y = x[:, 3] - x[:, 8] + random.normal(0, 0.1, 600)
    who = random.integers(0, 150, 600)
    rows = pa.table(dict(zip(names, x.T, strict=True)) | {"y": y, "who": who})
    pq.write_table(rows, tmp_path / "rows.parquet", row_group_size=70)
    make = SparseLinearRegression(
        epsilon=5.0,
        delta=1e-5,
        sparsity=2,
        bounds_X=(-1, 1),
        bounds_y=(-3, 3),
        rows_per_person=2 if grouped else 1,
        random_state=1,
    )
    frame = rows.to_pandas()
    expected = make.fit(frame[names], frame["y"], who if grouped else None).coef_.copy()
    for given in (tmp_path / "rows.parquet", frame, duckdb.from_arrow(rows)):
        asked = {"features": names, "groups": "who" if grouped else None}
        assert np.array_equal(make.fit_table(given, target="y", **asked).coef_, expected)


def test_without_a_domain_the_columns_are_those_of_the_table():
    rows = ROWS.select(["age", "bmi", "cost"])
    model = LinearRegression(epsilon=1e6, delta=1e-5, bounds_X=([0, 10], [90, 50]), bounds_y=(0, 100))
    model.fit_table(Stream(rows), target="cost")
    assert list(model.feature_names_in_) == ["age", "bmi"]


# Reading ahead, and telling how far it is.


def test_what_a_reader_raises_is_raised_and_its_thread_ends():
    from discreet.engines.ahead import ahead

    def items():
        yield 1
        raise ConnectionError("lost")

    drawn = ahead(items())
    assert next(drawn) == 1
    with pytest.raises(ConnectionError):
        next(drawn)
    assert not any(thread.name == "discreet reader" for thread in threading.enumerate())


def test_a_reader_is_left_in_the_middle():
    from discreet.engines.ahead import ahead

    closed = []

    def items():
        try:
            yield from range(1000)
        finally:
            closed.append(True)

    drawn = ahead(items())
    assert next(drawn) == 0
    drawn.close()
    assert closed == [True]
    assert not any(thread.name == "discreet reader" for thread in threading.enumerate())


def test_the_next_row_groups_of_a_file_are_asked_for_before_they_are_summed(monkeypatch, tmp_path):
    from discreet.engines import parquet

    monkeypatch.setattr(kept, "MOST_BYTES", 0)
    path = tmp_path / "rows.parquet"
    pq.write_table(ROWS, path, row_group_size=37)
    engine, expected = engine_of(LINEAR, path), engine_of(LINEAR, ROWS).sum_rows(_count).tolist()
    asked = []
    monkeypatch.setattr(parquet.os, "posix_fadvise", lambda _, *facts: asked.append(facts[:2]), raising=False)
    in_memory = {"some": False}

    def preadv(file, buffers, place, flags):
        if not in_memory["some"]:
            raise BlockingIOError
        return 1

    monkeypatch.setattr(parquet.os, "preadv", preadv, raising=False)
    monkeypatch.setattr(parquet.os, "RWF_NOWAIT", 8, raising=False)
    assert engine.sum_rows(_count).tolist() == expected
    groups = -(-ROWS.num_rows // 37)
    read = len(engine._layout.read)
    assert len(asked) == len(set(asked)) == groups * read
    assert all(start + size <= path.stat().st_size for start, size in asked)
    in_memory["some"] = True  # what the system has in memory is not asked for
    assert engine.sum_rows(_count).tolist() == expected
    assert len(asked) == groups * read
    monkeypatch.delattr(parquet.os, "RWF_NOWAIT")  # as on systems that cannot tell
    assert engine.sum_rows(_count).tolist() == expected
    assert len(asked) == 2 * groups * read
    monkeypatch.delattr(parquet.os, "posix_fadvise")  # as on macOS
    assert engine.sum_rows(_count).tolist() == expected


@pytest.mark.parametrize("rows", [1, 400])
def test_progress_says_the_same_for_any_number_of_rows(rows, monkeypatch, tmp_path):
    from discreet.engines.progress import listener

    monkeypatch.setattr(kept, "MOST_BYTES", 0)
    pq.write_table(ROWS.slice(0, rows), tmp_path / "rows.parquet", row_group_size=37)
    told = []
    token = listener.set(lambda number, tenths: told.append((number, tenths)))
    try:
        engine = engine_of(LINEAR, tmp_path / "rows.parquet")
        engine.sum_rows(_count)
        engine.sum_rows(_count)
    finally:
        listener.reset(token)
    assert told == [(number, tenths) for number in (1, 2) for tenths in range(11)]


def test_names_of_a_table_are_its_columns():
    assert open_table(ROWS).names == ROWS.column_names
