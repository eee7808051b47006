"""Fits that put the rows into a secret order first: what an audit that holds the order fixed can say of them.

Two fits of an audit must use one order, or their answers have nothing to do with each other. Given the order, a row is
felt in one answer, which may cost no more than ``each``; that hiding the order makes this smaller is a theorem
(docs/papers/relu.md), not something that a pair of fits could show.
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
    """What the answers may lose to somebody who knows the order; without a secret order, the guarantee's own mu."""
    if not is_shuffled(guarantee):
        return float(guarantee.mu)
    whole = [release.cost.mu for release in guarantee.releases if release.split is None]
    parts = [split.each.mu if split.shuffled else split.cost.mu for split in guarantee.splits]
    return math.sqrt(math.fsum(mu**2 for mu in (*whole, *parts)))
