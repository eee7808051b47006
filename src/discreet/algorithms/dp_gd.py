"""DP-GD (Avella-Medina, Bradshaw and Loh), the baseline of PMT's figures 1 and
4, with per-row clipping.

beta <- beta - step (sum of clipped gradients + noise) / n, T times from 0. A row's gradient
(mean - y) z is clipped at norm c, so a replaced row moves a sum by at most 2 c, and noise of
standard deviation 2 c sqrt(T) / mu makes T steps mu-GDP together. That is what the paper prints,
and it is exact: there is no other calibration.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.first_look import XScaling, first_look
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel, Guess, without_errors
from discreet.algorithms.steps.label_units import LabelUnits
from discreet.algorithms.steps.repair import projected
from discreet.privacy import GDP, Budget
from discreet.rows import Floats, Source
from discreet.rows.gradient import GradientSum

_STEPS = 20
# The share of mu^2 for the number of rows, where it is private.
_COUNT_SHARE = 0.03
# Coefficients of this size, on columns scaled to [-1, 1] or white ones, have diverged.
_FAR = 1e6


def dp_gd(
    source: Source,
    budget: Budget,
    model: GlmModel,
    *,
    x_radius: float,
    guess: Guess | None = None,
    steps: int | None = None,
    step: float | None = None,
    clip: float | None = None,
) -> GlmFit:
    """T steps in the declared coordinates, or in public white ones; ``clip`` is in the units of y.

    Privacy: ``steps`` sums of gradients with norm at most ``clip``; their joint cost is the budget.
    """
    rounds = _STEPS if steps is None else steps
    count, share = _count(source, budget, model, x_radius)
    units = LabelUnits.of(model)
    model = units.model(model)
    coordinates, length = _ground(model, x_radius, guess)
    weight = max(float(model.family.weight(model.link.predictor(model.labels.centre), model.link)), 1e-6)
    # The root of a row's information is the typical size of its score; a loss may
    # have declared a bound.
    usual = math.sqrt(weight) if model.family.limit is None else model.family.limit
    longest = usual * length if clip is None else clip / units.unit
    columns = coordinates.matrix[:, 1:]
    penalty = (columns * model.penalty) @ columns.T / count
    pace = 1 / (weight + float(np.linalg.norm(penalty, 2))) if step is None else step
    each = GDP(budget.mu * math.sqrt(share / rounds) * (1 - 1e-14))
    beta, path = np.zeros(coordinates.size), []
    for _ in range(rounds):
        gradient = source.sum(_gradient(model, coordinates, beta, longest, length), each).value[:, 0]
        beta = projected(beta - pace * (gradient / count + penalty @ beta), _FAR)
        path.append(units.coefficients(coordinates.coefficients(beta)))
    if float(np.linalg.norm(beta)) >= _FAR / 2:
        warnings.warn("solver='dp_gd' did not converge: pass a smaller step=", UserWarning, stacklevel=2)
    return without_errors(path[-1], count, len(path), path=path)


def _gradient(model: GlmModel, coordinates: Coordinates, at: Floats, clip: float, length: float) -> GradientSum:
    family, link = model.family, model.link
    return GradientSum(
        coordinates.map(at), model.labels, lambda y, eta, _: family.score(y, eta, link), clip=clip, radius=length
    )


def _ground(model: GlmModel, x_radius: float, guess: Guess | None) -> tuple[Coordinates, float]:
    """Coordinates, and the typical length of rows in them."""
    if guess is not None and guess.white is not None:
        return guess.white, math.sqrt(guess.white.size)
    if model.origin is None:
        return Coordinates(np.eye(model.size)), min(math.hypot(1.0, x_radius), math.sqrt(model.size))
    return Coordinates.through_origin(model.origin, 1.0), x_radius + float(np.linalg.norm(model.origin))


def _count(source: Source, budget: Budget, model: GlmModel, x_radius: float) -> tuple[float, float]:
    """The number of rows, and the share of the budget that is left after
    releasing it, if it is private.
    """
    if source.public_rows is not None:
        return float(max(source.public_rows, 1)), 1.0
    nothing = XScaling(np.zeros(model.width), 1.0)
    cost = GDP(budget.mu * math.sqrt(_COUNT_SHARE) * (1 - 1e-14))
    return first_look(source, cost, model.width, x_radius, nothing).count, 1 - _COUNT_SHARE
