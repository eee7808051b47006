"""Rows of rare categories: few, long and alike. What a clip norm does to them, and their errors.

Typical rows tell nothing of them, but their length, share and predictor are known
(steps/rare.py), so that all of this is foreseen. Nothing here queries the source.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.parts.foresight import Foresight
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.measure import Measurement
from discreet.algorithms.parts.noisy_matrix import no_flatter
from discreet.algorithms.parts.uncertain import Spread, fading_group
from discreet.rows import Floats

# The weight of such rows is at least this part of the typical one: noise in their predictor could
# make it anything, and steps too long.
_LEAST_WEIGHT = 0.25
# Their scores are nearly all clipped on one side if their mean is this part of the clip norm:
# centred scores reach it on one side only.
_ALL_CLIPPED = 0.4


@dataclass(frozen=True, eq=False)
class RareRows:
    """The rows of a rare category."""

    # The second moment of z along its indicator, and the squared norm of a weighted row.
    moment: Floats
    square: float
    # The weight of what a clip norm keeps of them, relative to what it keeps of typical rows, and
    # by how much that exceeds the weight of typical rows.
    kept: float
    more: float


def kept_curvature(frame: Frame, phi: Floats, clip: float, kept: float) -> Floats:
    """What a clip norm keeps of the foreseen curvature; ``kept``: of rows of typical length."""
    curve, rows, weight = frame.foresight.curvature(phi), _rare_rows(frame, phi, clip), frame.weight(phi)
    whole = curve + sum(one.more * one.moment for one in rows)
    return np.asarray(kept * _no_less(whole, curve, [one.kept / weight for one in rows]))


def cut_curvature(frame: Frame, phi: Floats, clip: float, kept: float, longest: float) -> Floats:
    """What a clip of rows removes from their directions in a released curvature; ``longest``: in
    squares of the typical length.
    """
    typical, rows = frame.weight(phi) * longest * frame.coordinates.size, _rare_rows(frame, phi, clip)
    whole, left = kept_curvature(frame, phi, clip, kept), [min(typical / one.square, 1.0) for one in rows]
    both = zip(rows, left, strict=True)
    none = np.zeros((frame.size, frame.size))
    cut = kept * sum((one.kept * (1 - part) * one.moment for one, part in both), none)
    return np.asarray(whole - _no_less(whole - cut, whole, left))


def _no_less(matrix: Floats, whole: Floats, parts: Sequence[float]) -> Floats:
    """A curvature of which rare rows lose all but these parts, each in its direction: in no
    direction is less left.

    Where other columns stretch a direction that many levels share, their losses would add up.
    """
    if len(parts) < 2 or not np.isfinite(matrix).all():  # extreme noise
        return matrix
    return no_flatter(matrix, whole, min(*parts, 1.0))


def clipped_groups(last: Measurement, effect: float) -> Floats:
    """The covariance of phi along categories nearly all of whose scores are clipped at the last
    point: their gradient no longer tells how far the optimum is. ``effect``: how far it may be.
    """
    frame, bounds = last.frame, last.bounds
    found = np.zeros((frame.size, frame.size))
    gradient, noise_std = last.gradient([0.0] * len(bounds.levels))
    for one in frame.rare_directions:
        most = one.share * bounds.clip * float(one.row @ one.row) / one.length
        noise = noise_std * float(np.linalg.norm(one.row))
        if abs(float(one.row @ gradient)) > max(_ALL_CLIPPED * most, 2 * noise):
            found += effect**2 * np.outer(one.change, one.change)
    return found


def faded_groups(frame: Frame, spread: Spread, phi: Floats, step: Floats, farthest: float) -> Spread:
    """The covariances, wider where the weight of a category falls along the last step from phi."""
    for one in frame.rare_directions:
        spread = fading_group(spread, step, one.row, one.change, Towards(frame.about(phi, one.row), phi), farthest)
    return spread


@dataclass(frozen=True, eq=False)
class Towards:
    """Steps of the predictor of rows that are alike (``there``): with the slope of the mean label
    at phi, a step tells the mean label, and this tells the right step.

    If all labels of the rows are the same, no step is long enough.
    """

    there: Foresight
    phi: Floats

    def __call__(self, lengths: Floats) -> Floats:
        mean, slope = self.there.moments(self.phi)[0], self.there.slope(self.phi)
        return np.array([self.there.shift_for(self.phi, mean + slope * length) for length in lengths])

    def left(self, length: float) -> float:
        (shift,) = self(np.array([length]))
        if math.isinf(shift):
            return 0.0
        end = replace(self.there, offset=self.there.offset + shift)
        weights = [float(np.trace(one.curvature(self.phi))) for one in (self.there, end)]
        return min(weights[1] / max(weights[0], 1e-300), 1.0)


def _rare_rows(frame: Frame, phi: Floats, clip: float) -> list[RareRows]:
    """For each indicator."""
    found, weight = [], frame.weight(phi)
    for one in frame.rare_directions:
        there, typical = frame.about(phi, one.row), frame.foresight.kept(phi, clip / frame.root_size, frame.dispersion)
        own = max(float(np.trace(there.curvature(phi))) / frame.size, _LEAST_WEIGHT * weight)
        part = there.kept(phi, clip / one.length, frame.dispersion)
        square = own * one.length**2 * (1.0 if frame.keeps_whole_rows else part)
        found.append(RareRows(one.moment, square, own * part / typical, own * part / typical - weight))
    return found
