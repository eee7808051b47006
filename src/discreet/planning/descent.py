"""What the central descent (algorithms/gd.py) will be off by: its own public plan, its own scores, no data.

The plan says how far scores are cut and what each gradient costs, so the noise is known to the last digit. Cut scores
rise less steeply (``slope``) than whole ones, and the estimate divides by the steepness: both are expectations over
made-up rows, of the very functions that the fit uses. Each gradient's noise then runs through the steps' recursion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import numpy as np

from discreet.algorithms.steps.descent_plan import DescentPlan
from discreet.glm import ClippedScore
from discreet.glm.clipping import is_corrected
from discreet.planning.design import Design, Floats, typical_rows
from discreet.privacy import Budget
from discreet.rows import Source


@dataclass(frozen=True)
class Errors:
    """Variances of a coefficient in units of one feature's standard deviation, and what the shrinkage must know."""

    noise: float
    sampling: float
    ease: float
    caution: float

    @property
    def standard_error(self) -> float:
        return math.sqrt(self.noise + self.sampling)


@dataclass(frozen=True)
class _Count:
    """All that a plan asks of a source: whether the number of rows is public."""

    public_rows: int | None


def descent_plan(n: int, size: int, budget: Budget, *, replaced: bool, public: bool) -> DescentPlan:
    source = cast(Source, _Count(n if replaced else None))
    plan = DescentPlan.of(source, budget, float(n), size, None, two_starts=public)
    return plan.mixing().within(1 - DescentPlan.look_share(public))


def descent_errors(design: Design, n: int, budget: Budget, *, replaced: bool, public: bool = False) -> Errors:
    """The variance of a coefficient of ``estimate``, from noise and from sampling."""
    plan = descent_plan(n, design.size, budget, replaced=replaced, public=public)
    before = _look(design, plan, 1.0, _weight(design), cap=True)
    # The curvature is seen under one cut and used under the next, which it decides.
    after = _look(design, plan, before.stretch, before.slope, cap=False)
    moved = 2.0 if replaced else 1.0
    early = moved * before.clip / (budget.mu * math.sqrt(plan.warm_up / plan.warm_up_steps) * n)
    late = moved * after.clip / (budget.mu * math.sqrt(plan.descent / plan.steps) * n)
    noise = _through_the_steps(plan, after.slope, before.slope, early, late)
    units = before.stretch**2
    return Errors(
        noise * units,
        after.score_variance / (n * after.slope**2) * units,
        plan.ease,
        plan.caution,
    )


def _weight(design: Design) -> float:
    _, _, eta = typical_rows(design)
    family, link = design.model
    return float(np.mean(family.weight(eta, link)))


@dataclass(frozen=True)
class _Seen:
    """A cut, the mean slope and variance of scores under it, and how much whitening stretches a feature."""

    clip: float
    slope: float
    score_variance: float
    stretch: float


def _look(design: Design, plan: DescentPlan, stretch: float, curvature: float, *, cap: bool) -> _Seen:
    X, y, eta = typical_rows(design)
    family, link = design.model
    root_size = math.sqrt(design.size)
    length = np.sqrt(1 + stretch**2 * np.sum(X**2, axis=1))
    radius = plan.radius * root_size
    if family.name == "bernoulli":
        clip = min(plan.binary_clip, plan.radius) * root_size
    else:
        cut = plan.corrected_clip if is_corrected(family) else plan.clip
        clip = cut * root_size * math.sqrt(design.dispersion * curvature)
    shrink = radius / np.maximum(length, radius)
    scores = ClippedScore(family, link, *design.label_bounds, design.dispersion)
    bound = clip / (length * shrink)
    slope = np.maximum(scores.slope(y, eta, bound), 0.0) * shrink
    if cap:
        most = plan.slope_norm * plan.moment_radius * math.sqrt(design.size * curvature)
        slope = slope * (most / np.maximum(np.sqrt(slope) * length, most)) ** 2
    at_constant = float(np.mean(slope))
    at_features = float(np.mean(slope[:, np.newaxis] * X**2))
    variance = float(np.mean((scores.score(y, eta, bound) * shrink * length) ** 2)) / design.size
    return _Seen(clip, at_constant, variance, math.sqrt(at_constant / at_features) if cap else stretch)


def _through_the_steps(plan: DescentPlan, slope: float, used: float, early: float, late: float) -> float:
    """The variance that the gradients' noise leaves in the mean of what the later ones say.

    Each step moves by step * (slope * error + noise) / used; the estimate is the mean of point - gradient / used.
    """
    ratio = slope / used
    first, second = plan.warm_up_steps, plan.steps
    stds = np.concatenate([np.full(first, early), np.full(second, late)]) / used
    error = np.zeros(first + second)  # of the point, as a combination of the gradients' noises
    points = [error]
    for t in range(first):
        error = error * (1 - plan.step)
        error = error - plan.step * np.eye(first + second)[t]
        points.append(error)
    error = (points[-1] + points[-2]) / 2
    said: list[Floats] = []
    for t in range(first, first + second):
        noise = np.eye(first + second)[t]
        if t >= first + second // 2:
            said.append(error - (ratio * error + noise))
        error = error - plan.step * (ratio * error + noise)
    return float(np.sum((np.mean(said, axis=0) * stds) ** 2))


def shrunk(
    draws: Floats, truth: Floats, noise: float, caution: float, middle_variance: float, goals: Floats | None
) -> Floats:
    """The rule of the descent's end, for one estimate per column: towards the constant model, or the public fits.

    Up to an ease of 10 the fit asks a little more (steps/mixture.py) and does better than this.
    """
    variance, free = caution * noise, len(draws)
    if goals is None:  # two looks at the mean, each trusted by its noise
        goals = np.zeros_like(draws)
        trust = 1 / (1 + variance / max(middle_variance, 1e-300))
        goals[0] = truth[0] + trust * (draws[0] - truth[0])
        least = free - 1.0
    else:
        least = free + math.sqrt(2 * free)
    away = draws - goals
    square = np.maximum(np.sum(away**2, axis=0), 1e-300)
    return np.asarray(goals + away * np.maximum(0.0, 1 - least * variance / square))
