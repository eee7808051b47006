"""Shrinking a multinomial model's coefficients by what is known of their noise."""

from __future__ import annotations

import numpy as np

from discreet.rows import Floats

# What the constants may differ from their goal by: of the order of log odds.
_CONSTANT_VARIANCE = 1.0
# Slopes lie along few directions rather than evenly in all, and there the loss is flattest and noise greatest: their
# variance there is this many times the mean one.
_BOOST = 3.0
_LADDER = np.geomspace(1e-6, 1e2, 49)


def likeliest_size(distance: Floats, noise: Floats, first: int) -> float:
    """The variance of slopes that makes what is seen of them, noise included, likeliest (empirical Bayes).

    noise: covariance of the entries of ``distance``, in one block or in one for each of its rows.
    """
    free = distance.shape[1]
    if len(noise) == 1:
        blocks, seen = noise[:, first * free :, first * free :], distance[first:].reshape(1, -1)
    else:
        blocks, seen = noise[first:], distance[first:]
    values, vectors = np.linalg.eigh(blocks)
    square = np.einsum("bij,bi->bj", vectors, seen) ** 2
    values = np.maximum(values, 0.0)
    fits = [float(np.sum(np.log(a + values) + square / (a + values))) for a in _LADDER]
    return _BOOST * float(_LADDER[int(np.argmin(fits))])


def shrunk(psi: Floats, goal: Floats, noise: Floats, size: float, first: int) -> Floats:
    """The mean of psi given what was seen, for slopes of variance ``size`` about the goal and constants of about 1."""
    prior = np.full(psi.shape, size)
    prior[:first] = _CONSTANT_VARIANCE
    variance = prior.reshape(len(noise), -1)
    expected = variance[:, :, np.newaxis] * np.eye(variance.shape[1])
    step = np.linalg.pinv(expected + noise, hermitian=True) @ (psi - goal).reshape(len(noise), -1, 1)
    return np.asarray(goal + (expected @ step).reshape(psi.shape))
