"""Plots of an audit as inline SVG: text stays text, so that a page can be searched and
read aloud.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from discreet.report.figure_style import LIMIT, OURS, OURS_LIGHT, PEERS, key, styled, svg


@dataclass(frozen=True)
class Curve:
    """One line of a plot of hit rates against false alarm rates."""

    label: str
    false_alarms: Sequence[float]
    hits: Sequence[float]
    allowed: bool = False
    # Of a fit without privacy, which is grey as all others' are.
    plain: bool = False


def scores_plot(first: Sequence[float], second: Sequence[float]) -> str:
    """Two histograms of an attacker's score: with one row, and with another in its place."""
    figure, axes = _figure(4.4, 3.2)
    together = np.concatenate([first, second])
    low, high = np.quantile(together, [0.005, 0.995])
    if high <= low:
        low, high = low - 1, high + 1
    bins = np.linspace(low, high, 41)
    for values, colour, label in ((first, OURS, "data set"), (second, PEERS[1], "its neighbour")):
        axes.hist(np.clip(values, low, high), bins=bins, color=colour, alpha=0.55, label=label)
    axes.axvline(0, color="black", linewidth=1, linestyle=":")
    axes.set_xlabel("attacker's score, threshold at 0")
    axes.set_ylabel("number of fits")
    key(figure, axes)
    return svg(figure, "Histogram of the attacker's scores on both data sets", on_page=True)


def trade_off_plot(first: Sequence[float], second: Sequence[float], claimed_mu: float) -> str:
    """Hit rate against false alarm rate of the attacker's score, under the curve that the claim
    allows.
    """
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
    """Several curves in a square, with the diagonal of random guessing."""
    figure, axes = _figure(3.6, 3.5)
    axes.plot([0, 1], [0, 1], color=PEERS[2], linewidth=0.8, linestyle=":", label="a coin")
    colours = itertools.cycle((OURS, OURS_LIGHT, *PEERS[1:3]))
    for curve in (curve for curve in curves if not curve.allowed):
        colour = PEERS[0] if curve.plain else next(colours)
        axes.plot(curve.false_alarms, curve.hits, color=colour, label=curve.label)
    for curve in (curve for curve in curves if curve.allowed):
        axes.plot(curve.false_alarms, curve.hits, color=LIMIT, linewidth=1.4, linestyle="--", label=curve.label)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.01)
    axes.set_xlabel("false alarms, share of fits")
    axes.set_ylabel("hits, share of fits")
    key(figure, axes, columns=2)
    return svg(figure, "Hit rate against false alarm rate, and what the claim allows", on_page=True)


def _figure(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.subplots()
