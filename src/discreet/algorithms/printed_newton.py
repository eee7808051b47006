"""DP-PMTLR, DP-PMTGLM and DP-LR with the noise as printed (PMT, Algorithms 3, 4 and 5).

As printed: a radius of four times a typical row's, Hessian noise for 2 R^2 where sqrt(2) R^2 is
enough, and no repair of an indefinite Hessian. The actual cost is computed and reported, and
refused if it is more than what was asked for. The output beta^(T) takes T steps: T are run and
charged, though the loop is printed from 0 to T. sigma_2 of Algorithms 3 and 5 has R, as in its
proof (B.9) and in Algorithm 4, where the text prints R^2.

Two things differ because the printed ones are not private: the radius of Algorithm 5 is the
declared one, not that of the private data, and Algorithm 4 projects onto the ball for which it
bounds the cumulant's derivatives.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.algorithms.steps.ball import usual_radius, warn_at_edge
from discreet.algorithms.steps.declared import (
    cost_of,
    declared_coordinates,
    predictors,
    public_count,
    truncated_scores,
)
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel, Guess, without_errors
from discreet.algorithms.steps.label_units import LabelUnits
from discreet.algorithms.steps.repair import projected
from discreet.privacy import Budget, refuse_weaker
from discreet.rows import Floats, Query, Source
from discreet.rows.truncated import TruncatedInformation

_STEPS = 5
_FAILURE = 0.05


def printed_newton(
    source: Source,
    budget: Budget,
    model: GlmModel,
    *,
    x_radius: float,
    guess: Guess | None = None,
    steps: int | None = None,
    ball: float | None = None,
    failure: float | None = None,
) -> GlmFit:
    """T steps beta <- beta - (Hessian + G)^-1 (gradient + g) from beta = 0;
    ``failure`` is the paper's eta.

    Privacy: T gradients and Hessians. Their exact joint cost is computed from
    the noise that is drawn.
    """
    rounds, count, units = _STEPS if steps is None else steps, public_count(source), LabelUnits.of(model)
    model, guess = units.model(model), units.guess(guess)
    if guess is not None and guess.white is not None:
        coordinates, radius = guess.white, math.sqrt(model.size * (1 + math.log(2 * count / (failure or _FAILURE))))
    else:
        coordinates, radius = declared_coordinates(model, x_radius)
    family, link = model.family, model.link
    if ball is None:
        ball = math.inf if family.is_logistic(link) else usual_radius(model)
    score, printed, weight = _bounds(model, ball * radius)

    def asked(beta: Floats) -> tuple[Query, Query]:
        """The gradient and the Hessian."""
        weights = TruncatedInformation(coordinates.map(beta), lambda eta: family.weight(eta, link), radius, weight)
        return truncated_scores(model, coordinates, beta, radius, score), weights

    mu = budget.mu / math.sqrt(2)  # "sqrt(2) mu-GDP" is what the algorithms promise
    stds = 2 * math.sqrt(rounds) * radius * printed / mu, 2 * math.sqrt(rounds) * radius**2 * weight / mu
    beta, penalty, path = np.zeros(coordinates.size), model.penalty_in(coordinates), []
    costs = [cost_of(source, query, noise_std) for query, noise_std in zip(asked(beta), stds, strict=True)]
    refuse_weaker(costs * rounds, budget)
    for _ in range(rounds):
        sums = [source.sum(query, cost).value for query, cost in zip(asked(beta), costs, strict=True)]
        gradient, hessian = sums[0][:, 0] / count + penalty @ beta / count, sums[1] / count + penalty / count
        beta = projected(beta - np.linalg.lstsq(hessian, gradient, rcond=None)[0], ball)
        path.append(units.coefficients(coordinates.coefficients(beta)))
    warn_at_edge(beta, ball, "newton")
    return without_errors(path[-1], count, len(path), path=path)


def _bounds(model: GlmModel, reach: float) -> tuple[float, float, float]:
    """Bounds of a row's score, as it is clipped and as printed, and of its weight, for coefficients
    in the ball.
    """
    family, link, labels = model.family, model.link, model.labels
    if family.is_logistic(link):  # Algorithms 3 and 5: for all coefficients
        return 1.0, 1.0, 0.25
    low, high = predictors(model, reach)
    score = printed = family.score_bound(labels.low, labels.high, low, high, link)
    if link == family.canonical_link:
        # Algorithm 4 writes R_y + M_b' for the score's bound; its models have canonical links.
        printed = max(abs(labels.low), abs(labels.high)) + float(link.mean(high))
    return score, printed, family.weight_bound(low, high, link)
