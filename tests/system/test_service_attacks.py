"""The collector under attacks by strangers; small in number and time, on this machine only."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import socket
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from tests.service_tools import ServerProcess, made_store, postgresql, postgresql_programs, small_task

sys.path.insert(0, str(Path(__file__).parent))
from service_crashes import check_counted_once, deliveries_of

from discreet.service.load import deliver


@pytest.fixture
def collector(tmp_path):
    """A started collector, its log in a file, and the key."""
    task = small_task()
    (tmp_path / "task.toml").write_text(task.to_toml())
    keys = made_store(task, str(tmp_path / "reports.db"), tmp_path / "reports.db.key")
    server = ServerProcess(tmp_path / "task.toml", str(tmp_path / "reports.db"))
    with open(tmp_path / "log", "wb") as server.stderr:
        server.start()
        try:
            server.wait_until_healthy()
            yield server, task, keys
        finally:
            server.stop()


def memory(server):
    """Megabytes of memory that the server holds."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def test_a_hundred_megabytes_of_header_fields_are_not_kept(collector):
    server, _, _ = collector
    before = memory(server)
    fields = b"".join(b"X-%d: %s\r\n" % (number, b"a" * 50) for number in range(1000))
    for _ in range(8):
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        with connection, contextlib.suppress(OSError):
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
            for _ in range(200):  # 12 MB
                connection.sendall(fields)
    assert memory(server) - before < 20


def test_2100_silent_connections_do_not_stop_it(collector, tmp_path):
    server, task, keys = collector
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4096:
        pytest.skip("this machine does not allow that many open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4096), hard))
    silent = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(2100)]
    try:
        with pytest.raises(urllib.error.HTTPError) as caught:  # this address has had its share
            urllib.request.urlopen(f"{server.address}/v1/task", timeout=10)
        assert caught.value.code == 503
        assert int(caught.value.headers["Retry-After"]) > 0
        other = socket.create_connection(("127.0.0.1", server.port), timeout=10, source_address=("127.0.0.2", 0))
        other.sendall(b"GET /v1/task HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert other.recv(100).startswith(b"HTTP/1.1 200")
        other.close()
        for connection in silent[:100]:  # they would have been cut off after ten seconds
            connection.close()
        deliveries = deliveries_of(task, keys, 100)
        result = asyncio.run(deliver(server.address, deliveries, connections=8, give_up=30))
        assert len(result.acknowledged) == 100
    finally:
        for connection in silent:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    server.stop()
    check_counted_once(str(tmp_path / "reports.db"), task, keys, deliveries, result)
    assert (tmp_path / "log").read_text() == ""


def test_a_thousand_refused_requests_write_no_line(collector, tmp_path):
    server, _, _ = collector
    for sent in (b"nonsense\r\n\r\n", b"POST /v1/reports HTTP/1.1\r\nContent-Length: 0\r\n\r\n"):
        for _ in range(500):
            with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
                connection.sendall(sent)
                assert connection.recv(1000)
    server.stop()
    assert (tmp_path / "log").read_text() == ""


@pytest.mark.skipif(postgresql_programs() is None, reason="PostgreSQL is not installed")
def test_a_database_that_hangs_is_noticed_outlived_and_does_not_hold_up_the_end(tmp_path):
    pytest.importorskip("psycopg")
    task = small_task()
    (tmp_path / "task.toml").write_text(task.to_toml())
    with tempfile.TemporaryDirectory(prefix="discreet-pg-") as folder, postgresql(Path(folder)) as address:
        keys = made_store(task, address, tmp_path / "key")
        options = ("--key", str(tmp_path / "key"), "--database-seconds", "0.5")
        server = ServerProcess(tmp_path / "task.toml", address, *options)
        server.start()
        try:
            server.wait_until_healthy()
            deliveries = deliveries_of(task, keys, 20)
            asyncio.run(deliver(server.address, deliveries[:10], connections=4))
            with stopped(Path(folder)):
                refused = asyncio.run(deliver(server.address, deliveries[10:14], connections=4, give_up=2.0))
                assert refused.statuses[503] > 0
                assert (status(server, "live"), status(server, "ready")) == (200, 503)
            server.wait_until_healthy(20)
            result = asyncio.run(deliver(server.address, deliveries, connections=4))
            assert len(result.acknowledged) == 20
            with stopped(Path(folder)):
                started = time.monotonic()
                server.stop()
                assert time.monotonic() - started < 25
        finally:
            server.kill()
        check_counted_once(address, task, keys, deliveries, result)


@contextlib.contextmanager
def stopped(folder):
    """Every process of this PostgreSQL server, in the middle of whatever it did."""
    main = int((folder / "data" / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
    processes = [main, *map(int, children)]
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)


def status(server, what):
    try:
        return urllib.request.urlopen(f"{server.address}/health/{what}", timeout=10).status
    except urllib.error.HTTPError as error:
        return error.code
