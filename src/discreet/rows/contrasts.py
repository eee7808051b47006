"""Numbers of the classes of a row: probabilities, and scores and covariances in contrasts.

Every step is elementwise or adds entries in a fixed order, so a row's numbers depend on that row
only.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from discreet.rows.kernels import scratch
from discreet.rows.query import Floats


@lru_cache(maxsize=64)
def contrasts(classes: int) -> Floats:
    """Orthonormal columns that sum to zero (Helmert contrasts): each compares a
    class with earlier ones.
    """
    matrix = np.zeros((classes, classes - 1))
    for j in range(1, classes):
        matrix[:j, j - 1] = 1.0
        matrix[j, j - 1] = -j
        matrix[:, j - 1] /= math.sqrt(j * (j + 1))
    matrix.flags.writeable = False
    return matrix


def scores(p: Floats, index: Floats) -> Floats:
    """p - e_y in contrasts; a NaN label makes them all NaN, so that the
    curator's clip drops the row.
    """
    p -= 0.0 * index
    for number, entry in enumerate(p):
        entry -= np.rint(index) == number
    turn, out = contrasts(len(p)), np.zeros((len(p) - 1, p.shape[1]))
    for weights, entry in zip(turn, p, strict=True):
        for weight, contrast in zip(weights, out, strict=True):
            if weight:
                contrast += weight * entry
    return out


def covariance(p: Floats) -> Floats:
    """The upper triangle of diag(p) - pp^T in contrasts, off-diagonal entries times sqrt(2)."""
    turn, free = contrasts(len(p)), len(p) - 1
    means = np.zeros((free, p.shape[1]))
    for weights, entry in zip(turn, p, strict=True):
        means += weights[:, np.newaxis] * entry
    out, number = np.zeros((free * (free + 1) // 2, p.shape[1])), 0
    for a in range(free):
        for b in range(a, free):
            row = out[number]
            for weights, entry in zip(turn, p, strict=True):
                if weights[a] * weights[b]:
                    row += (weights[a] * weights[b]) * entry
            row -= means[a] * means[b]
            if a != b:
                row *= math.sqrt(2)
            number += 1
    return out


def squared_length(z: Floats) -> Floats:
    """The sum of squared entries, in their order."""
    square = np.zeros(z.shape[1])
    for entry in z:
        square += entry * entry
    return square


def triangle(z: Floats, weight: Floats, out: Floats) -> None:
    """The upper triangle of weight zz^T, off-diagonal entries times sqrt(2)."""
    number = 0
    for i, entry in enumerate(z):
        heavy = entry * weight
        np.multiply(heavy, entry, out=out[number])
        rest = out[number + 1 : number + len(z) - i]
        np.multiply(z[i + 1 :], heavy * math.sqrt(2), out=rest)
        number += len(z) - i


def unfolded(value: Floats, size: int, free: int) -> Floats:
    """The matrix of all coefficients from products of such triangles: coordinate by coordinate, all
    contrasts of each.
    """
    matrix = np.zeros((size, free, size, free))
    inner = [(a, b, 1.0 if a == b else math.sqrt(0.5)) for a in range(free) for b in range(a, free)]
    i, j = np.triu_indices(size)
    beside = np.where(i == j, 1.0, math.sqrt(0.5))
    for column, (a, b, part) in zip(value.T, inner, strict=True):
        entries = column * beside * part
        for one, other in ((a, b), (b, a)):
            matrix[i, one, j, other] = entries
            matrix[j, one, i, other] = entries
    return matrix.reshape(size * free, size * free)


def probabilities(eta: Floats) -> Floats:
    """Softmax over the classes, in a fixed order."""
    p = scratch("probabilities", eta.shape)
    top = eta[0].copy()
    for entry in eta[1:]:
        np.maximum(top, entry, out=top)
    np.subtract(eta, top, out=p)
    np.exp(p, out=p)
    total = p[0].copy()
    for entry in p[1:]:
        total += entry
    p /= total
    return p
