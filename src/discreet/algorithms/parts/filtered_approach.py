"""The approach where noise will hide the curvature: a Kalman filter of a few cheap gradients.

Newton steps need a curvature. Where noise hides it, a few of them end far from the optimum, and
their scores are clipped for the residuals of a point farther still. Here each gradient is one more
measurement of the optimum: the filter weighs it against the constant model and the ones before, and
the next one is clipped for the residuals that are left. The response of a gradient is the foreseen
one, which the filter assumes to be wrong by .7 of itself. Predictions are the filter's, as for
index models (parts/index_approach.py); estimates and their errors are those of every model.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.algorithms.parts import plan as shares
from discreet.algorithms.parts.filter import Filter
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.looks import Question
from discreet.algorithms.parts.start import Start
from discreet.algorithms.steps.kalman import Belief
from discreet.privacy import GDP
from discreet.rows import Answer

# Slopes explain this part of the variance of labels, whose scale the look gives too large rather
# than too small; for a curved link, this part of a predictor with a standard deviation of 1.
_EXPLAINED, _EXPLAINED_CURVED = 0.3, 1.0
# The smallest prior variance of a constant, in the same variance: rows are measured from a centre
# that noise has moved.
_LEAST_CONSTANT = 0.1
# The error of the foreseen response, relative to it.
_WRONG = 0.7


def filtered(start: Start, steps: int) -> Start:
    """The start after so many gradients but the last one, which shares its pass with the histogram
    of scores.

    Privacy: as many sums, each with one of squares if the dispersion is unknown, which together
    cost ``shares.FILTER`` of what is left.
    """
    frame, plan = start.frame, start.plan
    spent = shares.FILTER * (start.gradients(1.0).mu / plan.budget.mu) ** 2
    squares = shares.FILTER_SQUARES if plan.dispersion else 0.0
    gradient, beside = plan.part(spent / steps * (1 - squares)), plan.part(spent / steps * squares)
    belief = _prior(start)
    for _ in range(steps - 1):
        questions = [gradient_question(frame, belief, gradient)]
        if squares:
            questions.append(frame.squares(belief.theta, beside))
        answer, *rest = frame.ask(*questions)
        see(frame, belief, questions[0], answer)
        if rest:
            frame = frame.with_squares(questions[-1], rest[0])
    return replace(
        start,
        frame=frame,
        phi=belief.theta,
        saved=start.saved - spent + (spent / steps * squares),
        passes=start.passes + steps - 1,
        filter=Filter(belief, leads=True, next=gradient),
    )


def gradient_question(frame: Frame, belief: Belief, cost: GDP) -> Question:
    """The gradient where the filter is."""
    return frame.gradient(belief.theta, shares.FILTER_CLIP * frame.typical_norm(belief.theta)), cost


def see(frame: Frame, belief: Belief, question: Question, answer: Answer) -> None:
    """Move the filter by an answer to ``gradient_question``, in the frame of the question."""
    theta = belief.theta
    clip = question[0].left_norm
    kept = frame.foresight.kept(theta, clip / frame.root_size, frame.dispersion)
    gradient = answer.value[:, 0] / frame.count + frame.penalty @ theta
    response = kept * frame.foresight.curvature(theta) + frame.penalty
    belief.see_gradient(-gradient, response, answer.noise_std / frame.count)


def _prior(start: Start) -> Belief:
    """The constant model of the look, and how far the optimum may be from it."""
    frame, label, first = start.frame, start.label, start.frame.constants
    variance = frame.foresight.unit**2 if start.plan.curved else label.scale**2
    part = _EXPLAINED_CURVED if start.plan.curved else _EXPLAINED
    theta = np.zeros(frame.size)
    covariance = part * variance / max(frame.size - first, 1) * np.eye(frame.size)
    if first and start.constants is not None:
        theta[:first], noise = start.constants(frame, theta)
        covariance[:first, :first] = max(noise, _LEAST_CONSTANT * variance) * np.eye(first)
    return Belief(theta, covariance, [theta], wrong=_WRONG)
