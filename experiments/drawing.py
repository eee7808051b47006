"""The plot of a figure's runs, in the one style."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.names import axis_of, title_of

from discreet.report.figure_style import DASHES, LIMIT, MARKERS, OURS, OURS_LIGHT, PEERS, key, save, styled, x_title

# What the product does unless told otherwise, its other settings, and what has no privacy; all else
# in a figure is a paper's method, in grey.
_DEFAULTS = ("auto", "unit", "discreet")
_OTHERS = ("gaussian", "two rounds", "iht", "minibatch", "huber", "huber iht")
_LIMITS = ("no privacy", "no noise", "constant")


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
    panels = sorted({tuple(cell[i] for i in rest) for cell in cells}, key=lambda panel: _order(figure, rest, panel))
    # Four panels are two by two, not three and one.
    width = 2 if len(panels) == 4 else min(3, max(len(panels), 1))
    shape = -(-len(panels) // width), width
    with styled():
        drawing = Drawing(figsize=(4.2 * width, 3.2 * shape[0] + 0.5), layout="constrained")
        axes = drawing.subplots(*shape, squeeze=False)
        for place, panel in zip(axes.flat, panels, strict=False):
            own = {cell[axis] for cell in cells if tuple(cell[i] for i in rest) == panel}
            ticks = spaced(own, figure.log_axis)
            for curve in figure.curves:
                here = [cell for cell in cells if tuple(cell[i] for i in rest) == panel and cell in runs[curve]]
                points = [(_place(cell[axis], ticks), np.array(runs[curve][cell])) for cell in here]
                _line(place, points, figure, curve)
            place.set_title(_title({keys[i]: word for i, word in zip(rest, panel, strict=True)}))
            if ticks:
                place.set_xticks(range(len(ticks)), ticks)
            elif not figure.log_axis:
                place.locator_params(axis="x", nbins=5)
            if figure.log_axis:
                place.set_xscale("log")
            if figure.log and any(line.get_ydata().size for line in place.lines):
                place.set_yscale("log")
        for place in axes.flat[len(panels) :]:
            place.axis("off")
        over = [dict(zip((keys[i] for i in rest), panel, strict=True)).get("over") for panel in panels]
        if any(over):  # each panel has an axis of its own
            for place, name in zip(axes.flat, over, strict=False):
                place.set_xlabel(axis_of(name))
        else:
            x_title(axes, axis_of(figure.axis))
        drawing.supylabel(figure.measure, fontsize=9)
        # The panel with most curves: some are refused, or left out, in others.
        fullest = max(axes.flat, key=lambda place: len(place.lines))
        key(drawing, fullest, columns=2 if width == 1 else 4)
        drawing.suptitle(figure.title, fontsize=10)
    save(drawing, path)


def _order(figure: Any, rest: Sequence[int], panel: Sequence[str]) -> tuple[Any, ...]:
    """Sets first, then which rows: what differs in a figure's lines is last."""
    names = [figure.keys[i] for i in rest]
    first = [word for name, word in zip(names, panel, strict=True) if name in ("set", "rows")]
    return sort_key([*first, *(word for name, word in zip(names, panel, strict=True) if name not in ("set", "rows"))])


def _title(panel: Mapping[str, str]) -> str:
    """What a panel is about: the names and values of its entries."""
    told = []
    for name, word in panel.items():
        if name == "over":  # the axis says it
            continue
        told.append(title_of(word) if name == "set" else f"{word} rows" if name == "rows" else f"{name} {word}")
    return ", ".join(told)


def spaced(words: set[str], log_axis: bool) -> list[str]:
    """The ticks of an axis whose values lie at equal distances: words, a single number, and numbers
    that span more than a factor of 20. None for other axes.
    """
    ordered = sorted(words, key=lambda word: sort_key([word]))
    if not all(map(is_number, ordered)) or (len(ordered) == 1 and not log_axis):
        return ordered
    sizes = [abs(float(word)) for word in ordered if float(word)]
    return ordered if sizes and not log_axis and max(sizes) > 20 * min(sizes) else []


def _place(word: str, ticks: list[str]) -> float:
    return ticks.index(word) if ticks else float(word)


def _look(figure: Any, curve: str) -> dict[str, Any]:
    """The default in discreet's colour, its other settings lighter, limits in theirs, papers in
    greys.
    """
    if curve in _DEFAULTS:
        return {"color": OURS, "linestyle": "-", "marker": "o", "zorder": 4}
    if curve in _LIMITS:
        return {"color": LIMIT, "linestyle": DASHES[_LIMITS.index(curve)], "zorder": 3}
    own = curve in _OTHERS or curve.endswith("tight")
    alike = [name for name in figure.curves if name not in (*_DEFAULTS, *_LIMITS)]
    number = [name for name in alike if (name in _OTHERS or name.endswith("tight")) == own].index(curve)
    look = {
        # Beyond the shades there are, the same ones with the next dash.
        "linestyle": DASHES[(number + number // len(PEERS)) % len(DASHES)],
        "marker": MARKERS[number % len(MARKERS)],
        "zorder": 3 if own else 2,
    }
    return look | {"color": OURS_LIGHT if own else PEERS[number % len(PEERS)]}


def _line(place: Any, points: Sequence[tuple[float, Any]], figure: Any, curve: str) -> None:
    """The median and a band of one curve; none where nothing was run or all was refused.

    A run without an answer has an infinite error. Where half of the runs have none, the curve has a
    gap, and its band ends at the largest finite error.
    """
    points = [(x, values[~np.isnan(values)]) for x, values in points]
    points = [(x, values) for x, values in points if len(values)]
    if not any(np.isfinite(values).any() for _, values in points):
        return
    xs, look = [x for x, _ in points], _look(figure, curve)
    if len(xs) == 1:
        look.setdefault("marker", "D")  # a line of one point cannot be seen
    medians, low, high = np.array([_summary(values) for _, values in points]).T
    place.plot(xs, medians, markersize=4, label=curve, **look)
    place.fill_between(xs, low, high, color=look["color"], alpha=0.1, linewidth=0)


def _summary(values: Any) -> tuple[float, float, float]:
    """The median and the 10 % and 90 % quantiles, NaN where the median is infinite."""
    finite = values[np.isfinite(values)]
    if 2 * len(finite) <= len(values):
        return np.nan, np.nan, np.nan
    with np.errstate(invalid="ignore"):
        linear = np.quantile(values, (0.1, 0.5, 0.9))
    # Between a finite and an infinite number nothing can be interpolated.
    lower = np.quantile(values, (0.1, 0.5, 0.9), method="lower")
    low, middle, high = np.where(np.isfinite(linear), linear, lower)
    return middle, low, min(high, np.max(finite))
