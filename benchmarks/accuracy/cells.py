"""The cells of the benchmark, and the file that keeps their results: one line per cell and method."""

from __future__ import annotations

import csv
import fcntl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.accuracy.problems import public_rows_of
from benchmarks.data import ROOT

EPSILONS = (0.1, 0.3, 1.0, 3.0)
RELATIONS = ("replace_one", "add_or_remove_one")
DELTA = 1e-6
RESULTS = ROOT / "benchmarks" / "results"
FIELDS = ("data_set", "public_rows", "neighbours", "epsilon", "method", "draws", "loss", "splits")


@dataclass(frozen=True, order=True)
class Cell:
    """One data set, one guarantee; with its public rows, or without any."""

    data_set: str
    with_public: bool
    neighbours: str
    epsilon: float

    @property
    def public_rows(self) -> int:
        return public_rows_of(self.data_set) if self.with_public else 0


@dataclass(frozen=True)
class Result:
    """The median test loss over the noise draws, one per split."""

    cell: Cell
    method: str
    draws: int
    medians: tuple[float, ...]

    @property
    def loss(self) -> float:
        return float(np.mean(self.medians))


Table = dict[tuple[Cell, str], Result]


class Store:
    """A CSV file that several runs may add to at once; of two lines for the same cell and method
    the later counts.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Table:
        if not self.path.exists():
            return {}
        with self.path.open(newline="") as file:
            return {(result.cell, result.method): result for result in map(_parse, csv.DictReader(file))}

    def add(self, results: Iterable[Result]) -> None:
        with self._locked():
            fresh = not self.path.exists()
            with self.path.open("a", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                if fresh:
                    writer.writerow(FIELDS)
                writer.writerows(map(_line, results))

    def tidy(self) -> Table:
        """Sort the lines and drop those that were replaced."""
        with self._locked():
            table = self.read()
            with self.path.open("w", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(FIELDS)
                writer.writerows(_line(table[key]) for key in sorted(table))
        return table

    @contextmanager
    def _locked(self) -> Iterator[None]:
        cache = self.path.parent / ".cache"
        cache.mkdir(parents=True, exist_ok=True)
        with (cache / f"{self.path.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _line(result: Result) -> list[str]:
    cell = result.cell
    return [
        cell.data_set,
        str(cell.public_rows),
        cell.neighbours,
        f"{cell.epsilon:g}",
        result.method,
        str(result.draws),
        f"{result.loss:.6g}",
        " ".join(f"{median:.6g}" for median in result.medians),
    ]


def _parse(line: dict[str, str]) -> Result:
    cell = Cell(line["data_set"], line["public_rows"] != "0", line["neighbours"], float(line["epsilon"]))
    medians = tuple(float(value) for value in line["splits"].split())
    return Result(cell, line["method"], int(line["draws"]), medians)
