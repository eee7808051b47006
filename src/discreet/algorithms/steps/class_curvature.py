"""How steeply a multinomial model's loss rises: foreseen for normal rows, corrected by a noisy look at the real ones.

Coefficients are kept as an array psi with one row per coordinate z and one column per contrast: the predictors of the
K classes are contrasts @ psi^T z, where the K - 1 columns of ``contrasts`` are orthonormal and each sums to zero. So
the redundant direction of the softmax never appears, and noise that is equal in all directions stays so.

For z = (1, normal) of unit spread the curvature follows from psi alone: classes see z only along the columns of psi,
and every direction across them has the same curvature. That costs no privacy, and is close for most rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from discreet.rows import Floats

# Where all probabilities are certain there is no curvature, and none below this is inverted.
_LEAST_CURVATURE = 1e-7
# Points of a fixed lattice that stand for normal z, and the greatest size of what is computed with them.
_POINTS = 2048
_LARGEST_INNER = 400
# Up to so many coefficients the curvature is one matrix; beyond, one for each coordinate, the same for all of them.
_LARGEST_DENSE = 600
# The information is trusted down to this part of what was foreseen, in every direction.
_LEAST_PART = 0.3
# By luck the noise alone may be farther from nothing than its mean is: this much is never trusted.
_DOUBT = 1.5
# Steps towards constants that fit: each takes most of what is left.
_CALIBRATIONS = 30


def contrasts(classes: int) -> Floats:
    """Orthonormal columns that sum to zero (Helmert's): each compares a class with those before it."""
    matrix = np.zeros((classes, classes - 1))
    for j in range(1, classes):
        matrix[:j, j - 1] = 1.0
        matrix[j, j - 1] = -j
        matrix[:, j - 1] /= math.sqrt(j * (j + 1))
    return matrix


def probabilities(eta: Floats) -> Floats:
    """Softmax over the last axis."""
    raised = np.exp(eta - np.max(eta, axis=-1, keepdims=True))
    return np.asarray(raised / np.sum(raised, axis=-1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Curvature:
    """A positive definite matrix in blocks: one block for all of psi, or one for each of its rows."""

    blocks: Floats

    def of(self, psi: Floats) -> Floats:
        return self._times(self.blocks, psi)

    @property
    def trace_of_inverse(self) -> float:
        return float(np.sum(np.linalg.pinv(self.blocks, hermitian=True).trace(axis1=1, axis2=2)))

    def solve(self, gradient: Floats) -> Floats:
        return self._times(np.asarray(np.linalg.pinv(self.blocks, hermitian=True)), gradient)

    def solve_damped(self, gradient: Floats, noise_over_size: float) -> Floats:
        """(H^2 + c)^-1 H g: as ``solve`` where the curvature exceeds sqrt(c), and next to nothing far below it.

        With c = variance of the gradient's noise / variance expected of psi this is the mean of psi given both.
        """
        values, vectors = np.linalg.eigh(self.blocks)
        filtered = values / (values**2 + noise_over_size)
        inverse = (vectors * filtered[:, np.newaxis, :]) @ np.swapaxes(vectors, 1, 2)
        return self._times(inverse, gradient)

    def not_below(self, move: Floats, rise: float) -> Curvature:
        """Raised so that a move changes the gradient along itself by ``rise`` at least, as was seen.

        Along that move alone where there is one block; in all directions where there is one for each coordinate.
        """
        answer = self.of(move)
        expected = float(np.sum(move * answer))
        if not rise > expected > 0:
            return self
        if len(self.blocks) > 1:
            return Curvature(self.blocks * (rise / expected))
        flat = answer.reshape(-1)
        return Curvature(self.blocks + (rise / expected - 1) / expected * np.outer(flat, flat))

    def plus_penalty(self, penalty: Floats, contrasts_count: int) -> Curvature:
        """With the penalty's second derivative, a matrix for the coordinates: equal for all contrasts."""
        if len(self.blocks) == 1:
            return Curvature(self.blocks + np.kron(penalty, np.eye(contrasts_count)))
        return Curvature(self.blocks + np.diag(penalty)[:, np.newaxis, np.newaxis] * np.eye(contrasts_count))

    def corrected(self, seen: Floats, expected: Curvature, noise_std: float) -> Curvature:
        """Moved by the ratio of an information matrix, seen through isotropic noise, to what was expected of it.

        The ratio is trusted as far as it differs from 1 by more than noise: in coordinates where the expected matrix is
        the identity, noise adds noise_std^2 / 2 (tr(A)^2 + tr(A^2)) to the squared distance, A the inverse of the
        expected matrix (James and Stein's trust).
        """
        values, vectors = np.linalg.eigh(expected.blocks[0])
        inverse_root = (vectors / np.sqrt(values)) @ vectors.T
        root = _root(self.blocks[0])
        ratio = inverse_root @ seen @ inverse_root
        excess = (ratio + ratio.T) / 2 - np.eye(len(values))
        noise = noise_std**2 / 2 * (float(np.sum(1 / values)) ** 2 + float(np.sum(1 / values**2)))
        trust = max(0.0, 1 - _DOUBT * noise / max(float(np.sum(excess**2)), 1e-300))
        part, turn = np.linalg.eigh(np.eye(len(values)) + trust * excess)
        corrected = root @ ((turn * np.maximum(part, _LEAST_PART)) @ turn.T) @ root
        return Curvature((corrected + corrected.T)[np.newaxis] / 2)

    def _times(self, blocks: Floats, psi: Floats) -> Floats:
        stacked = psi.reshape(len(blocks), -1, 1)
        return np.asarray((blocks @ stacked).reshape(psi.shape))


def foreseen(psi: Floats, constant: bool, radius: float, clip: float, norm: float = math.inf) -> Curvature:
    """The curvature at psi of the loss whose gradient is the mean of ``ClassScores``, for normal z.

    norm: with this bound it is the mean of ``ClassInformation``.
    """
    size, free = psi.shape
    across, along, basis = _inner(psi, constant, radius, clip, norm)
    if size * free > _LARGEST_DENSE:
        return Curvature(np.repeat(across[np.newaxis], size, axis=0))
    outside = np.eye(size) - basis @ basis.T
    wide = np.kron(basis, np.eye(free))
    return Curvature(np.asarray(np.kron(outside, across) + wide @ along @ wide.T)[np.newaxis])


def calibrated(psi: Floats, shares: Floats) -> Floats:
    """psi with the constants, its first row, that make the mean probabilities of normal rows these shares."""
    psi, turn = psi.copy(), contrasts(psi.shape[1] + 1)
    points, slopes, _ = _points_along(psi[1:], psi.shape[1])
    for _ in range(_CALIBRATIONS):
        mean = np.mean(probabilities((psi[0] + points @ slopes) @ turn.T), axis=0)
        psi[0] += turn.T @ np.log(shares / np.maximum(mean, 1e-12))
    return psi


def _inner(psi: Floats, constant: bool, radius: float, clip: float, norm: float) -> tuple[Floats, Floats, Floats]:
    """Curvature across the columns of psi (per direction), along them, and an orthonormal basis of the latter."""
    size, free = psi.shape
    first = int(constant)
    turn = contrasts(free + 1)
    limit = max(_LARGEST_INNER // free - first, 1)
    points, slopes, directions = _points_along(psi[first:], min(limit, free))
    p = probabilities((points @ slopes + (psi[0] if constant else 0.0)) @ turn.T)
    row = np.hstack([np.ones((len(points), first)), points])
    length = np.sqrt(np.sum(row**2, axis=1) + (size - row.shape[1]))
    shrink = np.minimum(1.0, radius / length)
    largest = np.sqrt(np.maximum(1 - 2 * np.min(p, axis=1) + np.sum(p**2, axis=1), 1e-12))
    weight = shrink * np.minimum(1.0, clip / (largest * length * shrink))
    weight *= np.minimum(1.0, norm / (np.sqrt(weight) * largest * length)) ** 2 / len(points)
    spread = (p @ turn) * np.sqrt(weight)[:, np.newaxis]
    diagonal = np.einsum("nk,ka,kb->nab", p * weight[:, np.newaxis], turn, turn, optimize=True)
    classes = diagonal - spread[:, :, np.newaxis] * spread[:, np.newaxis, :]
    across = np.sum(classes, axis=0)
    along = np.einsum("ni,nj,nab->iajb", row, row, classes, optimize=True)
    inner = row.shape[1] * free
    basis = np.zeros((size, row.shape[1]))
    basis[:first, :first] = np.eye(first)
    basis[first:, first:] = directions
    floor = max(1e-6 * float(np.trace(across)) / free, _LEAST_CURVATURE)
    return across + floor * np.eye(free), along.reshape(inner, inner) + floor * np.eye(inner), basis


def _root(matrix: Floats) -> Floats:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(values)) @ vectors.T)


def _points_along(slopes: Floats, limit: int) -> tuple[Floats, Floats, Floats]:
    """Normal points in the leading directions of the slopes, the slopes along these, and the directions."""
    left, values, right = np.linalg.svd(slopes, full_matrices=False)
    rank = min(limit, len(values))
    points = _lattice(rank)
    return points, values[:rank, np.newaxis] * right[:rank], left[:, :rank]


def _lattice(dimensions: int) -> Floats:
    """Normal quantiles of an additive recurrence (Roberts' R sequence), scaled to unit second moments."""
    root = 2.0
    for _ in range(64):
        root = (1 + root) ** (1 / (dimensions + 1))
    steps = root ** -np.arange(1, dimensions + 1)
    points = ndtri((np.arange(1, _POINTS // 2 + 1)[:, np.newaxis] * steps + 0.5) % 1.0 * (1 - 1e-9) + 5e-10)
    points = np.vstack([points, -points])
    return np.asarray(points / np.sqrt(np.mean(points**2, axis=0)))
