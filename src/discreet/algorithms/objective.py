"""Objective perturbation for logistic regression (Chaudhuri et al.; Kifer, Smith and
Thakurta; Iyengar et al.).

1. A first look and a noisy second moment, unless public data gives them: coordinates
   in which rows are white.
2. The exact minimiser of the rows' loss plus a random linear term and a ridge; the
   curator releases it once.
3. The Hessian there, for standard errors and for the bias of the ridge.

The budget is spent on the equivalent of one gradient at the solution, and no score is clipped: as
the budget grows the fit becomes the maximum-likelihood fit. docs/papers/objective.md proves the
cost. The ridge costs no privacy if it is at least R^2 / epsilon (twice that for replaced rows),
so that is the ridge used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.parts.start import first_coordinates
from discreet.algorithms.steps.columns import hidden, unknown_slopes
from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.first_look import Scaling, first_look
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel, Guess
from discreet.algorithms.steps.repair import definite
from discreet.algorithms.steps.whitening import LabelScale, whiten_labels
from discreet.errors import GuaranteeError
from discreet.privacy import GDP, Budget, Perturbed, largest_gradient_mu
from discreet.rows import Answer, Floats, LinearMap, LogisticLoss, MinimisingSource, RowsUsed
from discreet.rows.truncated import ShortenedInformation

# Shares of mu^2 without public rows: the first look and the second moment ...
_LOOK, _WHITENING = 0.05, 0.15
# ... and the Hessian.
_HESSIAN = 0.05
# The mu of the smoothing as a share of the gradient's: 0.1 % of the variance.
_SMOOTHING = 0.05
# An upper bound on the probability that an entry of the discrete noise is far from
# its continuous coupling.
_SLACK = 2e-21
# Rows are clipped at this multiple of their typical length, and at more as the noise allows.
_RADIUS = 1.0
_LEAST_SHARE = 0.002
# Beyond this epsilon the noise is negligible next to one row. e^epsilon times the slack
# must stay far below delta.
_LARGEST_EPSILON, _SLACK_SHARE = 30.0, 0.01
# A slope penalised this many times as much as by the ridge is 0 to within 1e-5: a larger
# penalty changes nothing.
_MOST_PENALTY, _LARGEST = 2.0**43, 1e150
# Without a table, the price is computed for this many coefficients.
_USUAL_SIZE = 100
# Used only to choose a radius, if public rows make all looks unnecessary and the
# number of rows is private.
_UNKNOWN_COUNT = 10_000
# The largest contribution of a column that noise hides, in standard deviations of the log-odds.
_FARTHEST = 3.0


def objective(
    source: MinimisingSource,
    budget: Budget,
    model: GlmModel,
    *,
    x_radius: float,
    guess: Guess | None = None,
) -> GlmFit:
    """Fit by one perturbed minimisation.

    Privacy: one to three sums and one minimisation; their joint cost is the budget.
    """
    if not model.family.is_logistic(model.link):
        raise ValueError("solver='objective' is for logistic regression: its proof needs labels 0 and 1")
    if not source.one_row_each:
        raise ValueError("solver='objective' needs rows_per_person=1: its proof is about single rows")
    budget = _spent(budget, model.size)
    whitened = guess is not None and guess.coordinates is not None
    sums, cost = objective_costs(budget, replaced=source.replaces_rows, whitened=whitened, size=model.size)
    source.reserve(sums, cost)
    white = _white(source, budget, model, x_radius, guess)
    coordinates = white.coordinates
    radius = _RADIUS * max(1.0, (_ease(source, budget, model, white.count) / 200) ** 0.4) * math.sqrt(model.size)
    query = LogisticLoss(
        map=LinearMap(coordinates.matrix),
        labels=model.labels,
        radius=radius,
        penalty=np.zeros((model.size, model.size)),
        centre=white.centre,
    )
    query = replace(query, penalty=_penalty(model, coordinates, ridge=query.bound**2 / (4 * cost.curvature)))
    answer = source.minimise(query, cost)
    return _fit(source, model, white, query, cost, answer, _part(budget, _HESSIAN))


def _penalty(model: GlmModel, coordinates: Coordinates, ridge: float) -> Floats:
    """The user's penalty in these coordinates, limited where it is far beyond any data."""
    most = _MOST_PENALTY * ridge
    columns = coordinates.matrix[:, 1:] / math.sqrt(most)
    with np.errstate(over="ignore"):
        penalty = (columns * np.minimum(model.penalty, _LARGEST)) @ columns.T
    values, vectors = np.linalg.eigh(np.clip(penalty, -_LARGEST, _LARGEST))
    penalty = np.asarray((vectors * (most * np.clip(values, 0.0, 1.0))) @ vectors.T)
    free = ~np.any(columns, axis=1)  # the constant stays unpenalised, to the last bit
    penalty[free], penalty[:, free] = 0.0, 0.0
    return penalty


def _fit(
    source: MinimisingSource,
    model: GlmModel,
    white: _White,
    query: LogisticLoss,
    cost: Perturbed,
    answer: Answer,
    hessian_cost: GDP,
) -> GlmFit:
    """The released point, with the bias of the ridge and the variance of linear term and sampling.

    Privacy: one sum.
    """
    theta, size = answer.value[:, 0], model.size
    looked = ShortenedInformation(
        white.coordinates.map(theta),
        lambda eta: model.family.weight(eta, model.link),
        query.radius,
        0.25,
    )
    seen = source.sum(looked, hessian_cost)
    ridge = query.bound**2 / (4 * cost.curvature)
    information = definite(seen.value, seen.noise_std)
    inverse = np.linalg.inv(information + query.penalty + ridge * np.eye(size))
    # To first order the ridge has moved theta towards its centre by this much: the
    # estimate corrects for it.
    back = np.eye(size) + ridge * inverse
    estimate = theta + ridge * inverse @ (theta - white.centre)
    noise = (query.bound / cost.gradient_mu) ** 2 * inverse @ inverse + answer.noise_std**2 * np.eye(size)
    narrow = hidden(white.coordinates, seen.value, seen.noise_std)
    unknown = unknown_slopes(white.coordinates, narrow, _FARTHEST)
    turn = white.coordinates.matrix.T
    return GlmFit(
        coef=turn @ theta,
        estimate=turn @ estimate,
        count=white.count,
        iterations=1,
        noise_covariance=turn @ (back @ noise @ back.T + unknown) @ turn.T,
        sampling_covariance=turn @ back @ inverse @ information @ inverse @ back.T @ turn.T,
        used=white.used,
        hidden=narrow,
    )


def _part(budget: Budget, share: float) -> GDP:
    return GDP(budget.mu * math.sqrt(share))


@dataclass(frozen=True, eq=False)
class _White:
    """White coordinates, the centre of the ridge in them, and the approximate number of rows."""

    coordinates: Coordinates
    centre: Floats
    count: float
    used: RowsUsed | None = None


def _white(source: MinimisingSource, budget: Budget, model: GlmModel, x_radius: float, guess: Guess | None) -> _White:
    """Public white coordinates, or those from one noisy second moment."""
    if guess is not None and guess.coordinates is not None:
        centre = np.zeros(model.size)
        if guess.coefficients is not None:
            centre = guess.coordinates.phi(guess.coefficients)
        return _White(guess.coordinates, centre, float(source.public_rows or _UNKNOWN_COUNT))
    scaling = first_look(source, _part(budget, _LOOK), model.width, x_radius, None if guess is None else guess.scaling)
    coordinates = first_coordinates(model, scaling, None)
    ease = _ease(source, budget, model, scaling.count)
    radius = 0.8 * max(1.0, (ease / 100) ** 0.3) * math.sqrt(model.size)
    label = LabelScale(model.labels, 0.5, 0.5)
    cost = _part(budget, _WHITENING)
    coordinates = whiten_labels(source, cost, 1, coordinates, label, radius, scaling.count).white.coordinates
    used = scaling.used(source.public_rows)
    return _White(coordinates, _constant(model, coordinates, scaling), scaling.count, used)


def _constant(model: GlmModel, coordinates: Coordinates, scaling: Scaling) -> Floats:
    """The constant model."""
    centre = np.zeros(coordinates.size)
    if coordinates.constant:
        mean = model.labels.centre + model.labels.half_width * scaling.y_centre
        centre[0] = float(model.link.predictor(min(max(mean, _LEAST_SHARE), 1 - _LEAST_SHARE)))
    return centre


def _ease(source: MinimisingSource, budget: Budget, model: GlmModel, count: float) -> float:
    """The sum over all rows of a typical row, in noise standard deviations, per coefficient."""
    return budget.mu * count / (model.size * (2.0 if source.replaces_rows else 1.0))


def _besides(budget: Budget, spent: float) -> float:
    """The mu of all sums beside the minimisation, rounded up."""
    return math.sqrt(spent) * budget.mu * (1 + 1e-12)


def _spent(budget: Budget, size: int) -> Budget:
    """The useful part of the budget."""
    largest = min(_LARGEST_EPSILON, math.log(_SLACK_SHARE * budget.delta / (size * _SLACK)))
    return Budget.of(largest, budget.delta) if budget.epsilon > largest > 0 else budget


def objective_costs(
    budget: Budget, *, replaced: bool, whitened: bool, size: int = _USUAL_SIZE
) -> tuple[GDP, Perturbed]:
    """The joint cost of all sums, and the largest minimisation that the rest of the budget covers.

    whitened: whether public rows make the looks unnecessary. The size affects only the slack.
    """
    budget, slack = _spent(budget, size), size * _SLACK
    besides = _besides(budget, (0.0 if whitened else _LOOK + _WHITENING) + _HESSIAN)
    curvature = budget.epsilon / (8 if replaced else 4)
    while True:
        mu = largest_gradient_mu(
            budget.epsilon,
            budget.delta,
            curvature,
            replaced=replaced,
            smoothing=_SMOOTHING,
            slack=slack,
            besides=besides,
        )
        if mu is not None:
            return GDP(besides), Perturbed(mu, curvature, _SMOOTHING * mu, replaced, slack)
        curvature /= 2
        if curvature < 1e-9 * budget.epsilon:
            raise GuaranteeError(f"solver='objective' cannot give a guarantee this strong: {budget}; use solver='gd'")
