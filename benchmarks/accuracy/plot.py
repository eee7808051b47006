"""Excess loss against epsilon, a panel per data set: ours beside the best untuned and the best tuned peer."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.accuracy.cells import EPSILONS, RELATIONS, Table
from benchmarks.accuracy.lines import AUTO, Line, lines_of
from benchmarks.accuracy.methods import METHODS
from benchmarks.accuracy.problems import ALL_SETS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 5
LOWEST = 1e-4
DASHES = {RELATIONS[0]: "-", RELATIONS[1]: ":"}
CURVES = {
    "ours auto": ("tab:red", "D"),
    "best untuned peer": ("tab:blue", "o"),
    "best peer, tuned included": ("tab:cyan", "s"),
    "public rows only": ("tab:gray", None),
}


def plot(table: Table, with_public: bool, path: Path) -> None:
    """0 is the non-private fit and 1 the constant model."""
    import matplotlib

    matplotlib.use("Agg")
    # Fixed identifiers and no date: the same figures give the same file.
    matplotlib.rcParams.update({"svg.hashsalt": "accuracy", "font.size": 8})
    from matplotlib import pyplot

    lines = [line for line in lines_of(table) if line.cell.with_public == with_public]
    names = [name for name in ALL_SETS if any(line.cell.data_set == name for line in lines)]
    if not names:
        return
    height = math.ceil(len(names) / COLUMNS)
    figure, panels = pyplot.subplots(height, COLUMNS, figsize=(13, 2.3 * height), sharex=True, squeeze=False)
    for panel in panels.flat[len(names) :]:
        panel.set_axis_off()
    for panel, name in zip(panels.flat, names, strict=False):
        draw_panel(panel, [line for line in lines if line.cell.data_set == name])
        panel.set_title(name)
    for row in panels:
        row[0].set_ylabel("excess loss\n(1: the constant)")
    for panel in panels[-1]:
        panel.set_xlabel("epsilon")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="lower center",
        ncols=4,
        frameon=False,
        title="solid: replace one; dotted: add or remove one",
    )
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def draw_panel(panel: Axes, lines: list[Line]) -> None:
    for relation, dash in DASHES.items():
        chosen = [line for line in lines if line.cell.neighbours == relation]
        for label, (colour, marker) in CURVES.items():
            points = [(line.cell.epsilon, value) for line in chosen if (value := excess(line, label)) is not None]
            if points:
                shown = label if relation == RELATIONS[0] else None
                panel.plot(*zip(*points, strict=True), dash, color=colour, marker=marker, markersize=3, label=shown)
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_ylim(LOWEST, 3)
    panel.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
    panel.minorticks_off()
    panel.grid(alpha=0.2)


def excess(line: Line, curve: str) -> float | None:
    """Where the curve's loss lies between the non-private fit (0) and the constant (1)."""
    peers = [name for name in line.losses if name in METHODS and not METHODS[name].is_baseline]
    if curve == "best untuned peer":
        peers = [name for name in peers if not METHODS[name].is_tuned]
    names = {"ours auto": [AUTO], "public rows only": ["public-only"]}.get(curve, peers)
    found = [line.losses[name] for name in names if name in line.losses]
    if not found or not {"non-private", "constant"} <= line.losses.keys():
        return None
    low, high = line.losses["non-private"], line.losses["constant"]
    return max((min(found) - low) / (high - low), LOWEST)
