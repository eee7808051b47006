"""The device: what it sends never exceeds the claim, is sent once, and costs no heavy import."""

from __future__ import annotations

import math
import multiprocessing
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from local_tasks import kind, make_task

from discreet.domain import Categorical, Domain
from discreet.errors import BudgetError, DomainError, LedgerCorrupt
from discreet.local import Client, wire
from discreet.local.client import encoded_record
from discreet.local.cost import Cost
from discreet.privacy import Pure

NUMBERS = [0.0, -0.0, 1.0, -5.0, 5.0, 1e308, -1e308, 5e-324, math.nan, math.inf, -math.inf, 10**400]
ODD = [*NUMBERS, None, "", "m", "f", "1e3", " 7 ", True, [1], [], {}, {"a": 1}, object(), np.float32(2), np.arange(3)]
RECORD = {"a": 1.0, "b": -2.0, "c": 0.5, "y": 1, "age": 30, "sex": "m"}


def vector(task, record):
    rows, labels = encoded_record(task, record)
    return task.statistic.vectors(rows, task.target.scaled(labels))[0]


def test_no_record_leaves_the_unit_ball(any_task):
    rng = np.random.default_rng(3)
    names = [column.name for column in any_task.columns] + [any_task.target.name]
    for _ in range(400):
        record = {name: ODD[rng.integers(len(ODD))] for name in names}
        if rng.random() < 0.5:
            record = {name: rng.normal() * 10.0 ** rng.integers(-3, 4) for name in names}
        made = vector(any_task, record)
        assert np.isfinite(made).all()
        assert np.linalg.norm(made) <= 1 + 1e-12


def test_a_client_that_forgets_to_shorten_is_noticed(monkeypatch):
    monkeypatch.setattr("discreet.local.statistic.Statistic.shortening", lambda self, vectors: np.ones(len(vectors)))
    assert np.linalg.norm(vector(make_task(), {"a": 5.0, "b": 5.0, "c": 5.0, "y": 1})) > 2


def test_a_record_with_anything_missing_counts_as_zero(any_task):
    empty = dict.fromkeys([*(column.name for column in any_task.columns), any_task.target.name])
    assert not vector(any_task, empty).any()
    assert not vector(any_task, RECORD | {"a": math.nan, "sex": "unknown", "y": 1}).any()
    assert len(Client(any_task).report(empty)) == any_task.body_size


def test_a_misspelt_column_is_refused_by_name():
    record = {"a": 1.0, "b": 2.0, "C": 3.0, "y": 1}
    with pytest.raises(DomainError, match="'c'"):
        Client(make_task()).report(record)


def test_answers_are_read_alike_from_forms_files_and_json():
    task = kind("mixed")
    exact = vector(task, {"age": 30, "sex": "m", "y": 1})
    for same in ({"age": "30", "sex": "m", "y": True}, {"age": " 3e1 ", "sex": "m", "y": "1"}):
        assert vector(task, same).tolist() == exact.tolist()
    for missing in ("1_000", "nan", "0x10", "", "thirty", "1,5"):
        assert not vector(task, {"age": missing, "sex": "m", "y": 1}).any()
    numbered = make_task(domain=Domain((Categorical("level", (0, 1.5, True)),)), public=None)
    assert [column.values for column in numbered.columns] == [("0", "1.5", "1")]
    assert vector(numbered, {"level": 1.0, "y": 1}).tolist() == vector(numbered, {"level": "1", "y": 1}).tolist()


def test_the_same_task_gets_the_same_bytes(tmp_path):
    task = make_task()
    first = Client(task, tmp_path).report(RECORD)
    assert Client(task, tmp_path).report(RECORD) == first
    assert Client(task, tmp_path).report({"a": 4, "b": 4, "c": 4, "y": 0}) == first
    assert Client(task, tmp_path, owner="somebody else").report(RECORD) != first


def test_all_tasks_together_stay_below_the_cap(tmp_path):
    for goal in range(1, 5):  # (mu of epsilon 10 / mu of epsilon 4)^2 is 4.87
        task = make_task(goal=goal, randomizer="gaussian")
        Client(task, tmp_path, cap=(10.0, 1e-6)).report(RECORD)
    with pytest.raises(BudgetError):
        Client(make_task(goal=5, randomizer="gaussian"), tmp_path, cap=(10.0, 1e-6)).report(RECORD)
    with pytest.raises(BudgetError):
        Client(make_task(goal=5), tmp_path, cap=(10.0, 1e-6)).report(RECORD)
    assert Client(task, tmp_path, cap=(10.0, 1e-6)).report(RECORD)  # what was answered stays answered


def test_pure_epsilons_add_up_to_the_cap(tmp_path):
    for goal in (1, 2):
        Client(make_task(goal=goal, epsilon=5.0), tmp_path, cap=(10.0, 0.0)).report(RECORD)
    with pytest.raises(BudgetError, match="epsilon 10 at delta 0"):
        Client(make_task(goal=3, epsilon=0.1), tmp_path, cap=(10.0, 0.0)).report(RECORD)


@pytest.mark.parametrize("epsilon", [1e-4, 0.01, 0.5, 1.0, 4.0, 20.0])
def test_a_pure_cost_counts_as_the_gaussian_that_dominates_it(epsilon):
    assert Cost.pure(epsilon).mu >= Pure(epsilon).mu
    assert Cost.pure(epsilon).mu == pytest.approx(Pure(epsilon).mu, rel=1e-8)


def test_a_ledger_from_before_pure_epsilons_still_counts(tmp_path):
    import sqlite3

    with sqlite3.connect(tmp_path / "answers.db") as old:
        old.execute(
            "CREATE TABLE answers (owner TEXT NOT NULL, question TEXT NOT NULL, task TEXT NOT NULL, mu REAL NOT NULL, "
            "body BLOB NOT NULL, PRIMARY KEY (owner, question)) WITHOUT ROWID"
        )
        old.execute("INSERT INTO answers VALUES ('', 'q', 't', 3.0, x'00')")
    with pytest.raises(BudgetError):
        Client(make_task(), tmp_path, cap=(10.0, 1e-6)).report(RECORD)


def test_a_task_and_the_one_that_continues_it_are_answered_once(tmp_path):
    first = make_task()
    later = replace(make_task(goal=77), parent=first.digest)
    body = Client(first, tmp_path).report(RECORD)
    with pytest.raises(BudgetError, match="another task of the same collection"):
        Client(later, tmp_path).report(RECORD)
    assert Client(first, tmp_path).report(RECORD) == body


def test_a_broken_ledger_reports_nothing(tmp_path):
    Client(make_task(), tmp_path).report(RECORD)
    (tmp_path / "answers.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(LedgerCorrupt):
        Client(make_task(), tmp_path).report(RECORD)


def _report(folder, ready, results):
    ready.wait()
    results.put(Client(make_task(), folder).report(RECORD))


def test_racing_processes_send_one_report(tmp_path):
    context = multiprocessing.get_context("fork")
    ready, results = context.Barrier(4), context.Queue()
    workers = [context.Process(target=_report, args=(tmp_path, ready, results)) for _ in range(4)]
    for worker in workers:
        worker.start()
    bodies = {results.get(timeout=60) for _ in workers}
    for worker in workers:
        worker.join()
    assert len(bodies) == 1


def test_forked_devices_draw_different_noise():
    context = multiprocessing.get_context("fork")
    with context.Pool(4) as pool:
        bodies = pool.map(_alone, range(8))
    assert len({body[12:] for body in bodies}) == 8


def _alone(_):
    return Client(make_task()).report(RECORD)


def test_a_device_loads_numpy_and_nothing_heavier(tmp_path):
    (tmp_path / "task.toml").write_text(make_task().to_toml(), encoding="utf-8")
    code = (
        "import sys, time\n"
        "from discreet.local import Client, Task\n"
        f"task, record = Task.load({str(tmp_path / 'task.toml')!r}), {RECORD!r}\n"
        f"Client(task, {str(tmp_path)!r}).report(record)\n"
        "heavy = {'scipy', 'sklearn', 'narwhals', 'numba', 'pyarrow', 'pandas', 'click'} & set(sys.modules)\n"
        "print(sorted(heavy), time.process_time())"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    heavy, seconds = output.rsplit(maxsplit=1)
    assert heavy == "[]"
    alone = subprocess.run(
        [sys.executable, "-c", "import time, numpy; print(time.process_time())"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    # A device starts in the time of numpy and a little: busy test machines forbid an absolute
    # bound.
    assert float(seconds) < 2.5 * float(alone) + 0.1


def test_reporting_is_quick():
    client_task = make_task()
    start = time.perf_counter()
    for _ in range(100):
        Client(client_task).report(RECORD)
    assert (time.perf_counter() - start) / 100 < 0.05


def test_ids_are_fresh():
    ids = {wire.report_id(Client(kind("cross")).report(RECORD)) for _ in range(50)}
    assert len(ids) == 50
