"""A cluster of Dask workers: the same bits when one of them is killed in the middle of a fit, and
no extra charge.
"""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

import dask
import dask.dataframe as dd
import pytest
from distributed import Client, LocalCluster
from engine_problems import PROBLEMS, bits, in_memory, parts, sums, table

from discreet import Ledger
from discreet.engines import dask_frames

ROWS = table()


@pytest.fixture(scope="module")
def client():
    # Workers that are started again find the modules of the tests, too.
    found = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            memory_limit="1GB",
            env={"PYTHONPATH": found, "OMP_NUM_THREADS": "1"},
        ) as cluster,
        Client(cluster) as connected,
    ):
        yield connected


def frame(seed=3):
    return dd.from_delayed([dask.delayed(part.to_pandas()) for part in parts(ROWS, seed)], verify_meta=False)


def fitted(problem, given, ledger, **options):
    model = problem.estimator(ledger=ledger, **options)
    return bits(model.fit_table(given, **problem.asked))


def _bomb(mark, part):
    """The first worker that gets here exits without an error message."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return part
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
@pytest.mark.parametrize("name", ["linear", "groups"])
def test_a_worker_that_dies_while_it_reads_changes_nothing(name, client, tmp_path):
    problem = PROBLEMS[name]
    ledgers = [Ledger.create(tmp_path / f"{i}.ledger", epsilon=5, delta=1e-5) for i in range(2)]
    plain = fitted(problem, ROWS, ledgers[0])
    mark = tmp_path / "dead"
    given = frame().map_partitions(partial(_bomb, str(mark)), meta=ROWS.to_pandas()[:0])
    assert fitted(problem, given, ledgers[1]) == plain
    assert mark.exists()
    assert [entry.cost for entry in ledgers[1].history] == [entry.cost for entry in ledgers[0].history]


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
def test_blocks_that_are_lost_with_a_worker_are_computed_again(client, tmp_path, monkeypatch):
    problem = PROBLEMS["linear"]
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=5, delta=1e-5)
    plain = dask_frames.DaskEngine.sum_rows
    passes = []

    def killing(self, function, part=None):
        passes.append(self._kept is not None)
        if len(passes) == 3:
            holding = {name for names in client.who_has().values() for name in names}
            victims = [pid for address, pid in client.run(os.getpid).items() if address in holding]
            os.kill(victims[0], signal.SIGKILL)
        return plain(self, function, part)

    monkeypatch.setattr(dask_frames.DaskEngine, "sum_rows", killing)
    assert fitted(problem, frame(), ledger) == in_memory(problem, ROWS)
    assert passes[:3] == [False, True, True]
    assert len(passes) > 3


def test_a_cluster_gives_the_bits_of_memory(client):
    for name, problem in PROBLEMS.items():
        assert sums(problem, frame()) == sums(problem, ROWS), name
