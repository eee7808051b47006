"""DP-PGD (Shen et al. 2023), a baseline of RELU's experiments: full gradients,
worst-case noise, a projection.

It follows the gradient of the squared loss, which for a ReLU is 0 on rows with a negative index. It
is here for comparison, not for use.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.iterates import Iterates, finished, prepare, seeing_start
from discreet.algorithms.steps.repair import projected
from discreet.privacy import GDP, Budget
from discreet.rows import Floats, Source
from discreet.rows.index_sums import IndexGradient

_PGD_STEPS, _PGD_STEP = 20, 0.5
_LEAST_SCORE = 1e-3


def pgd(
    source: Source,
    budget: Budget,
    model: GlmModel,
    known: tuple[Floats, Floats] | None = None,
    steps: int | None = None,
    *,
    x_radius: float,
    eta: float | None = None,
    ball: float | None = None,
) -> Iterates:
    """Full gradients with noise for their largest norm, and a projection that
    maintains it (Shen et al. 2023).

    Privacy: a first look and one sum per step, composed exactly. Rows are clipped at
    about their typical norm, and gradients at that norm times the range of y, or the largest
    weighted residual that the declared bounds allow at the current, public coefficients.
    """
    steps = _PGD_STEPS if steps is None else steps
    ground, rest = prepare(source, budget, model, x_radius, known)
    eta = _PGD_STEP if eta is None else eta
    ball = 2 * model.labels.half_width if ball is None else ball
    cost = GDP(rest.mu / math.sqrt(steps) * (1 - 1e-14))
    reach = 1.3 * ground.norm
    theta = seeing_start(model, ground.theta)
    link, path = model.link, [theta]
    variance = 0.0
    for _ in range(steps):
        linear = ground.design.map(theta)
        clip = reach * min(2 * model.labels.half_width, _largest_residual(model, x_radius, linear.matrix[0]))
        query = IndexGradient(linear, model.labels, link.mean, link.slope, reach, clip, label="true gradient")
        answer = source.sum(query, cost)
        theta = projected(theta + eta * answer.value[:, 0] / ground.seen.count, ball)
        # About this much of the earlier noise is left after a step, if half of the rows
        # have a positive index.
        variance = abs(1 - eta / 2) * variance + (eta * answer.noise_std / ground.seen.count) ** 2
        path.append(theta)
    return finished(ground, model, theta, path, variance, steps, ground.seen.used)


def _largest_residual(model: GlmModel, x_radius: float, predictor: Floats) -> float:
    """The largest |slope (y - mean)| of a row inside the declared bounds.

    Encoded features lie in [-1, 1] and have norm at most x_radius, so eta is at most this far from
    the predictor's constant. The mean increases with eta, so |y - mean| is largest at two corners.
    """
    slopes = predictor[1:]
    spread = min(float(np.sum(np.abs(slopes))), x_radius * float(np.linalg.norm(slopes)))
    low, high = predictor[0] - spread, predictor[0] + spread
    residual = max(model.labels.high - float(model.link.mean(low)), float(model.link.mean(high)) - model.labels.low)
    # A model whose mean is flat everywhere has no gradient at all, but a release needs a bound.
    return max(residual * float(model.link.slope_bound(low, high)), _LEAST_SCORE * model.labels.half_width)
