"""Curves of PMT's figures, one panel each, with bands from the 10 % to the 90 % quantile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

COLOURS = ("#999999", "#56b4e9", "#d55e00", "#0072b2")
# Number, axis, points, and at each point every method's errors.
Curve = tuple[str, str, tuple[float, ...], list[dict[str, list[float]]]]


def plot(curves: Sequence[Curve], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    columns, rows = 5, -(-len(curves) // 5)
    canvas, axes = pyplot.subplots(rows, columns, figsize=(3.2 * columns, 2.8 * rows), constrained_layout=True)
    for axis, (number, label, points, found) in zip(axes.flat, curves, strict=False):
        lines = [_draw(axis, found, method, colour) for method, colour in zip(found[0], COLOURS, strict=True)]
        axis.set_xticks(range(len(points)), [f"{point:g}" for point in points])
        axis.set(yscale="log", title=f"Figure {number}", xlabel=label)
        places = {"1 simulation": "outside upper left", "7 simulation": "outside upper right"}
        if number in places:
            title = "Ridge (figures 1 to 6)" if number.startswith("1 ") else "Logistic (figures 7 to 10)"
            canvas.legend(lines, list(found[0]), loc=places[number], ncols=2, fontsize=8, title=title)
    for axis in axes[:, 0]:
        axis.set_ylabel("relative error")
    canvas.savefig(path)


def _draw(axis, found, method, colour):
    low, middle, high = ([float(np.quantile(at[method], q)) for at in found] for q in (0.1, 0.5, 0.9))
    axis.fill_between(range(len(found)), low, high, color=colour, alpha=0.15, linewidth=0)
    (line,) = axis.plot(range(len(found)), middle, "o-", color=colour, markersize=3)
    return line
