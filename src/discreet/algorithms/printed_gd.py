"""Noisy gradient descent for generalized linear models (COST, Algorithm 1), as printed
and with tight accounting.

beta <- project(beta - step (sum of (psi'(x beta) - y) x + noise) / n), T times, with |x| at most
its declared radius. With the identity link, labels are in units of their declared half-width,
measured from the middle of their range.

As printed, each step gets (epsilon/T, delta/T) and noise for the sensitivity 4 (R + c_1) |x|. Exact
composition costs sqrt(T), and a score bounded by c moves the sum by at most 2 c |x|.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.algorithms.steps.ball import usual_radius, warn_at_edge
from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.declared import (
    cost_of,
    declared_coordinates,
    predictors,
    public_count,
    row_count,
    truncated_scores,
)
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel, Guess, without_errors
from discreet.algorithms.steps.label_units import LabelUnits
from discreet.algorithms.steps.repair import projected
from discreet.privacy import Budget, refuse_weaker
from discreet.rows import Floats, Query, Source

_STEPS = 20


def printed_descend(
    source: Source,
    budget: Budget,
    model: GlmModel,
    *,
    x_radius: float,
    guess: Guess | None = None,
    steps: int | None = None,
    step: float | None = None,
    ball: float | None = None,
    calibration: str = "tight",
) -> GlmFit:
    """T noisy gradient steps from 0 (or the public fit), in the declared or in
    public white coordinates.

    ``ball``: the radius onto which coefficients are projected in these coordinates.

    Privacy: ``steps`` sums; their joint cost is the budget (``"tight"``) or what the
    printed noise actually costs.
    """
    rounds = _STEPS if steps is None else steps
    printed = calibration == "paper"
    count, rest = (public_count(source), 1.0) if printed else row_count(source, budget, model.width, x_radius)
    units = LabelUnits.of(model)
    model, guess = units.model(model), units.guess(guess)
    coordinates, radius = _ground(model, x_radius, guess)
    ball = usual_radius(model) if ball is None else ball
    score_bound = _score_bound(model, ball * radius)
    beta = np.zeros(coordinates.size)
    if guess is not None and guess.coefficients is not None:
        beta = projected(coordinates.phi(guess.coefficients), ball)

    def query(at: Floats) -> Query:
        return truncated_scores(model, coordinates, at, radius, score_bound)

    if printed:
        # Line 2 of Algorithm 1: (epsilon/T, delta/T) per step, and B sqrt(d) = 4 (R + c_1) |x|.
        length = 4 * _label_and_mean(model, ball * radius) * radius
        noise_std = length * math.sqrt(2 * math.log(2 * rounds / budget.delta)) * rounds / budget.epsilon
        each = cost_of(source, query(beta), noise_std)
        refuse_weaker([each] * rounds, budget)
    else:
        each = budget.part(rest / rounds)
    pace = _step_length(model) if step is None else step
    penalty, path = model.penalty_in(coordinates), []
    for _ in range(rounds):
        gradient = source.sum(query(beta), each).value[:, 0] + penalty @ beta
        beta = projected(beta - pace * gradient / count, ball)
        path.append(units.coefficients(coordinates.coefficients(beta)))
    warn_at_edge(beta, ball, "cost_gd")
    return without_errors(path[-1], count, len(path), path=path)


def _ground(model: GlmModel, x_radius: float, guess: Guess | None) -> tuple[Coordinates, float]:
    if guess is not None and guess.white is not None:
        return guess.white, 2 * math.sqrt(model.size)
    return declared_coordinates(model, x_radius)


def _score_bound(model: GlmModel, reach: float) -> float:
    """A bound on |score| for labels in their range and coefficients in the ball."""
    labels = model.labels
    return min(model.family.score_bound(labels.low, labels.high, *predictors(model, reach), model.link), 1e12)


def _label_and_mean(model: GlmModel, reach: float) -> float:
    """The paper's R + c_1: the largest label and the largest mean."""
    mean = min(float(np.abs(model.link.mean(np.array([-reach, reach]))).max()), 1e12)
    return max(abs(model.labels.low), abs(model.labels.high)) + mean


def _step_length(model: GlmModel) -> float:
    """One over the curvature of one row's loss at the middle of the label range."""
    return 1 / max(float(model.family.weight(model.link.predictor(model.labels.centre), model.link)), 1e-6)
