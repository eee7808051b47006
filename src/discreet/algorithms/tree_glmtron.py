"""DP-TAGLMtron (RELU, Table 4): GLMtron with sums of gradients released by a binary tree.

Batches of rows are the leaves. A node releases the sum of its leaves' gradients, each at the
iterate of its own time. So the sum of all gradients so far consists of at most log2(T) + 1 noisy
nodes instead of T. On each level the nodes are disjoint parts of the rows, and the levels compose.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.iterates import Iterates, finished, glmtron_gradient, prepare, step_size
from discreet.privacy import GDP, Budget
from discreet.rows import DivisibleSource, Floats
from discreet.rows.index_sums import IndexGradient

# Gradients are clipped at this many spreads of y: nodes add gradients of all times,
# so they share one clip.
_CLIP = 0.5
_LEAVES = 32


def tree_glmtron(
    source: DivisibleSource,
    budget: Budget,
    model: GlmModel,
    known: tuple[Floats, Floats] | None = None,
    steps: int | None = None,
    *,
    x_radius: float,
    eta: float | None = None,
) -> Iterates:
    """Privacy: a first look; then log2(T) + 1 passes, one per level, over disjoint parts."""
    ground, rest = prepare(source, budget, model, x_radius, known)
    leaves = 2 ** max(1, round(math.log2(_LEAVES if steps is None else steps)))
    levels = leaves.bit_length()
    cost = GDP(rest.mu / math.sqrt(levels) * (1 - 1e-14))
    tree = [source.split([2**level] * (leaves >> level), cost) for level in range(levels)]
    batch = ground.seen.count / leaves
    clip = (
        _CLIP * ground.norm * math.hypot(ground.seen.y_spread, 0.0 if ground.design.constant else ground.seen.y_middle)
    )
    # All steps together have three times the length of one full step: enough to converge
    # while noise averages out.
    eta = 3 * step_size(model, ground, _CLIP, 1) / leaves if eta is None else eta
    queries: list[IndexGradient] = []
    sums: dict[tuple[int, int], Floats] = {}
    theta, path, noise_std = ground.theta, [ground.theta], 0.0
    for t in range(1, leaves + 1):
        queries.append(glmtron_gradient(model, ground, theta, clip))
        total = np.zeros(model.size)
        for level in range(levels):
            if t >> level & 1:
                # The prefix of t leaves has one node per bit of t; a node is
                # released with its last leaf.
                index = (t >> level) - 1
                if (level, index) not in sums:
                    answer = tree[level][index].sum_each(queries[index << level : (index + 1) << level], cost)
                    sums[level, index] = answer.value[:, 0]
                    noise_std = answer.noise_std
                total = total + sums[level, index]
        theta = ground.theta + eta * total / batch
        path.append(theta)
    variance = (eta * noise_std / batch) ** 2
    return finished(ground, model, theta, path, variance, leaves, ground.seen.used)
