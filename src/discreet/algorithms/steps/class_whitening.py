"""Whitening rounds for a multinomial model: coordinates in which rows are white, and how classes differ in them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates, blended
from discreet.privacy import GDP
from discreet.rows import Floats, LinearMap, Source
from discreet.rows.class_scores import ClassCounts, ClassMoment, farthest_class
from discreet.rows.scores import Labels

# How long a row's part for the classes is beside z, squared.
_LABEL_LENGTH = 0.5
# The mean weight of rows that are shortened to about their typical length.
_TYPICAL_WEIGHT = 0.8


@dataclass(frozen=True, eq=False)
class ClassStart:
    """White coordinates, and the mean of z (e_y - shares)^T in them: a row per coordinate, a column per class.

    ``noise_std`` is that of a typical entry.
    """

    coordinates: Coordinates
    cross: Floats
    noise_std: float


def class_shares(source: Source, cost: GDP, classes: int, labels: Labels) -> Floats:
    """The part of all rows that each class has, none below what noise makes of nothing.

    Privacy: asks the source for one sum.
    """
    answer = source.sum(ClassCounts(classes, labels), cost)
    counts = np.maximum(answer.value[:, 0], max(answer.noise_std, 1.0))
    return np.asarray(counts / np.sum(counts))


def whiten_classes(
    source: Source,
    cost: GDP,
    rounds: int,
    start: Coordinates,
    labels: Labels,
    shares: Floats,
    radius: float,
    count: float,
) -> ClassStart:
    """``rounds`` noisy second moments, each in the coordinates that the one before found.

    Privacy: asks the source for as many sums, whose costs together are ``cost``.
    """
    coordinates, each = start, GDP(cost.mu / math.sqrt(rounds))
    weight = radius * math.sqrt(_LABEL_LENGTH) / farthest_class(shares)
    cross, noise_std = np.zeros((start.size, len(shares))), 0.0
    for _ in range(rounds):
        query = ClassMoment(LinearMap(coordinates.matrix), labels, shares, weight, radius)
        answer = source.sum(query, each)
        moment, noise_std = answer.value / count, answer.noise_std / count
        if coordinates.constant:
            moment[0, 0] = blended(float(moment[0, 0]), noise_std, _TYPICAL_WEIGHT)
        size = coordinates.size
        mass = float(moment[0, 0]) if coordinates.constant else 1.0
        white = coordinates.whitened(moment[:size, :size], noise_std).coordinates
        # white.matrix = turn @ coordinates.matrix
        turn = np.linalg.lstsq(coordinates.matrix.T, white.matrix.T, rcond=None)[0].T
        cross = turn @ moment[:size, size:] / (weight * mass)
        noise_std *= math.sqrt(float(np.mean(turn**2)) * size / 2) / (weight * mass)
        coordinates = white
    return ClassStart(coordinates, cross, noise_std)
