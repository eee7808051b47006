"""The private second moment of whitened and truncated rows (PMT, Algorithm 1 and Theorem 3.2).

Public moments make rows white, z = Sigma_B^(-1/2) (1, x). White rows have norm about sqrt(d), where
they are clipped. The release is the second moment of z, whose eigenvalues are all about 1, so it
can be inverted (Theorem 3.3). Without public moments z is (1, x) itself and nothing is clipped.
Both calibrations are here: tight, and as printed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.declared import cost_of, public_count
from discreet.algorithms.steps.repair import definite
from discreet.privacy import GDP, Budget, refuse_weaker
from discreet.rows import Floats, Geometry, LinearMap, Source
from discreet.rows.truncated import RowCount, TruncatedMoment

# The share of mu^2 for the number of rows, where it is private.
_COUNT_SHARE = 0.03
# White rows are clipped at this multiple of their typical norm, and at more as the noise allows.
_RADIUS = 1.5
_FAILURE = 0.05


@dataclass(frozen=True, eq=False)
class TruncatedRelease:
    """The mean of (1, x)(1, x)^T, repaired; ``noise_std`` is that of a diagonal
    entry in the coordinates z.
    """

    moment: Floats
    noise_std: float
    count: float


def truncated_moment(
    source: Source,
    budget: Budget,
    *,
    x_radius: float,
    width: int,
    coordinates: Coordinates | None,
    calibration: str = "tight",
    failure: float = _FAILURE,
) -> TruncatedRelease:
    """The second moment of (1, x), transformed back from the coordinates of the release.

    ``failure`` is the paper's eta, for its radius.

    Privacy: one sum, and one for the number of rows if it is private.
    """
    declared = coordinates is None
    coordinates = Coordinates(np.eye(width + 1)) if coordinates is None else coordinates
    count, rest = _count(source, budget, calibration)
    size = coordinates.size
    radius = math.hypot(1.0, x_radius)
    if not declared and calibration == "paper":
        radius = math.sqrt(size * (1 + math.log(2 * count / failure)))
    elif not declared:
        ease = rest.mu * count / size
        radius = _RADIUS * max(1.0, (ease / 500) ** 0.3) * math.sqrt(size)
    geometry: Geometry = "printed_square" if calibration == "paper" else "square"
    query = TruncatedMoment(LinearMap(coordinates.matrix), radius, geometry=geometry)
    if calibration == "paper":
        # sigma = 2 R^2 / mu, which is sqrt(2) times what replacing a row needs.
        rest = cost_of(source, query, 2 * radius**2 / budget.mu)
        refuse_weaker([rest], budget)
    answer = source.sum(query, rest)
    noise_std = answer.noise_std / count
    inner = answer.value / count if calibration == "paper" else definite(answer.value / count, noise_std)
    back = np.linalg.inv(coordinates.matrix)
    return TruncatedRelease(back @ inner @ back.T, noise_std, count)


def _count(source: Source, budget: Budget, calibration: str) -> tuple[float, GDP]:
    if source.public_rows is not None or calibration == "paper":
        return public_count(source), budget.split([1.0])[0]
    first, rest = budget.split([_COUNT_SHARE, 1 - _COUNT_SHARE])
    answer = source.sum(RowCount(), first)
    return max(float(answer.value[0, 0]), 2 * answer.noise_std), rest
