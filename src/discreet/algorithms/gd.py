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

from discreet.algorithms.steps.descent_plan import DescentPlan
from discreet.algorithms.steps.first_look import Scaling, first_look
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel, Guess
from discreet.algorithms.steps.local import Inquiry, Local
from discreet.algorithms.steps.start import LEAST_SHARE, start
from discreet.privacy import GDP, Budget
from discreet.rows import ExposureSum, Floats, Source

# Of the first look, what the mean exposure costs.
_EXPOSURE_SHARE = 0.2


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
    # Public rows may lie elsewhere, so the first look is at x even where they are given.
    look = DescentPlan.look_share(x_is_known=False)
    exposure = 0.0 if model.exposure is None else _EXPOSURE_SHARE * look
    scaling = first_look(source, _part(budget, look - exposure), model.width, x_radius, None)
    offset = _mean_offset(source, _part(budget, exposure), model, scaling.count)
    two_starts = guess is not None and guess.coefficients is not None
    plan = DescentPlan.of(source, budget, scaling.least_count, model.size, steps, two_starts=two_starts).within(
        1 - look
    )
    inquiry = Inquiry(source, model, plan, scaling.count)

    local = start(source, _part(budget, plan.whitening), model, plan, scaling, offset, guess)
    if guess is not None and guess.coefficients is not None:
        local = _better_start(inquiry, local, guess.coefficients, _part(budget, plan.start))
    path = _steps(inquiry, local, _part(budget, plan.warm_up), plan.warm_up_steps)
    local = inquiry.curvature(local.at(path.near), _part(budget, plan.curvature))
    path = _steps(inquiry, local, _part(budget, plan.descent), plan.steps)
    middle = _mean_only(model, scaling, offset)
    return _finish(inquiry, local, path, middle, None if guess is None else guess.coefficients)


def _part(budget: Budget, share: float) -> GDP:
    return GDP(budget.mu * math.sqrt(share))


def _mean_offset(source: Source, cost: GDP, model: GlmModel, count: float) -> float:
    """The log of the mean exposure, from one noisy sum; within what was declared, whatever the noise."""
    if model.exposure is None:
        return 0.0
    low, high = model.exposure
    mean = float(source.sum(ExposureSum(high), cost).value[0, 0]) * high / count
    return math.log(min(max(mean, low), high))


def _better_start(inquiry: Inquiry, local: Local, coefficients: Floats, cost: GDP) -> Local:
    """The private start or the public one, whichever has the smaller gradient; in doubt the public one, which is free.

    Privacy: two sums, whose costs together are ``cost``.
    """
    public = local.coordinates.phi(coefficients)
    each = GDP(cost.mu / math.sqrt(2))
    lengths = []
    for phi in (local.phi, public):
        gradient, noise_std = inquiry.gradient(local, phi, each)
        lengths.append((float(gradient @ gradient), noise_std**2))
    (own, noise), (others, _) = lengths
    # The difference of two squared lengths has about this much noise.
    doubt = math.sqrt(2 * len(public)) * noise + 2 * math.sqrt(noise * max(own, others))
    return local if own < others - doubt else local.at(public)


def _steps(inquiry: Inquiry, local: Local, cost: GDP, steps: int) -> _Path:
    each = GDP(cost.mu / math.sqrt(steps))
    inverse = inquiry.inverse(local)
    points, gradients, noise_std = [local.phi], [], 0.0
    for _ in range(steps):
        gradient, noise_std = inquiry.gradient(local, points[-1], each)
        gradients.append(gradient)
        points.append(points[-1] - inquiry.plan.step * (inverse @ gradient))
    return _Path(points, gradients, noise_std)


@dataclass(frozen=True, eq=False)
class _Path:
    """Points visited, the gradients seen at all but the last, and the noise in each."""

    points: list[Floats]
    gradients: list[Floats]
    noise_std: float

    @property
    def near(self) -> Floats:
        """The end of the path, with half the noise of its last step."""
        return np.asarray(np.mean(self.points[-2:], axis=0))

    @property
    def tail(self) -> list[tuple[Floats, Floats]]:
        """The later half: points and their gradients."""
        half = len(self.gradients) // 2
        return list(zip(self.points[half:-1], self.gradients[half:], strict=True))


def _mean_only(model: GlmModel, scaling: Scaling, offset: float) -> tuple[float, float]:
    """The constant model of the first look: its predictor, and the variance of the noise in that."""
    labels = model.labels
    room = LEAST_SHARE * (labels.high - labels.low)
    mean = labels.centre + labels.half_width * scaling.y_centre
    eta = float(model.link.predictor(min(max(mean, labels.low + room), labels.high - room)))
    noise = labels.half_width * scaling.y_noise_std / max(float(model.link.slope(eta)), 1e-12)
    return eta - offset, noise**2


def _finish(inquiry: Inquiry, local: Local, path: _Path, middle: tuple[float, float], goal: Floats | None) -> GlmFit:
    """The mean of where the later gradients say that the optimum is, and what it varies by."""
    inverse = inquiry.inverse(local)
    phi = np.mean([point - inverse @ gradient for point, gradient in path.tail], axis=0)
    noise = path.noise_std**2 / len(path.tail) * inverse @ inverse
    sampling = local.curvature * local.filling / inquiry.count * inverse @ inverse
    turn = local.coordinates.matrix.T
    return GlmFit(
        coef=turn @ _shrunk(local, phi, np.diag(noise), inquiry.plan.caution, middle, goal),
        estimate=turn @ phi,
        count=inquiry.count,
        iterations=inquiry.plan.warm_up_steps + inquiry.plan.steps,
        noise_covariance=turn @ noise @ turn.T,
        sampling_covariance=turn @ sampling @ turn.T,
        dispersion=local.dispersion,
    )


def _shrunk(
    local: Local, phi: Floats, noise: Floats, caution: float, middle: tuple[float, float], goal: Floats | None
) -> Floats:
    """James and Stein's shrinkage, where the loss is round: towards the public fit, or the constant model.

    What is not farther from there than noise would bring it, but for two standard deviations of that, is noise.
    """
    fixed = int(local.coordinates.constant) if goal is None else 0
    towards = np.zeros(len(phi)) if goal is None else local.coordinates.phi(goal)
    towards[:fixed] = phi[:fixed]
    distance, free = phi - towards, len(phi) - fixed
    square, variance = float(distance @ distance), caution * float(np.mean(noise))
    if square > (free + 2 * math.sqrt(2 * free)) * variance:
        return towards + distance * (1 - max(free - 2, 0) * variance / square)
    if fixed:  # the constant model: two looks at the mean, each trusted by its noise
        eta, eta_variance = middle
        trust = 1 / (1 + caution * float(noise[0]) / max(eta_variance, 1e-300))
        towards[0] = trust * phi[0] + (1 - trust) * eta
    return towards
