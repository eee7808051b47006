"""Symmetric matrices with symmetric noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.steps.coordinates import beyond_noise, blended
from discreet.rows import Answer, Floats

# The smallest eigenvalue of a curvature or covariance, relative to a typical one ...
_FLATTEST = 1e-4
# ... and relative to the expected one: this part of the noise's edge, and at most this.
_SAFE, _SAFE_AT_MOST = 0.5, 0.5


@dataclass(frozen=True, eq=False)
class Seen:
    """A released curvature, and the noise in an entry."""

    curvature: Floats
    noise_std: float

    def beside(self, other: Seen) -> Seen:
        """With its noise increased to its difference from another one that is right up to noise."""
        off = float(np.mean(np.diagonal(self.curvature - other.curvature) ** 2)) - other.noise_std**2
        return replace(self, noise_std=max(self.noise_std, math.sqrt(max(off, 0.0))))


def combined(seen: Sequence[Seen]) -> Seen:
    """The mean of several releases of one curvature, weighted by their precision."""
    trusts = np.array([max(one.noise_std, 1e-300) ** -2 for one in seen])
    curvature = np.average([one.curvature for one in seen], axis=0, weights=trusts)
    return Seen(np.asarray(curvature), float(trusts.sum()) ** -0.5)


def corrected(answer: Answer, count: float, expected: Floats) -> Floats:
    """The mean of a released sum of squares: the expectation, corrected where the
    difference is clear of noise.

    Noise alone has eigenvalues up to edge = sqrt(2 size) noise_std. An eigenvalue d of the
    difference beyond that is best estimated by sqrt(d^2 - edge^2) (spiked Wigner matrices,
    Frobenius loss), one within it by 0.
    """
    size, noise_std = len(expected), answer.noise_std / count
    edge = math.sqrt(2 * size) * noise_std
    seen = (answer.value + answer.value.T) / (2 * count)
    # A common factor is one number, which noise hides least.
    length = max(float(np.linalg.norm(expected)), 1e-300)
    factor = blended(float(np.sum(seen * expected)) / length**2, noise_std / length, 1.0)
    if np.isfinite(factor):  # extreme noise may have overflowed
        expected = factor * expected
    difference = seen - expected
    # Columns have different scales, and a diagonal is measured more precisely than a matrix.
    scales = np.diag(beyond_noise(np.diagonal(difference), noise_std))
    values, vectors = np.linalg.eigh(difference - scales)
    values = np.sign(values) * np.sqrt(np.maximum(values**2 - edge**2, 0.0))
    typical = max(float(np.trace(expected)) / size, 1e-300)
    safe = min(_SAFE * edge / typical, _SAFE_AT_MOST)
    return _at_least(expected + scales + (vectors * values) @ vectors.T, max(safe, _FLATTEST) * expected)


def relative_edge(noise_std: float, size: int, typical: float) -> float:
    """How far noise in its entries moves the eigenvalues of a matrix, relative to a typical one."""
    return math.sqrt(2 * size) * noise_std / max(typical, 1e-300)


def positive(matrix: Floats, floor: float = 0.0) -> Floats:
    """The matrix with eigenvalues at or above the floor, and a small part of its typical one."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    typical = max(float(np.mean(np.abs(values))), 1e-300)
    return np.asarray((vectors * np.maximum(values, max(floor, _FLATTEST * typical))) @ vectors.T)


def no_flatter(matrix: Floats, curve: Floats, part: float) -> Floats:
    """The matrix, in every direction at least this part of a positive ``curve``."""
    values, _, coordinates = relative_directions(matrix, curve)
    return np.asarray((coordinates.T * np.maximum(values, max(part, _FLATTEST))) @ coordinates)


def _at_least(matrix: Floats, least: Floats) -> Floats:
    """The nearest matrix that is at least ``least`` in every direction.

    Nearest by its entries, which all have the same noise: relative to an expectation that is nearly
    0 along one direction, noise there would count more than all that is known of the others.
    """
    values, vectors = np.linalg.eigh(matrix - least)
    return np.asarray(least + (vectors * np.maximum(values, 0.0)) @ vectors.T)


def relative_directions(matrix: Floats, curve: Floats) -> tuple[Floats, Floats, Floats]:
    """The eigenvalues of a matrix relative to a positive ``curve``, and directions
    (columns) orthogonal in both.

    The rows of the third matrix give a vector's coordinates in these directions.
    """
    root = _root(curve)
    back = inverse(root)
    relative = back @ matrix @ back
    values, vectors = np.linalg.eigh((relative + relative.T) / 2)
    return values, back @ vectors, vectors.T @ root


def inverse(matrix: Floats) -> Floats:
    """The inverse, or the pseudoinverse of a matrix that noise has made singular."""
    try:
        return np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(matrix), dtype=np.float64)


def held(back: Floats, normals: Floats) -> Floats:
    """The projection Q along which steps by the inverse ``back`` of a symmetric matrix are cut, so
    that the coordinates along ``normals`` (columns) stay what they are: Q back is the inverse of
    the matrix among such steps.
    """
    across = back @ normals
    return np.asarray(np.eye(len(back)) - across @ np.linalg.pinv(normals.T @ across) @ normals.T)


def inverses(matrices: Floats) -> list[Floats]:
    """The inverse of each of these matrices."""
    try:
        return list(np.linalg.inv(matrices))
    except np.linalg.LinAlgError:
        return [inverse(one) for one in matrices]


def damped_inverse(matrix: Floats, noise: float) -> tuple[Floats, Floats]:
    """B = (M^2 + noise^2)^-1 M, and 1 - B M, which is almost 0 where M is far above the noise."""
    if noise == 0:
        return inverse(matrix), np.zeros_like(matrix)
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    keep = values**2 / (values**2 + noise**2)
    return (vectors * (values / (values**2 + noise**2))) @ vectors.T, (vectors * (1 - keep)) @ vectors.T


def carried_over(response: Floats, here: Floats, there: Floats) -> Floats:
    """A response at another point: changed as the foreseen curvature changes between the points."""
    turn = carried_by(here, there)
    return np.asarray(turn @ response @ turn.T)


def carried_by(here: Floats, there: Floats) -> Floats:
    """A matrix T with T here T^T = there, for positive matrices."""
    return np.asarray(_root(there) @ inverse(_root(here)))


def relative_change(one: Floats, other: Floats) -> float:
    return float(np.linalg.norm(one - other) / max(float(np.linalg.norm(other)), 1e-300))


def _root(matrix: Floats) -> Floats:
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.sqrt(np.maximum(values, _FLATTEST * values[-1]))) @ vectors.T)
