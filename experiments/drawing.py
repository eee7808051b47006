"""The plot of a figure's runs, in the one style."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.names import axis_of, title_of

from discreet.report.figure_style import DASHES, MARKERS, OURS, PEERS, key, save, styled, x_title

# What the product does unless told otherwise; all else in a figure is a paper's method or another
# setting.
_DEFAULTS = ("auto", "unit", "discreet")


def sort_key(cell: Sequence[str]) -> tuple[tuple[int, float, str], ...]:
    """Numbers by size, words by letters."""
    return tuple((0, float(word), "") if is_number(word) else (1, 0.0, word) for word in cell)


def is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def plot(figure: Any, runs: Mapping[str, Mapping[tuple[str, ...], list[float]]], path: Path) -> None:
    """A panel for each value of the other entries, a line for each curve, a band from the 10 % to
    the 90 % quantile.
    """
    from matplotlib.figure import Figure as Drawing

    keys = figure.keys
    axis, rest = keys.index(figure.axis), [i for i, key in enumerate(keys) if key != figure.axis]
    cells = sorted({cell for one in runs.values() for cell in one}, key=sort_key)
    panels = sorted({tuple(cell[i] for i in rest) for cell in cells}, key=sort_key)
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
            if not figure.log_axis:
                place.locator_params(axis="x", nbins=5)
            if figure.log_axis:
                place.set_xscale("log")
            if figure.log and any(line.get_ydata().size for line in place.lines):
                place.set_yscale("log")
        for place in axes.flat[len(panels) :]:
            place.axis("off")
        x_title(axes, axis_of(figure.axis))
        drawing.supylabel(figure.measure, fontsize=9)
        key(drawing, axes.flat[0], columns=2 if width == 1 else 4)
        drawing.suptitle(figure.title, fontsize=10)
    save(drawing, path)


def _line(place: Any, points: Sequence[tuple[str, Any]], figure: Any, curve: str) -> None:
    """The median and a band of one curve; the default in discreet's colour, others in greys and
    with markers.
    """
    points = [(x, values[np.isfinite(values)]) for x, values in points]
    points = [(x, values) for x, values in points if len(values)]
    xs = [float(x) if is_number(x) else i for i, (x, _) in enumerate(points)]
    number = [name for name in figure.curves if name not in _DEFAULTS].index(curve) if curve not in _DEFAULTS else -1
    colour = OURS if number < 0 else PEERS[number % len(PEERS)]
    dash, marker = ("-", "o") if number < 0 else (DASHES[number % len(DASHES)], MARKERS[number % len(MARKERS)])
    medians = [np.median(values) for _, values in points]
    # On top of the others.
    order = 3 if number < 0 else 2
    place.plot(xs, medians, linestyle=dash, marker=marker, markersize=4, color=colour, label=curve, zorder=order)
    place.fill_between(xs, *([np.quantile(v, q) for _, v in points] for q in (0.1, 0.9)), color=colour, alpha=0.12)
