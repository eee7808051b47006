"""Runs a figure or table: a grid of cells times seeds, on two cores, resumable, with a CSV, a table
and a plot.

A figure is a module ``experiments.<paper>.<name>`` with ``FIGURE = Figure(...)``. ``python -m
experiments.pmt.figure1`` runs it (``--quick`` for a small grid, ``--repeats N`` for another number
of seeds), and appends each finished run to ``results/<name>.csv`` beside the module, so that an
interrupted run goes on where it stopped. The table (``<name>.md``) and the plot (``<name>.svg``)
are made of all runs in the file; the table says how many repeats each cell has.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
import sys
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.names import axis_of, title_of

from discreet.report.figure_style import DASHES, MARKERS, OURS, PEERS, key, save, styled, x_title

# A point of the grid: what is set, by name. Values are numbers or short words.
Cell = Mapping[str, Any]
Runs = dict[tuple[str, ...], list[float]]
Run = Callable[[Cell, int], Mapping[str, float]]


@dataclass(frozen=True)
class Figure:
    """What a figure shows: ``run(cell, seed)`` gives a number for each curve; NaN says that the
    product refuses.

    ``curves`` are the names that ``run`` returns; ``axis`` is the cell's entry on the horizontal
    axis, and all other entries tell panels apart.
    """

    name: str
    title: str
    says: str
    cells: Sequence[Cell]
    quick: Sequence[Cell]
    run: Run
    curves: Sequence[str]
    axis: str
    repeats: int = 20
    quick_repeats: int = 2
    measure: str = "error"
    notes: str = ""
    # What the paper prints, by curve, where it prints numbers.
    printed: Mapping[str, str] = field(default_factory=dict)
    log: bool = True

    @property
    def keys(self) -> list[str]:
        return list(self.cells[0])


def main(figure: Figure, file: str, words: Sequence[str] | None = None) -> None:
    """The command line of a figure's module."""
    parser = argparse.ArgumentParser(description=f"{figure.title}. {figure.says}")
    parser.add_argument("--quick", action="store_true", help="a small grid with few repeats")
    parser.add_argument("--repeats", type=int, help=f"seeds of each cell (the paper's: {figure.repeats})")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, help="start nothing new after so many minutes")
    parser.add_argument("--out", type=Path, default=Path(file).parent, help="folder of the table and the plot")
    asked = parser.parse_args(words)
    cells = figure.quick if asked.quick else figure.cells
    repeats = asked.repeats or (figure.quick_repeats if asked.quick else figure.repeats)
    store = asked.out / "results" / f"{figure.name}.csv"
    store.parent.mkdir(parents=True, exist_ok=True)
    jobs = _missing(figure, cells, repeats, store)
    _work(figure, jobs, store, asked.workers, asked.minutes)
    runs = read(figure, store)
    (asked.out / f"{figure.name}.md").write_text(table(figure, runs, _command(file, asked)), encoding="utf-8")
    plot(figure, runs, asked.out / f"{figure.name}.svg")


def _command(file: str, asked: argparse.Namespace) -> str:
    module = ".".join(["experiments", Path(file).parent.name, Path(file).stem])
    more = (" --quick" if asked.quick else "") + (f" --repeats {asked.repeats}" if asked.repeats else "")
    return f"python -m {module}{more}"


def seed_of(figure: Figure, cell: Cell, repeat: int) -> int:
    """The same in every run of the same cell."""
    return zlib.crc32(repr((figure.name, sorted(cell.items()), repeat)).encode())


def _spelt(cell: Cell, keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{cell[key]:g}" if isinstance(cell[key], (int, float)) else str(cell[key]) for key in keys)


def _missing(figure: Figure, cells: Sequence[Cell], repeats: int, store: Path) -> list[tuple[Cell, int]]:
    """Cells and repeats that the file does not have; repeats come first, so that an early end
    leaves whole curves.
    """
    done = set()
    if store.exists():
        with store.open(encoding="utf-8", newline="") as lines:
            done = {(*(line[key] for key in figure.keys), line["repeat"]) for line in csv.DictReader(lines)}
    return [
        (cell, repeat)
        for repeat in range(repeats)
        for cell in cells
        if (*_spelt(cell, figure.keys), str(repeat)) not in done
    ]


_FIGURE: Figure | None = None


def _one(job: tuple[Cell, int]) -> tuple[Cell, int, Mapping[str, float], float]:
    assert _FIGURE is not None
    cell, repeat = job
    start = time.perf_counter()
    found = _FIGURE.run(cell, seed_of(_FIGURE, cell, repeat))
    return cell, repeat, found, time.perf_counter() - start


def _work(figure: Figure, jobs: Sequence[tuple[Cell, int]], store: Path, workers: int, minutes: float | None) -> None:
    """Every finished run is one line for each curve, written and flushed at once."""
    global _FIGURE  # forked workers find it there: functions of a figure need not be picklable
    _FIGURE = figure
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    start, fresh = time.perf_counter(), not store.exists()
    with store.open("a", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        if fresh:
            writer.writerow([*figure.keys, "repeat", "curve", "value"])
        with multiprocessing.get_context("fork").Pool(workers) as pool:
            for number, (cell, repeat, found, _) in enumerate(pool.imap_unordered(_one, jobs), 1):
                for curve in figure.curves:
                    writer.writerow([*_spelt(cell, figure.keys), repeat, curve, repr(float(found[curve]))])
                lines.flush()
                _show(figure, number, len(jobs), time.perf_counter() - start)
                if minutes is not None and time.perf_counter() - start > 60 * minutes:
                    print(f"\nstopped after {minutes:g} minutes: run it again to go on", file=sys.stderr)
                    pool.terminate()
                    return
    if jobs:
        print(file=sys.stderr)


def _show(figure: Figure, done: int, total: int, seconds: float) -> None:
    left = seconds / done * (total - done)
    bar = "#" * (30 * done // total)
    print(f"\r{figure.name:12s} {bar:30s} {done}/{total}, {left / 60:.1f} min left ", end="", file=sys.stderr)


def read(figure: Figure, store: Path) -> dict[str, Runs]:
    """By curve and cell, the values of all repeats."""
    runs: dict[str, Runs] = {curve: {} for curve in figure.curves}
    with store.open(encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines):
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
    return f"{np.mean(numbers):.3g} ± {np.std(numbers):.2g} ({np.median(numbers):.3g})"


def table(figure: Figure, runs: dict[str, Runs], command: str) -> str:
    measure = figure.measure[0].upper() + figure.measure[1:]
    lines = [f"# {figure.title}", "", f"Made by `{command}`.", f"{measure}: mean ± standard deviation (median)"]
    lines += ["over the repeats that the last column counts.", "", f"The paper: {figure.says}", ""]
    if figure.notes:
        lines += [figure.notes, ""]
    lines += ["| " + " | ".join([*figure.keys, *figure.curves, "repeats"]) + " |"]
    lines += ["|---" * (len(figure.keys) + len(figure.curves) + 1) + "|"]
    if figure.printed:
        blanks = ["the paper", *[""] * (len(figure.keys) - 1)]
        lines.append("| " + " | ".join([*blanks, *(figure.printed.get(c, "") for c in figure.curves), ""]) + " |")
    for cell in sorted(runs[figure.curves[0]], key=_in_order):
        values = [runs[curve].get(cell, []) for curve in figure.curves]
        texts = [_cell_text(one) if one else "" for one in values]
        lines.append("| " + " | ".join([*cell, *texts, str(len(values[0]))]) + " |")
    return "\n".join(lines) + "\n"


def _in_order(cell: tuple[str, ...]) -> tuple[tuple[int, float, str], ...]:
    return tuple((0, float(word), "") if _is_number(word) else (1, 0.0, word) for word in cell)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


# What the product does unless told otherwise; all else in a figure is a paper's method or another
# setting.
_DEFAULTS = ("auto", "unit")


def plot(figure: Figure, runs: dict[str, Runs], path: Path) -> None:
    """A panel for each value of the other entries, a line for each curve, a band from the 10 % to
    the 90 % quantile.
    """
    from matplotlib.figure import Figure as Drawing

    keys = figure.keys
    axis, rest = keys.index(figure.axis), [i for i, key in enumerate(keys) if key != figure.axis]
    cells = sorted({cell for one in runs.values() for cell in one}, key=_in_order)
    panels = sorted({tuple(cell[i] for i in rest) for cell in cells}, key=_in_order)
    width = min(3, max(len(panels), 1))
    shape = -(-len(panels) // width), width
    with styled():
        drawing = Drawing(figsize=(4.2 * width, 3.2 * shape[0] + 0.5), layout="constrained")
        axes = drawing.subplots(*shape, squeeze=False)
        for place, panel in zip(axes.flat, panels, strict=False):
            for curve in figure.curves:
                here = [cell for cell in cells if tuple(cell[i] for i in rest) == panel and cell in runs[curve]]
                _line(place, [(cell[axis], np.array(runs[curve][cell])) for cell in here], figure, curve)
            told = [
                title_of(word) if keys[i] == "set" else f"{keys[i]} {word}" for i, word in zip(rest, panel, strict=True)
            ]
            place.set_title(", ".join(told))
            place.locator_params(axis="x", nbins=5)
            if figure.log:
                place.set_yscale("log")
        for place in axes.flat[len(panels) :]:
            place.axis("off")
        x_title(axes, axis_of(figure.axis))
        drawing.supylabel(figure.measure, fontsize=9)
        key(drawing, axes.flat[0], columns=2 if width == 1 else 4)
        drawing.suptitle(figure.title, fontsize=10)
    save(drawing, path)


def _line(place: Any, points: Sequence[tuple[str, Any]], figure: Figure, curve: str) -> None:
    """The median and a band of one curve; the default in discreet's colour, others in greys and
    with markers.
    """
    points = [(x, values[np.isfinite(values)]) for x, values in points]
    points = [(x, values) for x, values in points if len(values)]
    xs = [float(x) if _is_number(x) else i for i, (x, _) in enumerate(points)]
    number = [name for name in figure.curves if name not in _DEFAULTS].index(curve) if curve not in _DEFAULTS else -1
    colour = OURS if number < 0 else PEERS[number % len(PEERS)]
    dash, marker = ("-", "o") if number < 0 else (DASHES[number % len(DASHES)], MARKERS[number % len(MARKERS)])
    medians = [np.median(values) for _, values in points]
    # On top of the others.
    order = 3 if number < 0 else 2
    place.plot(xs, medians, linestyle=dash, marker=marker, markersize=4, color=colour, label=curve, zorder=order)
    place.fill_between(xs, *([np.quantile(v, q) for _, v in points] for q in (0.1, 0.9)), color=colour, alpha=0.12)
