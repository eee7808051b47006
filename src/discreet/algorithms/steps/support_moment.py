"""The noisy second moment of (1, x, y) on a support: least squares, whitening, and least squares on any part of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.steps.first_look import Scaling
from discreet.algorithms.steps.second_moment import plan_moment
from discreet.algorithms.steps.support_coordinates import SupportCoordinates, whitened
from discreet.algorithms.steps.wide_look import WideScaling
from discreet.glm import NoisyQuadratic
from discreet.privacy import GDP
from discreet.rows import Answer, Floats, Indices, OnSupport, SecondMoment, WideSource


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Encoded y on encoded x: for prediction (shrunk), and the unshrunk estimate with its two covariances."""

    intercept: float
    slopes: Floats
    estimate: Floats
    noise_covariance: Floats
    sampling_covariance: Floats


@dataclass(frozen=True, eq=False)
class SupportMoment:
    """One release about the chosen columns; everything read off it afterwards is free."""

    columns: Indices
    query: SecondMoment
    answer: Answer

    def least_squares(self, keep: Indices | None = None) -> LeastSquares:
        """On all columns, or on those at the positions ``keep``."""
        size = len(self.columns)
        keep = np.arange(size) if keep is None else keep
        query, moment = self.query, (self.answer.value + self.answer.value.T) / 2
        # The weight of all rows cannot be smaller than what the noise alone would make of nothing.
        moment[0, 0] = max(moment[0, 0], 1.5 * math.sqrt(2 * (size + 2)) * self.answer.noise_std)
        coordinates = np.eye(size + 2)
        quadratic = NoisyQuadratic(
            moment,
            self.answer.noise_std,
            coordinates[np.concatenate([[0], 1 + keep])],
            np.array([False] + [True] * len(keep)),
            coordinates[-1],
            np.zeros(len(keep) + 1),
            float(moment[0, 0]) / query.weight_1**2,
        )
        solution = quadratic.solve()
        # v = (weight_1 c_0 + sum of u_j c_j) / weight_y, with u = (x - centre) / scale and v = (y - centre) / scale.
        per_unit = query.y_scale / query.weight_y
        units = np.diag(np.concatenate([[query.weight_1], np.full(len(keep), 1 / query.x_scale)])) * per_unit
        units[0, 1:] = -query.x_centre[keep] / query.x_scale * per_unit
        shift = np.zeros(len(keep) + 1)
        shift[0] = query.y_centre
        coef = shift + units @ solution.coef
        return LeastSquares(
            float(coef[0]),
            coef[1:],
            shift + units @ solution.estimate,
            units @ solution.noise_covariance @ units.T,
            units @ solution.sampling_covariance @ units.T,
        )

    def coordinates(self) -> SupportCoordinates:
        """Coordinates in which the chosen columns have about equal spread in every direction."""
        moment = self.answer.value[:-1, :-1].copy()
        moment[0] /= self.query.weight_1
        moment[:, 0] /= self.query.weight_1
        return whitened(self.query.x_centre, self.query.x_scale, moment, self.answer.noise_std)


def support_moment(source: WideSource, columns: Indices, cost: GDP, known: WideScaling) -> SupportMoment:
    """Privacy: asks the source for one sum."""
    width = len(columns)
    scaling = Scaling(known.count, np.zeros(width), known.cell_scale, known.y_centre, known.y_scale)
    query = plan_moment(source, cost, math.sqrt(width), scaling)
    return SupportMoment(columns, query, OnSupport(source, columns).sum(query, cost))
