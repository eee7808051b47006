"""Noisy iterative hard thresholding for generalized linear models (COST, Algorithms 3, 4
and 5), with tight noise.

Each step moves against the gradient, keeps the s coordinates that are largest after it, and
releases them. The paper draws Laplace noise s times to choose and once more to release, at
epsilon/T per step. Here Gumbel noise is drawn once, the chosen coordinates are released with
Gaussian noise on the support alone, and costs compose in mu^2.

Any smooth objective with a bounded derivative in eta = x . beta can be used: only ``model.score``
is needed, and the curator bounds it. The step size falls as 1/t from a Newton step for independent
columns, so the iterate averages the gradients, and early steps still contribute.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.glm_model import GlmModel, without_errors
from discreet.algorithms.steps.sparse_model import SparseFit, longest_eta, mean_weight, score_bound, start_intercept
from discreet.algorithms.steps.wide_look import WideScaling, wide_look
from discreet.privacy import GDP, Budget, picks_within
from discreet.rows import Floats, Indices, LinearMap, OnSupport, ResidualRanking, WideSource
from discreet.rows.gradient import GradientSum

# Shares of mu^2: first look, choices, values.
_SHARES = (0.03, 0.55, 0.42)
# Cells are clipped at this many root mean squares for the choice, rows at this many typical norms.
_CELL_CLIP, _ROW_CLIP = 1.25, 1.1


def hard_threshold(
    source: WideSource, model: GlmModel, budget: Budget, *, width: int, sparsity: int, steps: int = 4
) -> SparseFit:
    """beta <- the s largest of beta - step * gradient, ``steps`` times; the
    intercept is updated too.

    Privacy: one sum, then a selection and a sum per step; their joint cost is the budget.
    """
    look, pick, value = _SHARES
    costs = budget.split([look, *[pick / steps] * steps, *[value / steps] * steps])
    known = wide_look(source, costs[0], width)
    scale = known.cell_scale
    intercept, beta = start_intercept(model, known), np.zeros(width)
    bound, longest = score_bound(model, known, intercept), longest_eta(model)
    path = []
    for number in range(steps):
        support = np.flatnonzero(beta)
        curvature = max(mean_weight(model, intercept, float(np.linalg.norm(beta)) * scale), 1e-3) * scale**2
        # A loss with a bounded slope needs several full steps, so step sizes do not fall there.
        step = 1 / (curvature * (number + 1 if model.family.limit is None else 1))
        query = _ranking(model, known, width, support, intercept, beta, step, bound)
        chosen = np.sort(source.select(query, picks_within(costs[1 + number], sparsity)).indices)
        gradient = _gradient(source, model, known, support, chosen, intercept, beta, bound, costs[1 + steps + number])
        moved = np.zeros(width)
        moved[chosen] = beta[chosen] - step * gradient[1:] / known.count
        # Noise must not produce a model whose means are infinite.
        beta = moved * min(1.0, longest / max(scale * float(np.linalg.norm(moved)), 1e-300))
        intercept = float(np.clip(intercept - step * scale**2 * gradient[0] / known.count, -longest, longest))
        path.append((chosen, beta[chosen].copy()))
    fit = without_errors(np.concatenate([[intercept], beta[chosen]]), known.count, steps, known.used)
    return SparseFit(chosen, fit, tuple(path))


def _ranking(
    model: GlmModel,
    known: WideScaling,
    width: int,
    support: Indices,
    intercept: float,
    beta: Floats,
    step: float,
    bound: float,
) -> ResidualRanking:
    """Ranks |beta - step * gradient / n|, in the units of a sum: |beta n / step - gradient|."""
    return ResidualRanking(
        width,
        LinearMap(np.concatenate([[intercept], beta[support]])[np.newaxis]),
        support,
        model.labels,
        model.negative_score,  # a ranking weights by minus the given score
        bound,
        min(1.0, _CELL_CLIP * known.cell_scale),
        offset=beta * known.count / step,
    )


def _gradient(
    source: WideSource,
    model: GlmModel,
    known: WideScaling,
    support: Indices,
    chosen: Indices,
    intercept: float,
    beta: Floats,
    bound: float,
    cost: GDP,
) -> Floats:
    """The noisy gradient in the intercept and the chosen columns, at the
    predictor of the current support.
    """
    columns = np.union1d(support, chosen)
    coordinates = Coordinates.scaled(np.zeros(len(columns)), known.cell_scale)
    predictor = np.concatenate([[intercept], beta[columns]])
    rows = np.concatenate([[0], 1 + np.searchsorted(columns, chosen)])
    matrix = np.vstack([predictor, coordinates.matrix[rows]])
    radius = _ROW_CLIP * math.sqrt(len(rows))
    score = model.score  # a local: the function must not carry more than it needs to a cluster

    def weight(y: Floats, eta: Floats, length: Floats) -> Floats:
        # Rows beyond the radius are scaled down. The factor depends on x alone, so it biases no
        # coefficient of a true model.
        return score(y, eta) * (radius / np.maximum(length, radius))

    query = GradientSum(
        LinearMap(matrix), model.labels, weight, radius * bound, math.sqrt(len(rows)), "gradient on the support"
    )
    answer = OnSupport(source, columns).sum(query, cost)
    # Coordinates are cells divided by their scale; the gradient is that of the cells.
    return np.asarray(answer.value[:, 0] * np.concatenate([[1.0], np.full(len(chosen), known.cell_scale)]))
