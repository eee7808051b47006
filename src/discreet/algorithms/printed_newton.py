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
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.steps.ball import usual_radius, warn_at_edge
from discreet.algorithms.steps.coordinates import Coordinates
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
from discreet.privacy import GDP, Budget, refuse_weaker
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
    units = LabelUnits.of(model)
    model, guess = units.model(model), units.guess(guess)
    printed = _Printed.of(
        source, budget, model, x_radius, guess, _STEPS if steps is None else steps, ball, failure or _FAILURE
    )
    beta = np.zeros(printed.coordinates.size)
    gradient_cost, hessian_cost = printed.costs(source, beta)
    refuse_weaker([gradient_cost, hessian_cost] * printed.steps, budget)
    penalty, count = model.penalty_in(printed.coordinates), public_count(source)
    path = []
    for _ in range(printed.steps):
        gradient = source.sum(printed.gradient(beta), gradient_cost).value[:, 0] / count + penalty @ beta / count
        hessian = source.sum(printed.hessian(beta), hessian_cost).value / count + penalty / count
        beta = projected(beta - np.linalg.lstsq(hessian, gradient, rcond=None)[0], printed.ball)
        path.append(units.coefficients(printed.coordinates.coefficients(beta)))
    warn_at_edge(beta, printed.ball, "newton")
    return without_errors(path[-1], count, len(path), path=path)


@dataclass(frozen=True, eq=False)
class _Printed:
    """The printed bounds: R for the rows, and those of score and weight on the ball."""

    model: GlmModel
    coordinates: Coordinates
    radius: float
    score_bound: float
    weight_bound: float
    ball: float
    steps: int
    hessian_std: float
    gradient_std: float

    @classmethod
    def of(
        cls,
        source: Source,
        budget: Budget,
        model: GlmModel,
        x_radius: float,
        guess: Guess | None,
        steps: int,
        ball: float | None,
        failure: float,
    ) -> _Printed:
        count, size = public_count(source), model.size
        if guess is not None and guess.white is not None:
            coordinates, radius = guess.white, math.sqrt(size * (1 + math.log(2 * count / failure)))
        else:
            coordinates, radius = declared_coordinates(model, x_radius)
        mu = budget.mu / math.sqrt(2)  # "sqrt(2) mu-GDP" is what the algorithms promise
        if model.family.is_logistic(model.link):
            # Algorithms 3 and 5; nothing here depends on the coefficients, so no ball is needed.
            stds = math.sqrt(steps) * radius**2 / (2 * mu), 2 * math.sqrt(steps) * radius / mu
            return cls(model, coordinates, radius, 1.0, 0.25, math.inf if ball is None else ball, steps, *stds)
        ball = usual_radius(model) if ball is None else ball
        low, high = predictors(model, ball * radius)
        family, labels = model.family, model.labels
        score = family.score_bound(labels.low, labels.high, low, high, model.link)
        weight = family.weight_bound(low, high, model.link)
        printed = score
        if model.link == family.canonical_link:
            # Algorithm 4 writes R_y + M_b' for the score's bound; its models have canonical links.
            printed = max(abs(labels.low), abs(labels.high)) + float(model.link.mean(high))
        stds = 2 * math.sqrt(steps) * radius**2 * weight / mu, 2 * math.sqrt(steps) * radius * printed / mu
        return cls(model, coordinates, radius, score, weight, ball, steps, *stds)

    def gradient(self, beta: Floats) -> Query:
        return truncated_scores(self.model, self.coordinates, beta, self.radius, self.score_bound)

    def hessian(self, beta: Floats) -> TruncatedInformation:
        family, link = self.model.family, self.model.link
        return TruncatedInformation(
            self.coordinates.map(beta), lambda eta: family.weight(eta, link), self.radius, self.weight_bound
        )

    def costs(self, source: Source, beta: Floats) -> tuple[GDP, GDP]:
        return (
            cost_of(source, self.gradient(beta), self.gradient_std),
            cost_of(source, self.hessian(beta), self.hessian_std),
        )
