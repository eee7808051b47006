"""The error of an estimate due to noise in the gradient's response.

A measurement gives the optimum phi - response^-1 gradient. If noise hides how flat a direction is,
the step may be many times too short, and no linear formula gives the error. So the response is
drawn from its possible values, given the noisy curvatures, and the spread of the resulting optima
is computed. Nothing here queries the source.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.algorithms.parts.measure import Estimate, Measurement
from discreet.algorithms.parts.noisy_matrix import Seen, combined, held, inverses, relative_directions
from discreet.rows import Floats

_DRAWS, _LEAST_DRAWS, _DRAWS_SIZE = 60, 12, 3000
# Bounds on the eigenvalues of a drawn response, relative to the mean estimated one; the second is
# for directions that noise would allow to be seen.
_FLATTEST, _FLATTEST_SEEN, _STEEPEST = 0.03, 1e-4, 4.0
# Off-diagonal entries may differ from the estimate by their observed variance, plus this many
# standard errors of it.
_MORE = 1.0
# A curvature is certainly smaller than foreseen by this many standard deviations of its noise.
_SURE = 2.0
# A curvature falls by at most this part.
_ALL = 1 - 1e-12
_NODES, _MASSES = np.polynomial.hermite_e.hermegauss(15)
_MASSES = _MASSES / _MASSES.sum()


@dataclass(frozen=True, eq=False)
class Spread:
    """Covariances of an estimate: from noise in gradients and response, and from sampling."""

    noise: Floats
    sampling: Floats

    def turned(self, noise: Floats, sampling: Floats) -> Spread:
        """Each covariance, of errors that are multiplied by a matrix."""
        return Spread(noise @ self.noise @ noise.T, sampling @ self.sampling @ sampling.T)


def spread(
    estimate: Estimate,
    measurements: Sequence[Measurement],
    keeps: Sequence[float],
    inverses: Sequence[Floats],
    scores: Floats,
    hidden: Floats,
    absent: Floats | None = None,
) -> Spread:
    """The error of the estimate, if the inverse response is any of these.

    ``scores``: the covariance of scores, per row. ``hidden``: the covariance along directions of
    which the gradient says nothing. ``absent``: normals of slopes that the model is without.
    """
    size, frame = len(estimate.phi), measurements[0].frame
    gradients = [one.gradient(keeps) for one in measurements]
    both = list(zip(estimate.weights, measurements, gradients, strict=True))
    variance = sum((weight * noise_std) ** 2 for weight, _, (_, noise_std) in both)
    point = sum((weight * one.phi for weight, one, _ in both), np.zeros(size))
    slope = sum((weight * (value + frame.penalty @ one.phi) for weight, one, (value, _) in both), np.zeros(size))
    draws = len(inverses)
    points = np.tile(point, (draws, 1))
    if absent is not None:
        cuts = [held(back, absent) for back in inverses]
        inverses = [cut @ back for cut, back in zip(cuts, inverses, strict=True)]
        points = np.array([cut @ point for cut in cuts])
    stacked = np.vstack(inverses)  # they are symmetric, so the sum of B S B is stacked^T (S B, stacked)
    off = points - (stacked @ slope).reshape(draws, size) - estimate.phi
    noise = (off.T @ off + variance * stacked.T @ stacked) / draws
    sampling = stacked.T @ np.vstack([scores @ back for back in inverses]) / (frame.count * draws)
    return Spread(noise + estimate.unsure + hidden, sampling)


def fading(spread: Spread, step: Floats, response: Seen, foreseen: Floats, rate: float, farthest: float) -> Spread:
    """The covariances, wider along directions whose curvature decreases beyond the last point.

    A Newton step assumes a constant curvature. Rows whose weights decrease along the step, such as
    those of a group with only one class, respond less and less. If the curvature falls like
    exp(-rate t), a step of length s should be -log(1 - rate s) / rate, and no step is long enough
    for rate s >= 1 (no maximum likelihood estimate exists).

    ``rate``: the largest rate at which the weight of the longest rows falls. The curvature falls as
    fast if it is far smaller than foreseen for rows of all lengths: few rows then contribute to it,
    and their weights are falling.
    """
    values, directions, coordinates = relative_directions(response.curvature, foreseen)
    turned = Spread(coordinates @ spread.noise @ coordinates.T, coordinates @ spread.sampling @ coordinates.T)
    scales = np.ones((2, len(values)))
    for index, value in enumerate(values):
        length = float(np.linalg.norm(directions[:, index]))
        falls = rate * max(1 - (value + _SURE * response.noise_std * length**2) ** 2, 0.0)
        if falls > 0:
            along = length * np.eye(len(values))[index]
            scales[:, index] = _widened(turned, coordinates @ step, along, Exponential(falls), farthest)
    turns = [(directions * some) @ coordinates for some in scales]
    return spread.turned(*turns)


def fading_group(spread: Spread, step: Floats, row: Floats, change: Floats, reach: Reach, farthest: float) -> Spread:
    """The covariances, wider for the predictor of a rare category, whose rows are alike: their
    model tells how far the step should be.

    ``row``: the mean of z in the category; ``change``: that of phi that moves the predictor of such
    rows alone by 1.
    """
    scales = _widened(spread, step, row, reach, farthest)
    return spread.turned(*(np.eye(len(row)) + (scale - 1) * np.outer(change, row) for scale in scales))


class Reach(Protocol):
    """How far steps should be whose lengths assume a constant curvature, and what is left of the
    curvature there.
    """

    def __call__(self, lengths: Floats) -> Floats: ...

    def left(self, length: float) -> float: ...


@dataclass(frozen=True)
class Exponential:
    """The curvature falls like exp(-rate |t|)."""

    rate: float

    def __call__(self, lengths: Floats) -> Floats:
        return np.asarray(-np.sign(lengths) * np.log1p(-np.minimum(self.rate * np.abs(lengths), _ALL)) / self.rate)

    def left(self, length: float) -> float:
        return 1 - min(self.rate * abs(length), _ALL)


def _widened(spread: Spread, step: Floats, row: Floats, reach: Reach, farthest: float) -> tuple[float, float]:
    """The factors of the noise and the sampling error of a predictor, whose coefficients are
    ``row``, by the end of this step.

    The noise is that of a step of its right length, up to ``farthest``, given the noise in the
    length. The sampling error is what a fit without privacy would state at the end of the step:
    that of a smaller curvature.
    """
    noise, chance = (math.sqrt(max(float(row @ one @ row), 0.0)) for one in (spread.noise, spread.sampling))
    along = float(row @ step)
    wider = 1.0
    if noise > 0:
        lengths = along + noise * _NODES
        right = np.sign(lengths) * np.clip(
            np.abs(reach(lengths)), np.abs(lengths), np.maximum(farthest, np.abs(lengths))
        )
        wider = math.sqrt(max(float(_MASSES @ (right - along) ** 2), noise**2)) / noise
    flatter = 1 / math.sqrt(max(reach.left(along), 1 - _ALL))
    return wider, max(min(flatter, farthest / max(chance, 1e-300)), 1.0)


def likely_inverses(
    response: Floats, below: Floats, seen: Sequence[Seen], penalty: Floats, foreseen: float
) -> list[Floats]:
    """Inverses of possible responses; ``below``: the part below the clip norm, whose
    curvatures were released.

    The diagonal is taken as released, up to noise, because columns may have different
    scales. Off-diagonal entries have a common prior variance, which is estimated from all
    of them (empirical Bayes).
    """
    size = len(response)
    released = combined(seen)
    noise, difference = released.noise_std, (released.curvature + released.curvature.T) / 2 - below
    beside = ~np.eye(size, dtype=bool)
    # Off-diagonal noise has half the variance of diagonal noise.
    count, variance = size * (size - 1) / 2, noise**2 / 2

    def trust(entries: Floats) -> float:
        """The part of what entries off the diagonal show that is not noise."""
        square = float(np.mean(entries[beside] ** 2)) if size > 1 else 0.0
        spread = max(square - variance, 0.0) + _MORE * variance * np.sqrt(2 / max(count, 1.0))
        return float(spread / max(spread + variance, 1e-300))

    centre = np.where(beside, trust(difference) * difference, difference)
    # ``below`` has taken over what is clear of the noise, with the noise along it.
    known = max(trust(difference), trust(difference + below - foreseen * np.eye(size)))
    width = np.where(beside, np.sqrt(known * variance), noise)
    # Noise alone may make a response seem far steeper than foreseen; it may be as flat as foreseen.
    typical = max(min(float(np.trace(response)) / size, foreseen), 1e-300)
    steepest = float(np.linalg.eigvalsh(response)[-1])
    flattest = min(_FLATTEST * typical, max(noise, _FLATTEST_SEEN * typical))
    random = np.random.default_rng(size)  # not noise for privacy: any fixed draws are fine
    draws = max(_LEAST_DRAWS, min(_DRAWS, _DRAWS_SIZE // size))
    result: list[Floats] = []
    while len(result) < draws:  # all at once if they are small
        some = min(max(_DRAWS_SIZE // size, 1), draws - len(result))
        upper = np.triu(random.standard_normal((some, size, size)))
        noisy = upper + np.swapaxes(np.triu(upper, 1), 1, 2)
        values, vectors = np.linalg.eigh(response + centre + width * noisy)
        values = np.clip(values, flattest, max(_STEEPEST * typical, steepest))
        result += inverses((vectors * values[:, np.newaxis]) @ np.swapaxes(vectors, 1, 2) + penalty)
    return result
