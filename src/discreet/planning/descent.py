"""Errors of the central descent (algorithms/descent.py), from its own plan and
predictions, without data.

The fit chooses its clip norm from a noisy histogram of the norms of scores. Here the histogram is
that of simulated or public people, and the same functions choose the clip norm, the levels and the
costs. So forecast and fit stay consistent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.algorithms.parts import plan as shares
from discreet.algorithms.parts.limits import best_bounds
from discreet.algorithms.parts.measure import Bounds
from discreet.algorithms.parts.plan import Plan
from discreet.algorithms.parts.sizes import Sizes
from discreet.glm import ClippedScore, Family, Link
from discreet.planning.kinds import Floats
from discreet.privacy import GDP, Budget


class People(Protocol):
    """A ``Design`` or a ``Sample``."""

    @property
    def size(self) -> int: ...

    @property
    def model(self) -> tuple[Family, Link]: ...

    @property
    def dispersion(self) -> float: ...

    @property
    def label_bounds(self) -> tuple[float, float]: ...

    def typical(self) -> tuple[Floats, Floats, Floats]:
        """White features, labels and predictors."""
        ...


@dataclass(frozen=True)
class Errors:
    """Variances of a coefficient in units of one feature's standard deviation."""

    noise: float
    sampling: float
    # The square of the systematic distance from the plain fit.
    bias: float = 0.0

    @property
    def standard_error(self) -> float:
        return math.sqrt(self.noise + self.sampling + self.bias)


@dataclass(frozen=True, eq=False)
class Choice:
    """What the fit to these people would choose: clip norm and levels, with the noise of each."""

    rows: Floats  # (1, white x)
    y: Floats
    eta: Floats
    score: ClippedScore
    bounds: Bounds
    noise_std: float
    level_noise: tuple[float, ...]

    @property
    def length(self) -> Floats:
        return np.asarray(np.sqrt(np.sum(self.rows**2, axis=1)))

    def scores(self, clip: float) -> Floats:
        return self.score.score(self.y, self.eta, clip / self.length)

    def slopes(self, clip: float) -> Floats:
        return self.score.slope(self.y, self.eta, clip / self.length)


def choice(people: People, n: int, budget: Budget, *, replaced: bool, public: bool = False) -> Choice:
    X, y, eta = people.typical()
    family, link = people.model
    rows = np.column_stack([np.ones(len(X)), X])
    length = np.sqrt(1 + np.sum(X**2, axis=1))
    score = ClippedScore(family, link, *people.label_bounds, people.dispersion)
    sizes = Sizes.of(score.size(y, eta) * length, family.label_free)
    plan, moved = descent_plan(people, budget, n if replaced else None, public=public), 2.0 if replaced else 1.0
    weight = float(np.mean(family.weight(eta, link)))
    cost = _gradients(plan, sizes, moved, n, weight)
    per_clip = moved / (cost.mu * n)
    variance = people.dispersion * weight if family.label_free else sizes.mean_square() / people.size
    bounds = best_bounds(sizes, per_clip, variance, n, people.size)
    base, *above = (moved / (part.mu * n) for part in bounds.costs(cost))
    noises = tuple(noise * (top - low) for noise, (low, top) in zip(above, bounds.levels, strict=True))
    return Choice(rows, y, eta, score, bounds, base * bounds.clip, noises)


def descent_errors(people: People, n: int, budget: Budget, *, replaced: bool, public: bool = False) -> Errors:
    """The variance of a coefficient of ``estimate``, from noise and from sampling, if the model is
    true: what lies above the clip norm is noise then, and is not kept.
    """
    chosen = choice(people, n, budget, replaced=replaced, public=public)
    clip, X = chosen.bounds.clip, chosen.rows[:, 1:]
    # The curvature of a typical coefficient, and the variance of its score under this clip norm.
    curvature = float(np.mean(chosen.slopes(clip)[:, np.newaxis] * X**2))
    clipped = float(np.mean((chosen.scores(clip) * chosen.length) ** 2)) / people.size
    return Errors((chosen.noise_std / curvature) ** 2, clipped / n / curvature**2)


def descent_plan(people: People, budget: Budget, rows: int | None, *, public: bool) -> Plan:
    """The plan of a fit to these people; ``rows``: their number, if it is public."""
    family, link = people.model
    return Plan(
        budget,
        people.size,
        curved=not link.is_identity,
        dispersion=not family.dispersion_known,
        exposure=False,
        octaves=people.label_bounds[0] >= 0 and not family.label_free,
        public=public,
        rows=rows,
    )


def _gradients(plan: Plan, sizes: Sizes, moved: float, n: int, weight: float) -> GDP:
    """The joint cost of the last gradients."""
    clip = shares.WARM_UP_CLIP * sizes.unit
    step_noise = moved * clip / (plan.part(shares.WARM_UP).mu * n) / weight * math.sqrt(plan.size)
    return plan.gradients(1.0, plan.warm_up_steps(plan.rounds(n, moved), step_noise))
