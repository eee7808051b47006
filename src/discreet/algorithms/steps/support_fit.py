"""The least-squares fit on a support, from a noisy second moment of (1, x, y)."""

from __future__ import annotations

import math

import numpy as np

from discreet.algorithms.steps.first_look import Scaling
from discreet.algorithms.steps.second_moment import plan_moment
from discreet.algorithms.steps.wide_look import WideScaling
from discreet.glm import NoisyQuadratic
from discreet.privacy import GDP
from discreet.rows import Floats, Indices, OnSupport, WideSource


def least_squares(source: WideSource, columns: Indices, cost: GDP, known: WideScaling) -> Floats:
    """Coefficients of (1, x[columns]) for y, all encoded, shrunk by the known noise.

    Privacy: one sum.
    """
    size = len(columns) + 1
    scaling = Scaling(known.count, np.zeros(size - 1), known.cell_scale, known.y_centre, known.y_scale)
    query = plan_moment(source, cost, math.sqrt(size - 1), scaling)
    answer = OnSupport(source, columns).sum(query, cost)
    moment = (answer.value + answer.value.T) / 2
    # The total weight of the rows cannot be smaller than what noise alone could produce.
    moment[0, 0] = max(moment[0, 0], 1.5 * math.sqrt(2 * (size + 1)) * answer.noise_std)
    coordinates = np.eye(size + 1)
    weight = float(moment[0, 0]) / query.weight_1**2
    slopes = np.arange(size) > 0
    solution = NoisyQuadratic(
        moment, answer.noise_std, coordinates[:-1], slopes, coordinates[-1], np.zeros(size), weight
    ).solve()
    # v = (weight_1 c_0 + sum of u_j c_j) / weight_y, with u = (x - centre) / scale and
    # v = (y - centre) / scale.
    coef = solution.coef * query.y_scale / query.weight_y
    coef[0] = query.y_centre + query.weight_1 * coef[0] - float(coef[1:] @ query.x_centre) / query.x_scale
    coef[1:] /= query.x_scale
    return np.asarray(coef)
