"""Where a descent starts: white coordinates, and a point from the linear fit that comes with them."""

from __future__ import annotations

import math

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.descent_plan import DescentPlan
from discreet.algorithms.steps.first_look import Scaling
from discreet.algorithms.steps.glm_model import GlmModel, Guess
from discreet.algorithms.steps.local import Local
from discreet.algorithms.steps.whitening import LabelScale, LinearStart, whiten
from discreet.privacy import GDP
from discreet.rows import LinearMap, MappedMoment, Source

# A start farther from the constant model than this, in standard deviations of eta, is noise or a separable set.
_FARTHEST_START = 1.5
# Public rows lie elsewhere if private ones, shortened to this, keep less than this of their constants' squares; labels
# weigh nothing there.
_LONGEST, _KEPT, _DOUBT, _NO_LABEL = 1.25, 0.5, 0.25, 1e-6


def start(
    source: Source, cost: GDP, model: GlmModel, plan: DescentPlan, scaling: Scaling, offset: float, guess: Guess | None
) -> Local:
    """White coordinates and a first point in them; ``offset`` is the log of the mean exposure.

    Privacy: asks the source for ``plan.rounds`` sums, whose costs together are ``cost``.
    """
    label = _label_scale(model, scaling)
    coordinates = _coordinates(model, scaling, guess)
    radius = plan.moment_radius * math.sqrt(model.size)
    return _linked(model, label, whiten(source, cost, plan.rounds, coordinates, label, radius, scaling.count), offset)


def _label_scale(model: GlmModel, scaling: Scaling) -> LabelScale:
    centre = model.labels.centre + model.labels.half_width * scaling.y_centre
    scale = model.labels.half_width * scaling.y_scale
    if model.origin is not None:
        # Without an intercept the model passes through the mean at eta = 0, and labels are measured from there.
        through = float(model.link.mean(0.0))
        return LabelScale(model.labels, through, math.hypot(scale, centre - through))
    return LabelScale(model.labels, centre, scale)


def _coordinates(model: GlmModel, scaling: Scaling, guess: Guess | None) -> Coordinates:
    if guess is not None and guess.coordinates is not None:
        return guess.coordinates
    if model.origin is None:
        return Coordinates.scaled(scaling.x_centre, scaling.x_scale)
    distance = float(np.sqrt(np.mean((scaling.x_centre - model.origin) ** 2)))
    return Coordinates.through_origin(model.origin, math.hypot(scaling.x_scale, distance))


def lies_there(source: Source, cost: GDP, model: GlmModel, scaling: Scaling, guess: Guess | None) -> bool:
    """Whether the private rows lie about where the public ones do: of length sqrt(size) in coordinates that these gave.

    Beside a constant of 1 the row is given half its length over sqrt(size), and all is shortened to 1.25: a row as
    expected keeps its constant, one that is three times too long keeps half of its square. The noise is that of a few
    numbers, however many columns there are. In doubt they do: the share of rows that keep their constants must be known
    well enough that it is not mistaken more than once in a hundred times.

    Privacy: asks the source for one sum, if the guess has coordinates.
    """
    if guess is None or guess.coordinates is None:
        return True
    coordinates, label = guess.coordinates, _label_scale(model, scaling)
    matrix = coordinates.matrix / (2 * math.sqrt(coordinates.size))
    matrix[0] = np.eye(1, matrix.shape[1])[0]
    query = MappedMoment(
        map=LinearMap(matrix),
        labels=label.labels,
        y_centre=label.centre,
        y_scale=label.scale,
        y_bound=1.0,
        y_weight=_NO_LABEL,
        radius=_LONGEST,
        label="second moment where public rows lie",
    )
    answer = source.sum(query, cost)
    seen, noise_std = float(answer.value[0, 0]) / scaling.count, answer.noise_std / scaling.count
    return noise_std > _DOUBT or seen + noise_std > _KEPT


def _linked(model: GlmModel, label: LabelScale, linear: LinearStart, offset: float) -> Local:
    """The linear fit of labels turned into one of eta, by the link's slope at the mean."""
    constant = linear.coordinates.constant
    mean = label.centre + label.scale * (float(linear.phi[0]) if constant else 0.0)
    eta = float(model.link.predictor(model.sensible_mean(mean))) if constant else 0.0
    phi = linear.phi * label.scale / max(float(model.link.slope(eta)), 1e-12)
    slopes = phi[int(constant) :]
    length = float(np.linalg.norm(slopes))
    if model.link.name != "identity":
        slopes *= min(1.0, _FARTHEST_START / max(length, 1e-300))
    if constant:
        # Where the mean is convex in eta, spread of eta raises it.
        phi[0] = eta - offset - (min(length, 1.0) ** 2 / 2 if model.link.name == "log" else 0.0)
    curvature = max(float(model.family.weight(eta, model.link)), 1e-12)
    score_variance = (float(model.family.gain(eta, model.link)) * label.scale) ** 2 * linear.residual_variance
    dispersion = 1.0 if model.family.dispersion_known else score_variance / curvature
    return Local(linear.coordinates, phi, curvature, dispersion)
