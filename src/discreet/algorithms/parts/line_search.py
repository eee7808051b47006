"""The length of a start along its direction, from a small histogram instead of an assumption.

The start (parts/start.py) assumes normal rows in white coordinates. If they are skewed or
heavy-tailed its direction is still useful but its length is not: for two classes all probabilities
may be near 0 or 1 there. One noisy histogram of the labels along that direction, for any number of
columns, shows how they depend on it. Length and constant are then those of a model with one column.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.parts.constants import constants
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.steps.glm_model import GlmModel
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
# Beyond this many, the profile contradicts a guess.
_SURE = 2.0
_LONGEST, _HALVINGS = 10.0, 30


def profile(frame: Frame, phi: Floats, label: LabelScale) -> LabelProfile:
    """The query: labels along the slopes of phi."""
    first = int(frame.coordinates.constant)
    slopes = phi[first:] / max(float(np.linalg.norm(phi[first:])), 1e-300)
    return profile_along(frame.model, slopes @ frame.coordinates.matrix[first:], label)


def profile_along(model: GlmModel, position: Floats, label: LabelScale) -> LabelProfile:
    """Labels by position @ (1, x), in standard deviations."""
    labels = model.labels
    return LabelProfile(
        LinearMap(position[np.newaxis]),
        labels,
        _EDGES,
        max(labels.low, label.centre - _BELOW * label.scale),
        min(labels.high, label.centre + _ABOVE * label.scale),
        1.0 if model.exposure is None else model.exposure[1],
    )


def relative_noise(query: LabelProfile, noise_std: float, slope: float) -> float:
    """The noise of the resulting length, in standard deviations of eta; ``slope``: the derivative
    of the sum of labels in eta.
    """
    return noise_std * (query.high - query.low) * math.sqrt(len(_EDGES)) / max(abs(slope), 1e-300)


def along(frame: Frame, phi: Floats, query: LabelProfile, answer: Answer, label: LabelScale) -> Floats:
    """Phi with the length and constant that reproduce the mean label, as far as the look and the
    profile tell it, and its slope in the profile.

    It is the shortest length that noise and chance allow: a start that is too long is far worse
    than one that is too short, and if a group has only one class all long ones are possible.
    """
    first = int(frame.coordinates.constant)
    labels = _Profile.read(frame.model, query, answer, frame.dispersion)
    if labels is None:
        return phi
    labels = labels.with_look(label, frame.count)
    length = labels.length(_MARGIN, constant=bool(first))
    slopes = phi[first:] * (length / max(float(np.linalg.norm(phi[first:])), 1e-300))
    return np.concatenate([[labels.constant(length)], slopes]) if first else slopes


def nearest(frame: Frame, way: Floats, guess: Floats, query: LabelProfile, answer: Answer, label: LabelScale) -> Floats:
    """Slopes in the direction of those of ``way``; length and constant are the closest to those of
    the guess that noise and chance allow.
    """
    first = int(frame.coordinates.constant)
    labels = _Profile.read(frame.model, query, answer, frame.dispersion)
    if labels is None:
        return guess
    line = float(guess[0]) if first else 0.0, float(np.linalg.norm(guess[first:]))
    level, length = labels.with_look(label, frame.count).nearest(line, _MARGIN, constant=bool(first))
    slopes = way[first:] * (length / max(float(np.linalg.norm(way[first:])), 1e-300))
    return np.concatenate([[level], slopes]) if first else slopes


def nearest_line(
    model: GlmModel, query: LabelProfile, answer: Answer, guess: tuple[float, float]
) -> tuple[float, float]:
    """Constant and length closest to the guess that noise and chance allow."""
    labels = _Profile.read(model, query, answer)
    return guess if labels is None else labels.nearest(guess, _SURE)


@dataclass(frozen=True, eq=False)
class _Profile:
    """Places of cells along a direction, exposures (or counts) and sums of labels there, the noise
    of a sum and of an exposure, and the sum of all labels.
    """

    model: GlmModel
    places: Floats
    exposures: Floats
    sums: Floats
    noise_std: float
    exposure_noise_std: float
    dispersion: float
    total: float
    # The part of all exposures that lies in these cells.
    share: float

    @classmethod
    def read(cls, model: GlmModel, query: LabelProfile, answer: Answer, dispersion: float = 1.0) -> _Profile | None:
        # A cell filled by noise alone may be anywhere.
        seen = answer.value[:, 0] > 3 * answer.noise_std
        if np.sum(seen) < 2:  # a single cell is compatible with any length
            return None
        exposures = answer.value[seen, 0] * query.largest_exposure
        sums = answer.value[seen, 1] * (query.high - query.low) + query.low * exposures
        noise = answer.noise_std * (query.high - query.low), answer.noise_std * query.largest_exposure
        share = float(answer.value[seen, 0].sum() / np.maximum(answer.value[:, 0], 0.0).sum())
        return cls(model, _MIDDLES[seen], exposures, sums, *noise, dispersion, float(np.sum(sums)), share)

    def with_look(self, label: LabelScale, count: float) -> _Profile:
        """The sum of labels weighted with that of the look by their precision: the noise of a sum
        over a wide range of labels may hide it.
        """
        rows = count * self.share
        look, own = (label.noise_std * rows) ** 2, self.noise_std**2 * len(self.sums)
        trust = look / max(look + own, 1e-300)
        return replace(self, total=trust * self.total + (1 - trust) * label.centre * rows)

    def constant(self, length: float, deviations: float = 0.0) -> float:
        """The constant for the mean label, or for one that is this many standard deviations of
        noise and chance higher.
        """
        level = self._constant_for(self.total, length)
        if not deviations:
            return level
        off = self._uncertainty(level, length, np.ones(len(self.places)))
        return self._constant_for(self.total + deviations * off, length)

    def _constant_for(self, total: float, length: float) -> float:
        if self.model.link.is_identity:
            return float(total - length * self.places @ self.exposures) / float(np.sum(self.exposures))
        return float(constants(self.model.link, length * self.places[np.newaxis], self.exposures, total)[0])

    def nearest(self, guess: tuple[float, float], margin: float, constant: bool = True) -> tuple[float, float]:
        """Constant and length closest to the guess within a margin for noise and chance."""
        length = float(np.clip(guess[1], self.length(margin, constant), self.length(-margin, constant)))
        if not constant:
            return guess[0], length
        return float(np.clip(guess[0], self.constant(length, -margin), self.constant(length, margin))), length

    def length(self, margin: float, constant: bool = True) -> float:
        """The length without an unexplained slope of labels; shorter by a margin for noise and
        chance.
        """
        shortest, longest = 0.0, _LONGEST * (math.sqrt(self.dispersion) if self.model.link.is_identity else 1.0)
        for _ in range(_HALVINGS):
            length = (shortest + longest) / 2
            level = self.constant(length) if constant else 0.0
            means = self.model.link.mean(level + length * self.places)
            slope = float(self.places @ (self.exposures * means - self.sums))
            excess = slope + margin * self._uncertainty(level, length, self.places)
            shortest, longest = (length, longest) if excess < 0 else (shortest, length)
        return length

    def _uncertainty(self, level: float, length: float, weights: Floats) -> float:
        """The standard deviation of a weighted sum of labels, by noise and chance."""
        means = self.model.link.mean(level + length * self.places)
        chance = float(weights**2 @ (self.exposures * self.model.family.variance(means))) * self.dispersion
        noise = self.noise_std**2 + (self.exposure_noise_std * means) ** 2
        return math.sqrt(float(weights**2 @ noise) + chance)
