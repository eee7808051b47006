"""Forecasts as a picture: the error against epsilon and against n, with the non-private level and the lower bound."""

from __future__ import annotations

import io
from os import PathLike
from pathlib import Path
from typing import Any

from discreet.planning.forecast import Forecast

_BLUE, _ORANGE, _GREY = "#1f5f99", "#c8641e", "#666666"


def draw(forecast: Forecast, path: str | PathLike[str] | None = None) -> str:
    """Two panels as SVG; also written to ``path`` if one is given."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "font.size": 9, "svg.hashsalt": "discreet"}):
        figure = Figure(figsize=(9.0, 3.4), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for axes, along in zip(panels, ("epsilon", "n"), strict=True):
            _panel(axes, forecast, along)
        panels[0].set_ylabel("standard error of a coefficient,\nper standard deviation of its column")
        panels[0].legend(frameon=False, fontsize=8)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    picture = out.getvalue()
    if path is not None:
        Path(path).write_text(picture, encoding="utf-8")
    return picture


def _panel(axes: Any, forecast: Forecast, along: str) -> None:
    levels = forecast.along(along)
    axes.loglog(levels.values, levels.private, color=_BLUE, label="private, forecast")
    axes.loglog(levels.values, levels.plain, color=_GREY, linestyle="--", label="not private")
    axes.loglog(levels.values, levels.bound, color=_ORANGE, linestyle=":", label="no private method is below")
    here = forecast.epsilon if along == "epsilon" else forecast.n
    axes.plot([here], [forecast.standard_error], "o", color=_BLUE)
    axes.set_xlabel("epsilon" if along == "epsilon" else "n, people")
    axes.spines[["top", "right"]].set_visible(False)
