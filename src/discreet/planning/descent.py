"""Errors of the central descent (algorithms/descent.py), from its own plan and
predictions, without data.

The fit chooses its clip norm from a noisy histogram of the norms of scores. Here the histogram is
that of simulated people, and the same functions choose the clip norm, the levels and the costs. So
forecast and fit stay consistent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.parts import plan as shares
from discreet.algorithms.parts.measure import LEVEL_SHARE
from discreet.algorithms.parts.plan import Plan
from discreet.algorithms.parts.sizes import Sizes
from discreet.glm import ClippedScore
from discreet.planning.design import Design, typical_rows
from discreet.privacy import GDP, Budget


@dataclass(frozen=True)
class Errors:
    """Variances of a coefficient in units of one feature's standard deviation."""

    noise: float
    sampling: float

    @property
    def standard_error(self) -> float:
        return math.sqrt(self.noise + self.sampling)


def descent_errors(design: Design, n: int, budget: Budget, *, replaced: bool, public: bool = False) -> Errors:
    """The variance of a coefficient of ``estimate``, from noise and from sampling."""
    X, y, eta = typical_rows(design)
    family, link = design.model
    length = np.sqrt(1 + np.sum(X**2, axis=1))
    score = ClippedScore(family, link, *design.label_bounds, design.dispersion)
    sizes = Sizes.of(score.size(y, eta) * length, family.label_free)
    plan, moved = descent_plan(design, budget, n if replaced else None, public=public), 2.0 if replaced else 1.0
    weight = float(np.mean(family.weight(eta, link)))
    per_clip = moved / (_gradients(plan, sizes, moved, n, weight).mu * n)
    variance = design.dispersion * weight if family.label_free else sizes.mean_square() / design.size
    clip = sizes.best_clip(per_clip, variance, n)
    risk = sizes.risk(clip, per_clip, variance, n) * sizes.kept(clip) ** 2
    if sizes.levels(clip, per_clip / math.sqrt(LEVEL_SHARE), risk, design.size):
        per_clip /= math.sqrt(1 - LEVEL_SHARE)
    slope = score.slope(y, eta, clip / length)
    # The curvature of a typical coefficient, and the variance of its score under this clip norm.
    curvature = float(np.mean(slope[:, np.newaxis] * X**2))
    clipped = float(np.mean((score.score(y, eta, clip / length) * length) ** 2)) / design.size
    return Errors((per_clip * clip / curvature) ** 2, clipped / n / curvature**2)


def descent_plan(design: Design, budget: Budget, rows: int | None, *, public: bool) -> Plan:
    """The plan of a fit to these people; ``rows``: their number, if it is public."""
    family, link = design.model
    return Plan(
        budget,
        design.size,
        curved=not link.is_identity,
        dispersion=not family.dispersion_known,
        exposure=False,
        octaves=design.label_bounds[0] >= 0 and not family.label_free,
        public=public,
        rows=rows,
    )


def _gradients(plan: Plan, sizes: Sizes, moved: float, n: int, weight: float) -> GDP:
    """The joint cost of the last gradients."""
    clip = shares.WARM_UP_CLIP * sizes.unit
    step_noise = moved * clip / (plan.part(shares.WARM_UP).mu * n) / weight * math.sqrt(plan.size)
    return plan.gradients(1.0, plan.warm_up_steps(plan.rounds(n, moved), step_noise))
