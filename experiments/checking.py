"""Whether today's code still gives the stored values of a figure; curves that it does not give are
forgotten.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from experiments.runner import Cell, Figure, Job, one_run, stored


def changed(figure: Figure, store: Path, seconds: float = 5.0) -> list[str]:
    """Curves of which today's code no longer gives a stored value: the cheapest run of each cell,
    again, and no further cells of a curve after so many seconds of stored time.
    """
    cells = {figure.spelt(cell): cell for cell in [*figure.cells, *figure.quick]}
    lines = stored(figure, store)
    return [curve for curve in figure.curves if _differs(figure, cells, curve, lines, seconds)]


def _differs(
    figure: Figure, cells: Mapping[tuple[str, ...], Cell], curve: str, lines: list[dict[str, str]], seconds: float
) -> bool:
    width = len(figure.cells[0])
    first: dict[tuple[str, ...], dict[str, str]] = {}
    for line in sorted(lines, key=lambda line: (float(line["seconds"]), int(line["repeat"]))):
        if line["curve"] == curve and (spelt := tuple(line[key] for key in figure.keys[:width])) in cells:
            first.setdefault(spelt, line)
    for spelt, line in first.items():
        again = one_run(figure, Job(cells[spelt], int(line["repeat"]), (curve,)))
        point = [line[key] for key in figure.keys]
        (now,) = [float(one[-2]) for one in again if [str(word) for word in one[: len(point)]] == point]
        if not np.isclose(now, float(line["value"]), rtol=1e-3, equal_nan=True):
            return True
        seconds -= float(line["seconds"])
        if seconds < 0:
            return False
    return False


def forget(figure: Figure, store: Path, curves: Sequence[str]) -> None:
    """Remove these curves' lines from the file."""
    kept = [line for line in stored(figure, store) if line["curve"] not in curves]
    with store.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, figure.header, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)
