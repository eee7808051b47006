"""One pass over single rows in a secret random order: DP-GLMtron (RELU, Algorithm 1), and DP-SGD.

GLMtron moves by (y - mean(eta)) z and clips at thresholds from public rows. SGD moves by the true
gradient, which for a ReLU is 0 on rows with a negative index, and clips at a fixed bound.
``privacy/shuffling.py`` proves the amplification by the secret order.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.index_look import Seen
from discreet.algorithms.steps.iterates import (
    Ground,
    Iterates,
    averaged_noise,
    declared_ground,
    finished,
    ground,
    public_rows,
    seeing_start,
    step_size,
)
from discreet.algorithms.steps.threshold import doubling, public_threshold
from discreet.errors import GuaranteeError
from discreet.privacy import GDP, Budget, shuffled_mu
from discreet.rows import DivisibleSource, Floats, LinearMap
from discreet.rows.source import Rows
from discreet.rows.walk import Walk

# The total length of all steps, in multiples of one full step.
_LENGTHS = 3.0
# The threshold is above this share of public residuals, and the clip is this part of it.
_SHARE, _CLIP = 0.7, 0.4
_DOUBLINGS = 12
# Thresholds change slowly: they are recomputed from public residuals this many times in the pass.
_LOOKS = 200


def shuffled_glmtron(
    source: DivisibleSource,
    budget: Budget,
    model: GlmModel,
    known: tuple[Floats, Floats],
    *,
    public: tuple[Floats, Floats],
    x_radius: float,
    eta: float | None = None,
) -> Iterates:
    """``public``: encoded rows (one column each) and labels in the user's units;
    ``known``: mean and covariance, which tell the lengths of rows as well.

    Privacy: one shuffled pass, one answer per row. Refused if the bound gives nothing, or if the
    number of rows is private.
    """
    x, y = public
    rows = public_rows(source)
    amplification = shuffled_mu(budget.epsilon, budget.delta, rows)
    spread = max(float(np.std(y)), 1e-3 * model.labels.half_width)
    x_norm = math.sqrt(float(np.trace(known[1])) + float(known[0] @ known[0]))
    start = ground(model, Seen(float(rows), float(np.median(y)), spread, x_norm), known)
    z = start.design.of_rows(x)
    largest = 2 * model.labels.half_width
    edges = doubling(largest * 2.0**-_DOUBLINGS, largest)

    def threshold(theta: Floats) -> float:
        return public_threshold(np.abs(y - model.link.mean(theta @ z)), edges, _SHARE)

    # At most that of the constant model: if noise has led the iterate away, more noise
    # would not bring it back.
    most = threshold(start.theta)

    def clip(theta: Floats) -> float:
        return _CLIP * start.norm * min(most, threshold(theta))

    walk = Walk(LinearMap(start.design.matrix), model.labels, 1.3 * start.norm)
    single = source.walk(walk, GDP(amplification.mu), (amplification.epsilon, amplification.delta))
    return _one_pass(single, model, start, clip, step_size(model, start, 1.4 * _CLIP, 1), eta)


def shuffled_sgd(
    source: DivisibleSource,
    budget: Budget,
    model: GlmModel,
    known: tuple[Floats, Floats] | None = None,
    *,
    x_radius: float,
    eta: float | None = None,
) -> Iterates:
    """Gradients are clipped at norm 1 if half of y's range is 1, as in the paper.

    Privacy: one shuffled pass; if shuffling gives nothing, one pass over rows as disjoint parts.
    """
    rows = public_rows(source)
    start = declared_ground(model, x_radius, known, rows)
    start = Ground(start.design, start.seen, seeing_start(model, start.theta), start.spread)
    walk = Walk(LinearMap(start.design.matrix), model.labels, 1.3 * start.norm)
    try:
        amplification = shuffled_mu(budget.epsilon, budget.delta, rows)
    except GuaranteeError:
        single = source.walk(walk, budget.split([1.0])[0])
    else:
        single = source.walk(walk, GDP(amplification.mu), (amplification.epsilon, amplification.delta))
    whole = step_size(model, start, 1.0, 2)
    return _one_pass(single, model, start, lambda _: model.labels.half_width, whole, eta, gated=True)


def _one_pass(
    single: Rows,
    model: GlmModel,
    start: Ground,
    clip_at: Callable[[Floats], float],
    whole: float,
    eta: float | None,
    *,
    gated: bool = False,
) -> Iterates:
    """One step per row; the model is the mean of the second half of the iterates.

    ``whole`` is the step of a full gradient, ``eta`` that of a single row. ``gated``: the slope of
    the mean multiplies the gradient.
    """
    rows = len(single)
    theta, path, noises, clip = start.theta, [start.theta], np.zeros(rows), 1.0
    first, again = rows // 2, max(1, rows // _LOOKS)
    total = np.zeros(model.size)
    link, eta = model.link, _LENGTHS / rows * whole if eta is None else eta

    def weight(label: float, index: float) -> float:
        at = np.asarray(index)
        residual = label - float(link.mean(at))
        return residual * float(link.slope(at)) if gated else residual

    for t in range(rows):
        if t % again == 0:
            clip = clip_at(theta)
            path.append(theta)
        answer = single.step(theta, weight, clip)
        theta = theta + eta * answer.value[:, 0]
        noises[t] = eta * answer.noise_std
        if t >= first:
            total += theta
    variance = averaged_noise(eta / whole, rows, first, noises)
    if model.size * variance > start.spread**2 / 2:
        # The pull of a clipped gradient is bounded: noise of this size acts as if there were none.
        variance = averaged_noise(0.0, rows, first, noises)
    return finished(start, model, total / max(rows - first, 1), path, variance, rows)
