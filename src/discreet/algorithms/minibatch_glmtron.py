"""DP-MBGLMtron (RELU, Algorithm 3): one pass of GLMtron over disjoint batches, with
separate threshold rows.

Each row is in one batch, either for a threshold or for a gradient. So by parallel composition the
whole pass costs as much as one batch: 1/(2 f^2)-zCDP where the paper counts 1/f^2.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.index_model import gaussian_curvature
from discreet.algorithms.steps.iterates import Ground, Iterates, declared_ground, glmtron_gradient, prepare
from discreet.algorithms.steps.kalman import Belief
from discreet.algorithms.steps.threshold import doubling, private_threshold
from discreet.privacy import GDP, Budget, refuse_weaker
from discreet.rows import DivisibleSource, Floats, PartSource
from discreet.rows.histograms import Residuals

# Rows of each batch for the gradient per row for the threshold (in the paper about 10).
_ROWS_PER_THRESHOLD = 4
# The threshold is above this share of residuals, which is one to two standard deviations. Such a
# count is precise, whereas the noise hides a count of nearly all residuals. The clip is this
# part of the threshold.
_SHARE, _CLIP = 0.7, 0.5
_DOUBLINGS = 12


def minibatch_glmtron(
    source: DivisibleSource,
    budget: Budget,
    model: GlmModel,
    known: tuple[Floats, Floats] | None = None,
    steps: int | None = None,
    *,
    x_radius: float,
) -> Iterates:
    """Privacy: a first look at all rows; then one pass over disjoint parts, each asked once."""
    ground, cost = prepare(source, budget, model, x_radius, known)
    rows = int(ground.seen.count)
    steps = likely_steps(cost, rows, model.size) if steps is None else steps
    parts = source.split([1] * steps + [_ROWS_PER_THRESHOLD] * steps, cost)
    edges = doubling(largest_residual(model) * 2.0**-_DOUBLINGS, largest_residual(model))
    variance = np.full(model.size, ground.spread**2 / model.width)
    variance[: int(ground.design.constant)] = ground.spread**2
    belief = Belief(ground.theta, np.diag(variance), [ground.theta])
    for t in range(steps):
        residuals = Residuals(ground.design.map(belief.theta), model.labels, model.link.mean)
        threshold, _ = private_threshold(parts[t], cost, residuals, edges, share=_SHARE)
        clip = _CLIP * threshold * ground.norm
        gradient, noise = batch_gradient(parts[steps + t], cost, model, ground, belief.theta, clip)
        curvature = gaussian_curvature(model.link, belief.theta, ground.mean, ground.spread, 1)
        belief.see_gradient(gradient, (2 * float(ndtr(1.4 * _CLIP)) - 1) * curvature, noise)
    spread = float(np.trace(belief.covariance)) / model.size
    return Iterates(ground.design, belief.theta, belief.path, spread, steps, ground.seen.used)


def batch_gradient(
    part: PartSource, cost: GDP, model: GlmModel, ground: Ground, theta: Floats, clip: float
) -> tuple[Floats, float]:
    """The mean of (y - mean) z over the part's rows, clipped, and the noise in it."""
    rows = max(part.public_rows or 1, 1)
    answer = part.sum(glmtron_gradient(model, ground, theta, clip), cost)
    return answer.value[:, 0] / rows, answer.noise_std / rows


def likely_steps(cost: GDP, rows: int, size: int) -> int:
    """Few: each batch has the whole budget but a share of the rows, so noise grows
    with the root of the steps.
    """
    return int(np.clip(round(math.log2(max(cost.mu * rows / size, 1.0)) - 2), 2, 8))


def largest_residual(model: GlmModel) -> float:
    return 2 * model.labels.half_width


def printed_minibatch_glmtron(
    source: DivisibleSource,
    budget: Budget,
    model: GlmModel,
    known: tuple[Floats, Floats] | None = None,
    steps: int | None = None,
    *,
    x_radius: float,
    eta: float | None = None,
) -> Iterates:
    """With the printed noise f = sqrt(8 log(1/delta)) / epsilon, clip and step,
    corrected where they leak.

    Constants that the paper leaves open are those of a standard Gaussian
    design: alpha 3, C_2 1, a 1/2.
    """
    rows = source.public_rows or 1
    multiplier = printed_multiplier(budget)
    cost = GDP(1 / multiplier)
    refuse_weaker([cost], budget)
    ground = declared_ground(model, x_radius, known, rows)
    steps = max(2, round(3 * math.log(rows))) if steps is None else steps
    parts = source.split([1] * steps + [10] * steps, cost)
    largest = largest_residual(model)
    edges = doubling(largest / rows, largest)
    reach = math.sqrt(2 * 3 * model.size) * math.log(rows)
    theta, path = ground.theta, [ground.theta]
    eta = 1 / (3 * model.size * math.log(rows)) if eta is None else eta
    for t in range(steps):
        residuals = Residuals(ground.design.map(theta), model.labels, model.link.mean)
        threshold, _ = private_threshold(parts[t], cost, residuals, edges, calibration="paper")
        gradient, _ = batch_gradient(parts[steps + t], cost, model, ground, theta, reach * threshold)
        theta = theta + eta * gradient
        path.append(theta)
    return Iterates(ground.design, np.mean(path[:-1], axis=0), path, 0.0, steps)


def printed_multiplier(budget: Budget) -> float:
    """Theorem 3's noise multiplier f: the noise on a sum of gradients is 2 f s."""
    if budget.epsilon <= math.log(1 / budget.delta):
        return math.sqrt(8 * math.log(1 / budget.delta)) / budget.epsilon
    return 2 * math.sqrt(math.log(1 / budget.delta) + budget.epsilon) / budget.epsilon
