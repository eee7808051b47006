"""Gradient descent for generalized linear models: whitened, with bounded scores that bias nothing, averaged at the end.

1. A first look: how many rows, where x and y lie.
2. Rounds of noisy second moments: coordinates in which rows are white, and a linear fit to start from.
3. A few steps; then the curvature there: coordinates in which the loss is round, and all that standard errors need.
4. More steps. Each noisy gradient g_t at phi_t says where the optimum is, phi_t - g_t / curvature; the estimate is the
   mean of what they say, whose noise is that of one gradient paid with the budget of all of them.

How the budget is shared, and how far scores are cut, follows from public quantities: mu, the noisy number of rows, and
the number of coefficients. docs/papers/gd.md has the sensitivities and the measurements behind the constants.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates, blended
from discreet.algorithms.steps.descent_plan import DescentPlan
from discreet.algorithms.steps.first_look import Scaling, first_look
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel, Guess
from discreet.algorithms.steps.whitening import LabelScale, LinearStart, whiten
from discreet.glm import ClippedScore
from discreet.privacy import GDP, Budget
from discreet.rows import CurvatureSum, Floats, ScoreSum, Source

# A start farther from the constant model than this, in standard deviations of eta, is noise or a separable set.
_FARTHEST_START = 1.5
# A mean label this near to an end of its range has no sensible predictor.
_LEAST_SHARE = 0.002


@dataclass(frozen=True, eq=False)
class _Local:
    """The loss about a point: coordinates in which its mean curvature is ``curvature``, and the spread of scores."""

    coordinates: Coordinates
    phi: Floats
    curvature: float
    score_std: float
    dispersion: float
    # Variance of scores over their slope: the sandwich's filling.
    filling: float = 1.0


def descend(
    source: Source,
    budget: Budget,
    model: GlmModel,
    *,
    x_radius: float,
    guess: Guess | None = None,
    steps: int | None = None,
) -> GlmFit:
    """Fit the model; ``steps`` overrides the number of gradient steps.

    Privacy: a number of sums that depends on public and released quantities alone, whose costs together are the budget.
    """
    run = _Run(source, budget, model, guess, steps)
    return run.fit(x_radius)


class _Run:
    """One fit; holds what all its steps share."""

    def __init__(self, source: Source, budget: Budget, model: GlmModel, guess: Guess | None, steps: int | None) -> None:
        self.source, self.budget, self.model, self.guess, self.steps = source, budget, model, guess, steps

    def fit(self, x_radius: float) -> GlmFit:
        known = None if self.guess is None else self.guess.scaling
        look, rest = DescentPlan.look_share(known is not None), 1 - DescentPlan.look_share(known is not None)
        scaling = first_look(self.source, self._cost(look), self.model.width, x_radius, known)
        size = self.model.size
        self.count = scaling.count
        self.plan = DescentPlan.of(self.source, self.budget, scaling.count, size, self.steps).within(rest)
        self.radius = self.plan.radius * math.sqrt(size)
        self.moment_radius = self.plan.moment_radius * math.sqrt(size)
        start = self._start(scaling)
        local, path = self._descend(start, self.plan.warm_up, self.plan.warm_up_steps)
        local = self._curvature(_moved(local, path.near))
        local, path = self._descend(local, self.plan.descent, self.plan.steps)
        return self._finish(local, path)

    def _cost(self, share: float) -> GDP:
        return GDP(self.budget.mu * math.sqrt(share))

    def _start(self, scaling: Scaling) -> _Local:
        labels, origin = self.model.labels, self.model.origin
        centre = labels.centre + labels.half_width * scaling.y_centre
        scale = labels.half_width * scaling.y_scale
        if origin is not None:
            # Without an intercept the model passes through the mean at eta = 0, and labels are measured from there.
            through = float(self.model.link.mean(0.0))
            centre, scale = through, math.hypot(scale, centre - through)
        coordinates = (
            Coordinates.scaled(scaling.x_centre, scaling.x_scale)
            if origin is None
            else Coordinates.through_origin(origin, math.hypot(scaling.x_scale, float(np.sqrt(np.mean(origin**2)))))
        )
        if self.guess is not None and self.guess.coordinates is not None:
            coordinates = self.guess.coordinates
        label = LabelScale(labels, centre, scale)
        linear = whiten(
            self.source,
            self._cost(self.plan.whitening),
            self.plan.rounds,
            coordinates,
            label,
            self.moment_radius,
            self.count,
        )
        return self._local_of(linear, label)

    def _local_of(self, linear: LinearStart, label: LabelScale) -> _Local:
        """The linear fit of labels turned into one of eta, by the link's slope at the mean."""
        model, labels = self.model, self.model.labels
        constant = linear.coordinates.constant
        room = _LEAST_SHARE * (labels.high - labels.low)
        mean = label.centre + label.scale * (float(linear.phi[0]) if constant else 0.0)
        mean = min(max(mean, labels.low + room), labels.high - room)
        at = float(model.link.predictor(mean)) if constant else 0.0
        phi = linear.phi * label.scale / max(float(model.link.slope(at)), 1e-12)
        slopes = phi[int(constant) :]
        length = float(np.linalg.norm(slopes))
        if model.link.name != "identity":
            slopes *= min(1.0, _FARTHEST_START / max(length, 1e-300))
        if constant:
            # Where the mean is convex in eta, spread of eta raises it.
            convex = model.link.name == "log"
            phi[0] = at - model.mean_offset - convex * min(length, 1.0) ** 2 / 2
        score_std = float(model.family.gain(at, model.link)) * label.scale * math.sqrt(linear.residual_variance)
        curvature = max(float(model.family.weight(at, model.link)), 1e-12)
        dispersion = 1.0 if model.family.dispersion_known else score_std**2 / curvature
        if model.family.dispersion_known:
            score_std = math.sqrt(curvature)
        return _Local(linear.coordinates, phi, curvature, score_std, dispersion)

    def _score(self, local: _Local) -> ClippedScore:
        model = self.model
        return ClippedScore(model.family, model.link, model.labels.low, model.labels.high, max(local.dispersion, 1e-3))

    def _clip(self, local: _Local) -> float:
        """How long a row's contribution may be: no longer than the longest possible, where scores have a bound."""
        typical = self.plan.clip * math.sqrt(local.coordinates.size) * local.score_std
        if self.model.family.name != "bernoulli":
            return typical
        largest = self.plan.binary_clip * math.sqrt(local.coordinates.size)
        return min(largest, self.radius)

    def _descend(self, local: _Local, share: float, steps: int) -> tuple[_Local, _Path]:
        each = GDP(self._cost(share).mu / math.sqrt(max(steps, 1)))
        score, coordinates, phi = self._score(local), local.coordinates, local.phi
        penalty = self._penalty(coordinates)
        inverse = np.linalg.inv(local.curvature * np.eye(coordinates.size) + penalty)
        points, gradients, noise_std = [phi], [], 0.0
        for _ in range(steps):
            query = ScoreSum(coordinates.map(phi), self.model.labels, score.score, self.radius, self._clip(local))
            answer = self.source.sum(query, each)
            gradient = answer.value[:, 0] / self.count + penalty @ phi
            noise_std = answer.noise_std / self.count
            phi = phi - self.plan.step * (inverse @ gradient)
            points.append(phi)
            gradients.append(gradient)
        return local, _Path(points, gradients, noise_std)

    def _penalty(self, coordinates: Coordinates) -> Floats:
        """The second derivative of the user's penalty in these coordinates, per row."""
        matrix = coordinates.matrix[:, 1:]
        return (matrix * self.model.penalty) @ matrix.T / self.count

    def _curvature(self, local: _Local) -> _Local:
        """One look at how steep and how varied scores are here, which makes the coordinates those of the loss."""
        score, size, clip = self._score(local), local.coordinates.size, self._clip(local)
        slope_norm = self.plan.slope_norm * self.moment_radius * math.sqrt(local.curvature)
        query = CurvatureSum(
            map=local.coordinates.map(local.phi),
            labels=self.model.labels,
            score=score.score,
            slope=score.slope,
            radius=self.radius,
            clip=clip,
            slope_norm=slope_norm,
            score_weight=0.5 * slope_norm / clip,
        )
        answer = self.source.sum(query, self._cost(self.plan.curvature))
        moment, noise_std = answer.value / self.count, answer.noise_std / self.count
        slopes = moment[:-1, :-1].copy()
        guessed = local.curvature
        curvature = blended(float(np.trace(slopes)) / size, noise_std / math.sqrt(size), guessed)
        if local.coordinates.constant:
            slopes[0, 0] = blended(float(slopes[0, 0]), noise_std, guessed)
        white = local.coordinates.whitened(slopes, noise_std)
        mass = float(slopes[0, 0]) if local.coordinates.constant else curvature
        spread = blended(
            float(moment[-1, -1]) / query.score_weight**2,
            noise_std / query.score_weight**2,
            local.dispersion * curvature * size,
        )
        filling = spread / (curvature * size)
        phi = white.phi(local.coordinates.coefficients(local.phi))
        new_curvature = mass if local.coordinates.constant else 1.0
        score_std = (
            math.sqrt(filling * new_curvature) if not self.model.family.dispersion_known else math.sqrt(new_curvature)
        )
        return _Local(white, phi, new_curvature, score_std, filling, filling)

    def _finish(self, local: _Local, path: _Path) -> GlmFit:
        coordinates, size = local.coordinates, local.coordinates.size
        points, gradients = path.tail
        inverse = np.linalg.inv(local.curvature * np.eye(size) + self._penalty(coordinates))
        phi = np.mean([p - inverse @ g for p, g in zip(points, gradients, strict=True)], axis=0)
        noise = inverse @ inverse * path.noise_std**2 / len(gradients)
        sampling = local.curvature * local.filling / self.count * inverse @ inverse
        turn = coordinates.matrix.T
        return GlmFit(
            coef=turn @ self._shrunk(coordinates, phi, noise),
            estimate=turn @ phi,
            noise_covariance=turn @ noise @ turn.T,
            sampling_covariance=turn @ sampling @ turn.T,
            dispersion=local.dispersion,
            count=self.count,
            iterations=self.plan.warm_up_steps + self.plan.steps,
        )

    def _shrunk(self, coordinates: Coordinates, phi: Floats, noise: Floats) -> Floats:
        """James and Stein's shrinkage, in coordinates where the loss is round, towards what was known without rows."""
        first = int(coordinates.constant)
        goal = np.zeros(len(phi))
        if self.guess is not None and self.guess.coefficients is not None:
            goal, first = coordinates.phi(self.guess.coefficients), 0
        goal[:first] = phi[:first]
        distance = phi - goal
        free = max(len(phi) - first - 2, 0)
        variance = float(np.trace(noise)) / len(phi)
        return goal + distance * max(0.0, 1 - free * variance / max(float(distance @ distance), 1e-300))


@dataclass(frozen=True, eq=False)
class _Path:
    """Points visited, the gradients seen at all but the last, and the noise in each."""

    points: list[Floats]
    gradients: list[Floats]
    noise_std: float

    @property
    def near(self) -> Floats:
        return np.asarray(np.mean(self.points[-2:], axis=0))

    @property
    def tail(self) -> tuple[list[Floats], list[Floats]]:
        half = len(self.gradients) // 2
        return self.points[half:-1], self.gradients[half:]


def _moved(local: _Local, phi: Floats) -> _Local:
    return _Local(local.coordinates, phi, local.curvature, local.score_std, local.dispersion, local.filling)
