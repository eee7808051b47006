"""Coordinates of a few chosen columns in which rows look alike in every direction: z = root (x - centre)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.rows import Floats, LinearMap

# The noise moves eigenvalues of a noisy matrix by up to its edge. Directions below this part of it are not stretched.
_FLOOR = 0.5


@dataclass(frozen=True, eq=False)
class SupportCoordinates:
    """A constant, and features centred and turned by a square matrix; coefficients phi belong to (1, z)."""

    centre: Floats
    root: Floats

    @property
    def size(self) -> int:
        """Coordinates, the constant included."""
        return len(self.centre) + 1

    @property
    def matrix(self) -> Floats:
        """What turns (1, x) into (1, z)."""
        matrix = np.zeros((self.size, self.size))
        matrix[0, 0] = 1.0
        matrix[1:, 1:] = self.root
        matrix[1:, 0] = -self.root @ self.centre
        return matrix

    def coefficients(self, phi: Floats) -> Floats:
        """The coefficients of (1, x) that phi is."""
        return self.matrix.T @ phi

    def phi(self, coefficients: Floats) -> Floats:
        return np.asarray(np.linalg.lstsq(self.matrix.T, coefficients, rcond=None)[0])

    def map(self, phi: Floats) -> LinearMap:
        """The predictor phi^T (1, z), then (1, z) itself."""
        return LinearMap(np.vstack([self.coefficients(phi), self.matrix]))

    @property
    def covariance(self) -> Floats:
        """What these coordinates take the covariance of x to be: that of z is the identity."""
        return np.asarray(np.linalg.pinv(self.root.T @ self.root))


def whitened(centre: Floats, scale: float, moment: Floats, noise_std: float) -> SupportCoordinates:
    """Coordinates in which this noisy second moment of (1, u), u = (x - centre) / scale, is about the identity.

    Equal spread in every direction is the guess before the moment was seen: it is trusted against that as far as its
    distance from a multiple of the identity exceeds what the noise alone would make of it.
    """
    # The weight of all rows cannot be smaller than what the noise alone would make of nothing.
    mass = max(float(moment[0, 0]), math.sqrt(2 * len(moment)) * noise_std, 1e-300)
    shift = moment[0, 1:] / mass
    covariance = moment[1:, 1:] / mass - np.outer(shift, shift)
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    size, noise = len(values), noise_std / mass
    middle = max(float(np.mean(values)), noise)
    distance = float(np.sum((values - middle) ** 2))
    trust = max(0.0, 1 - noise**2 * size * (size + 1) / 2 / max(distance, 1e-300))
    floor = trust * _FLOOR * math.sqrt(2 * size) * noise
    values = np.maximum(middle + trust * (values - middle), max(floor, 1e-12 * middle))
    turn = (vectors / np.sqrt(values)) @ vectors.T
    return SupportCoordinates(centre + trust * scale * shift, turn / scale)
