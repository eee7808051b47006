"""The best mixture of a few candidate models: the constant one, a public fit, what a descent has found.

A descent in k directions has the noise of k directions. Which mixture of two or three candidates is best is a question
of as many dimensions, which a small part of the budget answers far better: slopes that noise made too long are taken
back, those that have not come far enough are stretched, and a candidate that is worse than the constant model gets no
weight. Weights are not negative (as in Breiman's stacked regressions): a candidate says where to go, never where not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.optimize import nnls

from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.descent_plan import DescentPlan
from discreet.algorithms.steps.local import Inquiry, Local
from discreet.algorithms.steps.path import walk
from discreet.privacy import GDP, Budget
from discreet.rows import Floats

# Of a mixture's budget, what is spent on the way to the public fit (if there is one) and on the curvature; the rest is
# for so many steps.
_WAY, _CURVATURE, _STEPS = 0.3, 0.2, 4
# Where on that way the slope of the loss is asked for.
_PLACES = (1.0, 0.5, 0.25, 0.125)
# Candidates are stretched to this many times their length at most.
_STRETCH = 2.0
# A direction that is this small a part of a candidate adds nothing to the others.
_NEGLIGIBLE = 1e-6
# A public fit gives way to the constant model if that is nearer to what was seen by so many standard deviations.
_PROOF = 1.0
# Gradients that disagree by more than so many times their noise have not found an optimum.
_DISAGREEMENT = 4.0
# Where a typical row, summed over all, does not stand out of the noise, nothing was seen.
_LEAST_EASE = 1.0


@dataclass(frozen=True)
class Middle:
    """The constant model that the first look saw: its predictor, and the variance of the noise in that."""

    eta: float
    variance: float


@dataclass(frozen=True, eq=False)
class Candidates:
    """Models in the coordinates of a ``Local``: one that public rows gave, others, and one whose noise is known."""

    public: Floats | None = None
    others: tuple[Floats, ...] = ()
    estimate: Floats | None = None
    estimate_variance: float = math.inf

    @property
    def all(self) -> list[Floats]:
        found = [self.public, *self.others, self.estimate]
        return [candidate for candidate in found if candidate is not None]


def mix(inquiry: Inquiry, local: Local, candidates: Candidates, middle: Middle, cost: GDP) -> Floats:
    """The mixture of least loss, in the coordinates of ``local``, as far as it is clear of the noise.

    Privacy: a curvature and a fixed number of gradients in the candidates' plane, whose costs together are ``cost``.
    """
    plane = _plane(local, candidates.all)
    plan = DescentPlan.of(inquiry.source, cost, inquiry.count, plane.shape[1], None)
    small = replace(inquiry, plan=plan)
    flat = _in_plane(local, plane, local.phi if candidates.estimate is None else candidates.estimate)
    way = 0.0 if candidates.public is None else _WAY
    if candidates.public is not None:
        flat = _between(small, flat, plane.T @ candidates.public, part(cost, way))
    here = small.curvature(flat, part(cost, _CURVATURE))
    turn = here.coordinates.phi(local.coordinates.matrix.T @ plane) @ plane.T
    cone = _Cone(int(here.coordinates.constant), np.array([turn @ candidate for candidate in candidates.all]).T)
    path = walk(small, here, part(cost, 1 - way - _CURVATURE), _STEPS, cone.nearest)
    variance = plan.caution * path.noise_variance
    if path.disagreement > _DISAGREEMENT * path.noise_variance:
        variance = max(variance, path.disagreement)
    if plan.ease < _LEAST_EASE:
        variance = math.inf
    seen = _Seen(path.optimum, cone.nearest(path.optimum), variance)
    if candidates.estimate is not None:
        seen = seen.with_estimate(turn @ candidates.estimate, candidates.estimate_variance * _mean_square(turn, plane))
    public = None if candidates.public is None else turn @ candidates.public
    mixture = seen.drawn(here.coordinates.constant, public, middle)
    return local.coordinates.phi(here.coordinates.coefficients(mixture))


def shrunk(local: Local, estimate: Floats, variance: float, public: Floats | None, middle: Middle) -> Floats:
    """The estimate, drawn towards the public fit or the constant model by its known noise; nothing is asked."""
    return _Seen(estimate, estimate, variance).drawn(local.coordinates.constant, public, middle)


def _plane(local: Local, candidates: list[Floats]) -> Floats:
    """Orthonormal directions, one per column: the constant if there is one, then the candidates' slopes."""
    columns = [np.eye(local.size)[0]] if local.coordinates.constant else []
    for candidate in candidates:
        direction = candidate.copy()
        for column in [*columns, *columns]:  # twice, against rounding
            direction -= (direction @ column) * column
        rest = float(np.linalg.norm(direction))
        if rest > _NEGLIGIBLE * float(np.linalg.norm(candidate)):
            columns.append(direction / rest)
    if not columns:  # no constant and nothing but zeros: any one direction
        columns.append(np.eye(local.size)[0])
    return np.array(columns).T


def _in_plane(local: Local, plane: Floats, phi: Floats) -> Local:
    coordinates = Coordinates(plane.T @ local.coordinates.matrix, constant=local.coordinates.constant)
    return replace(local, coordinates=coordinates, phi=plane.T @ phi)


def _between(inquiry: Inquiry, flat: Local, public: Floats, cost: GDP) -> Local:
    """About where the loss is least on the way from a point to the public fit.

    The loss is convex, so its slope changes sign once. It is asked for at the public fit and from there back by halves;
    then the line through the two slopes that enclose the change says where. A public fit that is far off, where bounded
    scores say little but the direction, is left behind in a few halves.
    """
    each = GDP(cost.mu / math.sqrt(len(_PLACES)))
    way = public - flat.phi
    length = max(float(np.linalg.norm(way)), 1e-300)
    alone = replace(inquiry, plan=DescentPlan.of(inquiry.source, each, inquiry.count, 1, None))
    slopes = [alone.slope(flat, flat.phi + place * way, way / length, each) for place in _PLACES]
    if slopes[0] <= 0:
        return flat.at(public)
    for (far, rises), (near, falls) in pairwise(zip(_PLACES, slopes, strict=True)):
        if falls <= 0:
            return flat.at(flat.phi + way * (near * rises - far * falls) / (rises - falls))
    return flat


def _mean_square(turn: Floats, plane: Floats) -> float:
    """By how much the change of coordinates multiplies a variance, on average."""
    return float(np.sum((turn @ plane) ** 2)) / len(turn)


@dataclass(frozen=True, eq=False)
class _Cone:
    """All mixtures of the candidates, one per column of ``models``, that have no negative weight, with any constant."""

    fixed: int
    models: Floats

    def nearest(self, phi: Floats) -> Floats:
        if self.models.size == 0:
            return phi
        weights = nnls(self.models[self.fixed :], phi[self.fixed :])[0]
        weights *= min(1.0, _STRETCH / max(float(weights.sum()), 1e-300))
        return np.concatenate([phi[: self.fixed], self.models[self.fixed :] @ weights])


@dataclass(frozen=True, eq=False)
class _Seen:
    """Where the optimum was seen, the mixture nearest to that, and the variance of the noise in each coordinate."""

    optimum: Floats
    mixture: Floats
    variance: float

    def with_estimate(self, estimate: Floats, variance: float) -> _Seen:
        """Together with an earlier estimate, each trusted by its noise.

        The estimate may be off by more than its noise, by what was cut or because it has not yet come far enough. How
        far the two are apart says by how much: that, less the mixture's own noise, is the doubt in the estimate.
        """
        if not math.isfinite(self.variance):
            return self
        apart = float(np.mean((self.mixture - estimate) ** 2))
        doubt = max(variance, apart - self.variance, 1e-300)
        trust = doubt / (doubt + self.variance)
        return _Seen(
            estimate + trust * (self.optimum - estimate),
            estimate + trust * (self.mixture - estimate),
            trust * self.variance,
        )

    def drawn(self, constant: bool, public: Floats | None, middle: Middle) -> Floats:
        """Drawn towards the public fit or the constant model, as far as noise alone would bring it away from there."""
        goal, free = np.zeros(len(self.mixture)), len(self.mixture) - int(constant)
        if constant:  # two looks at the mean, each trusted by its noise
            trust = 1 / (1 + self.variance / max(middle.variance, 1e-300))
            goal[0] = trust * self.mixture[0] + (1 - trust) * middle.eta
        noise = float(free)
        if public is not None and not self._nearer(goal, public):
            # The fit of rows like these is left for something that is clear of the noise by a standard deviation.
            goal, free = public, len(self.mixture)
            noise = free + math.sqrt(2 * free)
        away = self.mixture - goal
        return goal + away * max(0.0, 1 - noise * self.variance / max(_square(away), 1e-300))

    def _nearer(self, constant: Floats, public: Floats) -> bool:
        """Whether the optimum is nearer to the constant model than to the public one, but for the noise in that."""
        noise_std = 2 * math.sqrt(self.variance * _square(public - constant))
        return _square(self.optimum - constant) + _PROOF * noise_std < _square(self.optimum - public)


def _square(vector: Floats) -> float:
    return float(vector @ vector)


def part(cost: GDP | Budget, share: float) -> GDP:
    """What costs this share of mu^2."""
    return GDP(cost.mu * math.sqrt(share))
