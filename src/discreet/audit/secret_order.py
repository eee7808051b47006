"""Fits that shuffle the rows first: what an audit with a fixed order can check.

Two fits of an audit must use one order, or their answers have nothing to do with each other. Given
the order, a row contributes to one answer, which may cost at most ``each``. That a secret order
reduces this cost is a theorem (docs/papers/relu.md); a pair of fits cannot show it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.privacy import Guarantee

Order = NDArray[np.intp]


def is_shuffled(guarantee: Guarantee) -> bool:
    return any(split.shuffled for split in guarantee.splits)


def mu_given_the_order(guarantee: Guarantee) -> float:
    """The allowed loss of the answers given the order; without a secret order, the
    guarantee's mu.
    """
    if not is_shuffled(guarantee):
        return float(guarantee.mu)
    whole = [release.cost.mu for release in guarantee.releases if release.split is None]
    parts = [split.each.mu if split.shuffled else split.cost.mu for split in guarantee.splits]
    return math.sqrt(math.fsum(mu**2 for mu in (*whole, *parts)))
