"""Noisy gradients as measurements of the optimum: the default fit of every
generalized linear model.

1. A look: the number of rows, location and scale of x and y.
2. Rounds of noisy second moments: coordinates z in which rows are white, and a
   linear fit to start from.
3. For a curved link, a line search along the start's direction, or a cheap gradient.
4. A histogram of the norms of scores. It predicts the error for every clip norm, and the best one
   is used. Octaves above it that may hold more than noise are released separately, and kept as far
   as they are clear of it.
5. Two gradients and their derivative in the coefficients (the curvature). Each gives an
   estimate of the optimum, phi - curvature^-1 gradient; the final estimate is their mean,
   weighted by their precision.
6. The second moment of the clipped scores: with the curvature, it gives the sandwich covariance.
   Where scores are clipped, their mean with a far larger clip: it corrects the constant. Of linear
   models also the directions in which rows are clipped, and a mean score along them: it corrects
   slopes.

As the budget grows the clip norm grows, and the estimate becomes the non-private one; where a
budget protects nobody, steps 4 to 6 are done twice. Models differ in the approach (1 to 3:
parts/approach.py, parts/index_approach.py), in the frame's queries (parts/frame.py,
parts/class_frame.py) and in the curvature that is foreseen. docs/papers/descent.md has the
sensitivities and measurements; parts/plan.py has the shares of the budget.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.algorithms.parts import plan as shares
from discreet.algorithms.parts.approach import Approach
from discreet.algorithms.parts.estimate import Estimated, estimated, unknown_coefficients
from discreet.algorithms.parts.index_approach import IndexApproach
from discreet.algorithms.parts.index_plan import IndexPlan
from discreet.algorithms.parts.labels import octaves
from discreet.algorithms.parts.last_gradients import LastGradients
from discreet.algorithms.parts.limits import best_limits
from discreet.algorithms.parts.plan import Plan
from discreet.algorithms.parts.prediction import predicted
from discreet.algorithms.parts.shrink import signal
from discreet.algorithms.parts.start import Start
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel, Guess
from discreet.privacy import Budget
from discreet.rows import Source


def descend(source: Source, budget: Budget, model: GlmModel, *, x_radius: float, guess: Guess | None = None) -> GlmFit:
    """Fit the model.

    Privacy: the number of sums depends on public and released quantities alone; their
    joint cost is the budget.
    """
    approach = approach_of(source, budget, model, guess)
    with np.errstate(all="ignore"):  # noisy answers may be anything; results are bounded
        approach.look(x_radius)
        approach.whiten()
        start = approach.warm_up()
        if start.plan.rehearses:
            start = rehearsed(start)
        last = LastGradients(*best_limits(start)).measure()
        return fit(last, estimated(last))


def approach_of(source: Source, budget: Budget, model: GlmModel, guess: Guess | None) -> Approach | IndexApproach:
    """How a model of this kind is started, with the plan of its budget."""
    plan = (IndexPlan if model.single_index else Plan)(
        budget,
        model.size,
        curved=not model.link.is_identity,
        dispersion=not model.family.dispersion_known,
        exposure=model.exposure is not None,
        octaves=octaves(model) is not None or model.classes > 2,
        public=guess is not None,
        predictors=model.classes - 1,
        rows=source.public_rows,
    )
    if isinstance(plan, IndexPlan):
        return IndexApproach(source, model, plan, guess)
    return Approach(source, model, plan, guess)


def rehearsed(start: Start) -> Start:
    """A better point, found with a part of the budget by the steps that are to come."""
    plan = start.plan
    last = LastGradients(*best_limits(replace(start, plan=plan.reduced(shares.REHEARSAL)))).measure()
    phi = estimated(last).estimate.phi
    return replace(start, plan=plan.reduced(1 - shares.REHEARSAL), frame=last.frame, phi=phi, rehearsed=len(last.seen))


def fit(last: LastGradients, known: Estimated) -> GlmFit:
    """Coefficients of (1, x): shrunk for prediction, and estimates with their covariances."""
    start, frame, first = last.start, last.frame, last.frame.constants
    turn, noise, phi = frame.turn, known.spread.noise, known.estimate.phi
    prediction = predicted(last, known)
    path = [] if start.filter is None else start.filter.path(last.seen, prediction)
    # The usual correction for the degrees of freedom (HC1, and s^2 of least squares); a known
    # dispersion is not estimated from residuals.
    fitted_away = frame.count / max(frame.count - frame.size, 1.0)
    dispersion = frame.dispersion * (fitted_away if start.plan.dispersion else 1.0)
    model = known.inverse @ last.expected_meat @ known.inverse * dispersion / frame.dispersion
    return GlmFit(
        coef=turn @ prediction,
        estimate=turn @ phi,
        count=frame.count,
        iterations=start.steps + start.rehearsed + len(last.seen) + max(len(path) - 1, 0),
        noise_covariance=turn @ known.faded.noise @ turn.T + unknown_coefficients(last),
        sampling_covariance=turn @ known.faded.sampling @ turn.T * fitted_away,
        model_covariance=turn @ model @ turn.T / frame.count,
        dispersion=dispersion,
        used=start.used,
        signal=signal(phi[first:], noise[first:, first:], start.used, without=known.absent[first:, first:]),
        hidden=known.hidden,
        path=tuple(turn @ point for point in path),
    )
