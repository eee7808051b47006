"""DP-GLMtron as printed (RELU, Algorithm 1): one shuffled pass, with thresholds from
public rows at every row.

    w <- w - eta (clip_s((ReLU(x w) - y) x) + 2 f s g),  s from DP-Threshold of
    all public residuals at w,

from w = 0; the mean of all iterates is returned. Corrected where the paper errs: the clip is
min(1, s/|v|), residuals have absolute values, and s bounds a gradient, so it is the threshold times
the norm of x, as in Algorithm 3. Theorem 1 prints f with Omega(). Here its proof is carried out
with the theorem that it cites (Feldman, McMillan and Talwar, closed form) and Lemma 8, each with
half of delta. Constants that the paper leaves open are those of a standard Gaussian design: alpha
3, C_2 1, a 1/2, kappa 1 (rows are white), c_1 1.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.iterates import Iterates, declared_ground, public_rows
from discreet.algorithms.steps.threshold import doubling, public_threshold
from discreet.errors import GuaranteeError
from discreet.privacy import GDP, Budget, amplified
from discreet.privacy.shuffling import Amplification, clones_epsilon, largest_local
from discreet.rows import DivisibleSource, Floats, LinearMap
from discreet.rows.walk import Walk

# The number of stored iterates.
_KEPT = 200
# No row is scaled down before its gradient is clipped.
_FAR = 1e100


def printed_glmtron(
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
    ``known``: mean and covariance.

    Privacy: one shuffled pass, one answer per row. The exact guarantee of the printed noise is
    computed, and refused if it is weaker than what was asked for.
    """
    rows = public_rows(source)
    multiplier = printed_multiplier(budget, rows)
    real = _real(1 / multiplier, rows, budget)
    start = declared_ground(model, x_radius, known, rows)
    x, y = public
    z = start.design.of_rows(x)
    largest = 2 * model.labels.half_width
    edges = doubling(largest / rows, largest)
    # sqrt(2 alpha tr(H)) C_2 log^(2a) N, and R_x^2 = alpha tr(H) log^(2a) N.
    reach, square = math.sqrt(6 * model.size) * math.log(rows), 3 * model.size * math.log(rows)
    if eta is None:
        eta = min(1 / (2 * square), 1 / (math.log(rows) ** 2 * square * model.size * multiplier**2))
    each = GDP(real.mu)
    walk = Walk(LinearMap(start.design.matrix), model.labels, _FAR)
    single = source.walk(walk, each, (real.epsilon, real.delta))
    mean, theta = model.link.mean, np.zeros(model.size)
    total, path = np.zeros(model.size), []

    def weight(label: float, index: float) -> float:
        return label - float(mean(np.asarray(index)))

    for t in range(len(single)):
        total += theta
        if t % max(1, rows // _KEPT) == 0:
            path.append(theta)
        clip = reach * public_threshold(np.abs(y - mean(theta @ z)), edges)
        theta = theta + eta * single.step(theta, weight, clip).value[:, 0]
    return Iterates(start.design, total / max(len(single), 1), path, 0.0, rows)


def printed_multiplier(budget: Budget, rows: int) -> float:
    """f of Theorem 1, by its own proof: sqrt(2 log(1.25/delta_0)) / epsilon_0 with the
    largest allowed epsilon_0.
    """
    half = budget.delta / 2
    low, high = 0.0, largest_local(rows, half)
    if high <= 0:
        raise GuaranteeError(
            f"Theorem 1 needs more rows: the shuffling bound that it cites does not cover {rows} at delta {half:g}"
        )
    for _ in range(60):
        middle = (low + high) / 2
        if middle > 0 and clones_epsilon(middle, rows, half) <= budget.epsilon:
            low = middle
        else:
            high = middle
    local = low
    each = half / ((math.exp(budget.epsilon) + 1) * (1 + math.exp(-local) / 2) * rows)
    return math.sqrt(2 * math.log(1.25 / each)) / max(local, 1e-300)


def _real(mu: float, rows: int, budget: Budget) -> Amplification:
    real = amplified(mu, rows, budget.delta, halvings=10)
    if real.epsilon > budget.epsilon:
        raise GuaranteeError(
            f"the printed noise gives epsilon {real.epsilon:.4g} at delta {budget.delta:.3g}, "
            f"weaker than the {budget.epsilon:.4g} asked for; use calibration='tight'"
        )
    return real
