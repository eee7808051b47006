"""DP-RR, ridge regression with separate noise on x x^T and x y, with the printed
noise (PMT, Theorem 4.3).

The paper takes the radius from the private data (its Remark 4.4), which is not private;
here it is the declared one.
"""

from __future__ import annotations

import numpy as np

from discreet.algorithms.steps.declared import cost_of
from discreet.privacy import Budget, refuse_weaker
from discreet.rows import CrossMoment, Floats, Source


def printed_ridge(
    source: Source, budget: Budget, *, width: int, x_radius: float, fit_intercept: bool, penalty: Floats
) -> Floats:
    """(sum x x^T + penalty + G)^-1 (sum x y + g), with sigma_1 = 2 R^2 / mu
    and sigma_2 = 2 R B / mu: coefficients of encoded columns, the intercept's first.

    Privacy: two sums. The printed sigma_1 is sqrt(2) times what replacing one row needs,
    so the reported guarantee, which is computed from the noise that is drawn, is
    stronger than the one asked for.
    """
    second = CrossMoment(width, x_radius, fit_intercept, with_y=False)
    cross = CrossMoment(width, x_radius, fit_intercept, with_y=True)
    (asked,) = budget.split([1.0])
    printed_mu = asked.mu / np.sqrt(2)
    gram_cost = cost_of(source, second, 2 * second.left_norm**2 / printed_mu)
    cross_cost = cost_of(source, cross, 2 * cross.left_norm / printed_mu)
    refuse_weaker([gram_cost, cross_cost], budget)
    gram = source.sum(second, gram_cost)
    moment = source.sum(cross, cross_cost)
    # Least squares, because noise can produce any matrix, including a singular one.
    return np.asarray(np.linalg.lstsq(gram.value + np.diag(penalty), moment.value[:, 0], rcond=None)[0])
