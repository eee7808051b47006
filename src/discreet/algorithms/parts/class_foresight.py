"""Properties of a multinomial model on rows with standard normal coordinates
(parts/foresight.py for one predictor).

Coefficients psi have one row per coordinate z and one column per contrast of the classes: the
predictors of the K classes are contrasts psi^T z, where the K - 1 columns of ``contrasts`` are
orthonormal and each sums to zero. So the redundant direction of the softmax does not appear, and
isotropic noise stays isotropic. Phi is psi, row by row.

Classes depend on z only along the columns of psi, and every direction orthogonal to
them has the same curvature.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import ndtri

from discreet.algorithms.parts.foresight import Foresight
from discreet.rows import Floats
from discreet.rows.contrasts import contrasts

# The number of points of a fixed lattice that represents normal z.
_POINTS = 2048
# The longest slopes, in standard deviations of a contrast's predictor, and limits of Newton's
# method. With longer slopes labels are almost certain, and moments hardly determine the length.
_LONGEST, _STEPS, _LONGEST_STEP, _NEAR = 2.5, 40, 0.7, 1e-7
# If all probabilities are certain there is no curvature; this is the smallest one that is inverted.
_LEAST_CURVATURE = 1e-7
# The largest absolute value of a constant.
_FARTHEST = 30.0


@dataclass(frozen=True, eq=False)
class ClassForesight(Foresight):
    """As ``Foresight``, for this many classes."""

    classes: int = 2

    @property
    def _free(self) -> int:
        return self.classes - 1

    def _psi(self, phi: Floats) -> Floats:
        return np.asarray(phi.reshape(-1, self._free))

    def _typical(self, phi: Floats) -> _Typical:
        return _Typical.of(self._psi(phi), self.constant)

    def curvature(self, phi: Floats) -> Floats:
        """The expected second derivative of a row's loss."""
        return _curvature(phi.tobytes(), self._free, self.constant)

    def sharpness(self, phi: Floats) -> float:
        """The relative rate of change of a row's weight, 1 - |p|^2, with its predictors."""
        p = self._typical(phi).p
        square = np.sum(p**2, axis=1, keepdims=True)
        change = np.sqrt(np.sum((2 * p * (p - square)) ** 2, axis=1))
        return float(np.mean(change) / max(float(np.mean(1 - square)), 1e-12))

    def sharpest(self, phi: Floats) -> float:
        """An upper bound on it: p (1 - p) falls no faster than exp(-|eta|)."""
        return 1.0

    def typical_size(self, phi: Floats, dispersion: float) -> float:
        """The root mean square of max_k |p - e_k| over the classes k."""
        return math.sqrt(float(np.mean(self._typical(phi).largest ** 2)))

    def kept(self, phi: Floats, bound: float, dispersion: float) -> float:
        """The part of the curvature that a bound on scores keeps, for rows of typical length."""
        typical = self._typical(phi)
        weight = 1 - np.sum(typical.p**2, axis=1)
        part = np.minimum(1.0, bound / typical.largest)
        return max(float(weight @ part) / max(float(np.sum(weight)), 1e-12), 0.05)

    def class_covariance(self, phi: Floats) -> Floats:
        """The mean covariance of a row's classes, in contrasts."""
        return self._typical(phi).across()

    def class_norm(self, phi: Floats) -> float:
        """The mean Frobenius norm of a row's covariance of classes, diag(p) - pp^T."""
        p = self._typical(phi).p
        squares, cubes = np.sum(p**2, axis=1), np.sum(p**3, axis=1)
        return float(np.mean(np.sqrt(np.maximum(squares - 2 * cubes + squares**2, 1e-12))))

    def solve(self, phi: Floats, gradient: Floats, label_variance: float) -> Floats:
        """The optimum if the mean score at phi is this gradient, however far away."""
        psi = self._psi(phi)
        return self.explaining(self._typical(phi).moments() - self._psi(gradient), psi)

    def explaining(self, moments: Floats, start: Floats) -> Floats:
        """The phi for which the mean of z p^T in contrasts is closest to this, with
        slopes of limited length.

        For normal z the slopes are in the span of the moments' columns, so Newton's
        method needs few dimensions.
        """
        first = int(self.constant)
        left, values, right = np.linalg.svd(moments[first:], full_matrices=False)
        target = np.vstack([moments[:first], values[:, np.newaxis] * right])
        psi = np.vstack([start[:first], left.T @ start[first:]])
        for _ in range(_STEPS):
            typical = _Typical.of(psi, self.constant, inside=True)
            step = np.linalg.solve(typical.along(), (target - typical.moments()).reshape(-1)).reshape(psi.shape)
            if float(np.linalg.norm(step)) < _NEAR:
                break
            psi = psi + step * min(1.0, _LONGEST_STEP / max(float(np.linalg.norm(step)), 1e-300))
            psi[first:] = _no_longer(psi[first:])
            psi[:first] = np.clip(psi[:first], -_FARTHEST, _FARTHEST)
        return np.vstack([psi[:first], left @ psi[first:]]).reshape(-1)

    def constants_for(self, shares: Floats, phi: Floats) -> Floats:
        """The constants that give these mean probabilities with phi's slopes."""
        slopes, turn = self._psi(phi).copy(), contrasts(self.classes)
        constants = slopes[0].copy()
        slopes[0] = 0.0
        predictors = _Typical.of(slopes, True).eta
        for _ in range(_STEPS):
            mean = np.mean(_probabilities(predictors + constants), axis=0)
            step = np.log(shares / np.maximum(mean, 1e-12)) @ turn
            constants = np.clip(constants + step, -_FARTHEST, _FARTHEST)
            if float(np.max(np.abs(step))) < _NEAR:
                break
        return np.asarray(constants)


@dataclass(frozen=True, eq=False)
class _Typical:
    """Normal rows (1, z) along the slopes, their predictors in contrasts, and an
    orthonormal basis of the slopes.
    """

    rows: Floats
    eta: Floats
    basis: Floats

    @classmethod
    def of(cls, psi: Floats, constant: bool, *, inside: bool = False) -> _Typical:
        """``inside``: psi is given in few coordinates, and rows are normal in all of them."""
        first = int(constant)
        slopes = psi[first:]
        if inside:
            directions, along = np.eye(len(slopes)), slopes
        else:
            directions, values, right = np.linalg.svd(slopes, full_matrices=False)
            along = values[:, np.newaxis] * right
        points = _lattice(len(along)) if len(along) else np.zeros((1, 0))
        eta = points @ along + (psi[0] if constant else 0.0)
        rows = np.hstack([np.ones((len(points), first)), points])
        basis = np.zeros((len(psi), rows.shape[1]))
        basis[:first, :first] = np.eye(first)
        basis[first:, first:] = directions
        return cls(rows, eta, basis)

    @cached_property
    def p(self) -> Floats:
        """Probabilities of the classes."""
        return _probabilities(self.eta)

    @property
    def largest(self) -> Floats:
        """max_k |p - e_k| over the classes."""
        return np.asarray(np.sqrt(np.maximum(1 - 2 * np.min(self.p, axis=1) + np.sum(self.p**2, axis=1), 1e-12)))

    def moments(self) -> Floats:
        """The mean of z p^T in contrasts."""
        return self.basis @ (self.rows.T @ self.p / len(self.p)) @ contrasts(self.p.shape[1])

    @cached_property
    def _covariances(self) -> Floats:
        turn = contrasts(self.p.shape[1])
        means = self.p @ turn
        spread = self.p @ _squares(turn)
        return np.asarray((spread - _squares(means)).reshape(-1, turn.shape[1], turn.shape[1]))

    def across(self) -> Floats:
        """The curvature of every direction orthogonal to the slopes."""
        mean = np.mean(self._covariances, axis=0)
        return np.asarray(mean + self._floor(mean) * np.eye(len(mean)))

    def along(self) -> Floats:
        """The curvature in the basis."""
        covariances, count = self._covariances, len(self.rows)
        width, free = self.rows.shape[1], covariances.shape[1]
        matrix = _squares(self.rows).T @ covariances.reshape(count, -1) / count
        matrix = matrix.reshape(width, width, free, free).transpose(0, 2, 1, 3)
        inner = width * free
        return np.asarray(matrix.reshape(inner, inner) + self._floor(np.mean(covariances, axis=0)) * np.eye(inner))

    @staticmethod
    def _floor(mean: Floats) -> float:
        return max(1e-6 * float(np.trace(mean)) / len(mean), _LEAST_CURVATURE)


def _probabilities(eta: Floats) -> Floats:
    """Probabilities of the classes at these predictors in contrasts."""
    predictors = contrasts(eta.shape[1] + 1) @ eta.T  # one class after the other: faster for few of them
    sizes = np.exp(predictors - np.max(predictors, axis=0))
    return np.asarray((sizes / np.sum(sizes, axis=0)).T)


def _squares(rows: Floats) -> Floats:
    """The entries of rr^T for each row r, as a row."""
    return np.asarray((rows[:, :, np.newaxis] * rows[:, np.newaxis, :]).reshape(len(rows), -1))


@lru_cache(maxsize=8)
def _curvature(phi: bytes, free: int, constant: bool) -> Floats:
    """The expected second derivative of a row's loss; cached, because a descent uses
    the same point many times.
    """
    typical = _Typical.of(np.frombuffer(phi).reshape(-1, free), constant)
    along, across = typical.along(), typical.across()
    outside = np.eye(len(typical.basis)) - typical.basis @ typical.basis.T
    wide = np.kron(typical.basis, np.eye(free))
    matrix = np.asarray(np.kron(outside, across) + wide @ along @ wide.T)
    matrix.flags.writeable = False
    return matrix


def _no_longer(slopes: Floats) -> Floats:
    """Slopes with singular values limited to the longest length."""
    left, values, right = np.linalg.svd(slopes, full_matrices=False)
    return np.asarray((left * np.minimum(values, _LONGEST)) @ right)


@lru_cache(maxsize=32)
def _lattice(dimensions: int) -> Floats:
    """Normal quantiles of an additive recurrence (Roberts' R sequence),
    scaled to unit second moments.
    """
    root = 2.0
    for _ in range(64):
        root = (1 + root) ** (1 / (dimensions + 1))
    steps = root ** -np.arange(1, dimensions + 1)
    points = ndtri((np.arange(1, _POINTS // 2 + 1)[:, np.newaxis] * steps + 0.5) % 1.0 * (1 - 1e-9) + 5e-10)
    points = np.vstack([points, -points])
    values, vectors = np.linalg.eigh(points.T @ points / len(points))
    points = points @ (vectors / np.sqrt(values)) @ vectors.T
    points.flags.writeable = False
    return np.asarray(points)
