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
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.glm_model import GlmModel, without_errors
from discreet.algorithms.steps.loss_descent import (
    Trail,
    clip_norm,
    likely_mean,
    longest_noise,
    longest_pace,
    size_histogram,
    without_noise,
)
from discreet.algorithms.steps.sparse_model import (
    SparseFit,
    longest_eta,
    mean_weight,
    residual_ranking,
    score_bound,
    start_intercept,
)
from discreet.algorithms.steps.wide_look import WideScaling, wide_look
from discreet.privacy import GDP, Budget, Repeated, picks_within
from discreet.rows import Answer, Floats, Indices, LinearMap, OnSupport, WideSource
from discreet.rows.gradient import GradientSum

# Shares of mu^2: first look, choices, values.
_SHARES = (0.03, 0.55, 0.42)
# With a user's loss: first look, sizes of scores, choices, values.
_LOSS_SHARES = (0.05, 0.05, 0.54, 0.36)
# The usual number of steps.
_STEPS, _LOSS_STEPS = 3, 8
# Cells are clipped at this many root mean squares for the choice, rows at this many typical norms.
_CELL_CLIP, _ROW_CLIP = 1.25, 1.1


def hard_threshold(
    source: WideSource, model: GlmModel, budget: Budget, *, width: int, sparsity: int, steps: int | None = None
) -> SparseFit:
    """beta <- the s largest of beta - step * gradient, ``steps`` times; the
    intercept is updated too.

    Privacy: one sum, then a selection and a sum per step; their joint cost is the budget.
    """
    if model.family.limit is not None:
        return _user_loss(source, model, budget, width, sparsity, _LOSS_STEPS if steps is None else steps)
    steps = _STEPS if steps is None else steps
    look, pick, value = _SHARES
    costs = budget.split([look, *[pick / steps] * steps, *[value / steps] * steps])
    known = wide_look(source, costs[0], width)
    scale = known.cell_scale
    intercept, beta = start_intercept(model, known), np.zeros(width)
    asked, longest = _Asked(source, model, known, score_bound(model, known, intercept)), longest_eta(model)
    path = []
    for number in range(steps):
        curvature = max(mean_weight(model, intercept, float(np.linalg.norm(beta)) * scale), 1e-3) * scale**2
        step = 1 / (curvature * (number + 1))
        choice, cost, later = _of_step(costs[1:], number)
        chosen = asked.largest(intercept, beta, step, picks_within(choice, sparsity, [cost, *later]))
        gradient = asked.gradient(intercept, beta, chosen, cost).value[:, 0]
        # Coordinates are cells divided by their scale; the gradient is that of the cells.
        gradient[1:] *= scale
        moved = np.zeros(width)
        moved[chosen] = beta[chosen] - step * gradient[1:] / known.count
        # Noise must not produce a model whose means are infinite.
        beta = moved * min(1.0, longest / max(scale * float(np.linalg.norm(moved)), 1e-300))
        intercept = float(np.clip(intercept - step * scale**2 * gradient[0] / known.count, -longest, longest))
        path.append((chosen, beta[chosen].copy()))
    fit = without_errors(np.concatenate([[intercept], beta[chosen]]), known.count, steps, known.used)
    return SparseFit(chosen, fit, tuple(path))


def _user_loss(source: WideSource, model: GlmModel, budget: Budget, width: int, sparsity: int, steps: int) -> SparseFit:
    """The same for a loss with a bounded slope, which needs several full steps, so that step sizes
    do not fall; noise is kept from carrying it away (algorithms/steps/loss_descent.py).

    Privacy: one sum, a histogram of the sizes of scores, then a selection and a sum per step.
    """
    look, sizes, pick, value = _LOSS_SHARES
    costs = budget.split([look, sizes, *[pick / steps] * steps, *[value / steps] * steps])
    known = wide_look(source, costs[0], width)
    scale, labels, link = known.cell_scale, model.labels, model.link
    mean = likely_mean(known.y_mean, known.y_noise_std)
    intercept = float(link.predictor(model.sensible_mean(labels.centre + labels.half_width * mean)))
    bound, longest = _score_clip(source, model, known, intercept, sparsity, GDP(budget.mu * math.sqrt(value)), costs[1])
    asked = _Asked(source, model, known, bound)
    reach = longest_noise(link, known.y_scale * labels.half_width)
    # Slopes of z, cells divided by their scale; those of all columns, and of the chosen ones since
    # the last change of columns.
    beta, chosen = np.zeros(width), np.zeros(0, dtype=np.int64)
    curvature = max(mean_weight(model, intercept, 0.0), 1e-3)
    constant, slopes, path = Trail(np.array([intercept]), curvature), Trail(np.zeros(0), curvature), []
    for number in range(steps):
        intercept = float(constant.here[0])
        curvature = max(mean_weight(model, intercept, float(np.linalg.norm(beta))), 1e-3)
        pace = 1 / curvature
        choice, cost, later = _of_step(costs[2:], number)
        picks, before = picks_within(choice, sparsity, [cost, *later]), chosen
        chosen = asked.largest(intercept, beta / scale, pace / scale**2, picks)
        answer = asked.gradient(intercept, beta / scale, chosen, cost)
        noise_std = answer.noise_std / known.count
        if not np.array_equal(before, chosen):
            slopes = Trail(beta[chosen], curvature)
        constant.noise_std = slopes.noise_std = noise_std
        pace = longest_pace(pace, noise_std, sparsity + 1, steps, reach)
        gradient = answer.value[:, 0] / known.count
        constant.step(gradient[:1], pace, longest)
        slopes.step(gradient[1:], pace, longest)
        beta = np.zeros(width)
        beta[chosen] = slopes.here
        path.append((chosen, beta[chosen] / scale))
    found, noise = slopes.averaged()
    kept, said = without_noise(found, np.zeros(len(found)), noise, constant=False)
    coef = np.concatenate([constant.averaged()[0], kept / scale])
    fit = without_errors(coef, known.count, steps, known.used)
    return SparseFit(chosen, replace(fit, signal="drowned" if known.used.none else said), tuple(path))


def _of_step(costs: Sequence[GDP], number: int) -> tuple[GDP, GDP, Sequence[GDP]]:
    """The costs of a step's picks and values, and those of all later steps, from the costs of all
    picks and then all values.
    """
    picks, values = costs[: len(costs) // 2], costs[len(costs) // 2 :]
    return picks[number], values[number], [*picks[number + 1 :], *values[number + 1 :]]


def _score_clip(
    source: WideSource,
    model: GlmModel,
    known: WideScaling,
    intercept: float,
    sparsity: int,
    values: GDP,
    cost: GDP,
) -> tuple[float, float]:
    """The clip of scores, and a limit on the predictor. ``values``: the cost of all gradients.

    Privacy: one histogram, at ``cost``, of scores at the constant model.
    """
    score, bound = model.score, score_bound(model, known, intercept)
    # The map needs a column; its coefficient is 0.
    constant = LinearMap(np.array([[intercept, 0.0], [1.0, 0.0]]))

    def size(y: Floats, eta: Floats, _: Floats) -> Floats:
        return np.abs(score(y, eta))

    query = size_histogram(constant, model.labels, size, bound)
    # A row with one score and a typical length: noise in units of both.
    asked = GradientSum(constant, model.labels, lambda y, eta, _: score(y, eta), bound, 1.0)
    per_unit = source.noise_std(asked, values) * math.sqrt(sparsity + 1) / bound
    answer = OnSupport(source, np.zeros(1, dtype=np.int64)).sum(query, cost)
    return clip_norm(query, answer, per_unit), longest_eta(model)


@dataclass(frozen=True, eq=False)
class _Asked:
    """What a step asks, at an intercept and slopes of encoded cells."""

    source: WideSource
    model: GlmModel
    known: WideScaling
    # The clip of scores.
    bound: float

    def largest(self, intercept: float, beta: Floats, step: float, picks: Repeated) -> Indices:
        """The columns with the largest |beta - step * gradient / n|, in increasing order; ranked in
        the units of a sum: |beta n / step - gradient|.

        Privacy: one selection.
        """
        bounds, offset = (self.bound, _CELL_CLIP * self.known.cell_scale), beta * self.known.count / step
        # A ranking weights by minus the given score.
        score = self.model.negative_score
        query = residual_ranking(self.model, score, (intercept, beta), bounds, offset=offset)
        return np.sort(self.source.select(query, picks).indices)

    def gradient(self, intercept: float, beta: Floats, chosen: Indices, cost: GDP) -> Answer:
        """The gradient in the intercept and the chosen columns.

        Privacy: one sum.
        """
        columns = np.union1d(np.flatnonzero(beta), chosen)
        # Cells divided by their scale.
        coordinates = Coordinates.scaled(np.zeros(len(columns)), self.known.cell_scale)
        predictor = np.concatenate([[intercept], beta[columns]])
        rows = np.concatenate([[0], 1 + np.searchsorted(columns, chosen)])
        matrix = np.vstack([predictor, coordinates.matrix[rows]])
        radius = _ROW_CLIP * math.sqrt(len(rows))
        score = self.model.score  # a local: the function must not carry more than it needs to a cluster

        def weight(y: Floats, eta: Floats, length: Floats) -> Floats:
            # Rows beyond the radius are scaled down. The factor depends on x alone, so it biases no
            # coefficient of a true model.
            return score(y, eta) * (radius / np.maximum(length, radius))

        labels, most = self.model.labels, radius * self.bound
        query = GradientSum(LinearMap(matrix), labels, weight, most, math.sqrt(len(rows)), "gradient on the support")
        return OnSupport(self.source, columns).sum(query, cost)
