"""One style for every figure: discreet in one colour, others grey, the legend outside the data."""

from __future__ import annotations

import io
import re
from os import PathLike
from pathlib import Path
from typing import Any

# The colour of discreet, a lighter one for its other settings, and one for limits and bounds.
OURS, OURS_LIGHT, LIMIT = "#1f5fa8", "#8db8e6", "#b4500f"
# Others differ by shade, dash and marker.
PEERS = ("#444444", "#777777", "#999999", "#5f6b78", "#aaaaaa")
DASHES = ("--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))
MARKERS = ("s", "^", "D", "v", "P", "X")

_SETTINGS: Any = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#999999",
    "grid.alpha": 0.3,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "discreet",
}
# A dark page sets these variables; elsewhere the light colours are used.
_ON_PAGES = {OURS: f"var(--blue, {OURS})", LIMIT: f"var(--limit, {LIMIT})", "#000000": "currentColor"}


def styled() -> Any:
    """The context in which a figure is made and saved."""
    from matplotlib import rc_context

    return rc_context(_SETTINGS)


def key(figure: Any, axes: Any, columns: int = 4) -> None:
    """One legend under all panels, outside of the data."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=min(columns, len(handles)), frameon=False)


def x_title(panels: Any, text: str) -> None:
    """The title of the horizontal axis under the lowest panel of each column; panels that are off
    have none.
    """
    for column in panels.T:
        lowest = [axes for axes in column if axes.axison]
        if lowest:
            lowest[-1].set_xlabel(text)


def log_ticks(axis: Any) -> None:
    """Ticks of a logarithmic axis at 1, 2 and 5, written as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    axis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0), numticks=30))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(_plainly))
    axis.set_minor_formatter(NullFormatter())


def _plainly(value: float, _: int) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def svg(figure: Any, description: str = "", *, on_page: bool = False) -> str:
    """The figure as SVG with searchable text; ``on_page`` uses the page's own colours."""
    buffer = io.StringIO()
    with styled():
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=on_page)
    text = buffer.getvalue()
    if on_page:
        text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
        for colour, variable in _ON_PAGES.items():
            text = text.replace(colour, variable)
    if description:
        text = text.replace("<svg", f'<svg role="img" aria-label="{description}"', 1)
    return "\n".join(line.rstrip() for line in text.split("\n"))


def save(figure: Any, path: str | PathLike[str]) -> None:
    """Write SVG, PNG or whatever the path's ending says; the same figure gives the same SVG."""
    if Path(path).suffix == ".svg":
        Path(path).write_text(svg(figure), encoding="utf-8")
        return
    with styled():
        figure.savefig(path, dpi=150)
