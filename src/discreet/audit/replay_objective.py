"""Minimised objectives in the replay audit: the exact privacy loss of the output on this pair of
data sets.

An output theta says which linear term b made it: b = -(gradient of all else at theta), on D and on
D'. So both densities of theta are known, phi(b) |det Hessian| and phi(b') |det Hessian'|, and the
loss is the log of their ratio. It is compared with the profile that was claimed; and what the proof
rests on is checked piece by piece: how far b and b' are apart, how far the determinants, the noise
that was drawn, and that the minimum was found within tolerance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtr, chdtrc

from discreet.curator.minimum import Minimum
from discreet.privacy import Perturbed, Release
from discreet.rows.logistic_loss import WholeTheta

Floats = NDArray[np.float64]

_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class RecordedMinimum:
    """One minimised objective with its exact values, at the point that was handed out."""

    release: Release
    minimum: Minimum
    point: WholeTheta
    noisy: NDArray[np.object_]
    drawn: None = None

    @classmethod
    def at(cls, point: WholeTheta, minimum: Minimum, noisy: NDArray[np.object_]) -> RecordedMinimum:
        return cls(minimum.release, minimum, point, noisy)

    def comparable(self, other: Any) -> bool:
        if not isinstance(other, RecordedMinimum):
            return False
        mine, theirs = self.minimum.noise, other.minimum.noise
        return (mine.cost, mine.strength, mine.noise_unit) == (theirs.cost, theirs.strength, theirs.noise_unit)

    def loss(self, other: RecordedMinimum) -> float:
        """The distance between the two linear terms, in their standard deviations."""
        return float(np.linalg.norm(self._linear() - other._linear())) / self.minimum.noise.noise_std

    def privacy_loss(self, other: RecordedMinimum) -> float:
        """log of the density of this output on this data set over that on the other."""
        here, there = self._linear(), other._linear()
        squares = float((there - here) @ (there + here)) / (2 * self.minimum.noise.noise_std**2)
        return squares + self._determinant() - other._determinant()

    def pair_problems(self, other: RecordedMinimum, false_alarm: float) -> list[str]:
        label, cost = self.release.label, self.release.cost
        assert isinstance(cost, Perturbed)
        problems = []
        rows = 2 if cost.replaced else 1
        if self.loss(other) > rows * cost.gradient_mu * (1 + _ROUNDING):
            problems.append(f"one row moves the gradient of {label!r} by more than it was charged for")
        if abs(self._determinant() - other._determinant()) > math.log1p(cost.curvature) * (1 + _ROUNDING) + _ROUNDING:
            problems.append(f"one row moves the curvature of {label!r} by more than it was charged for")
        # P(loss > e + 1) <= delta(e) / (1 - 1/e): so it comes about once in 1 / false_alarm honest
        # fits.
        if self.privacy_loss(other) > cost.epsilon(max(false_alarm / 2, 2 * cost.slack)) + 1:
            problems.append(f"the output of {label!r} loses {self.privacy_loss(other):.4g}, more than was claimed")
        return problems

    def problems(self, false_alarm: float) -> list[str]:
        label, noise = self.release.label, self.minimum.noise
        problems = []
        drawn = self.minimum.linear.astype(np.float64) * noise.noise_unit / noise.noise_std
        smoothing = (self.noisy - self.minimum.whole).astype(np.float64) / noise.smoothing_scale
        for name, noise_drawn in (("linear term", drawn), ("smoothing", smoothing)):
            squares, entries = float(noise_drawn @ noise_drawn), len(noise_drawn)
            if min(chdtr(entries, squares), chdtrc(entries, squares)) < false_alarm:
                problems.append(f"the {name} drawn for {label!r} is not of the declared size")
        if not all(isinstance(value, (int, np.integer)) for value in self.noisy.flat):
            problems.append(f"{label!r} is not whole on its grid: floating-point noise shows its lowest bits")
        left = np.linalg.norm(self._linear() - self.minimum.linear.astype(np.float64) * noise.noise_unit)
        if float(left) > noise.tolerance:
            problems.append(f"the minimum of {label!r} was not found to within its tolerance")
        return problems

    def _linear(self) -> Floats:
        """The linear term of which this point is the exact minimum."""
        noise = self.minimum.noise
        gradient, _ = self.minimum.look(self.point)
        return -noise.outside_gradient(self.point, np.zeros(len(gradient), dtype=object)) - gradient

    def _determinant(self) -> float:
        _, hessian = self.minimum.look(self.point)
        return float(np.linalg.slogdet(hessian + self.minimum.noise.quadratic)[1])
