"""Rows of a linear model in a Parquet file, written in pieces: they never are in memory as a whole."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet import Domain, LinearRegression, Numeric
from discreet.engines.progress import listener
from discreet.engines.threads import available_cores
from discreet.errors import PrivacyLeakWarning

_PIECE = 250_000


@dataclass(frozen=True)
class Shape:
    """How many rows and columns a benchmark has."""

    rows: int
    columns: int = 20

    @property
    def names(self) -> list[str]:
        return [f"x{i}" for i in range(self.columns)]

    @property
    def domain(self) -> Domain:
        return Domain((*(Numeric(name, -1.0, 1.0) for name in self.names), Numeric("y", -5.0, 5.0)))

    @property
    def bytes(self) -> int:
        return 8 * self.rows * (self.columns + 1)

    def model(self, **options: Any) -> LinearRegression:
        """With a seed, so that every fit of these rows makes the same passes."""
        settings = {"epsilon": 1.0, "delta": 1e-9, "domain": self.domain, "random_state": 1} | options
        return LinearRegression(**settings)

    def fit(self, table: Any, **options: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyLeakWarning)
            self.model(**options).fit_table(table, target="y")

    def write(self, folder: Path, *, files: int = 1, compression: str = "snappy") -> Path:
        """A folder with so many files; one that is there already is taken as it is."""
        path = folder / f"{self.rows}x{self.columns} in {files} {compression}"
        if path.exists():
            return path
        path.mkdir(parents=True)
        schema = pa.schema([(name, pa.float64()) for name in [*self.names, "y"]])
        starts = list(range(0, self.rows, _PIECE))
        for number, some in enumerate(np.array_split(np.array(starts), files)):
            with pq.ParquetWriter(path / f"part-{number:03}.parquet", schema, compression=compression) as writer:
                for start in some.tolist():
                    writer.write_table(self._piece(start, min(_PIECE, self.rows - start), schema))
        return path

    def _piece(self, seed: int, rows: int, schema: pa.Schema) -> pa.Table:
        random = np.random.default_rng(seed)
        x = random.uniform(-1, 1, (self.columns, rows))
        y = 0.2 * np.linspace(-1, 1, self.columns) @ x + random.normal(0, 0.1, rows)
        return pa.table([*x, y], schema=schema)


def read(path: Path) -> None:
    """All columns of all files, by all cores, and nothing done with them.

    Without pre_buffer, which is slower here and holds a whole file. Arrow takes OMP_NUM_THREADS for
    the number of cores, so it is told how many there are.
    """
    pa.set_cpu_count(available_cores())
    for file in sorted(path.glob("*.parquet")):
        for _ in pq.ParquetFile(file, pre_buffer=False).iter_batches():
            pass


def passes(fit: Callable[[], object]) -> int:
    """How often a fit goes over the rows."""
    seen = [0]
    token = listener.set(lambda number, tenths: seen.append(number))
    try:
        fit()
    finally:
        listener.reset(token)
    return max(seen)


def best(rounds: int, *actions: Callable[[], object]) -> list[float]:
    """The least time of each action, taken in turns so that other work on the machine meets all of
    them alike.
    """
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(rounds):
        for action, seen in zip(actions, times, strict=True):
            start = time.perf_counter()
            action()
            seen.append(time.perf_counter() - start)
    return [min(seen) for seen in times]


def best_both(rounds: int, *actions: Callable[[], object]) -> list[tuple[float, float]]:
    """The same, and the least processor time of all threads, which other work on the machine
    disturbs less.
    """
    times: list[list[tuple[float, float]]] = [[] for _ in actions]
    for _ in range(rounds):
        for action, seen in zip(actions, times, strict=True):
            start = time.perf_counter(), time.process_time()
            action()
            seen.append((time.perf_counter() - start[0], time.process_time() - start[1]))
    return [(min(wall for wall, _ in seen), min(cpu for _, cpu in seen)) for seen in times]


def peak_memory(code: str, *words: str) -> float:
    """Megabytes that a new process needs at most to run this code, Python and all libraries
    included.
    """
    # Not getrusage, whose peak a process inherits from the one that started it.
    code += "\nprint(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    root = str(Path(__file__).parent.parent.parent)
    found = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    output = subprocess.check_output(
        [sys.executable, "-c", code, *words], text=True, env={**os.environ, "PYTHONPATH": found}
    )
    return int(output.split()[-1]) / 1024


def machine() -> str:
    return f"{os.cpu_count()} cores, shared: load average {os.getloadavg()[0]:.1f} before this began."
