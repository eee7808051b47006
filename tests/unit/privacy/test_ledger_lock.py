"""Each ledger has its own lock: a waiting process names the holder; other ledgers and forks do not
wait.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from discreet.errors import LedgerBusy
from discreet.privacy import GDP, Ledger
from discreet.privacy.ledger_lock import ForkGate, locked

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX processes")

HOLDER = """
import sys, time
from pathlib import Path
from discreet.privacy.ledger_lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def state_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("DISCREET_LOCK_SECONDS", "0.3")


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger.create(tmp_path / "cohort.ledger", epsilon=1, delta=1e-6)


@pytest.fixture
def holder(ledger):
    """Another process that holds the ledger's lock."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, f"{ledger.path}.lock"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def stopped(process: int) -> bool:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="only Linux says which processes are stopped")
def test_a_stopped_holder_is_named_and_not_waited_for_without_end(ledger, holder):
    holder.send_signal(signal.SIGSTOP)
    deadline = time.monotonic() + 10
    while not stopped(holder.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    with pytest.raises(LedgerBusy) as refusal:
        ledger.charge(GDP(0.1), label="x")
    message = str(refusal.value)
    assert f"process {holder.pid} (-c), which is stopped (kill -CONT {holder.pid} resumes it)" in message
    assert re.search(r"since \d{4}-\d\d-\d\dT", message)
    assert "nothing was spent" in message
    assert ledger.charges == 0  # reading takes no lock


def test_other_ledgers_and_forks_do_not_wait_for_a_lock_that_is_held(ledger, holder, tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_LOCK_SECONDS", "5")
    other = Ledger.create(tmp_path / "other.ledger", epsilon=1, delta=1e-6)
    refused = []

    def wait() -> None:
        try:
            ledger.charge(GDP(0.1), label="waits")
        except LedgerBusy:
            refused.append(1)

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.1)
    started = time.monotonic()
    other.charge(GDP(0.1), label="does not wait")
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    assert time.monotonic() - started < 3
    waiting.join()
    assert refused


def test_the_lock_is_free_again_when_its_holder_dies(ledger, holder):
    holder.kill()
    holder.wait()
    ledger.charge(GDP(0.1), label="x")


def test_a_child_does_not_keep_the_lock_of_a_parent_that_died(ledger):
    """The parent forks while it holds the lock, and is killed: its child, still alive, must not
    hold it.
    """
    code = f"""
import os, time
from pathlib import Path
from discreet.privacy.ledger_lock import locked
with locked(Path("{ledger.path}.lock")):
    if not os.fork():
        print("forked", os.getpid(), flush=True)
        time.sleep(30)
        os._exit(0)
    time.sleep(30)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline().split()[1])
        parent.kill()
        parent.wait()
        try:
            ledger.charge(GDP(0.1), label="x")
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_child_can_charge_at_once(ledger):
    child = os.fork()
    if not child:
        ledger.charge(GDP(0.1), label="child")
        os._exit(0)
    os.waitpid(child, 0)
    assert ledger.charges == 1


def test_a_deleted_lock_file_does_no_harm(ledger, tmp_path):
    path = tmp_path / "cohort.ledger.lock"
    path.unlink()
    ledger.charge(GDP(0.1), label="x")
    with locked(path):
        path.unlink()
        ledger.charge(GDP(0.1), label="its file is gone, so this is another lock")
    assert ledger.charges == 2
    ledger.verify()


def test_a_fork_waits_until_no_other_thread_is_inside():
    gate, seen, inside = ForkGate(), [], threading.Event()

    def work() -> None:
        with gate:
            inside.set()
            time.sleep(0.2)
            seen.append("left")

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    gate.before_fork()
    seen.append("forks")
    entered = threading.Thread(target=lambda: (gate.__enter__(), seen.append("enters"), gate.__exit__()))
    entered.start()
    time.sleep(0.05)
    seen.append("forked")
    gate.after_in_parent()
    entered.join()
    thread.join()
    assert seen == ["left", "forks", "forked", "enters"]


def test_a_thread_that_forks_inside_does_not_wait_for_itself():
    gate = ForkGate()
    with gate:
        gate.before_fork()
        gate.after_in_parent()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="only Linux lists open files")
def test_waiting_for_a_lock_leaves_no_file_open(ledger, holder):
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(LedgerBusy):
        ledger.charge(GDP(0.01), label="waits")
    assert len(os.listdir("/proc/self/fd")) == before
