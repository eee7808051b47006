"""Making a noisy matrix safe to invert: post-processing with the matrix and its
known noise alone.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.rows import Floats

# Noise moves eigenvalues by up to its edge, sqrt(2 size) noise_std. This multiple of it is
# the smallest eigenvalue.
_FLOOR = 1.0


def definite(matrix: Floats, noise_std: float) -> Floats:
    """The matrix with eigenvalues shrunk to their mean as far as noise explains their
    spread, and none near 0.

    Noise spreads the eigenvalues of a matrix. The part of the squared spread that noise alone would
    cause is removed (as in Ledoit and Wolf). Directions that are still below the noise get its edge
    as eigenvalue, so that no step along them is longer than the noise allows. Without noise the
    matrix is unchanged, unless it is singular.
    """
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    size = len(values)
    middle = max(float(np.mean(values)), noise_std, 1e-300)
    spread = float(np.sum((values - middle) ** 2))
    trust = max(0.0, 1 - noise_std**2 * size * (size + 1) / 2 / max(spread, 1e-300))
    floor = max(_FLOOR * math.sqrt(2 * size) * noise_std, 1e-12 * middle)
    values = np.maximum(middle + trust * (values - middle), floor)
    return np.asarray((vectors * values) @ vectors.T)


def solved(matrix: Floats, right: Floats) -> Floats:
    """The solution of matrix @ solution = right; the minimum-norm least-squares one
    if the matrix is singular.

    Rounding makes a covariance singular if its parts differ by twenty digits. No answer may
    end a fit that was charged.
    """
    try:
        return np.asarray(np.linalg.solve(matrix, right))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0])


def projected(point: Floats, radius: float) -> Floats:
    """The projection onto the ball about 0."""
    return np.asarray(point * min(1.0, radius / max(float(np.linalg.norm(point)), 1e-300)))
