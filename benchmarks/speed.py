"""How fast: a private fit against one plain X.T @ X, a streaming fit against reading, memory,
start-up.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from threadpoolctl import threadpool_limits

from discreet import Domain, LinearRegression, Numeric

COMMAND = "python -m benchmarks.speed"
TARGET = Path(__file__).parent / "results" / "speed.md"
ROWS, COLUMNS = 5_000_000, 20
PIECE = 250_000
ROUNDS = 6  # the best of them counts, as other work on the machine can only slow a round down
NAMES = [f"x{i}" for i in range(COLUMNS)]
DOMAIN = Domain((*(Numeric(name, -1.0, 1.0) for name in NAMES), Numeric("y", -5.0, 5.0)))

STREAMING_FIT = """
import sys
from benchmarks.speed import model
model("replace_one").fit_table(sys.argv[1], target="y")
# Not getrusage, whose peak a process inherits from the one that started it.
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


def best(*actions: Callable[[], object]) -> list[float]:
    """The least time of each action, taken in turns so that other work on the machine meets all of
    them alike.
    """
    times: list[list[float]] = [[] for _ in actions]
    for action in actions:
        action()  # compiles, and warms the caches
    for _ in range(ROUNDS):
        for action, seen in zip(actions, times, strict=True):
            start = time.perf_counter()
            action()
            seen.append(time.perf_counter() - start)
    return [min(seen) for seen in times]


def model(neighbours: str) -> LinearRegression:
    """The fit that is timed: one look and one release; ``benchmarks.descent_speed`` times the
    descent.
    """
    return LinearRegression(
        epsilon=1.0, delta=1e-6, domain=DOMAIN, bounds_y=(-5.0, 5.0), neighbours=neighbours, solver="moments"
    )


def piece(seed: int, rows: int = PIECE) -> tuple[np.ndarray, np.ndarray]:
    """Some rows of a linear model."""
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, (rows, COLUMNS))
    return x, 0.2 * x @ np.linspace(-1, 1, COLUMNS) + random.normal(0, 0.1, rows)


def write(path: Path, rows: int) -> None:
    """The same rows as a Parquet file, written in pieces: it never is in memory as a whole."""
    schema = pa.schema([(name, pa.float64()) for name in [*NAMES, "y"]])
    with pq.ParquetWriter(path, schema) as writer:
        for seed in range(rows // PIECE):
            x, y = piece(seed)
            writer.write_table(pa.table([*x.T, y], schema=schema))


def read(path: Path) -> None:
    """All columns, and nothing done with them. Without pre_buffer, which is slower here and holds
    the whole file.
    """
    for _ in pq.ParquetFile(path, pre_buffer=False).iter_batches():
        pass


def in_memory() -> list[str]:
    """The fit against X.T @ X on one thread."""
    print("in memory ...", flush=True)
    x, y = piece(0, ROWS)

    def product() -> object:
        with threadpool_limits(1):
            return x.T @ x

    fits = [model(kind) for kind in ("replace_one", "add_or_remove_one")]
    plain, replace, add = best(product, lambda: fits[0].fit(x, y), lambda: fits[1].fit(x, y))
    return [
        f"| `X.T @ X`, one thread | {plain:.2f} | 1 |",
        f"| fit in memory, replace_one | {replace:.2f} | {replace / plain:.1f} |",
        f"| fit in memory, add_or_remove_one | {add:.2f} | {add / plain:.1f} |",
    ]


def streaming(path: Path) -> list[str]:
    """The fit from a file against reading the file."""
    print("streaming ...", flush=True)
    fits = [model(kind) for kind in ("replace_one", "add_or_remove_one")]
    plain, replace, add = best(
        lambda: read(path), lambda: fits[0].fit_table(path, target="y"), lambda: fits[1].fit_table(path, target="y")
    )
    return [
        f"| reading the Parquet file, nothing done | {plain:.2f} | 1 |",
        f"| fit from it, replace_one | {replace:.2f} | {replace / plain:.1f} |",
        f"| fit from it, add_or_remove_one | {add:.2f} | {add / plain:.1f} |",
    ]


def peak_memory(path: Path) -> float:
    """Megabytes that a process needs to fit the file, Python and all libraries included."""
    return int(subprocess.check_output([sys.executable, "-c", STREAMING_FIT, str(path)], text=True)) / 1024


def start_up() -> list[str]:
    """Times of import and help, each in a new process, Python's own start included."""
    words = {
        "`python -c 'import discreet'`": [sys.executable, "-c", "import discreet"],
        "`discreet --help`": [str(Path(sys.executable).with_name("discreet")), "--help"],
    }
    return [
        f"| {name} | {best(lambda w=command: subprocess.check_output(w))[0]:.2f} |" for name, command in words.items()
    ]


def main() -> None:
    """Time everything and write the tables."""
    load, cores = os.getloadavg()[0], os.cpu_count()
    lines = [
        f"`{COMMAND}`",
        "",
        f"{ROWS:,} rows of {COLUMNS} float64 columns. Least of {ROUNDS} rounds taken in turns.",
        f"{cores} cores, shared: load average {load:.1f} before this began.",
        "",
    ]
    lines += ["| | seconds | ratio |", "|---|---|---|", *in_memory()]
    memory = []
    with tempfile.TemporaryDirectory() as folder:
        for rows in (ROWS, 2 * ROWS):
            path = Path(folder) / f"{rows}.parquet"
            write(path, rows)
            if rows == ROWS:
                lines += streaming(path)
            print(f"memory of {rows:,} rows ...", flush=True)
            memory.append(f"| {rows:,} rows | {peak_memory(path):.0f} |")
    lines += ["", "| streaming fit from Parquet | peak memory, MB |", "|---|---|", *memory]
    lines += ["", "| start, Python's own included | seconds |", "|---|---|", *start_up(), ""]
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
