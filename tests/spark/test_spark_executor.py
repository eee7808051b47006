"""An executor that is killed in the middle of a fit: the same bits, and no extra charge."""

from __future__ import annotations

import os
import signal
from functools import partial

import psutil
import pytest
import sessions
from engine_problems import PROBLEMS, bits, in_memory, table
from spark_contract import spark_frame

from discreet import Ledger
from discreet.engines import spark_frames
from discreet.engines.spark_frames import use_this_python

ROWS = table()


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    os.environ["SPARK_WORKER_DIR"] = str(tmp_path_factory.mktemp("work"))
    settings = {"spark.executor.memory": "512m", "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"]}
    made = sessions.classic("local-cluster[2,1,1024]", **settings)
    use_this_python(made)  # for the functions of this test, which are made before a fit does so
    yield made
    made.stop()


def _bomb(mark, batches):
    """Once enabled, the first task that has read a batch kills its executor."""
    for batch in batches:
        if os.path.exists(mark + ".armed"):
            try:
                os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                above = {one.pid: " ".join(one.cmdline()) for one in psutil.Process().parents()}
                os.kill(next(pid for pid in above if "CoarseGrainedExecutorBackend" in above[pid]), signal.SIGKILL)
        yield batch


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
def test_a_killed_executor_changes_nothing(session, tmp_path, monkeypatch):
    problem = PROBLEMS["linear"]
    ledgers = [Ledger.create(tmp_path / f"{i}.ledger", epsilon=5, delta=1e-5) for i in range(2)]
    plain = problem.estimator(ledger=ledgers[0]).fit_table(ROWS, **problem.asked)
    frame = spark_frame(session, seed=3)
    mark = str(tmp_path / "dead")
    given = frame.mapInArrow(partial(_bomb, mark), frame.schema)
    sum_rows, passes = spark_frames.SparkEngine.sum_rows, []

    def armed(self, function, part=None):
        passes.append(function)
        if len(passes) == 3:
            open(mark + ".armed", "w").close()
        return sum_rows(self, function, part)

    monkeypatch.setattr(spark_frames.SparkEngine, "sum_rows", armed)
    found = problem.estimator(ledger=ledgers[1]).fit_table(given, **problem.asked)
    assert bits(found) == bits(plain) == in_memory(problem, ROWS)
    assert os.path.exists(mark)
    assert len(passes) > 3
    assert [entry.cost for entry in ledgers[1].history] == [entry.cost for entry in ledgers[0].history]
