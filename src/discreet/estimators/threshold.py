"""DP-Threshold for users: a threshold that nearly all values of one column stay below."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.algorithms.steps.threshold import doubling, private_threshold
from discreet.docstrings import described
from discreet.domain import Domain, Encoder, Numeric, as_floats, check_numbers
from discreet.engines import Arrays, Layout, open_engine
from discreet.estimators.base import check_choice, curator_of
from discreet.estimators.vectors import read_vector
from discreet.parameters import check_inside, check_positive
from discreet.privacy import GDP, Budget, Guarantee, refuse_weaker
from discreet.rows import Labels, LinearMap
from discreet.rows.histograms import Residuals


@dataclass(frozen=True, eq=False)
class Threshold:
    """The threshold, all ``edges`` that were tried, and noisy numbers of values ``above`` each."""

    value: float
    edges: np.ndarray
    above: np.ndarray
    privacy: Guarantee


@described
def dp_threshold(
    values: Any,
    *,
    epsilon: float,
    delta: float,
    smallest: float,
    largest: float,
    share: float | None = None,
    neighbours: str = "replace_one",
    calibration: str = "tight",
    ledger: Any = None,
    random_state: int | None = None,
) -> Threshold:
    """A private scale of values such as residuals.

    The first of smallest, 2 smallest, ... that |values| stay below.

    Parameters
    ----------
    values : array
        Private numbers.
    smallest : float > 0
        The first candidate.
    largest : float
        The last candidate.
    share : float, optional
        The share of the values that must be below, by the noisy counts. By default all except what
        the noise can hide.
    calibration : str, default 'tight'
        ``"tight"`` (a histogram), or ``"paper"`` (counts with the printed noise; n must be public).

    Returns
    -------
    Threshold
        The scale and the guarantee.

    Privacy
    -------
    One noisy sum, at ``epsilon`` and ``delta``. A missing value is not counted.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import dp_threshold
    >>> residuals = np.random.default_rng(0).normal(0, 1, 5_000)
    >>> found = dp_threshold(residuals, epsilon=1.0, delta=1e-6, smallest=0.125, largest=1024.0)
    >>> 1.0 <= found.value <= 16.0
    True
    """
    budget = Budget.of(epsilon, delta)
    check_choice("calibration", calibration, ("tight", "paper"))
    check_positive("smallest", smallest)
    check_positive("largest", largest)
    edges = doubling(float(smallest), float(largest))
    if share is not None:
        check_inside("share", share)
    if calibration == "paper" and neighbours != "replace_one":
        raise ValueError("calibration='paper' needs a public number of values: neighbours='replace_one'")
    column, kind, shown = read_vector(values, "values")
    check_numbers("values", kind, shown)
    target = Numeric("values", -float(edges[-1]), float(edges[-1]))
    encoder = Encoder(Domain.from_bounds(["none"], (-1.0, 1.0)), target)
    engine = open_engine(Arrays(np.zeros((len(column), 1)), as_floats(column)), Layout(encoder.encode))
    source = curator_of(engine, neighbours, budget, "threshold", ledger, random_state)
    residuals = Residuals(LinearMap(np.zeros((1, 2))), Labels(0.0, target.half_width), np.zeros_like)
    (cost,) = budget.split([1.0])
    if calibration == "paper":
        cost = GDP(budget.epsilon / (2 * math.sqrt(math.log(1 / budget.delta) + budget.epsilon)))  # 1/f, Theorem 5
        refuse_weaker([cost], budget)
    value, above = private_threshold(source, cost, residuals, edges, share=share, calibration=calibration)
    return Threshold(value, edges, above, source.finish())
