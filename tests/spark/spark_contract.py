"""What a Spark frame promises, the same on a classic session and on Connect."""

from __future__ import annotations

import os
import tempfile
from functools import cache, partial

import numpy as np
import pyarrow.parquet as pq
import pytest
from engine_problems import DOMAIN, PROBLEMS, engine_of, fitted, in_memory, sums, table

from discreet import ChangedError, DomainError, Ledger, ReadError, ReLURegressor
from discreet.engines import spark_frames
from discreet.engines.spark_frames import use_this_python

ROWS = table()
_FOLDER = tempfile.TemporaryDirectory()
LINEAR = PROBLEMS["linear"]


@cache
def spark_frame(session, seed=1):
    """The rows in another order, in partitions of which some are empty and some hold nearly
    everything.
    """
    shuffled = ROWS.take(np.random.default_rng(seed).permutation(ROWS.num_rows))
    path = f"{_FOLDER.name}/{seed}.parquet"
    pq.write_table(shuffled, path)  # Spark 3.5 makes no frame of an Arrow table
    frame = session.read.parquet(path)
    return frame.repartition(1 + seed % 7, frame["age"] % (1 + seed % 4)).cache()


class SparkContract:
    """Tests of any session; a module for each kind of session gives the fixture."""

    @pytest.mark.parametrize("name", list(PROBLEMS))
    def test_a_spark_frame_gives_the_bits_of_memory(self, name, session):
        assert fitted(PROBLEMS[name], spark_frame(session)) == in_memory(PROBLEMS[name], ROWS)

    @pytest.mark.parametrize("name", list(PROBLEMS))
    def test_no_partitioning_changes_a_sum(self, name, session):
        expected = sums(PROBLEMS[name], ROWS)
        for seed in range(20):
            assert sums(PROBLEMS[name], spark_frame(session, seed=seed)) == expected, seed

    def test_no_rows_are_summed(self, session):
        nothing = ROWS.slice(0, 0)
        for name in ("linear", "groups", "categories"):
            assert sums(PROBLEMS[name], spark_frame(session).limit(0)) == sums(PROBLEMS[name], nothing)

    def test_sums_beyond_63_bits_are_exact(self, session):
        found = engine_of(LINEAR, spark_frame(session, seed=5)).sum_rows(_large)
        assert found[0] > 2**63
        assert found[0] % 2**62 == 0

    def test_rows_that_change_stop_the_fit(self, session, tmp_path, monkeypatch):
        use_this_python(session)
        ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=5, delta=1e-5)
        mark, frame = str(tmp_path / "changed"), spark_frame(session)
        changing = frame.mapInArrow(partial(_changing, mark), frame.schema)
        sum_rows = spark_frames.SparkEngine.sum_rows

        def then_change(self, function, part=None):
            found = sum_rows(self, function, part)
            open(mark, "w").close()
            return found

        monkeypatch.setattr(spark_frames.SparkEngine, "sum_rows", then_change)
        with pytest.raises(ChangedError) as caught:
            LINEAR.estimator(ledger=ledger, random_state=None).fit_table(changing, **LINEAR.asked)
        assert not any(character.isdigit() for character in str(caught.value))
        assert len(ledger.history) == 1

    def test_what_fails_in_a_task_shows_no_cell(self, session):
        failing = spark_frame(session).selectExpr("*", "raise_error('secret 777') as x").drop("bmi")
        with pytest.raises(ReadError) as caught:
            engine_of(LINEAR, failing.selectExpr("age", "cost", "cast(x as double) as bmi")).sum_rows(_count)
        assert "777" not in str(caught.value)
        assert caught.value.__context__ is None

    def test_solvers_by_position_are_refused(self, session):
        model = ReLURegressor(epsilon=1.0, delta=1e-5, domain=DOMAIN, solver="minibatch")
        with pytest.raises(ValueError, match="by position"):
            model.fit_table(spark_frame(session), target="cost", features=["age", "bmi"])

    def test_columns_are_refused_by_name_and_type(self, session):
        frame = spark_frame(session)
        with pytest.raises(DomainError, match="no column 'age'"):
            fitted(LINEAR, frame.drop("age"))
        with pytest.raises(DomainError, match="'age' has the type date"):
            fitted(LINEAR, frame.selectExpr("date('2020-01-01') as age", "bmi", "cost"))
        with pytest.raises(DomainError, match="'age' is declared with bounds"):
            fitted(LINEAR, frame.selectExpr("'1' as age", "bmi", "cost"))

    def test_a_private_number_of_rows_is_not_counted(self, session):
        frame = spark_frame(session)
        model = LINEAR.estimator(neighbours="add_or_remove_one", random_state=None)
        engine, encoder = model._table_engine(frame, "cost", ["age", "bmi"])
        source = model._curator(engine, encoder, False, None)
        assert source.public_rows is None


def _changing(mark, batches):
    """A row less in every batch, once the mark is there."""
    for batch in batches:
        yield batch.slice(1) if os.path.exists(mark) else batch


def _large(block, used):
    return np.array([2**62])


def _count(block, used):
    return np.array([block.records])
