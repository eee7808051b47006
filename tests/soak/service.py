"""A hundred kill -9 of a collector under load: ``python tests/soak/service.py`` (or ``make soak``).

Devices send 50,000 reports while the server is killed at random moments and started again.
Afterwards every stored report is verified and added up: the sum must be, to the last bit, that of
the acknowledged reports, each once. What was seen is written to
``benchmarks/results/service_soak.md``.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "system")]

from service_crashes import Survived, kill_under_load  # noqa: E402
from tests.service_tools import postgresql, postgresql_programs, small_task  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "service_soak.md"


def soak(folder: Path, store: str, options: argparse.Namespace) -> tuple[Survived, float]:
    """Batches close on the way, and reports have 20 features without public rows: the largest of
    the usual ones.
    """
    task = small_task(n_features=20, public=False, goal=max(1, options.reports // 3), closes="goal")
    started = time.monotonic()
    chance = random.Random(options.seed)
    survived = kill_under_load(
        folder, store, task, n=options.reports, kills=options.kills, connections=options.connections, chance=chance
    )
    return survived, time.monotonic() - started


def line(name: str, survived: Survived, seconds: float) -> str:
    result = survived.result
    return (
        f"| {name} | {survived.kills} | {len(result.acknowledged):,} | {result.statuses[200]:,} | "
        f"{result.disconnects:,} | {survived.stored:,} | {seconds:.0f} s |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=50_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--postgresql", action="store_true", help="also against a PostgreSQL started for this")
    options = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory(prefix="discreet-soak-") as folder:
        lines.append(line("SQLite", *soak(Path(folder), str(Path(folder) / "reports.db"), options)))
        print(lines[-1], flush=True)
    if options.postgresql and postgresql_programs() is not None:
        with (
            tempfile.TemporaryDirectory() as folder,
            tempfile.TemporaryDirectory() as own,
            postgresql(Path(own)) as url,
        ):
            lines.append(line("PostgreSQL", *soak(Path(folder), url, options)))
            print(lines[-1], flush=True)
    write(lines, options)


def write(lines: list[str], options: argparse.Namespace) -> None:
    command = f"python tests/soak/service.py {' '.join(sys.argv[1:])}".strip()
    text = [
        "# Collector soak",
        "",
        f"`{command}` (seed {options.seed}), {time.strftime('%Y-%m-%d', time.gmtime())}; {os.cpu_count()} cores, "
        f"{platform.system()}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}. The server was "
        "killed with -9 at random moments while devices reported; three batches closed on the way. Promise: the "
        "verified sum of the store is, to the last bit, that of the acknowledged reports, each counted once. "
        "0 violations.",
        "",
        "| store | kills | acknowledged | of these told “already counted” | broken connections | stored | time |",
        "|---|---|---|---|---|---|---|",
        *lines,
    ]
    RESULTS.write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
