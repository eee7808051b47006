"""A model's private evaluation on held-out rows, as text and numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from discreet.inference.evaluation import CalibrationRow, Measure
from discreet.privacy import Guarantee
from discreet.rows import RowsUsed


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The accuracy of a model on held-out rows, from noisy sums.

    It prints itself, and notebooks show it as text.

    Attributes
    ----------
    model : str
        The class of the model.
    target : str
        The label.
    measures : dict of Measure
        By name: ``r2`` and ``rmse`` for linear models; ``log_loss``, ``deviance_explained`` and
        ``auc`` for classifiers; ``deviance_explained`` and ``mean_deviance`` for others.
        ``evaluation.auc`` is short for ``evaluation.measures["auc"]``.
    calibration : tuple of CalibrationRow
        Groups of rows by predicted value, with predicted and observed means.
    counted : str
        What the table counts in each group: ``"rows"``, or ``"exposure"`` if rows have one.
    rows : float
        The noisy number of rows that were used.
    rows_std : float
        The standard deviation of its noise.
    used : RowsUsed
        The number as a noisy count.
    alpha : float
        One minus the level of all intervals.
    cut : dict of float
        Where losses were clipped, by measure; the measures are of clipped losses.
    privacy : Guarantee
        The guarantee of the evaluation, for these rows; the model's own fit is a separate cost.
    epsilon : float
        The epsilon that was asked for, at ``delta``.
    delta : float
        The delta of the guarantee.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (5_000, 2))
    >>> y = X @ [1.0, -2.0] + rng.normal(0, 0.5, 5_000)
    >>> model = LinearRegression(epsilon=1.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-5, 5)).fit(
    ...     X, y
    ... )
    >>> evaluation = model.evaluate(X, y, epsilon=1.0, delta=1e-6)
    >>> sorted(evaluation.measures)
    ['r2', 'rmse']
    >>> evaluation.r2.low <= evaluation.r2.value <= evaluation.r2.high
    True
    """

    model: str
    target: str
    measures: dict[str, Measure]
    calibration: tuple[CalibrationRow, ...]
    rows: float
    rows_std: float
    used: RowsUsed
    alpha: float
    privacy: Guarantee
    epsilon: float
    delta: float
    cut: dict[str, float] = field(default_factory=dict)
    counted: str = "rows"

    def __getattr__(self, name: str) -> Measure:
        measures = self.__dict__.get("measures", {})
        if name in measures:
            found: Measure = measures[name]
            return found
        raise AttributeError(f"this evaluation has no {name!r}; it has {', '.join(measures)}")

    def to_dict(self) -> dict[str, Any]:
        """Numbers for JSON; None where one is not finite, which JSON cannot express.

        Returns
        -------
        dict
            Measures, calibration and guarantee.
        """
        return {
            "model": self.model,
            "target": self.target,
            "rows": self.rows,
            "rows_noise_std": self.rows_std,
            "level": 1 - self.alpha,
            "measures": {
                one.name: {"value": _plain(one.value), "low": _plain(one.low), "high": _plain(one.high)}
                for one in self.measures.values()
            },
            "calibration_counts": self.counted,
            "calibration": [{name: _plain(value) for name, value in vars(row).items()} for row in self.calibration],
            "cut": dict(self.cut),
            "guarantee": {
                "epsilon": float(self.privacy.epsilon(self.delta)),
                "delta": self.delta,
                "mu": float(self.privacy.mu),
                "neighbours": self.privacy.neighbours,
                "in_words": self.privacy.in_words,
            },
        }

    def plot(self, path: Any = None) -> Any:
        """The calibration table as a figure: what was predicted and what was seen; written to
        ``path`` if given.

        Parameters
        ----------
        path : str or path, optional
            The file to write; its name says in which format.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from discreet.report.calibration_plot import calibration_figure

        return calibration_figure(self, path)

    def _rows(self) -> str:
        if self.used.none or self.used.unclear:
            return str(self.used)
        return f"{self.rows:,.0f} (noisy, std err {self.used.spread})"

    def __str__(self) -> str:
        level = f"{100 * (1 - self.alpha):g} % noise interval"
        lines = [
            f"Private evaluation of {self.model} for {self.target}",
            f"rows       {self._rows()}",
            f"guarantee  epsilon {self.privacy.epsilon(self.delta):.4g} at delta {self.delta:.3g}, beside the fit's",
            f"           {self.privacy.in_words}",
            "",
            f"{'measure':<24}{'value':>10}   {level}",
        ]
        for one in self.measures.values():
            lines.append(f"{one.title:<24}{_shown(one.value):>10}   {_range(one.low, one.high)}")
        if self.calibration:
            lines += ["", f"{self.counted:>8}{'predicted':>12}{'observed':>12}   {level}"]
        for row in self.calibration:
            seen = f"{_shown(row.predicted):>12}{_shown(row.observed):>12}"
            count = f"{row.rows:.0f}" if row.rows >= 10 else _shown(row.rows)
            lines.append(f"{count:>8}{seen}   {_range(row.observed_low, row.observed_high)}")
        return "\n".join(lines)

    __repr__ = __str__


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _shown(value: float) -> str:
    """Four digits, without an exponent where a number is large."""
    if math.isnan(value):
        return "unknown"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e12 else f"{value:.4g}"


def _range(low: float, high: float) -> str:
    """An interval in words, where an end of it is not known."""
    if math.isinf(low):
        return "unknown" if math.isinf(high) else f"up to {_shown(high)}"
    return f"from {_shown(low)} on" if math.isinf(high) else f"{_shown(low)} to {_shown(high)}"
