"""Sparse generalized linear models, or other objectives, with the printed noise
(COST, Algorithms 3 to 5).

    beta <- NoisyHT(beta - (step / n) * sum of (psi'(x beta) - y) x, s,
    epsilon/T, delta/T, step * B / n)

NoisyHT removes s coordinates one by one, each with fresh Laplace noise of scale lambda 2 sqrt(3 s
ln(T/delta)) / (epsilon/T), and adds such noise to the chosen values. Line 3 of Algorithm 5 reads
beta^(T) for beta^t. B = 4 (R + c_1) sigma_x is at least twice the effect of replacing a row, and
the printed composition is basic. The reported guarantee is computed from the noise that is drawn,
and is stronger than the one asked for.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.algorithms.steps.glm_model import GlmModel, without_errors
from discreet.algorithms.steps.sparse_model import SparseFit, residual_ranking
from discreet.privacy import Budget, Pure, Repeated, refuse_weaker
from discreet.rows import WideSource

_STEPS = 10


def printed_threshold(
    source: WideSource,
    model: GlmModel,
    budget: Budget,
    *,
    width: int,
    sparsity: int,
    steps: int | None = None,
    step: float | None = None,
) -> SparseFit:
    """On the encoded scale, where sigma_x = 1, and without an intercept, as printed.

    Privacy: a selection with values per step, at the cost of its printed noise.
    """
    if source.public_rows is None:
        raise ValueError(
            "calibration='paper' divides by the number of rows, which must be public: "
            "it needs neighbours='replace_one' and rows that are not grouped"
        )
    steps, step = _STEPS if steps is None else steps, 1.0 if step is None else float(step)
    largest_label = max(abs(model.labels.low), abs(model.labels.high))
    # c_1 bounds psi', which is 1 for probabilities and at most the largest label elsewhere.
    bound = 4 * (largest_label + (1.0 if model.family.label_free else largest_label))
    weight_bound = 1.0 if model.family.label_free else bound / 4
    if model.family.limit is not None:
        # Algorithm 4, for any objective: B bounds how far a replaced row can move an entry of
        # the gradient (Lemma 4).
        bound, weight_bound = 2 * model.family.limit, model.family.limit
    scale = bound * 2 * math.sqrt(3 * sparsity * math.log(steps / budget.delta)) * steps / budget.epsilon
    rows, beta = max(source.public_rows, 1), np.zeros(width)
    path = []
    for number in range(steps):
        offset = beta * rows / step
        query = residual_ranking(model, model.negative_score, (0.0, beta), (weight_bound, 1.0), offset=offset)
        # Noise and cost are inversely proportional: the noise at cost 1 gives
        # the cost of this noise.
        each = source.selection_scale(query, Repeated(Pure(1.0), sparsity)) / scale
        picks, values = Repeated(Pure(each), sparsity), Repeated(Pure(each / 2), sparsity)
        if number == 0:
            refuse_weaker([picks, values] * steps, budget)
        chosen = source.select(query, picks, values=values)
        moved = np.zeros(width)
        moved[chosen.indices] = beta[chosen.indices] - step / rows * chosen.values
        beta = moved
        path.append((chosen.indices, beta[chosen.indices].copy()))
    support = np.sort(chosen.indices)
    return SparseFit(support, without_errors(np.concatenate([[0.0], beta[support]]), rows, steps), tuple(path))
