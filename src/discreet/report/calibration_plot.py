"""The calibration of a model on held-out rows, as a figure."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.errors import DiscreetError
from discreet.report.figure_style import OURS, PEERS, key, save, styled


def calibration_figure(evaluation: Any, path: Any = None) -> Any:
    """Predicted against observed means by group, with noise intervals; written to ``path`` if one
    is given.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise DiscreetError('a plot needs matplotlib: pip install "discreet[report]"') from error
    rows = evaluation.calibration
    with styled():
        figure = Figure(figsize=(5, 4.8), layout="constrained")
        axes = figure.add_subplot()
    predicted, observed = np.array([[row.predicted, row.observed] for row in rows]).T if rows else np.zeros((2, 0))
    ends = np.array([[row.observed_low, row.observed_high] for row in rows]).reshape(-1, 2).T
    both = np.concatenate([predicted, observed]) if len(rows) else np.array([0.0, 1.0])
    axes.plot(
        [both.min(), both.max()], [both.min(), both.max()], color=PEERS[1], linestyle="--", lw=1, label="as predicted"
    )
    reach = np.maximum(np.array([observed - ends[0], ends[1] - observed]), 0.0)
    axes.errorbar(predicted, observed, yerr=reach, fmt="o", color=OURS, capsize=3, label="observed")
    level = f"{100 * (1 - evaluation.alpha):g} %"
    axes.set_xlabel(f"predicted {evaluation.target}")
    axes.set_ylabel(f"observed {evaluation.target} ({level} noise intervals)")
    axes.set_title(f"Calibration of {evaluation.model}, noisy counts")
    key(figure, axes)
    if path is not None:
        save(figure, path)
    return figure
