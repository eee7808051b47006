"""Durable reports a second, latency and memory of the collector: ``python -m benchmarks.service``
(or ``make bench``).

The server runs in a process of its own, the devices in this one, on the same cores. Reports are
made beforehand, as devices would; a report counts when it was acknowledged, which is after its
commit was synced. Afterwards the store is added up again: every acknowledged report must be in it
exactly once.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.service_tools import ServerProcess, made_store, postgresql, postgresql_programs, report, small_task  # noqa: E402

from discreet.local import wire  # noqa: E402
from discreet.local.task import Task  # noqa: E402
from discreet.service.load import Delivery, LoadResult, deliver  # noqa: E402
from discreet.service.storage import open_store  # noqa: E402
from discreet.service.tokens import Keys, Role  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "service.md"


@dataclass(frozen=True)
class Row:
    """One line of the results."""

    store: str
    body: int
    connections: int
    reports: int
    rate: float
    median: float
    p99: float
    memory: str

    def line(self) -> str:
        return (
            f"| {self.store} | {self.body} | {self.connections} | {self.reports:,} | {self.rate:,.0f} | "
            f"{1000 * self.median:.0f} ms | {1000 * self.p99:.0f} ms | {self.memory} |"
        )


def resident_megabytes(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def measure(folder: Path, name: str, store: str, task: Task, *, n: int, connections: int) -> Row:
    """Serve, load, stop, verify."""
    task_path = folder / "task.toml"
    task_path.write_text(task.to_toml())
    keys = made_store(task, store, folder / "key")
    rng = np.random.default_rng(0)
    deliveries = [Delivery(report(task, rng), keys.issue(Role.DEVICE)) for _ in range(n)]
    server = ServerProcess(task_path, store, "--key", str(folder / "key"))
    server.start()
    try:
        server.wait_until_healthy()
        assert server.process is not None
        memory = []
        result = LoadResult()
        for part in range(4):  # memory after each quarter: it must not follow the number of reports
            quarter = asyncio.run(deliver(server.address, deliveries[part::4], connections=connections))
            result.latencies += quarter.latencies
            result.acknowledged += quarter.acknowledged
            result.seconds += quarter.seconds
            memory.append(resident_megabytes(server.process.pid))
    finally:
        server.stop()
    check(store, task, keys, deliveries, result)
    rate = n / result.seconds
    shown = " → ".join(f"{size:.0f}" for size in memory) + " MB"
    return Row(name, task.body_size, connections, n, rate, result.quantile(0.5), result.quantile(0.99), shown)


def endure(folder: Path, task: Task, *, minutes: float, connections: int) -> str:
    """Load for so long, with the server's memory looked at on the way; a line for the results."""
    store, task_path = str(folder / "reports.db"), folder / "task.toml"
    task_path.write_text(task.to_toml())
    keys = made_store(task, store, folder / "reports.db.key")
    server = ServerProcess(task_path, store)
    server.start()
    seen: list[float] = []
    total = np.zeros(task.report_entries, dtype=np.int64)

    def devices() -> Iterator[Delivery]:
        rng, started = np.random.default_rng(0), time.monotonic()
        while (now := time.monotonic() - started) < 60 * minutes:
            if now >= len(seen) * 6 * minutes:  # ten looks
                seen.append(resident_megabytes(server.process.pid))
            body = report(task, rng)
            np.add(total, wire.decode(task, body), out=total)
            yield Delivery(body, keys.issue(Role.DEVICE))

    try:
        server.wait_until_healthy()
        result = asyncio.run(deliver(server.address, devices(), connections=connections))
        seen.append(resident_megabytes(server.process.pid))
    finally:
        server.stop()
    opened = open_store(store, task, keys)
    (stored,) = opened.verified_totals()
    opened.close()
    if result.refused or stored.count != len(result.acknowledged) or not np.array_equal(stored.values, total):
        raise AssertionError(f"{len(result.acknowledged)} acknowledged, {stored.count} stored")
    return (
        f"{minutes:g} minutes of load over {connections} connections: {stored.count:,} reports, "
        f"{stored.count / result.seconds:,.0f} a second, p99 {1000 * result.quantile(0.99):.0f} ms, each found once "
        f"afterwards; memory of the server on the way: {', '.join(f'{size:.0f}' for size in seen)} MB."
    )


def check(store: str, task: Task, keys: Keys, deliveries: list[Delivery], result: LoadResult) -> None:
    """Raise unless exactly the acknowledged reports, which are all, are in the store."""
    opened = open_store(store, task, keys)
    (total,) = opened.verified_totals()
    opened.close()
    exact = np.sum([wire.decode(task, delivery.body) for delivery in deliveries], axis=0)
    if not (len(result.acknowledged) == total.count == len(deliveries) and np.array_equal(total.values, exact)):
        raise AssertionError(f"{len(result.acknowledged)} acknowledged, {total.count} stored of {len(deliveries)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=20_000)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--postgresql", action="store_true", help="also against a PostgreSQL started for this")
    parser.add_argument("--minutes", type=float, default=0.0, help="also load for so long, to see memory stay flat")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/service.md")
    options = parser.parse_args()
    tasks = [small_task(n_features=20, goal=10**6, public=public) for public in (False, True)]
    rows = []
    for task in tasks:
        with tempfile.TemporaryDirectory(prefix="discreet-bench-") as folder:
            store = str(Path(folder) / "reports.db")
            rows.append(
                measure(Path(folder), "SQLite", store, task, n=options.reports, connections=options.connections)
            )
            print(rows[-1].line(), flush=True)
    if options.postgresql and postgresql_programs() is not None:
        with (
            tempfile.TemporaryDirectory() as folder,
            tempfile.TemporaryDirectory() as own,
            postgresql(Path(own)) as url,
        ):
            rows.append(
                measure(Path(folder), "PostgreSQL", url, tasks[0], n=options.reports, connections=options.connections)
            )
            print(rows[-1].line(), flush=True)
    endured = ""
    if options.minutes:
        with tempfile.TemporaryDirectory(prefix="discreet-bench-") as folder:
            endured = endure(Path(folder), tasks[0], minutes=options.minutes, connections=options.connections)
            print(endured, flush=True)
    if options.write:
        write(rows, endured)


def write(rows: list[Row], endured: str) -> None:
    busy = os.getloadavg()[1]
    lines = [
        "# Collector throughput",
        "",
        f"`python -m benchmarks.service {' '.join(sys.argv[1:])}`, {time.strftime('%Y-%m-%d', time.gmtime())}; "
        f"{os.cpu_count()} cores shared by server and load generator (load average over 5 minutes {busy:.1f}), "
        f"{platform.system()}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}. 20 features; every "
        "report acknowledged after a synced commit, and found exactly once when the store was added up again. "
        "Memory of the server after each quarter of the reports.",
        "",
        "| store | bytes a report | connections | reports | durable reports/s | median | p99 | memory |",
        "|---|---|---|---|---|---|---|---|",
        *(row.line() for row in rows),
        *(["", endured] if endured else []),
    ]
    RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
