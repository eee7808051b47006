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
from discreet.rows.gradient import GradientSum, WeightedMoment

_STEPS = 20
# The share of mu^2 for the number of rows, where it is private.
_COUNT_SHARE = 0.03
# With a user's loss: for the features' centres and scale, and for each of the second moments that
# make them white.
_LOOK_SHARE, _MOMENT_SHARE, _MOMENTS = 0.06, 0.05, 3
# Rows are shortened to this many of their usual length in a second moment.
_MOMENT_CLIP = 1.3
_CLEAR = 4.0
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
    """T steps in the declared coordinates, public white ones, or (a user's loss) white ones.

    ``clip`` is in the units of y. Privacy: what makes columns white, then ``steps`` sums of
    gradients with norm at most ``clip``; their joint cost is the budget.
    """
    rounds = _STEPS if steps is None else steps
    looks = model.family.limit is not None and model.origin is None and (guess is None or guess.white is None)
    if looks:
        # A user's loss is not a baseline: neither wide bounds nor correlated columns may make its
        # steps too short.
        count, white = _white(source, budget, model, x_radius)
        share = 1 - _LOOK_SHARE - _MOMENTS * _MOMENT_SHARE
    else:
        count, share = _count(source, budget, model, x_radius)
    units = LabelUnits.of(model)
    model = units.model(model)
    coordinates, length = _ground(model, x_radius, guess)
    if looks:
        coordinates, length = white, math.sqrt(model.size)
    weight = max(float(model.family.weight(model.link.predictor(model.labels.centre), model.link)), 1e-6)
    # The root of a row's information is the typical size of its score; a loss may
    # have declared a bound.
    usual = math.sqrt(weight) if model.family.limit is None else model.family.limit
    longest = usual * length if clip is None else clip / units.unit
    columns = coordinates.matrix[:, 1:]
    penalty = (columns * model.penalty) @ columns.T / count
    pace = 1 / (weight + float(np.linalg.norm(penalty, 2))) if step is None else step
    each = _part(budget, share / rounds)
    beta, path = np.zeros(coordinates.size), []
    for _ in range(rounds):
        gradient = source.sum(_gradient(model, coordinates, beta, longest, length), each).value[:, 0]
        beta = projected(beta - pace * (gradient / count + penalty @ beta), _FAR)
        path.append(units.coefficients(coordinates.coefficients(beta)))
    if float(np.linalg.norm(beta)) >= _FAR / 2:
        warnings.warn("solver='dp_gd' did not converge: pass a smaller step=", UserWarning, stacklevel=2)
    return without_errors(path[-1], count, len(path), path=path)


def _white(source: Source, budget: Budget, model: GlmModel, x_radius: float) -> tuple[float, Coordinates]:
    """The number of rows, and coordinates in which columns are about white.

    Privacy: a first look and ``_MOMENTS`` second moments of rows no longer than their clip norm.
    """
    seen = first_look(source, _part(budget, _LOOK_SHARE), model.width, x_radius, None)
    coordinates = Coordinates.scaled(seen.x_centre, seen.x_scale)
    for _ in range(_MOMENTS):
        query = WeightedMoment(
            coordinates.map(np.zeros(coordinates.size)),
            model.labels,
            lambda _, eta, __: np.ones_like(eta),
            _MOMENT_CLIP * math.sqrt(coordinates.size),
            label="second moment",
        )
        answer = source.sum(query, _part(budget, _MOMENT_SHARE))
        moment, noise_std = answer.value / seen.count, answer.noise_std / seen.count
        # Where noise hides even the number of rows, the moment says nothing.
        if moment[0, 0] > _CLEAR * noise_std:
            coordinates = coordinates.whitened(moment, noise_std).coordinates
    return seen.count, coordinates


def _part(budget: Budget, share: float) -> GDP:
    return GDP(budget.mu * math.sqrt(share) * (1 - 1e-14))


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
    cost = _part(budget, _COUNT_SHARE)
    return first_look(source, cost, model.width, x_radius, nothing).count, 1 - _COUNT_SHARE
