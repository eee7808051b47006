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
from dataclasses import replace

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.declared import declared_coordinates, row_count
from discreet.algorithms.steps.first_look import Scaling, look_twice
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel, Guess, without_errors
from discreet.algorithms.steps.label_units import LabelUnits
from discreet.algorithms.steps.loss_descent import (
    Trail,
    clip_norm,
    likely_mean,
    longest_noise,
    longest_pace,
    size_histogram,
    without_noise,
)
from discreet.algorithms.steps.repair import projected
from discreet.privacy import Budget
from discreet.rows import Floats, Source
from discreet.rows.gradient import GradientSum, RowFunction, WeightedMoment

_STEPS = 20
# With a user's loss: for the features' centres and scale, and for each of the second moments that
# make them white.
_LOOK_SHARE, _MOMENT_SHARE, _MOMENTS = 0.1, 0.05, 3
# The share of that look for labels alone: a start far from them would be clipped.
_LABEL_SHARE = 0.5
# With a user's loss: for the histogram that sets the clip norm.
_SIZES_SHARE = 0.05
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
    if model.family.limit is not None:
        return _user_loss(source, budget, model, x_radius, guess, rounds, step, clip)
    count, share = row_count(source, budget, model.width, x_radius)
    units = LabelUnits.of(model)
    model = units.model(model)
    coordinates, length = _ground(model, x_radius, guess)
    weight = max(float(model.family.weight(model.link.predictor(model.labels.centre), model.link)), 1e-6)
    # The root of a row's information is the typical size of its score.
    longest = math.sqrt(weight) * length if clip is None else clip / units.unit
    penalty = model.penalty_in(coordinates) / count
    pace = 1 / (weight + float(np.linalg.norm(penalty, 2))) if step is None else step
    each = budget.part(share / rounds)
    beta, path = np.zeros(coordinates.size), []
    for _ in range(rounds):
        gradient = source.sum(_gradient(model, coordinates, beta, longest, length), each).value[:, 0]
        beta = projected(beta - pace * (gradient / count + penalty @ beta), _FAR)
        path.append(units.coefficients(coordinates.coefficients(beta)))
    _warn_of_far(beta)
    return without_errors(path[-1], count, len(path), path=path)


def _user_loss(
    source: Source,
    budget: Budget,
    model: GlmModel,
    x_radius: float,
    guess: Guess | None,
    rounds: int,
    step: float | None,
    clip: float | None,
) -> GlmFit:
    """The same for a user's loss, which is not a baseline (algorithms/steps/loss_descent.py).

    Neither wide bounds nor correlated columns may make its steps too short, nor noise carry it
    away. Privacy: what makes columns white, a histogram of the sizes of scores (unless ``clip`` is
    given), then the gradients.
    """
    looks = model.origin is None and (guess is None or guess.white is None)
    units = LabelUnits.of(model)
    model, unscaled = units.model(model), model
    if looks:
        seen, coordinates = _white(source, budget, unscaled, x_radius)
        count, length = seen.count, math.sqrt(model.size)
        share = 1 - _LOOK_SHARE - _MOMENTS * _MOMENT_SHARE
        label_mean, label_scale = likely_mean(seen.y_mean, seen.y_noise_std), seen.y_scale
    else:
        count, share = row_count(source, budget, unscaled.width, x_radius)
        coordinates, length = _ground(model, x_radius, guess)
        label_mean, label_scale = 0.0, 1.0
    labels, link, start = model.labels, model.link, np.zeros(coordinates.size)
    level = float(link.predictor(model.sensible_mean(labels.centre + labels.half_width * label_mean)))
    if looks:
        start[0] = level - (0.0 if model.exposure is None else float(np.mean(np.log(model.exposure))))
    assert model.family.limit is not None
    longest = model.family.limit * length if clip is None else clip / units.unit
    if clip is None:
        share -= _SIZES_SHARE
        asked = _gradient(model, coordinates, start, longest, length)
        per_unit = source.noise_std(asked, budget.part(share)) * math.sqrt(coordinates.size) / longest
        query = size_histogram(coordinates.map(start), labels, _sizes(model), longest)
        longest = clip_norm(query, source.sum(query, budget.part(_SIZES_SHARE)), per_unit)
    penalty, each = model.penalty_in(coordinates) / count, budget.part(share / rounds)
    weight = max(float(model.family.weight(level, link)), 1e-6)
    trail, path = Trail(start, weight), []
    for _ in range(rounds):
        answer = source.sum(_gradient(model, coordinates, trail.here, longest, length), each)
        trail.noise_std = answer.noise_std / count
        pace = step
        if pace is None:
            pace = 1 / (weight + float(np.linalg.norm(penalty, 2)))
            reach = longest_noise(link, label_scale * labels.half_width)
            pace = longest_pace(pace, trail.noise_std, coordinates.size, rounds, reach)
        trail.step(answer.value[:, 0] / count + penalty @ trail.here, pace, _FAR)
        path.append(units.coefficients(coordinates.coefficients(trail.here)))
    _warn_of_far(trail.here)
    estimate, noise = trail.averaged()
    beta, said = without_noise(estimate, start, noise, coordinates.constant)
    coef = units.coefficients(coordinates.coefficients(beta))
    return replace(without_errors(coef, count, len(path), path=path), signal=said)


def _warn_of_far(beta: Floats) -> None:
    if float(np.linalg.norm(beta)) >= _FAR / 2:
        warnings.warn("solver='dp_gd' did not converge: pass a smaller step=", UserWarning, stacklevel=3)


def _white(source: Source, budget: Budget, model: GlmModel, x_radius: float) -> tuple[Scaling, Coordinates]:
    """A first look, and coordinates in which columns are about white.

    Privacy: two looks and ``_MOMENTS`` second moments of rows no longer than their clip norm.
    """
    cost = budget.part(_LOOK_SHARE)
    seen, _ = look_twice(source, cost, model.width, x_radius, label_share=_LABEL_SHARE, more=())
    coordinates = Coordinates.scaled(seen.x_centre, seen.x_scale)
    for _ in range(_MOMENTS):
        query = WeightedMoment(
            coordinates.map(np.zeros(coordinates.size)),
            model.labels,
            lambda _, eta, __: np.ones_like(eta),
            _MOMENT_CLIP * math.sqrt(coordinates.size),
            label="second moment",
        )
        answer = source.sum(query, budget.part(_MOMENT_SHARE))
        moment, noise_std = answer.value / seen.count, answer.noise_std / seen.count
        # Where noise hides even the number of rows, the moment says nothing.
        if moment[0, 0] > _CLEAR * noise_std:
            coordinates = coordinates.whitened(moment, noise_std).coordinates
    return seen, coordinates


def _gradient(model: GlmModel, coordinates: Coordinates, at: Floats, clip: float, length: float) -> GradientSum:
    family, link = model.family, model.link
    return GradientSum(
        coordinates.map(at), model.labels, lambda y, eta, _: family.score(y, eta, link), clip=clip, radius=length
    )


def _sizes(model: GlmModel) -> RowFunction:
    """The length of a row's gradient."""
    family, link = model.family, model.link
    return lambda y, eta, length: np.abs(family.score(y, eta, link)) * length


def _ground(model: GlmModel, x_radius: float, guess: Guess | None) -> tuple[Coordinates, float]:
    """Coordinates, and the typical length of rows in them."""
    if guess is not None and guess.white is not None:
        return guess.white, math.sqrt(guess.white.size)
    coordinates, longest = declared_coordinates(model, x_radius)
    return coordinates, min(longest, math.sqrt(model.size)) if coordinates.constant else longest
