"""The demo's picture: each coefficient at several epsilons, beside the fit without privacy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.report.figure_style import OURS, OURS_LIGHT, PEERS, save, styled

Floats = NDArray[np.float64]

# The fit without privacy is a peer; shapes and labels repeat what colours say.
_PRIVATE, _CHOSEN, _PLAIN = OURS_LIGHT, OURS, PEERS[0]


def draw(
    folder: Path,
    titles: Sequence[str],
    plain: tuple[Floats, Floats],
    private: Mapping[float, tuple[Floats, Floats]],
    chosen: float,
) -> list[Path]:
    """Write coefficients.png and .svg; each fit is (estimates, 95 % intervals), of the
    slopes only.
    """
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=(12.5, 6.2), layout="constrained")
        panels = figure.subplots(2, 4, sharey=True).ravel()
    epsilons = sorted(private)
    for position, (axes, title) in enumerate(zip(panels, titles, strict=False)):
        _panel(axes, title, position, plain, private, chosen)
    figure.supxlabel("coefficient, in the unit of its title", fontsize=11)
    for axes in panels[:: panels.size // 2]:
        axes.set_yticks(range(len(epsilons) + 1), ["no privacy", *(f"ε = {e:g}" for e in reversed(epsilons))])
        axes.set_ylim(len(epsilons) + 0.6, -0.6)
    _legend(panels[len(titles)], chosen)
    figure.suptitle("Yearly cost of 20,000 synthetic patients: what privacy does to each coefficient", fontsize=14)
    paths = [folder / "coefficients.png", folder / "coefficients.svg"]
    for path in paths:
        save(figure, path)
    return paths


def _panel(
    axes: Any,
    title: str,
    position: int,
    plain: tuple[Floats, Floats],
    private: Mapping[float, tuple[Floats, Floats]],
    chosen: float,
) -> None:
    estimate, (low, high) = plain[0][position], plain[1][position]
    axes.axvspan(low, high, color=_PLAIN, alpha=0.13, linewidth=0)
    axes.axvline(0, color="0.6", linewidth=0.8, linestyle=":")
    _interval(axes, 0, estimate, low, high, _PLAIN, "D")
    for row, epsilon in enumerate(sorted(private, reverse=True), start=1):
        values, intervals = private[epsilon]
        low, high = intervals[position]
        _interval(axes, row, values[position], low, high, _CHOSEN if epsilon == chosen else _PRIVATE, "o")
    axes.set_title(title, fontsize=11)
    axes.tick_params(labelsize=9)
    axes.locator_params(axis="x", nbins=5)
    axes.spines[["top", "right"]].set_visible(False)


def _interval(axes: Any, row: int, estimate: float, low: float, high: float, colour: str, marker: str) -> None:
    axes.plot([low, high], [row, row], color=colour, linewidth=2.6, solid_capstyle="round")
    axes.plot([estimate], [row], marker=marker, color=colour, markersize=7, markeredgecolor="white")


def _legend(axes: Any, chosen: float) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    axes.axis("off")
    axes.legend(
        handles=[
            Line2D([], [], color=_PLAIN, marker="D", linewidth=2.6, label="without privacy"),
            Line2D([], [], color=_CHOSEN, marker="o", linewidth=2.6, label=f"private, ε = {chosen:g} (paid here)"),
            Line2D([], [], color=_PRIVATE, marker="o", linewidth=2.6, label="private, other ε"),
            Patch(color=_PLAIN, alpha=0.13, label="95 % interval without privacy"),
            Line2D([], [], color="0.6", linestyle=":", label="no effect"),
        ],
        loc="center left",
        frameon=False,
        fontsize=10,
        title="Bars: 95 % intervals, with\nsampling error and privacy noise",
        alignment="left",
    )
