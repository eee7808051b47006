"""Real processes, real kill -9: what was released was paid, and nothing is paid twice."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from ledger_crashes import (
    COST,
    TO_TABLES,
    TO_TAIL,
    attempts,
    check_after_crash,
    first_step_after_commit,
    fit,
    fork,
    killed_at,
    killed_at_step,
    outcome,
    release,
    visible_steps,
)

from discreet.errors import LedgerError, LedgerRolledBack
from discreet.privacy import GDP, Budget, Ledger, ledger_tail

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX processes")


@pytest.fixture(autouse=True)
def state_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(ledger_tail, "BURST", TO_TABLES)
    # After each of the many crashes here, looks for a writer that may be about to finish: it is
    # dead.
    monkeypatch.setattr("discreet.privacy.ledger_file._BETWEEN", 0.0005)


both_paces = pytest.mark.parametrize("pace", [TO_TABLES, TO_TAIL], ids=["to the tables", "in a burst"])


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger.create(tmp_path / "cohort.ledger", epsilon=1, delta=1e-6)


@both_paces
def test_kill_at_every_step_of_a_release_loses_nothing(ledger, pace, monkeypatch):
    monkeypatch.setattr(ledger_tail, "BURST", pace)
    release(ledger, "makes the tail")
    steps = visible_steps(partial(release, ledger, "dry run"))
    assert steps.count("pwrite in write_mark") == 4  # both marks, of the charge and the result
    assert steps.count("execute in insert" if pace else "pwrite in append") == 2
    for number in range(len(steps)):
        key = f"killed at step {number}"
        handed_out = killed_at_step(partial(release, ledger, key), number)
        check_after_crash(ledger.path, key, handed_out)
    assert len(ledger.history) == len(steps) + 2


def test_kill_at_every_step_of_a_fold_loses_nothing(ledger, monkeypatch):
    def charge_after_a_burst(key: str) -> int:
        ledger_tail.BURST = TO_TABLES
        return release(ledger, key)

    monkeypatch.setattr(ledger_tail, "BURST", TO_TAIL)
    release(ledger, "in the tail")
    steps = visible_steps(partial(charge_after_a_burst, "dry run"))
    assert steps.count("execute in insert") == 2 + 2  # two entries of the tail, and those of this release
    for number in range(0, len(steps), 2):
        release(ledger, f"in the tail {number}")
        key = f"killed at step {number}"
        handed_out = killed_at_step(partial(charge_after_a_burst, key), number)
        check_after_crash(ledger.path, key, handed_out)
        outcome(*fork(partial(charge_after_a_burst, f"tail is empty {number}")))


def test_kill_at_every_step_of_a_fit_leaves_its_charge_and_the_same_job_ends_it(ledger):
    steps = visible_steps(partial(fit, ledger, "dry run"))
    assert steps.count("execute in insert") == 4  # the charge, two answers, the list of releases
    for number in range(0, len(steps), 7):
        key = f"killed at step {number}"
        handed_out = killed_at_step(partial(fit, ledger, key), number)
        stored = [ledger.stored(key, part=str(part)) for part in range(2)]
        check_after_crash(ledger.path, key, handed_out, fit)
        again = fit(ledger, key)
        assert all(kept is None or kept["draw"] == draw for kept, draw in zip(stored, again, strict=True))
    assert all(len(entry.releases) == 2 for entry in ledger.history)
    assert ledger.spent.mu == pytest.approx(math.sqrt(len(ledger.history)) * COST.mu)


def test_kill_at_steps_of_a_creation_leaves_all_or_nothing(tmp_path):
    def create(path: Path) -> str:
        return str(Ledger.create(path, epsilon=1, delta=1e-6).path)

    create(tmp_path / "before.ledger")  # the state directory exists from here on
    steps = visible_steps(partial(create, tmp_path / "dry run.ledger"))
    for number in range(0, len(steps), 2):
        path = tmp_path / f"{number}.ledger"
        killed_at_step(partial(create, path), number)
        try:
            ledger = Ledger(path)
        except LedgerError:
            ledger = Ledger.create(path, epsilon=1, delta=1e-6)
        assert ledger.history == []
        assert release(ledger, "first") == release(ledger, "first")


def test_kill_during_the_recovery_from_a_kill_loses_nothing(ledger):
    steps = visible_steps(partial(release, ledger, "dry run"))
    committed = first_step_after_commit(steps)
    killed_at_step(partial(release, ledger, "recovered in a dry run"), committed)
    recovery = visible_steps(partial(ledger.charge, COST, label="recovers", key="recovers"))
    for number in range(0, len(recovery), 3):
        key = f"recovery killed at step {number}"
        handed_out = killed_at_step(partial(release, ledger, key), committed)
        killed_at_step(partial(ledger.charge, COST, label="recovers", key=f"recovers {number}"), number)
        check_after_crash(ledger.path, key, handed_out)


@both_paces
def test_kill_at_random_times_loses_nothing(ledger, pace, monkeypatch):
    monkeypatch.setattr(ledger_tail, "BURST", pace)
    chance = random.Random(11)
    finished = 0
    start = time.perf_counter()
    for number in range(5):
        assert outcome(*fork(partial(release, ledger, f"not killed {number}")))[0] is not None
    longest = 2 * (time.perf_counter() - start) / 5  # by now about half of the releases are over
    for number in range(40):
        key = f"killed at random {number}"
        handed_out = killed_at(partial(release, ledger, key), chance.uniform(0, longest))
        finished += handed_out is not None
        if number % 3 == 0:  # let some crashes pile up
            check_after_crash(ledger.path, key, handed_out)
        elif handed_out is not None:
            assert ledger.stored(key) == {"draw": handed_out}
    assert 0 < finished < 40


def test_a_flip_after_a_crash_is_refused_or_changes_nothing(ledger, monkeypatch):
    """Until the crash is settled no mark knows the newest entry: the chain alone must hold."""
    for number in range(5):
        release(ledger, f"before {number}")
    steps = visible_steps(partial(ledger.charge, COST, label="dry run"))
    committed = first_step_after_commit(steps)
    killed_at_step(partial(ledger.charge, COST, label="the last"), committed)
    mark = ledger.path.with_name(ledger.path.name + ".mark")
    crashed, crashed_mark = ledger.path.read_bytes(), mark.read_bytes()
    assert json.loads(crashed_mark)["seq"] == 11  # the opening, five releases of two entries, and the dry run
    monkeypatch.setattr("discreet.privacy.ledger_file._LOOKS", 1)
    labels = [f"release before {number}" for number in range(5)] + ["dry run", "the last"]
    chance = random.Random(5)
    for position in chance.sample(range(len(crashed)), 250):
        damaged = bytearray(crashed)
        damaged[position] ^= 1 << chance.randrange(8)
        ledger.path.write_bytes(damaged)
        mark.write_bytes(crashed_mark)
        with suppress(LedgerError):
            assert [entry.label for entry in ledger.history] == labels


@both_paces
def test_an_older_copy_put_in_place_after_a_crash_is_refused(ledger, tmp_path, pace, monkeypatch):
    monkeypatch.setattr(ledger_tail, "BURST", pace)
    newest = ledger.path if pace else ledger.path.with_name("cohort.ledger.tail")
    release(ledger, "before the backup")
    older = newest.read_bytes()
    committed = first_step_after_commit(visible_steps(partial(release, ledger, "after the backup")))
    killed_at_step(partial(release, ledger, "killed"), committed)
    shutil.rmtree(tmp_path / "state")  # as on another machine: only the mark beside the ledger can tell
    newest.write_bytes(older)
    with pytest.raises(LedgerRolledBack):
        ledger.charge(COST, label="must not pass")


def test_eight_processes_are_granted_exactly_what_fits(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger_tail, "BURST", 3)  # some go to the tables and some to the tail
    fitting = 60
    total = Budget.of(1, 1e-6)
    ledger = Ledger.create(tmp_path / "race.ledger", epsilon=1, delta=1e-6)
    share = total.split([1] * fitting)[0]
    children = [fork(partial(attempts, ledger, share, 50)) for _ in range(8)]
    granted = [outcome(*child)[0] for child in children]
    assert sum(granted) == fitting == len(ledger.history)


def test_concurrent_retries_of_processes_return_the_same_result(ledger):
    for number in range(5):
        children = [fork(partial(release, ledger, f"shared {number}")) for _ in range(6)]
        assert len({outcome(*child)[0] for child in children}) == 1
    assert len(ledger.history) == 5


def test_a_fork_while_threads_pay_does_not_disturb_them(ledger):
    threads = [threading.Thread(target=attempts, args=(ledger, COST, 25)) for _ in range(3)]
    for thread in threads:
        thread.start()
    children = [fork(partial(attempts, ledger, COST, 2)) for _ in range(12)]
    assert [outcome(*child)[0] for child in children] == [2] * 12
    for thread in threads:
        thread.join()
    assert len(ledger.history) == 3 * 25 + 12 * 2


def test_two_copies_in_a_race_spend_only_once(ledger, tmp_path):
    """The lock in the state directory covers every copy: no interleaving lets both move on."""
    other = tmp_path / "copy.ledger"
    other.write_bytes(ledger.path.read_bytes())
    other.with_name("copy.ledger.mark").write_bytes(ledger.path.with_name("cohort.ledger.mark").read_bytes())

    def spend(path: Path) -> int:
        try:
            return attempts(Ledger(path), GDP(0.001), 10)
        except LedgerError:
            return 0

    children = [fork(partial(spend, path)) for path in (ledger.path, other)]
    assert sorted(outcome(*child)[0] for child in children) == [0, 10]
