"""Shared by the collector's tests, soak run and benchmark: tasks, reports, a server process, our
own PostgreSQL.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from discreet.domain import Domain, Numeric, Public
from discreet.local import wire
from discreet.local.gaussian import Gaussian
from discreet.local.make import new_task
from discreet.local.task import Task
from discreet.service.storage import create_store
from discreet.service.tokens import Keys


def small_task(
    *,
    n_features: int = 3,
    goal: int = 1000,
    closes: str = "2999-12-31",
    public: bool = True,
    randomizer: str = "unit",
) -> Task:
    """Features in [-3, 3], a yes-or-no label; without ``public``, gaussian reports are large."""
    domain = Domain(tuple(Numeric(f"x{number}", -3.0, 3.0) for number in range(n_features)))
    rows = np.random.default_rng(0).normal(size=(500, n_features)).clip(-3, 3)
    return new_task(
        "Test task",
        domain=domain,
        target=Numeric("answer", 0.0, 1.0),
        epsilon=8.0,
        goal=goal,
        closes=closes,
        public=Public(rows=rows) if public else None,
        reports="cross" if public else "both",
        randomizer=randomizer,
    )


def report(task: Task, rng: np.random.Generator) -> bytes:
    """A valid report without a record: the collector accepts it, and 50,000 are made in a second."""
    return wire.encode(task, payload(task, rng), rng.bytes(wire.ID_BYTES))


def payload(task: Task, rng: np.random.Generator) -> bytes:
    """The payload of a report."""
    if isinstance(task.randomizer, Gaussian):
        return task.randomizer.payload(np.rint(rng.normal(scale=task.randomizer.entry_scales / 2)).astype(np.int64))
    return int(rng.integers(task.randomizer.candidates)).to_bytes(2, "little")


def made_store(task: Task, store: str, key: Path) -> Keys:
    """A new empty store and its key, as ``discreet local create`` makes them."""
    keys = Keys.create(key)
    create_store(store, task, keys).close()
    return keys


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class ServerProcess:
    """``discreet local serve`` in a process of its own, which may be killed and started again."""

    def __init__(self, task_path: Path, store: str, *options: str) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        command = [sys.executable, "-c", "from discreet.cli.serve import serve; serve()"]
        fixed = ["--task", str(task_path), "--store", store, "--port", str(self.port)]
        self._command = [*command, *fixed, *options]
        self.process: subprocess.Popen[bytes] | None = None
        self.stderr: IO[bytes] | None = None  # where its log goes, if not to ours

    def start(self, *, prefix: tuple[str, ...] = ()) -> None:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen([*prefix, *self._command], env=environment, stderr=self.stderr)

    def wait_until_healthy(self, seconds: float = 60.0) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            assert self.process is not None
            assert self.process.poll() is None, f"the server ended with {self.process.returncode}"
            try:
                with urllib.request.urlopen(f"{self.address}/health/ready", timeout=5) as response:
                    if response.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        raise AssertionError("the server did not become healthy")

    def kill(self) -> None:
        """kill -9: the process cannot clean up."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """As an operator does it."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=30)


@contextmanager
def serving(task_path: Path, store: str, *options: str) -> Iterator[ServerProcess]:
    server = ServerProcess(task_path, store, *options)
    server.start()
    try:
        server.wait_until_healthy()
        yield server
    finally:
        server.stop()


def postgresql_programs() -> Path | None:
    """The folder with initdb and postgres, None where PostgreSQL is not installed."""
    found = shutil.which("initdb")
    places = [*([Path(found).parent] if found else []), *sorted(Path("/usr/lib/postgresql").glob("*/bin"))]
    return next((place for place in reversed(places) if (place / "postgres").exists()), None)


@contextmanager
def postgresql(folder: Path, *, password: str | None = None) -> Iterator[str]:
    """A PostgreSQL server in this folder, on a free port of this machine only; gives its address."""
    programs = postgresql_programs()
    assert programs is not None
    owner = _unprivileged()
    if owner:
        shutil.chown(folder, owner, owner)
    become = {"user": owner, "group": owner, "extra_groups": []} if owner else {}
    data, port = folder / "data", free_port()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **become}
    method = ["-A", "trust"]
    if password is not None:
        (folder / "password").write_text(password)
        method = ["-A", "scram-sha-256", "--pwfile", str(folder / "password")]
    command = [str(programs / "initdb"), "-D", str(data), "-U", "tester", *method, "--no-sync"]
    subprocess.run(command, check=True, **quiet)
    settings = ["-c", "listen_addresses=127.0.0.1", "-p", str(port), "-k", str(folder)]
    server = subprocess.Popen([str(programs / "postgres"), "-D", str(data), *settings], **quiet)
    try:
        address = f"postgresql://tester@127.0.0.1:{port}/postgres"
        _wait_for(address, password)
        yield address
    finally:
        server.send_signal(signal.SIGQUIT)  # immediate shutdown: these files are not needed again
        server.wait(timeout=30)


def _unprivileged() -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _wait_for(address: str, password: str | None) -> None:
    import psycopg

    for _ in range(200):
        try:
            psycopg.connect(address, password=password).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.05)
    raise AssertionError("PostgreSQL did not start")
