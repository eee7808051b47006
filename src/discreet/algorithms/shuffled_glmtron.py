"""One pass over single rows in a secret random order: DP-GLMtron (RELU, Algorithm 1), and DP-SGD.

GLMtron moves by (y - mean(eta)) z and clips at thresholds from public rows. SGD moves by the true
gradient, which for a ReLU is 0 on rows with a negative index, and clips at a fixed bound.
``privacy/shuffling.py`` proves the amplification by the secret order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Rule:
    """The rule of a step: the clip at this iterate, and whether the slope of the mean
    multiplies the gradient.

    ``whole`` is the step of a full gradient, ``eta`` that of a single row.
    """

    clip: Callable[[Floats], float]
    gated: bool
    whole: float
    eta: float

    @classmethod
    def of(cls, clip: Callable[[Floats], float], gated: bool, whole: float, rows: int, eta: float | None) -> Rule:
        return cls(clip, gated, whole, _LENGTHS / rows * whole if eta is None else eta)


def shuffled_glmtron(
    source: DivisibleSource,
    budget: Budget,
    model: GlmModel,
    known: tuple[Floats, Floats],
    public: tuple[Floats, Floats],
    *,
    eta: float | None = None,
) -> Iterates:
    """``public``: encoded rows (one column each) and labels in the user's units;
    ``known``: mean and covariance.

    Privacy: one shuffled pass, one answer per row. Refused if the bound gives nothing, or if the
    number of rows is private.
    """
    x, y = public
    rows = _public_rows(source)
    amplification = shuffled_mu(budget.epsilon, budget.delta, rows)
    spread = max(float(np.std(y)), 1e-3 * model.labels.half_width)
    x_norm = math.sqrt(float(np.trace(known[1])) + float(known[0] @ known[0]))
    start = ground(model, Seen(float(rows), float(np.median(y)), spread, x_norm), known)
    z = start.design.matrix @ np.vstack([np.ones(x.shape[1]), x])
    largest = 2 * model.labels.half_width
    edges = doubling(largest * 2.0**-_DOUBLINGS, largest)

    def threshold(theta: Floats) -> float:
        return public_threshold(np.abs(y - model.link.mean(theta @ z)), edges, _SHARE)

    # At most that of the constant model: if noise has led the iterate away, more noise
    # would not bring it back.
    most = threshold(start.theta)

    def clip(theta: Floats) -> float:
        return _CLIP * start.norm * min(most, threshold(theta))

    rule = Rule.of(clip, False, step_size(model, start, 1.4 * _CLIP, 1), rows, eta)
    walk = Walk(LinearMap(start.design.matrix), model.labels, 1.3 * start.norm)
    single = source.walk(walk, GDP(amplification.mu), (amplification.epsilon, amplification.delta))
    return _one_pass(single, model, start, rule)


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
    rows = _public_rows(source)
    start = declared_ground(model, x_radius, known, rows)
    start = Ground(start.design, start.seen, seeing_start(model, start.theta), start.spread)
    rule = Rule.of(lambda _: model.labels.half_width, True, step_size(model, start, 1.0, 2), rows, eta)
    walk = Walk(LinearMap(start.design.matrix), model.labels, 1.3 * start.norm)
    try:
        amplification = shuffled_mu(budget.epsilon, budget.delta, rows)
    except GuaranteeError:
        return _one_pass(source.walk(walk, budget.split([1.0])[0]), model, start, rule)
    single = source.walk(walk, GDP(amplification.mu), (amplification.epsilon, amplification.delta))
    return _one_pass(single, model, start, rule)


def _one_pass(single: Rows, model: GlmModel, start: Ground, rule: Rule) -> Iterates:
    """One step per row; the model is the mean of the second half of the iterates."""
    rows = len(single)
    theta, path, noises, clip = start.theta, [start.theta], np.zeros(rows), 1.0
    first, again = rows // 2, max(1, rows // _LOOKS)
    total = np.zeros(model.size)
    link = model.link

    def weight(label: float, index: float) -> float:
        eta = np.asarray(index)
        residual = label - float(link.mean(eta))
        return residual * float(link.slope(eta)) if rule.gated else residual

    for t in range(rows):
        if t % again == 0:
            clip = rule.clip(theta)
            path.append(theta)
        answer = single.step(theta, weight, clip)
        theta = theta + rule.eta * answer.value[:, 0]
        noises[t] = rule.eta * answer.noise_std
        if t >= first:
            total += theta
    variance = averaged_noise(rule.eta / rule.whole, rows, first, noises)
    if model.size * variance > start.spread**2 / 2:
        # The pull of a clipped gradient is bounded: noise of this size acts as if there were none.
        variance = averaged_noise(0.0, rows, first, noises)
    return finished(start, model, total / max(rows - first, 1), path, variance, rows)


def _public_rows(source: DivisibleSource) -> int:
    if source.public_rows is None:
        raise ValueError("a shuffled pass needs a public number of rows: neighbours='replace_one', and no groups")
    return source.public_rows
