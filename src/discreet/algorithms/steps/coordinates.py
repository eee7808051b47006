"""Coordinates in which rows have about equal variance in every direction: z = matrix (1, x)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.rows import Floats, LinearMap

# Noise moves the eigenvalues of a matrix by up to its edge. Directions below this part
# of it are not stretched.
_FLOOR = 0.5
# A stretch had no effect if a moment is below this part of its expectation, by this many
# standard deviations of the noise in both.
_REACHED, _SURE = 0.35, 2.0


@dataclass(frozen=True, eq=False)
class Coordinates:
    """A constant (if the model has an intercept), then transformed features; the
    coefficients of z are phi.
    """

    matrix: Floats
    constant: bool = True

    @classmethod
    def scaled(cls, centre: Floats, scale: float | Floats) -> Coordinates:
        """A constant, and each encoded feature, centred and divided by a common scale or its
        own.
        """
        matrix = np.eye(len(centre) + 1)
        matrix[1:, 1:] /= scale  # it is diagonal
        matrix[1:, 0] = -centre / scale
        return cls(matrix)

    @classmethod
    def through_origin(cls, origin: Floats, scale: float | Floats) -> Coordinates:
        """For a model without an intercept: features measured from x = 0, which is
        ``origin`` when encoded.
        """
        matrix = np.column_stack([-origin / scale, np.eye(len(origin)) / scale])
        return cls(matrix, constant=False)

    @classmethod
    def turned(cls, root: Floats, centre: Floats, constant: bool = True) -> Coordinates:
        """Features measured from a centre, and mapped by this root."""
        turned = np.column_stack([-root @ centre, root])
        return cls(np.vstack([np.eye(1, len(root) + 1), turned]) if constant else turned, constant)

    @classmethod
    def white(cls, centre: Floats, covariance: Floats, floor: float, origin: Floats | None) -> Coordinates:
        """From a mean and a covariance of encoded x; directions that vary less than ``floor`` are
        not stretched.

        ``origin``: where x = 0 lies, encoded, for a model without an intercept.
        """
        shift = np.zeros_like(centre) if origin is None else centre - origin
        values, vectors = np.linalg.eigh(covariance + np.outer(shift, shift))
        root = (vectors / np.sqrt(np.maximum(values, max(floor, 1e-12)))) @ vectors.T
        return cls.turned(root, centre) if origin is None else cls.turned(root, origin, constant=False)

    @property
    def size(self) -> int:
        """The number of coordinates, including the constant."""
        return len(self.matrix)

    def coefficients(self, phi: Floats) -> Floats:
        """The coefficients of (1, x) that correspond to phi."""
        return self.matrix.T @ phi

    def of_rows(self, x: Floats) -> Floats:
        """z of encoded rows, one column each."""
        return np.asarray(self.matrix @ np.vstack([np.ones(x.shape[1]), x]))

    def phi(self, coefficients: Floats) -> Floats:
        """The phi nearest to these coefficients of (1, x); exact if there is one."""
        return np.asarray(np.linalg.lstsq(self.matrix.T, coefficients, rcond=None)[0])

    def map(self, phi: Floats) -> LinearMap:
        """The predictor phi^T z, then z itself."""
        return LinearMap(np.vstack([self.coefficients(phi), self.matrix]))

    def whitened(
        self,
        moment: Floats,
        noise_std: float,
        expected: tuple[Floats, Floats] | None = None,
        typical: bool = False,
    ) -> Whitened:
        """New coordinates in which this noisy, perhaps weighted, second moment of z
        is about a multiple of 1.

        The current coordinates are the best guess without the moment. The moment changes them as
        far as it is clear of its noise. ``expected``: the moment of slopes that the previous round
        predicted here, and its noise. Long rows are scaled down before they are added, so a column
        with a few outliers seems to vary little, however far it is stretched. If stretching a
        direction did not bring its moment to the expected value, the stretch is undone.
        ``typical``: directions that noise hides are stretched like typical ones. Without it they
        count as the largest that it can hide, and if it hides all of them, all are too short.
        """
        if self.size == int(self.constant):
            return Whitened(self, (np.zeros((0, 0)), np.zeros((0, 0))), False)  # a constant alone is white
        covariance, mass, shift = moment, 1.0, np.zeros(self.size)
        if self.constant:
            mass = max(float(moment[0, 0]), 1e-300)
            shift = beyond_noise(moment[0, 1:] / mass, noise_std / mass / math.sqrt(2))
            covariance = moment[1:, 1:] / mass - np.outer(shift, shift)
        covariance, noise = trusted((covariance + covariance.T) / 2, noise_std / mass), noise_std / mass
        values, vectors = np.linalg.eigh(covariance)
        middle = float(np.mean(values))
        least = least_moment(len(values), noise)
        least = max(min(least, middle) if typical else least, 1e-12 * middle)
        seen, values = values, np.maximum(values, least)
        stretch = 1 / np.sqrt(values)
        missed = np.zeros(len(values), dtype=bool)
        if expected is not None:
            wanted, wanted_noise = (np.einsum("ji,jk,ki->i", vectors, one, vectors) for one in expected)
            missed = values + _SURE * np.hypot(noise, _REACHED * wanted_noise) < _REACHED * wanted
            stretch[missed] = 1.0
        turn = (vectors * stretch) @ vectors.T
        ahead = (vectors * (seen / values)) @ vectors.T, (vectors * (noise / values)) @ vectors.T
        matrix = self.matrix.copy()
        if self.constant:
            matrix[1:] -= np.outer(shift, self.matrix[0])
            matrix[1:] = turn @ matrix[1:]
        else:
            matrix = turn @ matrix
        return Whitened(Coordinates(matrix, self.constant), ahead, bool(np.any(missed)))


@dataclass(frozen=True, eq=False)
class Whitened:
    """New coordinates, the expected moment of slopes in them with its noise, and whether a stretch
    was undone.
    """

    coordinates: Coordinates
    expected: tuple[Floats, Floats]
    taken_back: bool


def least_moment(size: int, noise_std: float) -> float:
    """The smallest eigenvalue that is told from noise; flatter directions count as having it."""
    return _FLOOR * math.sqrt(2 * size) * noise_std


def trusted(covariance: Floats, noise_std: float) -> Floats:
    """A noisy covariance, shrunk to its diagonal, and the diagonal to its mean, by
    what noise alone explains.

    Different scales of columns are more common than many strong correlations, and a diagonal is
    measured far more precisely than a matrix: noise of this size in the entries moves eigenvalues
    by sqrt(2 size) times as much.
    """
    size = len(covariance)
    diagonal = np.diagonal(covariance)
    middle = max(float(np.mean(diagonal)), noise_std)
    scales = np.maximum(middle + beyond_noise(diagonal - middle, noise_std), _FLOOR * noise_std)
    rest = covariance - np.diag(diagonal)
    made_by_noise = noise_std**2 * size * (size - 1) / 2
    return np.diag(scales) + rest * max(0.0, 1 - made_by_noise / max(float(np.sum(rest**2)), 1e-300))


def beyond_noise(vector: Floats, noise_std: float) -> Floats:
    """The vector, shrunk by what noise of this size in every entry adds to
    its length (James-Stein).
    """
    square = float(vector @ vector)
    return vector * max(0.0, 1 - len(vector) * noise_std**2 / max(square, 1e-300))


def blended(seen: float, noise_std: float, guessed: float) -> float:
    """A noisy positive number, combined with a guess by the size of the
    noise relative to the guess.
    """
    trust = guessed**2 / (guessed**2 + (4 * noise_std) ** 2)
    return max(guessed + trust * (seen - guessed), 0.2 * guessed)
