"""Properties of a model on rows with standard normal coordinates: free, from coefficients alone.

In whitened coordinates the linear predictor is a sum of many terms, so it is about normal.
Curvature, mean label and the sizes of scores are then one-dimensional integrals along the slopes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from discreet.algorithms.parts.constants import FARTHEST, constants
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.rows import Floats

_NODES, _MASSES = np.polynomial.hermite_e.hermegauss(40)
_MASSES = _MASSES / _MASSES.sum()
# Lengths among which the start's slopes are searched, in standard deviations of eta. With
# longer slopes labels are almost certain, and scores hardly determine the length. A line
# search can go farther.
_LENGTHS = np.concatenate([[0.0], np.geomspace(0.01, 3.0, 80)])
# Rows make up a noticeable part of the curvature from this part on.
_NOTICED = 1e-3


@dataclass(frozen=True, eq=False)
class Foresight:
    """``offset`` is the effect of exposure on a typical predictor; ``constant``: whether
    phi starts with a constant.

    ``unit``: the unit of eta, for links that give it the unit of labels. ``least_spread``: the
    smallest standard deviation of eta.
    """

    model: GlmModel
    constant: bool
    offset: float = 0.0
    unit: float = 1.0
    least_spread: float = 0.0

    def _split(self, phi: Floats) -> tuple[float, Floats]:
        return (float(phi[0]), phi[1:]) if self.constant else (0.0, phi)

    def _eta(self, phi: Floats) -> Floats:
        middle, slopes = self._split(phi)
        return middle + self.offset + max(float(np.linalg.norm(slopes)), self.least_spread) * _NODES

    def curvature(self, phi: Floats) -> Floats:
        """The expected second derivative of a row's loss, which differs
        along and across the slopes.
        """
        return _curvature(self, phi.tobytes())

    def _curvature(self, phi: Floats) -> Floats:
        weight = self._weight(self._eta(phi))
        flat, tilt, along = (float(_MASSES @ (weight * _NODES**power)) for power in range(3))
        _, slopes = self._split(phi)
        way = slopes / max(float(np.linalg.norm(slopes)), 1e-300)
        first, matrix = int(self.constant), flat * np.eye(len(phi))
        matrix[first:, first:] += (along - flat) * np.outer(way, way)
        if self.constant:
            matrix[0, 1:] = matrix[1:, 0] = tilt * way
        return matrix

    def sharpness(self, phi: Floats) -> float:
        """The relative rate of change of a row's weight with its predictor."""
        eta = self._eta(phi)
        step = 0.01 * self.unit
        here, there = self._weight(eta - step), self._weight(eta + step)
        return float(_MASSES @ np.abs(there - here)) / (step * float(_MASSES @ (there + here)))

    def sharpest(self, phi: Floats) -> float:
        """The largest such rate of rows that make up a noticeable part of the curvature."""
        eta = self._eta(phi)
        here, there = self._weight(eta - 0.01), self._weight(eta + 0.01)
        parts = _MASSES * (here + there)
        noticed = parts > _NOTICED * np.sum(parts)
        return float(np.max((np.abs(there - here) / (0.01 * (there + here)))[noticed]))

    def typical_size(self, phi: Floats, dispersion: float) -> float:
        """The root mean square of the score sizes that a bound is compared with."""
        size = self.model.family.typical_size(self._eta(phi), self.model.link, dispersion)
        return max(math.sqrt(float(_MASSES @ size**2)), 1e-30)

    def kept(self, phi: Floats, bound: float, dispersion: float) -> float:
        """The part of the curvature that a bound on scores keeps, for rows of typical length."""
        part = self.model.family.typical_kept(self._eta(phi), self.model.link, dispersion, bound)
        return max(float(_MASSES @ part), 0.05)

    def start(self, mean: float, cross: Floats, label_variance: float) -> Floats:
        """Coefficients with this mean label and these covariances of labels and
        coordinates (Stein's lemma).

        E[z y] = E[mean'(eta)] slopes for normal z, so the slopes are parallel to ``cross``. Their
        length and the constant solve one equation each. Means cannot vary more than labels do,
        which bounds the length.
        """
        link, length = self.model.link, float(np.linalg.norm(cross))
        middle = self._middle(mean) if self.constant else np.zeros(len(_LENGTHS))
        eta = middle[:, np.newaxis] + self.offset + _LENGTHS[:, np.newaxis] * _NODES
        covariance = _LENGTHS * (link.slope(eta) @ _MASSES)
        means = link.mean(eta)
        spread = means**2 @ _MASSES - (means @ _MASSES) ** 2
        allowed = np.maximum.accumulate(spread) <= label_variance * (1 + 1e-9)
        found = int(np.argmax(~allowed | (covariance >= length))) or len(_LENGTHS) - 1
        if length <= 0:
            return np.concatenate([[middle[0]], 0 * cross]) if self.constant else 0 * cross
        low, high = covariance[found - 1], covariance[found]
        part = min(max((length - low) / max(high - low, 1e-300), 0.0), 1.0)
        reach = _LENGTHS[found - 1] + part * (_LENGTHS[found] - _LENGTHS[found - 1])
        slopes = cross * (reach / length)
        constant = middle[found - 1] + part * (middle[found] - middle[found - 1])
        return np.concatenate([[constant], slopes]) if self.constant else slopes

    def slope(self, phi: Floats) -> float:
        """The derivative of the mean label in the linear predictor."""
        return float(_MASSES @ self.model.link.slope(self._eta(phi)))

    def moments(self, phi: Floats) -> tuple[float, Floats]:
        """The mean label and its covariances with the coordinates, by Stein's lemma."""
        eta = self._eta(phi)
        _, slopes = self._split(phi)
        return float(_MASSES @ self.model.link.mean(eta)), float(_MASSES @ self.model.link.slope(eta)) * slopes

    def solve(self, phi: Floats, gradient: Floats, label_variance: float) -> Floats:
        """The optimum if the mean score of a canonical link at phi is this
        gradient, however far away.

        The gradient is the difference between the moments under phi and those of the labels.
        """
        mean, cross = self.moments(phi)
        first = int(self.constant)
        seen = self.model.sensible_mean(mean - float(gradient[0])) if self.constant else mean
        return self.start(seen, cross - gradient[first:], label_variance)

    def mean_of(self, phi: Floats, value: Callable[[Floats], Floats]) -> Floats:
        """The mean of a function of eta times z, over typical rows."""
        at = _MASSES * value(self._eta(phi))
        _, slopes = self._split(phi)
        along = float(at @ _NODES) * slopes / max(float(np.linalg.norm(slopes)), 1e-300)
        return np.concatenate([[float(at.sum())], along]) if self.constant else along

    def constant_for(self, mean: float, slopes: Floats) -> float:
        """The constant that gives this mean label with these slopes."""
        if self.model.link.is_identity:
            return mean
        return float(self._middles(mean, np.array([float(np.linalg.norm(slopes))]))[0])

    def shift_for(self, phi: Floats, mean: float) -> float:
        """The shift of all predictors that gives this mean label; infinite if none does."""
        constant, slopes = self._split(phi)
        low, high = (float(self.model.link.mean(end)) for end in (-FARTHEST, FARTHEST))
        if not low < mean < high:
            return math.copysign(math.inf, mean - (low + high) / 2)
        return self.constant_for(mean, slopes) - constant

    def _middle(self, mean: float) -> Floats:
        """The constant that gives this mean label, for each length of the slopes."""
        return self._middles(mean, _LENGTHS)

    def _middles(self, mean: float, lengths: Floats) -> Floats:
        predictors = self.offset + lengths[:, np.newaxis] * _NODES
        return constants(self.model.link, predictors, _MASSES, mean)

    def _weight(self, eta: Floats) -> Floats:
        return np.clip(self.model.family.weight(eta, self.model.link), 1e-12, 1e12)


@lru_cache(maxsize=8)  # a descent uses the same point many times
def _curvature(foresight: Foresight, phi: bytes) -> Floats:
    matrix = foresight._curvature(np.frombuffer(phi))
    matrix.flags.writeable = False
    return matrix
