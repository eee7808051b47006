"""The constant of a model with given slopes that has a given mean label."""

from __future__ import annotations

import math

import numpy as np

from discreet.glm import Link
from discreet.rows import Floats

FARTHEST = 50.0  # the largest absolute value of a constant
# The most steps of a search, and where it ends: at this part of the mean label.
_STEPS, _EXACT = 60, 1e-14


def constants(link: Link, predictors: Floats, masses: Floats, mean: float) -> Floats:
    """For each row of predictors, of points with these masses, the constant that is to be added.

    Newton steps; where one would leave the interval that holds the constant, or the last one did
    little, the interval is halved.
    """
    low, high = np.full(len(predictors), -FARTHEST), np.full(len(predictors), FARTHEST)
    middle, last = np.zeros(len(predictors)), np.full(len(predictors), math.inf)
    for _ in range(_STEPS):
        eta = middle[:, np.newaxis] + predictors
        off = link.mean(eta) @ masses - mean
        found = np.abs(off) <= _EXACT * abs(mean)
        if np.all(found):
            break
        low, high = np.where(off < 0, middle, low), np.where(off < 0, high, middle)
        newton = middle - off / np.maximum(link.slope(eta) @ masses, 1e-300)
        good = (low < newton) & (newton < high) & (np.abs(off) <= last / 2)
        middle, last = np.where(found, middle, np.where(good, newton, (low + high) / 2)), np.abs(off)
    return middle
