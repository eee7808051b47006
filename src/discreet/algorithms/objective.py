"""Objective perturbation for logistic regression (Chaudhuri et al.; Kifer, Smith and Thakurta; Iyengar et al.).

1. A first look and a noisy second moment, unless public data tells: coordinates in which rows are white.
2. The exact minimiser of the rows' loss with a random linear term and a ridge, found behind the door and released once.
3. The Hessian there, for standard errors and to tell how far the ridge has drawn.

It spends the budget on what amounts to one gradient at the answer, and clips no score: as the budget grows the fit is
the maximum of the likelihood. docs/papers/objective.md proves the cost: the ridge costs no privacy where it is at least
R^2 / epsilon (twice that for replaced rows), so that is the ridge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.first_look import Scaling, first_look
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel, Guess
from discreet.algorithms.steps.repair import definite
from discreet.algorithms.steps.whitening import LabelScale, whiten_labels
from discreet.errors import GuaranteeError
from discreet.privacy import GDP, Budget, Perturbed, largest_gradient_mu
from discreet.rows import Answer, Floats, LinearMap, LogisticLoss, MinimisingSource, RowsUsed
from discreet.rows.truncated import ShortenedInformation

# Shares of mu^2 where public rows do not tell: the first look and the second moment.
_LOOK, _WHITENING = 0.05, 0.15
# ... and what the Hessian costs.
_HESSIAN = 0.05
# The smoothing's mu as a share of the gradient's: 0.1 % of the variance.
_SMOOTHING = 0.05
# The chance that an entry of the discrete noise is far from its continuous twin, and then some.
_SLACK = 2e-21
# Rows are cut at this multiple of their typical length, and later as the noise allows.
_RADIUS = 1.0
_LEAST_SHARE = 0.002
# Beyond this the noise is nothing beside one row. And e^epsilon times the slack must stay far below delta.
_LARGEST_EPSILON, _SLACK_SHARE = 30.0, 0.01
# A slope that is penalised this many times as much as by the ridge is 0 to within 1e-5: more changes nothing.
_MOST_PENALTY, _LARGEST = 2.0**43, 1e150
# A price without a table is that of so many coefficients.
_USUAL_SIZE = 100
# Where public rows make every look superfluous and the number of rows is private: for the choice of a radius only.
_UNKNOWN_COUNT = 10_000


def objective(
    source: MinimisingSource,
    budget: Budget,
    model: GlmModel,
    *,
    x_radius: float,
    guess: Guess | None = None,
) -> GlmFit:
    """Fit by one perturbed minimisation.

    Privacy: one to three sums and one minimisation, whose costs together are the budget.
    """
    if model.family.name != "bernoulli" or model.link.name != "logit":
        raise ValueError("solver='objective' is for logistic regression: its cost rests on labels 0 and 1")
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
    """The user's penalty in these coordinates; what exceeds any data by far counts as just that."""
    most = _MOST_PENALTY * ridge
    columns = coordinates.matrix[:, 1:] / math.sqrt(most)
    with np.errstate(over="ignore"):
        penalty = (columns * np.minimum(model.penalty, _LARGEST)) @ columns.T
    values, vectors = np.linalg.eigh(np.clip(penalty, -_LARGEST, _LARGEST))
    penalty = np.asarray((vectors * (most * np.clip(values, 0.0, 1.0))) @ vectors.T)
    free = ~np.any(columns, axis=1)  # the constant stays free, to the last bit
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
    """The released point, and about it what the ridge, the linear term and the rows themselves make it vary by.

    Privacy: asks the source for one sum.
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
    # To first order the ridge has drawn theta by this towards its centre: the estimate takes it back.
    back = np.eye(size) + ridge * inverse
    estimate = theta + ridge * inverse @ (theta - white.centre)
    noise = (query.bound / cost.gradient_mu) ** 2 * inverse @ inverse + answer.noise_std**2 * np.eye(size)
    turn = white.coordinates.matrix.T
    return GlmFit(
        coef=turn @ theta,
        estimate=turn @ estimate,
        count=white.count,
        iterations=1,
        noise_covariance=turn @ back @ noise @ back.T @ turn.T,
        sampling_covariance=turn @ back @ inverse @ information @ inverse @ back.T @ turn.T,
        used=white.used,
    )


def _part(budget: Budget, share: float) -> GDP:
    return GDP(budget.mu * math.sqrt(share))


@dataclass(frozen=True, eq=False)
class _White:
    """White coordinates, what the ridge draws towards in them, and about how many rows there are."""

    coordinates: Coordinates
    centre: Floats
    count: float
    used: RowsUsed | None = None


def _white(source: MinimisingSource, budget: Budget, model: GlmModel, x_radius: float, guess: Guess | None) -> _White:
    """Public white coordinates, or those of one noisy second moment."""
    if guess is not None and guess.coordinates is not None:
        centre = np.zeros(model.size)
        if guess.coefficients is not None:
            centre = guess.coordinates.phi(guess.coefficients)
        return _White(guess.coordinates, centre, float(source.public_rows or _UNKNOWN_COUNT))
    scaling = first_look(source, _part(budget, _LOOK), model.width, x_radius, None if guess is None else guess.scaling)
    if model.origin is None:
        coordinates = Coordinates.scaled(scaling.x_centre, scaling.x_scale)
    else:
        distance = float(np.sqrt(np.mean((scaling.x_centre - model.origin) ** 2)))
        coordinates = Coordinates.through_origin(model.origin, math.hypot(scaling.x_scale, distance))
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
    """How many noise standard deviations one typical row is, summed over all rows, per coefficient."""
    return budget.mu * count / (model.size * (2.0 if source.replaces_rows else 1.0))


def _besides(budget: Budget, spent: float) -> float:
    """The mu of all sums beside the minimisation, rounded up."""
    return math.sqrt(spent) * budget.mu * (1 + 1e-12)


def _spent(budget: Budget, size: int) -> Budget:
    """As much of the budget as is of use."""
    largest = min(_LARGEST_EPSILON, math.log(_SLACK_SHARE * budget.delta / (size * _SLACK)))
    return Budget.of(largest, budget.delta) if budget.epsilon > largest > 0 else budget


def objective_costs(
    budget: Budget, *, replaced: bool, whitened: bool, size: int = _USUAL_SIZE
) -> tuple[GDP, Perturbed]:
    """All sums together, and the largest minimisation that the rest of the budget covers, with a ridge that is free.

    whitened: whether public rows make the looks superfluous. The size matters for nothing but the slack.
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
            raise GuaranteeError(f"solver='objective' cannot promise so little: {budget}; use solver='gd'")
