"""Sample weights: each contribution is multiplied by the row's weight w in [0, 1].

Privacy: a contribution c of norm at most b becomes w c, whose norm is at most b as well. A square x
x^T becomes (sqrt(w) x)(sqrt(w) x)^T, still a square, and numbers >= 0 stay so. So the sensitivity
of ``reach`` holds with the same bound, and the noise is unchanged. Contributions are clipped before
they are weighted: a weighted sum is then that of a population with rows in proportion to their
weights, under the same clip norm.

In the middle matrix of a sandwich covariance, a score s is multiplied by w, so that its square
counts with w^2: w s is no longer than s.
"""

from __future__ import annotations

import numpy as np

from discreet.rows.kernels import column_norms
from discreet.rows.query import Floats, Query

# Weighted counts are in units of 2^-COUNT_BITS, far below any noise.
COUNT_BITS = 20


def weigh(query: Query, factor: Floats, weight: Floats) -> None:
    """Clip a factor to its bound and multiply it by the weight, or by its
    root in a square, in place.
    """
    square = query.geometry in ("square", "printed_square")
    part = np.sqrt(weight) if square and not getattr(query, "weighs_squares", False) else weight
    norms = column_norms(factor)
    factor *= part * (query.left_norm / np.maximum(norms, query.left_norm))


def weigh_cut(weight: Floats, length: Floats, bound: float, shortest: float, row_weight: Floats) -> Floats:
    """Weights of a mapped sum, clipped to what their rows may contribute, times
    the sample weights.
    """
    most = bound / np.maximum(length, shortest)
    return np.asarray(np.clip(weight, -most, most) * row_weight)


def whole_weights(weight: Floats) -> Floats:
    """Weights in whole multiples of 2^-COUNT_BITS, rounded down; a missing one is 0."""
    return np.asarray(np.floor(np.where(np.isnan(weight), 0.0, weight) * 2.0**COUNT_BITS))
