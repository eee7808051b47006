"""Plots of an audit as inline SVG: text stays text, so that a page can be searched and read aloud."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

_BLUE, _ORANGE, _GREY = "#1f5f99", "#c8641e", "#777777"


@dataclass(frozen=True)
class Curve:
    """One line of a plot of hit rates against false alarm rates."""

    label: str
    false_alarms: Sequence[float]
    hits: Sequence[float]
    allowed: bool = False


def scores_plot(first: Sequence[float], second: Sequence[float]) -> str:
    """Two histograms of an attacker's score: with one row, and with another in its place."""
    figure, axes = _figure(4.6, 2.3)
    together = np.concatenate([first, second])
    low, high = np.quantile(together, [0.005, 0.995])
    if high <= low:
        low, high = low - 1, high + 1
    bins = np.linspace(low, high, 41)
    for values, colour, label in ((first, _BLUE, "data set"), (second, _ORANGE, "its neighbour")):
        axes.hist(np.clip(values, low, high), bins=bins, color=colour, alpha=0.55, label=label)
    axes.axvline(0, color=_GREY, linewidth=1, linestyle=":")
    axes.set_xlabel("attacker's score, threshold at 0")
    axes.set_ylabel("fits")
    axes.legend(frameon=False, fontsize=8)
    return _svg(figure, "Histogram of the attacker's scores on both data sets")


def trade_off_plot(first: Sequence[float], second: Sequence[float], claimed_mu: float) -> str:
    """Hit rate against false alarm rate of the attacker's score, under the curve that the claim allows."""
    ordered = np.sort(np.asarray(second))
    cuts = np.quantile(ordered, np.linspace(1, 0, 201))
    hits = 1 - np.searchsorted(np.sort(np.asarray(first)), cuts, side="right") / len(first)
    alarms = 1 - np.searchsorted(ordered, cuts, side="right") / len(ordered)
    curves = [Curve("attack", [0.0, *alarms, 1.0], [0.0, *hits, 1.0])]
    if math.isfinite(claimed_mu):
        curves.append(gaussian_curve(claimed_mu, f"allowed by mu {claimed_mu:.3g}"))
    return curves_plot(curves)


def gaussian_curve(mu: float, label: str) -> Curve:
    """The most that mu-GDP allows."""
    rates = np.linspace(0, 1, 201)
    return Curve(label, rates.tolist(), ndtr(ndtri(rates) + mu).tolist(), allowed=True)


def curves_plot(curves: Sequence[Curve]) -> str:
    """Several curves in a square, with the diagonal of a guess by coin."""
    figure, axes = _figure(3.4, 3.2)
    axes.plot([0, 1], [0, 1], color=_GREY, linewidth=0.8, linestyle=":")
    for place, curve in enumerate(curve for curve in curves if not curve.allowed):
        axes.plot(curve.false_alarms, curve.hits, color=(_BLUE, _ORANGE, "#4a8f3c")[place % 3], label=curve.label)
    for curve in (curve for curve in curves if curve.allowed):
        axes.plot(curve.false_alarms, curve.hits, color="black", linewidth=1, linestyle="--", label=curve.label)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.01)
    axes.set_xlabel("false alarms")
    axes.set_ylabel("hits")
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    return _svg(figure, "Hit rate against false alarm rate, and what the claim allows")


def _figure(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _svg(figure: Any, description: str) -> str:
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "discreet", "font.size": 9}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    return svg.replace("<svg", f'<svg role="img" aria-label="{description}"', 1)
