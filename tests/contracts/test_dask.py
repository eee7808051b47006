"""Dask frames give the same bits as tables in memory: all schedulers, partitions and worker
failures.
"""

from __future__ import annotations

from functools import partial

import cloudpickle
import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from engine_problems import DOMAIN, PARTITIONINGS, PROBLEMS, engine_of, fitted, in_memory, parts, sums, table

from discreet import ChangedError, DomainError, Ledger, Public, ReadError, ReLURegressor
from discreet.engines import dask_frames

ROWS = table()
LINEAR = PROBLEMS["linear"]


def dask_frame(rows=ROWS, seed=1):
    """The rows in partitions of a random partitioning."""
    return dd.from_delayed([dask.delayed(part.to_pandas()) for part in parts(rows, seed)], verify_meta=False)


@pytest.mark.parametrize("name", list(PROBLEMS))
def test_a_dask_frame_gives_the_bits_of_memory(name):
    assert fitted(PROBLEMS[name], dask_frame()) == in_memory(PROBLEMS[name], ROWS)


@pytest.mark.parametrize("name", list(PROBLEMS))
def test_no_partitioning_changes_a_sum(name):
    expected = sums(PROBLEMS[name], ROWS)
    for seed in PARTITIONINGS:
        assert sums(PROBLEMS[name], dask_frame(seed=seed)) == expected, seed


@pytest.mark.parametrize("scheduler", ["threads", "processes", "synchronous"])
def test_every_scheduler_gives_the_same_bits(scheduler):
    with dask.config.set(scheduler=scheduler, num_workers=2):
        assert sums(PROBLEMS["groups"], dask_frame()) == sums(PROBLEMS["groups"], ROWS)


def test_partitions_may_be_all_empty():
    nothing = ROWS.slice(0, 0)
    frame = dd.from_delayed([dask.delayed(nothing.to_pandas())] * 3, verify_meta=False)
    for name in ("linear", "groups", "categories"):
        assert sums(PROBLEMS[name], frame) == sums(PROBLEMS[name], nothing)


def test_ids_of_several_types_are_one_person():
    """A column of whole numbers is one of floats in a partition with nulls: a person must not be
    two.
    """
    problem = PROBLEMS["groups"]
    whole = ROWS.to_pandas()
    whole["person"] = whole["person"] // 10**15
    cut = [whole[:200], whole[200:].astype({"person": float}), whole[:0].astype({"person": object})]
    frame = dd.from_delayed([dask.delayed(part) for part in cut], meta=whole[:0], verify_meta=False)
    assert sums(problem, frame) == sums(problem, whole)


def test_sums_beyond_63_bits_are_exact():
    found = engine_of(LINEAR, dask_frame()).sum_rows(_large)
    assert found[0] > 2**63
    assert found[0] % 2**62 == 0


def _large(block, used):
    return np.array([2**62])


def test_rows_that_change_stop_the_fit(monkeypatch, tmp_path):
    monkeypatch.setattr(dask_frames, "MOST_BYTES", 0)
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=5, delta=1e-5)
    seen = tmp_path / "seen"
    frame = dask_frame().map_partitions(partial(_changing, seen), meta=ROWS.to_pandas()[:0])
    with dask.config.set(scheduler="synchronous"), pytest.raises(ChangedError):
        LINEAR.estimator(ledger=ledger, random_state=None).fit_table(frame, **LINEAR.asked)
    assert len(ledger.history) == 1


def _changing(seen, part):
    """The same rows for two passes (and the count), and then one less."""
    with seen.open("a") as file:
        file.write("x")
    return part if seen.stat().st_size < 25 else part[:-1]


def test_what_fails_in_a_task_shows_no_cell():
    frame = dask_frame().map_partitions(_failing, meta=ROWS.to_pandas()[:0])
    with dask.config.set(scheduler="synchronous"), pytest.raises(ReadError) as caught:
        engine_of(LINEAR, frame).sum_rows(_large)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def _failing(part):
    raise ValueError("secret 777")


def test_what_fails_while_blocks_are_kept_shows_no_cell(tmp_path):
    given = [part.to_pandas() for part in parts(ROWS, 1)]
    frame = dd.from_delayed([dask.delayed(part) for part in given], verify_meta=False)
    frame = frame.map_partitions(partial(_failing_later, tmp_path / "seen", len(given)), meta=given[0][:0])
    with dask.config.set(scheduler="synchronous"), pytest.raises(ReadError) as caught:
        engine_of(LINEAR, frame).sum_rows(_large)
    assert (tmp_path / "seen").stat().st_size > len(given)  # the pass itself went well
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def _failing_later(seen, partitions, part):
    """Each partition is computed once, and then no more."""
    with seen.open("a") as file:
        file.write("x")
    return part if seen.stat().st_size <= partitions else _failing(part)


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
@pytest.mark.parametrize("name", ["linear", "categories"])
def test_what_travels_to_workers_holds_no_ledger_and_no_public_rows(name, tmp_path):
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=5, delta=1e-5)
    problem = PROBLEMS[name]
    public = Public(rows=ROWS.select(list(problem.features)).slice(0, 50))
    model = problem.estimator(ledger=ledger, public=public)
    engine, _ = model._table_engine(dask_frame(), problem.target, problem.features)
    sent = cloudpickle.dumps(engine._layout)
    assert b"budget.ledger" not in sent
    assert len(sent) < 20_000


def test_solvers_by_position_are_refused():
    model = ReLURegressor(epsilon=1.0, delta=1e-5, domain=DOMAIN, solver="minibatch")
    with pytest.raises(ValueError, match="by position"):
        model.fit_table(dask_frame(), target="cost", features=["age", "bmi"])


def test_columns_are_refused_by_name_and_type():
    frame = dask_frame()
    with pytest.raises(DomainError, match="no column 'age'"):
        fitted(LINEAR, frame.drop(columns="age"))
    with pytest.raises(DomainError, match="'age' has the type"):
        fitted(LINEAR, frame.assign(age=pd.Timestamp(0)))
    with pytest.raises(DomainError, match="'age' is declared with bounds"):
        fitted(LINEAR, frame.assign(age="1"))
