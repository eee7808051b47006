"""Plots of forecasts: the error against epsilon and n, with the non-private
level and the lower bound.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from discreet.planning.forecast import Forecast
from discreet.report.figure_style import LIMIT, OURS, PEERS, key, log_ticks, styled, svg


def draw(forecast: Forecast, path: str | PathLike[str] | None = None) -> str:
    """Two panels as SVG; also written to ``path`` if one is given."""
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=(9.0, 3.6), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for axes, along in zip(panels, ("epsilon", "n"), strict=True):
            _panel(axes, forecast, along)
        panels[0].set_ylabel("standard error of a coefficient,\nper standard deviation of its column")
        key(figure, panels[0])
    picture = svg(figure, "Forecast standard error against epsilon and against the number of people")
    if path is not None:
        Path(path).write_text(picture, encoding="utf-8")
    return picture


def _panel(axes: Any, forecast: Forecast, along: str) -> None:
    levels = forecast.along(along)
    axes.loglog(levels.values, levels.private, color=OURS, label="private, forecast")
    axes.loglog(levels.values, levels.plain, color=PEERS[1], linestyle="--", label="not private")
    if forecast.bound:  # none is known for the columns of a sample
        axes.loglog(levels.values, levels.bound, color=LIMIT, linestyle=":", label="no private method is below")
    here = forecast.epsilon if along == "epsilon" else forecast.n
    axes.plot([here], [forecast.standard_error], "o", color=OURS)
    axes.set_xlabel("epsilon" if along == "epsilon" else "number of people")
    log_ticks(axes.xaxis)
    log_ticks(axes.yaxis)
