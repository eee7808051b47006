"""Excess loss against epsilon, a panel per data set: ours beside the best untuned and the best
tuned peer.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.accuracy.cells import EPSILONS, RELATIONS, Table
from benchmarks.accuracy.lines import AUTO, Line, lines_of
from benchmarks.accuracy.methods import METHODS
from benchmarks.accuracy.problems import ALL_SETS
from benchmarks.names import title_of

from discreet.report.figure_style import OURS, PEERS, key, save, styled, x_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 5
LOWEST = 1e-4
DASHES = {RELATIONS[0]: "-", RELATIONS[1]: ":"}
CURVES = {
    "best untuned peer": (PEERS[0], "s"),
    "best peer, tuned included": (PEERS[1], "^"),
    "public rows only": (PEERS[2], "v"),
    "discreet": (OURS, "o"),
}


def plot(table: Table, with_public: bool, path: Path) -> None:
    """0 is the non-private fit and 1 the constant model."""
    from matplotlib.figure import Figure

    lines = [line for line in lines_of(table) if line.cell.with_public == with_public]
    names = [name for name in ALL_SETS if any(line.cell.data_set == name for line in lines)]
    if not names:
        return
    height = math.ceil(len(names) / COLUMNS)
    with styled():
        figure = Figure(figsize=(13, 2.4 * height + 0.6), layout="constrained")
        panels = figure.subplots(height, COLUMNS, sharex=True, squeeze=False)
        for panel in panels.flat[len(names) :]:
            panel.set_axis_off()
        for panel, name in zip(panels.flat, names, strict=False):
            draw_panel(panel, [line for line in lines if line.cell.data_set == name])
            panel.set_title(title_of(name))
        figure.supylabel("excess test loss (0: without privacy, 1: the constant model)", fontsize=9)
        x_title(panels, "epsilon")
        figure.suptitle("Solid: one row replaced. Dotted: one row added or removed.", fontsize=9)
        key(figure, panels[0, 0])
    save(figure, path)


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


def excess(line: Line, curve: str) -> float | None:
    """Where the curve's loss lies between the non-private fit (0) and the constant (1)."""
    peers = [name for name in line.losses if name in METHODS and not METHODS[name].is_baseline]
    if curve == "best untuned peer":
        peers = [name for name in peers if not METHODS[name].is_tuned]
    names = {"discreet": [AUTO], "public rows only": ["public-only"]}.get(curve, peers)
    found = [line.losses[name] for name in names if name in line.losses]
    if not found or not {"non-private", "constant"} <= line.losses.keys():
        return None
    low, high = line.losses["non-private"], line.losses["constant"]
    return max((min(found) - low) / (high - low), LOWEST)
