"""Private Frank-Wolfe on an L1 ball: each step moves towards the vertex of steepest descent.

A vertex is one column with one sign, so a step is one exponential mechanism among 2 d candidates
and releases nothing else (Talwar, Thakurta and Zhang, 2015). Of the picked columns, those with the
largest coefficients are kept.
"""

from __future__ import annotations

import numpy as np

from discreet.algorithms.steps.glm_model import GlmModel, without_errors
from discreet.algorithms.steps.sparse_model import SparseFit, residual_ranking, score_bound, start_intercept
from discreet.algorithms.steps.wide_look import wide_look
from discreet.privacy import Budget, picks_within
from discreet.rows import WideSource

_LOOK_SHARE = 0.03
_CELL_CLIP = 1.25
# The default radius of the ball: this much per column, in units of the cells' spread.
_RADIUS_PER_COLUMN = 0.5


def frank_wolfe(
    source: WideSource,
    model: GlmModel,
    budget: Budget,
    *,
    width: int,
    sparsity: int,
    radius: float | None = None,
    steps: int | None = None,
) -> SparseFit:
    """beta <- (1 - g) beta + g (vertex), with g = 2 / (t + 2).

    Privacy: one sum, then one pick per step; their joint cost is the budget.
    """
    steps = 2 * sparsity if steps is None else steps
    costs = budget.split([_LOOK_SHARE, *[(1 - _LOOK_SHARE) / steps] * steps])
    known = wide_look(source, costs[0], width)
    radius = _RADIUS_PER_COLUMN * sparsity / known.cell_scale if radius is None else radius
    intercept, beta = start_intercept(model, known), np.zeros(width)
    for number in range(steps):
        bounds = score_bound(model, known, intercept), _CELL_CLIP * known.cell_scale
        query = residual_ranking(model, model.score, (intercept, beta), bounds, sides="both")
        _, cost, *later = costs[number:]
        vertex = int(source.select(query, picks_within(cost, 1, later)).indices[0])
        share = 2 / (number + 2)
        beta *= 1 - share
        beta[vertex % width] += share * radius * (1 if vertex < width else -1)
    order = np.argsort(-np.abs(beta), kind="stable")[:sparsity]
    support = np.sort(order[beta[order] != 0])
    fit = without_errors(np.concatenate([[intercept], beta[support]]), known.count, steps, known.used)
    return SparseFit(support, fit)
