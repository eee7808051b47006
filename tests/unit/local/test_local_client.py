"""The device: what it sends never exceeds the claim, is sent once, and costs no heavy import."""

from __future__ import annotations

import math
import multiprocessing
import subprocess
import sys
import time

import numpy as np
import pytest
from local_tasks import KINDS, make_task

from discreet.errors import BudgetError, LedgerCorrupt
from discreet.local import Client, second_round, wire
from discreet.local.client import draw_noise, within_support
from discreet.local.statistic import encoded_record, exact_report
from discreet.noise import SeededBits

NUMBERS = [0.0, -0.0, 1.0, -5.0, 5.0, 1e308, -1e308, 5e-324, math.nan, math.inf, -math.inf, 10**400]
ODD = [*NUMBERS, None, "", "m", "f", "1e3", True, [1], [], {}, {"a": 1}, object(), np.float32(2), np.arange(3)]
RECORD = {"a": 1.0, "b": -2.0, "c": 0.5, "y": 1}


def loss(task, one, other):
    """How far apart two records' exact reports are, in noise standard deviations: the mu that they realise."""
    reports = [exact_report(task, *encoded_record(task, record))[0] for record in (one, other)]
    return float(np.linalg.norm((reports[0] - reports[1]) / task.plan.scales))


def test_replay_no_pair_of_records_shows_more_than_the_claim(any_task):
    rng = np.random.default_rng(3)
    names = [column.name for column in any_task.columns] + [any_task.target.name]

    def record():
        if rng.random() < 0.5:
            return {name: ODD[rng.integers(len(ODD))] for name in names if rng.random() < 0.9}
        return {name: rng.normal() * 10.0 ** rng.integers(-3, 4) for name in names}

    for _ in range(400):
        assert loss(any_task, record(), record()) <= any_task.plan.mu


def test_replay_the_worst_pair_shows_nearly_all_of_the_claim():
    task = make_task()
    far = {"a": 5.0, "b": 5.0, "c": 5.0}
    assert loss(task, far | {"y": 0}, far | {"y": 1}) > 0.999 * task.plan.mu
    both = KINDS["both"]()
    assert loss(both, far | {"y": 0}, far | {"y": 1}) > 0.7 * both.plan.mu


def test_replay_catches_a_client_that_forgets_to_clip(monkeypatch):
    monkeypatch.setattr("discreet.local.statistic.clipped_vectors", lambda task, rows: rows @ task.transform.T)
    task = make_task()
    far = {"a": 5.0, "b": 5.0, "c": 5.0}
    assert loss(task, far | {"y": 0}, far | {"y": 1}) > 2 * task.plan.mu


def test_a_record_with_anything_missing_counts_as_zero(any_task):
    for record in ({}, {"a": math.nan, "b": 1, "c": 1, "y": 1, "age": math.nan, "sex": "f"}):
        assert not exact_report(any_task, *encoded_record(any_task, record)).any()


def test_noise_has_the_planned_scale(any_task):
    draws = np.array([draw_noise(any_task.plan, SeededBits(seed)) for seed in range(400)]) / any_task.plan.scales
    assert abs(draws.mean()) < 5 / math.sqrt(draws.size)
    assert abs(draws.std() - 1) < 5 / math.sqrt(2 * draws.size)


def test_reports_are_shortened_into_the_support_and_never_refused(any_task):
    limit = any_task.plan.limit
    for values in (np.full(any_task.report_entries, limit), np.full(any_task.report_entries, -(2**45))):
        short = within_support(values, limit)
        assert sum(value * value for value in short.tolist()) <= limit**2
        wire.encode(any_task, short, bytes(16))


def test_the_same_task_gets_the_same_bytes(tmp_path):
    task = make_task()
    first = Client(task, tmp_path).report(RECORD)
    assert Client(task, tmp_path).report(RECORD) == first
    assert Client(task, tmp_path).report({"a": 4, "b": 4, "c": 4, "y": 0}) == first
    assert Client(task, tmp_path, owner="somebody else").report(RECORD) != first


def test_all_tasks_together_stay_below_the_cap(tmp_path):
    for goal in range(1, 5):  # (mu of epsilon 10 / mu of epsilon 4)^2 is 4.87
        Client(make_task(goal=goal), tmp_path, cap=(10.0, 1e-6)).report(RECORD)
    with pytest.raises(BudgetError):
        Client(make_task(goal=5), tmp_path, cap=(10.0, 1e-6)).report(RECORD)
    assert Client(make_task(goal=2), tmp_path, cap=(10.0, 1e-6)).report(RECORD)  # what was answered stays answered


def test_a_second_round_is_answered_once_however_it_is_asked(tmp_path):
    first = KINDS["two_rounds"]()
    Client(first, tmp_path).report(RECORD)
    again = [second_round(first, np.array([0.0, slope, 0.0, 0.0]), "logistic", np.eye(4)) for slope in (0.1, 0.2)]
    body = Client(again[0], tmp_path).report(RECORD)
    assert Client(again[0], tmp_path).report(RECORD) == body
    wire.check_body(again[0], body)
    with pytest.raises(BudgetError):
        Client(again[1], tmp_path).report(RECORD)
    for pair in range(100):
        rng = np.random.default_rng(pair)
        one, other = ({name: rng.normal() * 3 for name in "abcy"} for _ in range(2))
        assert loss(again[0], one, other) <= again[0].plan.mu


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
    assert len({body[28:] for body in bodies}) == 8


def _alone(_):
    return Client(make_task()).report(RECORD)


def test_a_device_loads_numpy_and_nothing_heavier(tmp_path):
    (tmp_path / "task.toml").write_text(make_task().to_toml(), encoding="utf-8")
    code = (
        "import sys, time\n"
        "from discreet.local import Client, Task\n"
        f"Client(Task.load({str(tmp_path / 'task.toml')!r}), {str(tmp_path)!r}).report({{'a': 1}})\n"
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
    # A device starts in the time of numpy and a little: busy test machines forbid an absolute bound.
    assert float(seconds) < 2.5 * float(alone) + 0.1


def test_reporting_is_quick():
    client_task = make_task()
    start = time.perf_counter()
    for _ in range(100):
        Client(client_task).report(RECORD)
    assert (time.perf_counter() - start) / 100 < 0.05


def test_ids_are_fresh():
    ids = {wire.report_id(Client(make_task()).report(RECORD)) for _ in range(50)}
    assert len(ids) == 50
