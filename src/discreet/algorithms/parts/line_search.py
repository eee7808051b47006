"""The length of a start along its direction, from a small histogram instead of an assumption.

The start (parts/start.py) assumes normal rows in white coordinates. If they are skewed or
heavy-tailed its direction is still useful but its length is not: for two classes all probabilities
may be near 0 or 1 there. One noisy histogram of the labels along that direction, for any number of
columns, shows how they depend on it. Length and constant are then those of a model with one column.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.algorithms.parts.constants import constants
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.steps.whitening import LabelScale
from discreet.rows import Answer, Floats, LinearMap
from discreet.rows.gradient import LabelProfile

# Positions along the direction, in standard deviations of rows; the outermost cells are open.
_EDGES = np.array([-16, -8, -5, -3.5, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3.5, 5, 8, 16], dtype=float)
_MIDDLES = np.concatenate([[-20.0], (_EDGES[1:] + _EDGES[:-1]) / 2, [20.0]])
# Labels are clipped at this many standard deviations below and above their mean.
_BELOW, _ABOVE = 4.0, 6.0
# The slope of labels is known up to this many standard deviations of noise and chance.
_MARGIN = 1.0
_LONGEST, _HALVINGS = 10.0, 50


def profile(frame: Frame, phi: Floats, label: LabelScale) -> LabelProfile:
    """The query: labels along the slopes of phi."""
    first, labels = int(frame.coordinates.constant), frame.model.labels
    slopes = phi[first:] / max(float(np.linalg.norm(phi[first:])), 1e-300)
    matrix = slopes @ frame.coordinates.matrix[first:]
    return LabelProfile(
        LinearMap(matrix[np.newaxis]),
        labels,
        _EDGES,
        max(labels.low, label.centre - _BELOW * label.scale),
        min(labels.high, label.centre + _ABOVE * label.scale),
        1.0 if frame.model.exposure is None else frame.model.exposure[1],
    )


def relative_noise(query: LabelProfile, noise_std: float, frame: Frame, phi: Floats) -> float:
    """The noise of the resulting length, in standard deviations of eta."""
    slope = abs(float(frame.foresight.slope(phi))) * frame.count
    return noise_std * (query.high - query.low) * math.sqrt(len(_EDGES)) / max(slope, 1e-300)


def along(frame: Frame, phi: Floats, query: LabelProfile, answer: Answer) -> Floats:
    """Phi with the length and constant that reproduce the mean label and its slope in the profile.

    It is the shortest length that noise and chance allow: a start that is too long is far worse
    than one that is too short, and if a group has only one class all long ones are possible.
    """
    first, link = int(frame.coordinates.constant), frame.model.link
    # A cell filled by noise alone may be anywhere.
    seen = answer.value[:, 0] > 3 * answer.noise_std
    if np.sum(seen) < 2:  # a single cell is compatible with any length
        return phi
    exposures = answer.value[seen, 0] * query.largest_exposure
    sums = answer.value[seen, 1] * (query.high - query.low) + query.low * exposures
    places = _MIDDLES[seen]
    noise = answer.noise_std * (query.high - query.low) * float(np.linalg.norm(places))
    family = frame.model.family

    def excess(length: float) -> tuple[float, float]:
        """The constant for the mean label at this length, and the unexplained slope of
        labels beyond noise and chance.
        """
        total, predictors = float(np.sum(sums)), length * places[np.newaxis]
        middle = float(constants(link, predictors, exposures, total)[0]) if first else 0.0
        means = link.mean(middle + length * places)
        chance = float(places**2 @ (exposures * family.variance(means))) * frame.dispersion
        return middle, float(places @ (exposures * means - sums)) + _MARGIN * math.sqrt(noise**2 + chance)

    shortest, longest = 0.0, _LONGEST
    for _ in range(_HALVINGS):
        length = (shortest + longest) / 2
        constant, slope = excess(length)
        shortest, longest = (length, longest) if slope < 0 else (shortest, length)
    slopes = phi[first:] * (length / max(float(np.linalg.norm(phi[first:])), 1e-300))
    return np.concatenate([[constant], slopes]) if first else slopes
