"""Runs a figure or table: a grid of cells times seeds, on two cores, resumable, with a CSV, a table
and a plot.

A figure is a module ``experiments.<paper>.<name>`` with ``FIGURE = Figure(...)``. ``python -m
experiments.pmt.figure1`` runs it (``--quick`` for a small grid, ``--repeats N`` for another number
of seeds), and appends each finished run to ``results/<name>.csv`` beside the module, so that an
interrupted run goes on where it stopped. The table (``<name>.md``) and the plot (``<name>.svg``)
are made of all runs in the file; the table says how many repeats each cell has.

The seed of a run fixes its data and its noise. So a run can be repeated to see whether today's code
still gives the stored value: ``python -m experiments --check``.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import discreet
from experiments.data import ROOT
from experiments.drawing import plot, sort_key
from experiments.pages import write_page

# A point of the grid: what is set, by name. Values are numbers or short words.
Cell = Mapping[str, Any]
Runs = dict[tuple[str, ...], list[float]]
# What one fit gives: a number, or one for each of the figure's points.
Found = float | Sequence[float]


@dataclass(frozen=True)
class Figure:
    """What a figure shows: ``make(cell, seed)`` draws the data of a repeat, and ``fit(curve, data,
    cell, seed)`` gives a curve's number; NaN says that the product refuses.

    Where one fit gives several numbers (along its iterations, on training and test rows), they are
    ``points``: more entries of the cell, and ``fit`` returns one number for each. ``axis`` is the
    entry on the horizontal axis, and all other entries tell panels apart.
    """

    name: str
    title: str
    says: str
    cells: Sequence[Cell]
    quick: Sequence[Cell]
    make: Callable[[Cell, int], Any]
    fit: Callable[[str, Any, Cell, int], Found]
    curves: Sequence[str]
    axis: str
    points: Sequence[Cell] = ({},)
    repeats: int = 20
    quick_repeats: int = 2
    # The most repeats of a curve in a cell, where some are slower than others.
    fewer: Callable[[str, Cell], int] | None = None
    measure: str = "error"
    notes: str = ""
    # What the paper prints, by curve, where it prints numbers.
    printed: Mapping[str, str] = field(default_factory=dict)
    log: bool = True
    log_axis: bool = False
    # What the runs show, in words: reproduced, not and why, improved by how much, where not better.
    found: str = ""
    # What else the page says after the table.
    after: Callable[[Mapping[str, Runs]], str] | None = None
    draw: Callable[[Figure, Mapping[str, Runs], Path], None] = plot

    def __post_init__(self) -> None:
        # Two columns of one name would be read as one.
        if len(set(self.header)) < len(self.header):
            raise ValueError(f"entries of a cell must differ from each other and from {self.header[-5:]}")

    @property
    def keys(self) -> list[str]:
        return [*self.cells[0], *self.points[0]]

    @property
    def header(self) -> list[str]:
        return [*self.keys, "repeat", "curve", "value", "seconds", "commit"]

    def spelt(self, cell: Cell) -> tuple[str, ...]:
        """The cell's values as the file has them."""
        return tuple(f"{value:g}" if isinstance(value, float) else str(value) for value in cell.values())

    def wanted(self, curve: str, cell: Cell, repeats: int) -> int:
        """How many repeats a curve has in this cell, where so many are asked for."""
        return repeats if self.fewer is None else min(repeats, self.fewer(curve, cell))


@dataclass(frozen=True)
class Job:
    """A repeat of a cell, and the curves that the file lacks."""

    cell: Cell
    repeat: int
    curves: tuple[str, ...]


def main(figure: Figure, file: str, words: Sequence[str] | None = None) -> None:
    """The command line of a figure's module."""
    parser = argparse.ArgumentParser(description=f"{figure.title}. {figure.says}")
    parser.add_argument("--quick", action="store_true", help="a small grid with few repeats")
    parser.add_argument("--repeats", type=int, help=f"seeds of each cell (the paper's: {figure.repeats})")
    parser.add_argument("--without", nargs="*", default=(), metavar="CURVE", help="leave these curves for later")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, help="start nothing new after so many minutes")
    parser.add_argument("--out", type=Path, default=Path(file).parent, help="folder of the table and the plot")
    asked = parser.parse_args(words)
    cells = figure.quick if asked.quick else figure.cells
    repeats = asked.repeats or (figure.quick_repeats if asked.quick else figure.repeats)
    store = asked.out / "results" / f"{figure.name}.csv"
    store.parent.mkdir(parents=True, exist_ok=True)
    curves = [curve for curve in figure.curves if curve not in asked.without]
    jobs = missing(figure, cells, repeats, store, curves)
    if jobs:
        _work(figure, jobs, store, asked.workers, asked.minutes)
    runs = read(figure, store)
    module = ".".join(["experiments", Path(file).parent.name, Path(file).stem])
    write_page(asked.out / f"{figure.name}.md", table(figure, runs, f"python -m {module}"))
    figure.draw(figure, runs, asked.out / f"{figure.name}.svg")


def seed_of(figure: Figure, cell: Cell, repeat: int) -> int:
    """The same in every run of the same cell."""
    return zlib.crc32(repr((figure.name, sorted(cell.items()), repeat)).encode())


def stored(figure: Figure, store: Path) -> list[dict[str, str]]:
    """The lines of the file, none twice; none at all if it has other columns, as files had whose
    noise had no seed.

    A file that was put together from those of two clones may have a run twice. It counts once: the
    later line.
    """
    if not store.exists():
        return []
    with store.open(encoding="utf-8", newline="") as lines:
        reader = csv.DictReader(lines)
        if reader.fieldnames != figure.header:
            return []
        once = {(*(line[key] for key in figure.keys), line["repeat"], line["curve"]): line for line in reader}
    return list(once.values())


def missing(figure: Figure, cells: Sequence[Cell], repeats: int, store: Path, curves: Sequence[str]) -> list[Job]:
    """What the file does not have; repeats come first, so that an early end leaves whole curves."""
    done = {(*(line[key] for key in figure.keys), line["repeat"], line["curve"]) for line in stored(figure, store)}
    jobs = []
    for repeat in range(repeats):
        for cell in cells:
            first = figure.spelt({**cell, **figure.points[0]})
            lacking = tuple(
                curve
                for curve in curves
                if repeat < figure.wanted(curve, cell, repeats) and (*first, str(repeat), curve) not in done
            )
            if lacking:
                jobs.append(Job(cell, repeat, lacking))
    return jobs


def commit() -> str:
    """The last commit that changed the package, or its version where there is no repository."""
    asked = ["git", "-C", str(ROOT), "log", "-1", "--format=%h", "--abbrev=7", "--", "src"]
    found = subprocess.run(asked, capture_output=True, text=True, check=False)
    return found.stdout.strip() or discreet.__version__


def one_run(figure: Figure, job: Job) -> list[list[Any]]:
    """The lines of one repeat, without the commit: a number for each curve and point, and the
    processor time that it took.
    """
    seed = seed_of(figure, job.cell, job.repeat)
    start = time.process_time()
    lines = []
    # Each worker has a core. Two threads of BLAS in each made some runs twenty times as slow.
    with threadpool_limits(1):
        data = figure.make(job.cell, seed)
        for curve in job.curves:
            found = np.ravel(figure.fit(curve, data, job.cell, seed))
            now = time.process_time()
            share, start = (now - start) / len(figure.points), now
            for point, value in zip(figure.points, found, strict=True):
                spelt = figure.spelt({**job.cell, **point})
                lines.append([*spelt, job.repeat, curve, f"{value:.6g}", f"{share:.3g}"])
    return lines


_FIGURE: Figure | None = None


def _one(job: Job) -> list[list[Any]]:
    assert _FIGURE is not None
    return one_run(_FIGURE, job)


def _work(figure: Figure, jobs: Sequence[Job], store: Path, workers: int, minutes: float | None) -> None:
    """Every finished run is one line for each curve and point, written and flushed at once."""
    global _FIGURE  # forked workers find it there: functions of a figure need not be picklable
    _FIGURE = figure
    start, here = time.perf_counter(), commit()
    # A file with other columns holds nothing that can be used.
    fresh = not stored(figure, store)
    with store.open("w" if fresh else "a", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        if fresh:
            writer.writerow(figure.header)
        with multiprocessing.get_context("fork").Pool(workers) as pool:
            for number, found in enumerate(pool.imap_unordered(_one, jobs), 1):
                writer.writerows([*line, here] for line in found)
                lines.flush()
                _show(figure, number, len(jobs), time.perf_counter() - start)
                if minutes is not None and time.perf_counter() - start > 60 * minutes:
                    print(f"\nstopped after {minutes:g} minutes: run it again to go on", file=sys.stderr)
                    pool.terminate()
                    return
    print(file=sys.stderr)


def _show(figure: Figure, done: int, total: int, seconds: float) -> None:
    left = seconds / done * (total - done)
    bar = "#" * (30 * done // total)
    print(f"\r{figure.name:12s} {bar:30s} {done}/{total}, {left / 60:.1f} min left ", end="", file=sys.stderr)


def read(figure: Figure, store: Path) -> dict[str, Runs]:
    """By curve and cell, the values of all repeats."""
    runs: dict[str, Runs] = {curve: {} for curve in figure.curves}
    for line in stored(figure, store):
        if line["curve"] in runs:
            cell = tuple(line[key] for key in figure.keys)
            runs[line["curve"]].setdefault(cell, []).append(float(line["value"]))
    return runs


def _cell_text(values: Sequence[float]) -> str:
    """The mean and the standard deviation; where one run outweighs all others, the median says
    more.
    """
    numbers = np.array(values)
    if np.isnan(numbers).all():
        return "refused"
    numbers = numbers[~np.isnan(numbers)]
    if not np.isfinite(numbers).all():
        return f"infinite ({np.median(numbers):.3g})"
    if len(numbers) == 1:
        return f"{numbers[0]:.3g}"
    return f"{np.mean(numbers):.3g} ± {np.std(numbers, ddof=1):.2g} ({np.median(numbers):.3g})"


def table(figure: Figure, runs: dict[str, Runs], command: str) -> str:
    measure = figure.measure[0].upper() + figure.measure[1:]
    lines = [f"# {figure.title}", "", f"Made by `{command}`.", f"{measure}: mean ± standard deviation (median)"]
    lines += [f"over the repeats that the last column counts (the paper's: {figure.repeats}). The standard error of"]
    lines += ["a mean is its standard deviation divided by the root of that number.", ""]
    lines += [f"The paper: {figure.says}", ""]
    if figure.notes:
        lines += [figure.notes, ""]
    lines += ["| " + " | ".join([*figure.keys, *figure.curves, "repeats"]) + " |"]
    lines += ["|---" * (len(figure.keys) + len(figure.curves) + 1) + "|"]
    if figure.printed:
        blanks = ["the paper", *[""] * (len(figure.keys) - 1)]
        lines.append("| " + " | ".join([*blanks, *(figure.printed.get(c, "") for c in figure.curves), ""]) + " |")
    for cell in sorted({cell for one in runs.values() for cell in one}, key=sort_key):
        values = [runs[curve].get(cell, []) for curve in figure.curves]
        texts = [_cell_text(one) if one else "" for one in values]
        counts = sorted({len(one) for one in values})
        repeats = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        lines.append("| " + " | ".join([*cell, *texts, repeats]) + " |")
    if figure.found:
        lines += ["", f"**Found.** {figure.found}"]
    if figure.after is not None:
        lines += ["", figure.after(runs)]
    return "\n".join(lines) + "\n"
