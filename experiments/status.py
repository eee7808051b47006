"""What of the papers' figures there is: cells, repeats, and the hours that are missing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from experiments.runner import Figure, stored

CORES = 2


def status(figures: Mapping[str, Figure], folder: Path) -> str:
    """A line for each figure, and the sum of hours."""
    lines = ["| figure | cells | curves | repeats | the paper's | seconds a repeat | hours missing | commits |"]
    lines += ["|---|---:|---:|---:|---:|---:|---:|---|"]
    total, unknown = 0.0, []
    for module, figure in figures.items():
        text, hours = line(module, figure, folder / module.split(".")[0] / "results" / f"{figure.name}.csv")
        lines.append(text)
        if np.isnan(hours):
            unknown.append(module)
        else:
            total += hours
    lines += ["", f"Missing: {total:.1f} hours on {CORES} cores"]
    lines[-1] += f", and what was never timed: {', '.join(unknown)}." if unknown else "."
    return "\n".join(lines)


def line(module: str, figure: Figure, store: Path) -> tuple[str, float]:
    """A figure's line, and the hours that it lacks; NaN where a curve was never timed.

    Repeats are counted by cell and curve; where these differ, the line has the least and the most.
    """
    seconds: dict[tuple[tuple[str, ...], str], dict[str, float]] = {}
    width, commits = len(figure.cells[0]), set()
    for one in stored(figure, store):
        of_cell = seconds.setdefault((tuple(one[key] for key in figure.keys[:width]), one["curve"]), {})
        of_cell[one["repeat"]] = of_cell.get(one["repeat"], 0.0) + float(one["seconds"])
        commits.add(one["commit"])
    done, a_repeat, missing = [], 0.0, 0.0
    for cell in figure.cells:
        for curve in figure.curves:
            wanted = figure.wanted(curve, cell, figure.repeats)
            times = list(seconds.get((figure.spelt(cell), curve), {}).values())
            # A cell that was not run is taken to be as slow as the curve's others.
            known = times or [value for key, own in seconds.items() if key[1] == curve for value in own.values()]
            each = float(np.mean(known)) if known else float("nan")
            if wanted:
                done.append(min(len(times), wanted) / wanted)
                a_repeat += each
                missing += each * max(wanted - len(times), 0)
    counts = sorted({round(share * figure.repeats) for share in done})
    repeats = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    hours = missing / 3600 / CORES if min(done) < 1 else 0.0
    words = [module, str(len(figure.cells)), str(len(figure.curves)), repeats, str(figure.repeats)]
    words += ["?" if np.isnan(a_repeat) else f"{a_repeat:.1f}", "?" if np.isnan(hours) else f"{hours:.2f}"]
    return "| " + " | ".join([*words, ", ".join(sorted(commits))]) + " |", hours
