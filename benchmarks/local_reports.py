"""How many reports a second ``discreet local report --records`` makes: the whole command, from file
to file.

    python -m benchmarks.local_reports [--records 50000] [--write]

Each report is stored durably before it is written out. The first run draws them, the second finds
them in the ledger.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from textwrap import fill

import numpy as np

from discreet.domain import Domain, Numeric, Public
from discreet.local import Task, new_task

RESULTS = Path(__file__).parent / "results" / "local_reports.md"


def make_task(p: int, epsilon: float) -> Task:
    rows = np.random.default_rng(0).normal(size=(2000, p)).clip(-3, 3)
    return new_task(
        "speed",
        domain=Domain(tuple(Numeric(f"x{j}", -3.0, 3.0) for j in range(p))),
        target=Numeric("y", 0.0, 1.0),
        epsilon=epsilon,
        goal=1000,
        public=Public(rows=rows),
    )


def write_people(path: Path, p: int, n: int) -> None:
    rng = np.random.default_rng(1)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["person", *(f"x{j}" for j in range(p)), "y"])
        for place in range(n):
            writer.writerow([f"person-{place}", *rng.normal(size=p).round(3), int(rng.random() < 0.5)])


def timed(folder: Path, *more: str) -> tuple[float, float]:
    """Seconds of one run, by the clock and of processor time."""
    options = ["--records", "people.csv", "--id", "person", "--state", "state", "--cap", "100", "1e-6", "--out", "out"]
    command = [sys.executable, "-c", "from discreet.cli import main; main()", "local", "report", "task.toml", *options]
    command += more
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - started, used


def row(p: int, epsilon: float, n: int) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder, task = Path(name), make_task(p, epsilon)
        (folder / "task.toml").write_text(task.to_toml())
        write_people(folder / "people.csv", p, n)
        (first, used), (again, _) = timed(folder, "--new"), timed(folder)
    candidates = getattr(task.randomizer, "candidates", 0)
    return f"| {p} | {epsilon:g} | {candidates} | {n / first:,.0f} | {n / used:,.0f} | {n / again:,.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/local_reports.md")
    options = parser.parse_args()
    load = os.getloadavg()[1]
    about = (
        f"`python -m benchmarks.local_reports --records {options.records}`, {datetime.date.today()}; "
        f"{os.cpu_count()} cores (load average over 5 minutes {load:.1f}), {platform.system()}, "
        f"Python {platform.python_version()}. The whole command with its start; every report is durable before it is "
        "written out."
    )
    lines = [
        "# Reports of many records on one machine",
        "",
        fill(about, 100),
        "",
        "| features | epsilon | candidates | reports/s | reports/s of one core's time | found again/s |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for p, epsilon in ((5, 1.0), (5, 4.0), (10, 1.0), (10, 4.0), (10, 8.0), (20, 4.0)):
        lines.append(row(p, epsilon, options.records))
        print(lines[-1], flush=True)
    if options.write:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
