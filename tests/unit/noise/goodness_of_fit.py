"""Chi-square tests against laws that are known exactly. Each raises a false alarm once in a million
runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from scipy.stats import chi2

FALSE_ALARM = 1e-6


def gaussian_weight(i: np.ndarray, scale: float) -> np.ndarray:
    return np.exp(-0.5 * (i / scale) ** 2)


def laplace_weight(i: np.ndarray, scale: float) -> np.ndarray:
    return np.exp(-np.abs(i) / scale)


def integer_law_p_value(draws: np.ndarray, weight: Callable, scale: float) -> float:
    """Chi-square p-value of draws against P(i) ~ weight(i, scale), binned so that every bin expects
    enough.
    """
    reach = int(60 * scale) + 60  # beyond this, less than 1e-20 of the mass of either law
    support = np.arange(-reach, reach + 1)
    probability = weight(support, scale)
    probability /= probability.sum()
    assert np.abs(draws).max() <= reach
    # Runs of neighbours that hold at least 1/200 of the mass each, or 50 expected draws if that is
    # more.
    share = max(1 / 200, 50 / draws.size)
    bin_of = np.floor(np.cumsum(probability) / share - 1e-9).astype(int)
    _, bin_of = np.unique(bin_of, return_inverse=True)
    expected = np.bincount(bin_of, weights=probability) * draws.size
    observed = np.bincount(bin_of[draws + reach], minlength=expected.size)
    return p_value(observed, expected)


def category_p_value(outcomes: Iterable, law: dict) -> float:
    """Chi-square p-value of outcomes against a finite law given as {outcome: probability}."""
    position = {outcome: index for index, outcome in enumerate(law)}
    observed = np.bincount([position[outcome] for outcome in outcomes], minlength=len(law))
    expected = np.array(list(law.values())) * observed.sum()
    return p_value(observed, expected)


def p_value(observed: np.ndarray, expected: np.ndarray) -> float:
    # Sparse bins are pooled: the chi-square law is an approximation that needs about 10 expected
    # draws a bin.
    sparse = expected < 10
    if sparse.any():
        observed = np.append(observed[~sparse], observed[sparse].sum())
        expected = np.append(expected[~sparse], expected[sparse].sum())
        if expected[-1] < 1:  # fewer than one draw expected in all: drop a bin that says nothing
            observed, expected = observed[:-1], expected[:-1]
    statistic = ((observed - expected) ** 2 / expected).sum()
    return float(chi2.sf(statistic, max(len(expected) - 1, 1)))
