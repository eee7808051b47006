"""DP-PMTRR with the printed noise (PMT, Algorithm 2): z z^T and z y released
separately, with a wide radius.

R = sqrt(d (1 + log(2 n / eta))), four times a typical row's norm; y is divided by the public root
mean square and clipped at sqrt(1 + log(2 n / eta)). The exact guarantee of this noise is computed;
it is stronger than the printed one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.declared import cost_of, public_count
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel, Guess, without_errors
from discreet.privacy import Budget, refuse_weaker
from discreet.rows import Block, Floats, Geometry, LinearMap, Source
from discreet.rows.kernels import column_norms
from discreet.rows.scores import Labels
from discreet.rows.truncated import TruncatedInformation

_FAILURE = 0.05


@dataclass(frozen=True, eq=False)
class TruncatedCross:
    """The sum of z y / scale, with |z| <= radius and |y| / scale <= bound."""

    map: LinearMap
    labels: Labels
    y_scale: float
    radius: float
    right_norm: float
    label: str = "z y"
    geometry: Geometry = "free"

    @property
    def left_norm(self) -> float:
        return self.radius

    @property
    def shape(self) -> tuple[int, int]:
        return self.map.outputs, 1

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        z = self.map.apply(block)
        z *= self.radius / np.maximum(column_norms(z), self.radius)
        y = np.clip(self.labels.of(block) / self.y_scale, -self.right_norm, self.right_norm)
        return z, y[np.newaxis]


def printed_pmt(
    source: Source,
    budget: Budget,
    model: GlmModel,
    *,
    guess: Guess,
    y_scale: float,
    failure: float | None = None,
) -> GlmFit:
    """(sum z z^T + lambda Sigma_B^-1 + G)^-1 (sum z y + g), transformed back; ``y_scale``
    is that of public labels.

    ``failure`` is the paper's eta.

    Privacy: two sums, with sigma_1 = 2 R^2 / mu and sigma_2 = 2 R R_y / mu.
    """
    count, coordinates = public_count(source), guess.white
    if coordinates is None:
        origin = model.origin if model.origin is not None else np.zeros(model.width)
        coordinates = Coordinates.through_origin(origin, guess.scaling.scale)
    long = 1 + math.log(2 * count / (_FAILURE if failure is None else failure))
    radius, y_radius = math.sqrt(coordinates.size * long), math.sqrt(long)
    square = TruncatedInformation(coordinates.map(np.zeros(coordinates.size)), np.ones_like, radius, 1.0, "z z^T")
    cross = TruncatedCross(LinearMap(coordinates.matrix), model.labels, y_scale, radius, y_radius)
    mu = budget.mu / math.sqrt(2)  # "sqrt(2) mu-GDP" is the guarantee of the algorithm
    square_cost = cost_of(source, square, 2 * radius**2 / mu)
    cross_cost = cost_of(source, cross, 2 * radius * y_radius / mu)
    refuse_weaker([square_cost, cross_cost], budget)
    gram = source.sum(square, square_cost).value + model.penalty_in(coordinates)
    moment = source.sum(cross, cross_cost).value[:, 0]
    beta = np.asarray(y_scale * np.linalg.lstsq(gram, moment, rcond=None)[0], dtype=np.float64)
    return without_errors(coordinates.coefficients(beta), count, 1)
