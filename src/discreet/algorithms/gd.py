"""Gradient descent for generalized linear models: whitened, with bounded scores that bias nothing, averaged at the end.

1. A first look: how many rows, where x and y lie.
2. Rounds of noisy second moments: coordinates in which rows are white, and a linear fit to start from, or its best
   mixture with a public fit.
3. A few steps; then the curvature there: coordinates in which the loss is round, and all that standard errors need.
4. More steps. Each noisy gradient g_t at phi_t says where the optimum is, phi_t - g_t / curvature; the estimate is the
   mean of what they say, whose noise is that of one gradient paid with the budget of all of them.
5. What predicts is the estimate, drawn towards the constant model or the public fit as far as it is noise; with little
   budget, the best mixture of them, which a part of the budget pays for.

How the budget is shared, and how far scores are cut, follows from public quantities: mu, the noisy number of rows, and
the number of coefficients. docs/papers/gd.md has the sensitivities and the measurements behind the constants.
"""

from __future__ import annotations

import math

from discreet.algorithms.steps.descent_plan import DescentPlan
from discreet.algorithms.steps.first_look import Scaling, first_look
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel, Guess
from discreet.algorithms.steps.local import Inquiry, Local
from discreet.algorithms.steps.mixture import Candidates, Middle, mix, part, shrunk
from discreet.algorithms.steps.path import Path, walk
from discreet.algorithms.steps.start import lies_there, start
from discreet.privacy import GDP, Budget
from discreet.rows import ExposureSum, Floats, Source

# Of the first look, what the mean exposure costs, whether rows lie where public ones do, and of the rest y alone.
_EXPOSURE_SHARE = 0.2
_THERE_SHARE = 0.25
_LABEL_SHARE = 0.25


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
    there = 0.0 if guess is None or guess.coordinates is None else _THERE_SHARE * look
    first = part(budget, look - exposure - there)
    scaling = first_look(source, first, model.width, x_radius, None, label_share=_LABEL_SHARE)
    offset = _mean_offset(source, part(budget, exposure), model, scaling.count)
    middle = _mean_only(model, scaling, offset)
    if not lies_there(source, part(budget, there), model, scaling, guess):
        guess = None
    public = None if guess is None else guess.coefficients
    plan = DescentPlan.of(source, budget, scaling.least_count, model.size, steps, two_starts=public is not None)
    plan = plan.mixing().within(1 - look)
    inquiry = Inquiry(source, model, plan, scaling.count)

    local = start(source, part(budget, plan.whitening), model, plan, scaling, offset, guess)
    if public is not None:
        both = Candidates(local.coordinates.phi(public), (local.phi,))
        local = local.at(mix(inquiry, local, both, middle, part(budget, plan.start)))
    path = walk(inquiry, local, part(budget, plan.warm_up), plan.warm_up_steps)
    local = inquiry.curvature(local.at(path.near), part(budget, plan.curvature))
    path = walk(inquiry, local, part(budget, plan.descent), plan.steps)

    estimate = _levelled(inquiry, local, path)
    goal = None if public is None else local.coordinates.phi(public)
    variance = plan.caution * path.noise_variance
    if plan.mixture:
        candidates = Candidates(goal, (), estimate, variance) if plan.sees_slopes else Candidates(goal)
        mixture = mix(inquiry, local, candidates, middle, part(budget, plan.mixture))
    else:
        mixture = shrunk(local, estimate, variance, goal, middle)
    return _fit(inquiry, local, path, estimate, mixture)


def _mean_offset(source: Source, cost: GDP, model: GlmModel, count: float) -> float:
    """The log of the mean exposure, from one noisy sum; within what was declared, whatever the noise."""
    if model.exposure is None:
        return 0.0
    low, high = model.exposure
    mean = float(source.sum(ExposureSum(high), cost).value[0, 0]) * high / count
    return math.log(min(max(mean, low), high))


def _mean_only(model: GlmModel, scaling: Scaling, offset: float) -> Middle:
    """The constant model of the first look."""
    labels = model.labels
    mean = labels.centre + labels.half_width * scaling.y_centre
    eta = float(model.link.predictor(model.sensible_mean(mean)))
    noise_std = labels.half_width * scaling.y_noise_std / max(float(model.link.slope(eta)), 1e-12)
    return Middle(eta - offset, noise_std**2)


def _levelled(inquiry: Inquiry, local: Local, path: Path) -> Floats:
    """What the later gradients say, with the constant raised by what noise in the slopes took from it.

    Under the log link a point whose slopes are off by noise of variance v has means that are too large by exp(k v / 2),
    on average, and its gradient lowers the constant to make up for that.
    """
    estimate = path.optimum
    if inquiry.model.link.name == "log" and local.coordinates.constant:
        estimate[0] += (local.size - 1) * path.point_variance(inquiry.plan.step) / 2
    return estimate


def _fit(inquiry: Inquiry, local: Local, path: Path, estimate: Floats, mixture: Floats) -> GlmFit:
    """The mixture for prediction; for inference the mean of what the later gradients say, and what it varies by."""
    sampling = local.curvature * local.filling / inquiry.count * path.inverse @ path.inverse
    turn = local.coordinates.matrix.T
    return GlmFit(
        coef=turn @ mixture,
        estimate=turn @ estimate,
        count=inquiry.count,
        iterations=inquiry.plan.warm_up_steps + inquiry.plan.steps,
        noise_covariance=turn @ path.noise_covariance @ turn.T,
        sampling_covariance=turn @ sampling @ turn.T,
        dispersion=local.dispersion,
    )
