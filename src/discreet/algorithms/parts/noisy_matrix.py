"""Symmetric matrices seen through symmetric noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.steps.coordinates import beyond_noise
from discreet.rows import Answer, Floats

# No direction of a curvature or covariance is taken to be flatter than this part of a typical one ...
_FLATTEST = 1e-4
# ... nor, by what was expected of it, than this part of what noise alone makes of nothing, up to this part.
_SAFE, _SAFE_AT_MOST = 0.5, 0.5


@dataclass(frozen=True, eq=False)
class Seen:
    """A curvature as it was released, and the noise in an entry."""

    curvature: Floats
    noise_std: float

    def beside(self, other: Seen) -> Seen:
        """With as much noise as it differs by from another one, which is known to be right but for its noise."""
        off = float(np.mean(np.diagonal(self.curvature - other.curvature) ** 2)) - other.noise_std**2
        return replace(self, noise_std=max(self.noise_std, math.sqrt(max(off, 0.0))))


def corrected(answer: Answer, count: float, expected: Floats) -> Floats:
    """The mean of a released sum of squares: what was expected, corrected where the noise leaves no doubt.

    Noise alone has eigenvalues up to edge = sqrt(2 size) noise_std. An eigenvalue d of the difference beyond that is
    best estimated by sqrt(d^2 - edge^2) (spiked Wigner matrices, Frobenius loss), one within it by 0.
    """
    size, noise_std = len(expected), answer.noise_std / count
    edge = math.sqrt(2 * size) * noise_std
    difference = (answer.value + answer.value.T) / (2 * count) - expected
    # Columns have scales of their own, and a diagonal is seen more clearly than a matrix.
    scales = np.diag(beyond_noise(np.diagonal(difference), noise_std))
    values, vectors = np.linalg.eigh(difference - scales)
    values = np.sign(values) * np.sqrt(np.maximum(values**2 - edge**2, 0.0))
    typical = max(float(np.trace(expected)) / size, 1e-300)
    safe = min(_SAFE * edge / typical, _SAFE_AT_MOST)
    return no_flatter(expected + scales + (vectors * values) @ vectors.T, expected, safe)


def relative_edge(noise_std: float, size: int, typical: float) -> float:
    """How far noise in its entries moves the eigenvalues of a matrix, in units of a typical one."""
    return math.sqrt(2 * size) * noise_std / max(typical, 1e-300)


def positive(matrix: Floats, floor: float = 0.0) -> Floats:
    """The matrix with no eigenvalue below the floor, or below a small part of its typical one."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    typical = max(float(np.mean(np.abs(values))), 1e-300)
    return np.asarray((vectors * np.maximum(values, max(floor, _FLATTEST * typical))) @ vectors.T)


def no_flatter(matrix: Floats, curve: Floats, part: float) -> Floats:
    """The matrix, in no direction below this part of a positive ``curve``."""
    values, _, coordinates = relative_directions(matrix, curve)
    return np.asarray((coordinates.T * np.maximum(values, max(part, _FLATTEST))) @ coordinates)


def relative_directions(matrix: Floats, curve: Floats) -> tuple[Floats, Floats, Floats]:
    """How steep a matrix is in units of a positive ``curve``, by directions (columns) that are orthogonal in both.

    The rows of the third matrix give a vector's coordinates along them.
    """
    root = _root(curve)
    back = inverse(root)
    relative = back @ matrix @ back
    values, vectors = np.linalg.eigh((relative + relative.T) / 2)
    return values, back @ vectors, vectors.T @ root


def inverse(matrix: Floats) -> Floats:
    """The inverse; of a matrix that noise has made singular, that of what is left of it."""
    try:
        return np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(matrix), dtype=np.float64)


def damped_inverse(matrix: Floats, noise: float) -> tuple[Floats, Floats]:
    """(M^2 + noise^2)^-1 M, and what is missing to 1 if it is multiplied by M: next to nothing where M is far above."""
    if noise == 0:
        return inverse(matrix), np.zeros_like(matrix)
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    keep = values**2 / (values**2 + noise**2)
    return (vectors * (values / (values**2 + noise**2))) @ vectors.T, (vectors * (1 - keep)) @ vectors.T


def carried_over(response: Floats, here: Floats, there: Floats) -> Floats:
    """A response seen at one point, at another: changed as the foreseen curvature changes between them."""
    turn = carried_by(here, there)
    return np.asarray(turn @ response @ turn.T)


def carried_by(here: Floats, there: Floats) -> Floats:
    """What turns one positive matrix into another."""
    return np.asarray(_root(there) @ inverse(_root(here)))


def relative_change(one: Floats, other: Floats) -> float:
    return float(np.linalg.norm(one - other) / max(float(np.linalg.norm(other)), 1e-300))


def _root(matrix: Floats) -> Floats:
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.sqrt(np.maximum(values, _FLATTEST * values[-1]))) @ vectors.T)
