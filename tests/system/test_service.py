"""The collector as people run it: a process, devices in another, crashes in between."""

from __future__ import annotations

import asyncio
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import pytest
from tests.service_tools import ServerProcess, made_store, postgresql, postgresql_programs, serving, small_task

sys.path.insert(0, str(Path(__file__).parent))
from service_crashes import check_counted_once, deliveries_of, kill_under_load

from discreet.service.load import deliver
from discreet.service.tokens import Role


@pytest.fixture
def folder(tmp_path):
    return tmp_path


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, folder):
    if request.param == "sqlite":
        yield str(folder / "reports.db")
        return
    if postgresql_programs() is None:
        pytest.skip("PostgreSQL is not installed")
    pytest.importorskip("psycopg")
    # Not under pytest's folder, which only its owner may enter: the server runs as another user.
    with tempfile.TemporaryDirectory(prefix="discreet-pg-") as own, postgresql(Path(own)) as address:
        yield address


def test_every_acknowledged_report_is_counted_exactly_once(folder, store):
    task = small_task(goal=10_000)
    (folder / "task.toml").write_text(task.to_toml())
    keys = made_store(task, store, folder / "key")
    deliveries = deliveries_of(task, keys, 2000)
    with serving(folder / "task.toml", store, "--key", str(folder / "key")) as server:
        twice = [delivery for delivery in deliveries for _ in range(2)]  # every device has a short timeout
        result = asyncio.run(deliver(server.address, twice, connections=32))
        headers = {"Authorization": f"Bearer {keys.issue(Role.ANALYST)}"}
        models = httpx.get(f"{server.address}/v1/models", headers=headers, timeout=60).json()
    assert (result.statuses[201], result.statuses[200]) == (2000, 2000)
    assert models["counted"] == models["fitted"] == 2000
    result.acknowledged = sorted({number // 2 for number in result.acknowledged})
    check_counted_once(store, task, keys, deliveries, result)


def test_nothing_acknowledged_is_lost_or_doubled_under_kill_9(folder, store):
    task = small_task(n_features=8, goal=1500, closes="goal")  # batches close in the middle of it all
    survived = kill_under_load(folder, store, task, n=4000, kills=5, connections=32, chance=random.Random(3))
    assert survived.stored == 4000
    assert survived.result.disconnects > 0


def test_a_full_disk_loses_nothing_and_devices_come_again(folder):
    task = small_task(n_features=20, public=False, randomizer="gaussian")
    (folder / "task.toml").write_text(task.to_toml())
    keys = made_store(task, str(folder / "reports.db"), folder / "reports.db.key")
    store, deliveries = str(folder / "reports.db"), deliveries_of(task, keys, 600)
    with serving(folder / "task.toml", store, "--max-bytes", "400000") as server:
        result = asyncio.run(deliver(server.address, deliveries, connections=16, give_up=0.2))
    assert result.statuses[507] > 0
    assert 0 < len(result.acknowledged) < 600
    stored = [deliveries[number] for number in result.acknowledged]
    result.acknowledged, result.refused = list(range(len(stored))), []
    check_counted_once(store, task, keys, stored, result)
    with serving(folder / "task.toml", store) as server:
        result = asyncio.run(deliver(server.address, deliveries, connections=16))
    assert result.statuses == {200: len(stored), 201: 600 - len(stored)}
    check_counted_once(store, task, keys, deliveries, result)


def test_an_operator_may_stop_the_server_at_any_time(folder):
    task = small_task()
    (folder / "task.toml").write_text(task.to_toml())
    keys = made_store(task, str(folder / "reports.db"), folder / "reports.db.key")
    store, deliveries = str(folder / "reports.db"), deliveries_of(task, keys, 50)
    with serving(folder / "task.toml", store) as server:
        result = asyncio.run(deliver(server.address, deliveries, connections=8))
    assert not (folder / "reports.db-wal").exists()  # closed properly: the log is back in the file
    check_counted_once(store, task, keys, deliveries, result)


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_every_acknowledgement_comes_after_a_sync(folder):
    """kill -9 cannot show this, as the system keeps what a process wrote; so its calls are traced."""
    if subprocess.run(["strace", "-o", os.devnull, "true"], check=False).returncode != 0:
        pytest.skip("strace may not trace here")
    task = small_task()
    (folder / "task.toml").write_text(task.to_toml())
    keys = made_store(task, str(folder / "reports.db"), folder / "reports.db.key")
    trace = folder / "trace"
    server = ServerProcess(folder / "task.toml", str(folder / "reports.db"))
    calls = "trace=fsync,fdatasync,sendto,sendmsg,write,pwrite64"
    server.start(prefix=("strace", "-D", "-f", "-qq", "-y", "-s", "40", "-e", calls, "-o", str(trace)))
    try:
        server.wait_until_healthy()
        result = asyncio.run(deliver(server.address, deliveries_of(task, keys, 20), connections=1))
    finally:
        server.stop()
    assert len(result.acknowledged) == 20
    assert syncs_before_each_acknowledgement(lines_of(trace, 20)) == 20


def lines_of(trace: Path, acknowledgements: int) -> list[str]:
    """The trace, once strace, which ends after the server, has written it."""
    for _ in range(100):
        text = trace.read_text(errors="replace")
        if text.count("HTTP/1.1 201") >= acknowledgements:
            break
        time.sleep(0.1)
    return text.splitlines()


def syncs_before_each_acknowledgement(lines: list[str]) -> int:
    """The number of acknowledgements; each must come after a write to the log and a sync after
    that.
    """
    written = synced = acknowledged = 0
    for line in lines:
        if re.search(r"pwrite64\(.*reports\.db-wal", line):
            written, synced = written + 1, 0
        elif re.search(r"(fsync|fdatasync)\(.*reports\.db-wal", line) or "fdatasync resumed" in line:
            synced += 1
        elif "HTTP/1.1 201" in line:
            acknowledged += 1
            assert written > 0, "an acknowledgement without a write"
            assert synced > 0, "an acknowledgement before its sync"
            written = synced = 0
    return acknowledged
