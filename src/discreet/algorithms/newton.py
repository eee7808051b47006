"""Newton's method on noisy gradients and Hessians (PMT, Algorithms 3 to 5), with as
little noise as possible.

1. A first look: the number of rows, the location of y and, without public data, that of x.
2. In coordinates z that public moments make white (Algorithms 3 and 4; without them each feature is
   centred and all are scaled alike, Algorithm 5), exactly T times: the noisy gradient g and Hessian
   H, and the step beta <- project(beta - H^-1 g).
3. The last gradient and Hessian give the covariance of the estimate.

docs/papers/newton.md says what differs from the paper, and why; the printed noise
is in printed_newton.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.parts.start import first_coordinates
from discreet.algorithms.steps.columns import hidden, unknown_slopes
from discreet.algorithms.steps.coordinates import Coordinates, blended
from discreet.algorithms.steps.exposure import mean_offset
from discreet.algorithms.steps.first_look import Scaling, first_look
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel, Guess
from discreet.algorithms.steps.label_units import LabelUnits
from discreet.algorithms.steps.repair import definite, projected
from discreet.glm import ClippedScore
from discreet.privacy import GDP, Budget
from discreet.rows import CurvatureSum, Floats, Source, score_sum

# Shares of mu^2: the first look (without and with public rows), and the
# Hessians' share of the rest.
_LOOK, _PUBLIC_LOOK, _HESSIANS = 0.08, 0.03, 0.15
# The part of the first look for the mean exposure.
_EXPOSURE = 0.2
# Each step's error is squared by the next, so later steps get more of the
# budget, in these proportions.
_GROWTH_OF_SHARES = 8.0
# The default number of steps: the fewest where noise dominates, more where it is small.
_FEWEST_STEPS, _MOST_STEPS = 3, 8
# The signal-to-noise (see ``_Search.about``) up to which three steps are enough.
_EASE = 200.0
# Without a declared ball: eta within this many units, where any probability is certain ...
_BALL = 50.0
# ... and a single step moves eta by at most this; only noise or separable data would need more.
_LONGEST_STEP = 2.5
# The largest contribution of a column that noise hides, in standard deviations of eta.
_FARTHEST = 3.0


def newton(
    source: Source,
    budget: Budget,
    model: GlmModel,
    *,
    x_radius: float,
    guess: Guess | None = None,
    steps: int | None = None,
    ball: float | None = None,
) -> GlmFit:
    """Fit by ``steps`` Newton steps; ``ball`` bounds the coefficients in white
    coordinates and y's units.

    Privacy: one sum for the first look (and one for the exposure, if any), then a gradient and a
    Hessian per step; their joint cost is the budget.
    """
    look = _LOOK if guess is None else _PUBLIC_LOOK
    exposure = 0.0 if model.exposure is None else _EXPOSURE * look
    known = None if guess is None else guess.scaling
    scaling = first_look(source, budget.part(look - exposure), model.width, x_radius, known)
    offset = mean_offset(source, budget.part(exposure), model, scaling.count)
    search = _Search.about(source, budget, model, scaling, guess)
    beta = search.start(scaling, offset, guess)
    rounds = _planned_steps(model, search.ease) if steps is None else steps
    weights = _GROWTH_OF_SHARES ** np.arange(rounds)
    for weight in (1 - look) * weights / weights.sum():
        # The last point is kept: standard errors are those of the step from there.
        seen = search.look(beta, budget.part((1 - _HESSIANS) * weight), budget.part(_HESSIANS * weight))
        beta = search.within(beta - search.shortened(seen.step), ball)
    return replace(search.fit(seen, beta, rounds), used=scaling.used(source.public_rows))


def _planned_steps(model: GlmModel, ease: float) -> int:
    """The number of steps with which the first, which has the smallest share, is as precise as at
    ``_EASE``.

    Curved models far from the constant one need more than three. A further step divides the first
    one's share by the growth of shares, and its noise's variance falls with the square of ``ease``.
    A quadratic needs one step.
    """
    if model.link.is_identity:
        return _FEWEST_STEPS
    more = 2 * math.log(max(ease / _EASE, 1.0)) / math.log(_GROWTH_OF_SHARES)
    return min(_FEWEST_STEPS + round(more), _MOST_STEPS)


@dataclass(frozen=True, eq=False)
class _Seen:
    """A noisy gradient and Hessian per row, the Hessian repaired, and the noise in each."""

    gradient: Floats
    hessian: Floats
    # Without penalty, as released.
    curvature: Floats
    gradient_noise: float
    hessian_noise: float
    meat: float

    @property
    def step(self) -> Floats:
        return np.asarray(np.linalg.solve(self.hessian, self.gradient))


@dataclass(frozen=True, eq=False)
class _Search:
    """What all steps share: coordinates, bounds and prior knowledge about the scores."""

    source: Source
    model: GlmModel
    coordinates: Coordinates
    count: float
    radius: float
    curvature: float
    dispersion: float
    clip_growth: float
    ease: float

    @classmethod
    def about(cls, source: Source, budget: Budget, model: GlmModel, scaling: Scaling, guess: Guess | None) -> _Search:
        halved = 2.0 if source.public_rows is not None else 1.0
        # Signal-to-noise: the sum over all rows of a typical row, in noise standard
        # deviations, per coefficient.
        ease = budget.mu * scaling.count / (model.size * halved)
        growth = max(1.0, (ease / _EASE) ** 0.4)
        at = float(model.link.predictor(_mean_label(model, scaling))) if model.origin is None else 0.0
        curvature = max(float(model.family.weight(at, model.link)), 1e-12)
        score_variance = (float(model.family.gain(at, model.link)) * scaling.y_scale * model.labels.half_width) ** 2
        dispersion = 1.0 if model.family.dispersion_known else score_variance / curvature
        coordinates = first_coordinates(model, scaling, guess)
        radius = growth * math.sqrt(model.size)
        return cls(source, model, coordinates, scaling.count, radius, curvature, dispersion, growth, ease)

    def start(self, scaling: Scaling, offset: float, guess: Guess | None) -> Floats:
        """The public fit if there is one, else the constant model."""
        if guess is not None and guess.coefficients is not None:
            return self.coordinates.phi(guess.coefficients)
        beta = np.zeros(self.coordinates.size)
        if self.coordinates.constant:
            beta[0] = float(self.model.link.predictor(_mean_label(self.model, scaling))) - offset
        return beta

    def look(self, beta: Floats, gradient_cost: GDP, hessian_cost: GDP) -> _Seen:
        """Privacy: two sums."""
        linear_map, labels, clip = self.coordinates.map(beta), self.model.labels, self._clip()
        score = ClippedScore(self.model.family, self.model.link, labels.low, labels.high, max(self.dispersion, 1e-3))
        gradient = self.source.sum(score_sum(linear_map, labels, score.score, self.radius, clip), gradient_cost)
        slope_norm = self._slope_norm()
        query = CurvatureSum(
            map=linear_map,
            labels=labels,
            score=score.score,
            slope=score.slope,
            radius=self.radius,
            clip=clip,
            slope_norm=slope_norm,
            score_norm=clip,
            score_weight=0.5 * slope_norm / clip,
        )
        answer = self.source.sum(query, hessian_cost)
        moment, noise_std, penalty = answer.value / self.count, answer.noise_std / self.count, self._penalty()
        size = self.coordinates.size
        mean_slope = blended(float(np.trace(moment[:-1, :-1])) / size, noise_std / math.sqrt(size), self.curvature)
        spread = float(moment[-1, -1]) / query.score_weight**2
        spread = blended(spread, noise_std / query.score_weight**2, self.dispersion * mean_slope * size)
        return _Seen(
            gradient.value[:, 0] / self.count + penalty @ beta,
            definite(moment[:-1, :-1], noise_std) + penalty,
            moment[:-1, :-1],
            gradient.noise_std / self.count,
            noise_std,
            spread / (mean_slope * size),
        )

    def shortened(self, step: Floats) -> Floats:
        return step if self.model.link.is_identity else projected(step, _LONGEST_STEP)

    def within(self, beta: Floats, ball: float | None) -> Floats:
        units = LabelUnits.of(self.model)
        middle = np.zeros(len(beta))
        middle[: int(self.coordinates.constant)] = units.centre
        if ball is None:
            ball = math.inf if self.model.link.is_identity else _BALL
        return middle + projected(beta - middle, ball * units.unit)

    def fit(self, seen: _Seen, beta: Floats, rounds: int) -> GlmFit:
        """The end of the last step, with the noise of its gradient and, along
        the step, of its Hessian.
        """
        inverse, step, size = np.linalg.inv(seen.hessian), seen.step, len(beta)
        from_hessian = seen.hessian_noise**2 / 2 * (float(step @ step) * np.eye(size) + np.outer(step, step))
        noise = inverse @ (seen.gradient_noise**2 * np.eye(size) + from_hessian) @ inverse
        narrow = hidden(self.coordinates, seen.curvature, seen.hessian_noise)
        effect = (
            math.sqrt(self.dispersion) if self.model.link.is_identity else _FARTHEST * LabelUnits.of(self.model).unit
        )
        unknown = noise + unknown_slopes(self.coordinates, narrow, effect)
        information = seen.hessian - self._penalty()
        sampling = seen.meat / self.count * inverse @ information @ inverse
        turn = self.coordinates.matrix.T
        return GlmFit(
            coef=turn @ self._shrunk(beta, noise, seen.hessian),
            estimate=turn @ beta,
            count=self.count,
            iterations=rounds,
            noise_covariance=turn @ unknown @ turn.T,
            sampling_covariance=turn @ sampling @ turn.T,
            dispersion=1.0 if self.model.family.dispersion_known else seen.meat,
            hidden=narrow,
        )

    def _shrunk(self, beta: Floats, noise: Floats, hessian: Floats) -> Floats:
        """James-Stein shrinkage towards the constant model, in the metric of the loss."""
        first = int(self.coordinates.constant)
        slopes, block = beta[first:], hessian[first:, first:]
        lost = float(np.trace(block @ noise[first:, first:]))
        loudest = float(np.max(np.linalg.eigvals(block @ noise[first:, first:]).real, initial=0.0))
        kept = max(0.0, 1 - max(lost - 2 * loudest, 0.0) / max(float(slopes @ block @ slopes), 1e-300))
        return np.concatenate([beta[:first], kept * slopes])

    def _penalty(self) -> Floats:
        """The Hessian of the user's penalty in these coordinates, per row."""
        return self.model.penalty_in(self.coordinates) / self.count

    def _clip(self) -> float:
        """The clip norm of a row's gradient: R, not R^2, where scores are at most 1."""
        if self.model.family.label_free:
            return self.radius
        return 1.5 * self.clip_growth * self.radius * math.sqrt(self.dispersion * self.curvature)

    def _slope_norm(self) -> float:
        """The norm of a row whose square is its part of the Hessian.

        Its noise grows with the square of this norm, the gradient's with the norm only. A Hessian
        whose longest rows are cut makes steps that are a little too long, which the next step
        mends; one that noise outweighs is repaired towards a multiple of 1, and then steps hardly
        move. So this norm grows as the root of the gradient's.
        """
        radius = math.sqrt(self.clip_growth * self.model.size)
        if self.model.family.is_logistic(self.model.link):
            return radius / 2  # the weight p (1 - p) is at most 1/4
        return 1.5 * radius * math.sqrt(self.curvature)


def _mean_label(model: GlmModel, scaling: Scaling) -> float:
    return model.sensible_mean(model.labels.centre + model.labels.half_width * scaling.y_centre)
