"""PMT for linear models (PMT, Algorithms 1 and 2): public moments whiten and
truncate; one joint release.

1. Transform (Algorithm 1): z = Sigma_B^(-1/2) (1, x), clipped at a multiple of
   sqrt(d), its typical norm.
2. Release (Algorithm 2): the second moment of (z, y), jointly and with isotropic noise, instead of
   z z^T and z y separately.
3. Ridge: the user's penalty in these coordinates, lambda Sigma_B^-1 (Theorem 4.1), and
   shrinkage by the known noise.

docs/papers/pmt.md has the sensitivities and the changes; the printed noise is in printed_pmt.py.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.first_look import Scaling, first_look
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel, Guess
from discreet.algorithms.steps.second_moment import LABEL_LENGTH, planned_clips
from discreet.glm import NoisyQuadratic
from discreet.privacy import GDP, Budget
from discreet.rows import Answer, Floats, LinearMap, MappedMoment, Source

# The share of mu^2 for the look at y.
_LOOK = 0.04


def pmt(
    source: Source,
    budget: Budget,
    model: GlmModel,
    *,
    x_radius: float,
    guess: Guess | None = None,
    l1: Floats | None = None,
) -> GlmFit:
    """Least squares in the coordinates that public moments make white.

    ``l1``: the penalty on absolute coefficients of encoded x, added to half the sum of
    squares. It is solved from the same release in x's own coordinates, because it
    applies to single coefficients.

    Privacy: two sums; their joint cost is the budget.
    """
    if guess is None:
        raise ValueError("solver='pmt' needs public moments; without them solver='moments' makes the same release")
    look, rest = budget.split([_LOOK, 1 - _LOOK])
    scaling = first_look(source, look, model.width, x_radius, guess.scaling)
    coordinates = _coordinates(model, guess)
    longest = float(np.linalg.norm(coordinates.matrix, 2)) * math.hypot(1.0, x_radius)
    query = _planned(source, rest, model, coordinates, scaling, longest)
    fit = _least_squares(model, coordinates, query, source.sum(query, rest), scaling.count, l1)
    return replace(fit, used=scaling.used(source.public_rows))


def _coordinates(model: GlmModel, guess: Guess) -> Coordinates:
    if guess.white is not None:
        return guess.white
    if model.origin is None:
        return Coordinates.scaled(guess.scaling.centre, guess.scaling.scale)
    distance = float(np.sqrt(np.mean((guess.scaling.centre - model.origin) ** 2)))
    return Coordinates.through_origin(model.origin, math.hypot(guess.scaling.scale, distance))


def _planned(
    source: Source, cost: GDP, model: GlmModel, coordinates: Coordinates, scaling: Scaling, longest: float
) -> MappedMoment:
    """The query whose clip norms balance noise against clipping bias, from public
    and released numbers only.

    ``longest``: the largest norm of a declared row in these coordinates. As the budget grows
    nothing is clipped, and the fit becomes ordinary least squares.
    """
    labels, size = model.labels, coordinates.size
    centre, scale = labels.centre + labels.half_width * scaling.y_centre, labels.half_width * scaling.y_scale
    if model.origin is not None:
        centre, scale = 0.0, math.hypot(scale, centre)
    widest = max(labels.high - centre, centre - labels.low) / scale

    def query(radius: float, bound: float) -> MappedMoment:
        return MappedMoment(
            map=LinearMap(coordinates.matrix),
            labels=labels,
            y_centre=centre,
            y_scale=scale,
            y_bound=bound,
            y_weight=radius * math.sqrt(LABEL_LENGTH) / bound,
            radius=radius,
        )

    radius, bound = planned_clips(lambda *norms: source.noise_std(query(*norms), cost), size, scaling.count)
    return query(min(radius, longest), min(bound, widest))


def _least_squares(
    model: GlmModel, coordinates: Coordinates, query: MappedMoment, answer: Answer, count: float, l1: Floats | None
) -> GlmFit:
    moment, constant = (answer.value + answer.value.T) / 2, coordinates.constant
    quadratic = NoisyQuadratic.of_label(moment, answer.noise_std, constant, query.y_weight, None if constant else count)
    # Theorem 4.1: the penalty on the coefficients of x, transformed to those of z; as rows
    # with label 0 would act.
    quadratic.moment[:-1, :-1] += model.penalty_in(coordinates)
    solution = quadratic.solve(*_absolute(coordinates, l1, query.y_scale))
    turn = coordinates.matrix.T * query.y_scale
    shift = np.zeros(len(turn))
    shift[0] = query.y_centre
    coef = shift + turn @ solution.coef
    if l1 is not None:  # zeros that the change of coordinates made inexact
        coef = np.where(np.abs(coef) < 1e-12 * np.max(np.abs(coef)), 0.0, coef)
    return GlmFit(
        coef=coef,
        estimate=shift + turn @ solution.estimate,
        count=quadratic.weight,
        iterations=1,
        noise_covariance=turn @ solution.noise_covariance @ turn.T,
        sampling_covariance=turn @ solution.sampling_covariance @ turn.T,
        dispersion=solution.residual_variance * query.y_scale**2,
    )


def _absolute(coordinates: Coordinates, l1: Floats | None, y_scale: float) -> tuple[Floats | None, Floats | None]:
    """The L1 penalties of (1, x) for labels in units of ``y_scale``, and the matrix
    from phi to coefficients.
    """
    if l1 is None:
        return None, None
    if coordinates.constant:
        return np.concatenate([[0.0], l1]) / y_scale, coordinates.matrix
    return l1 / y_scale, coordinates.matrix[:, 1:]
