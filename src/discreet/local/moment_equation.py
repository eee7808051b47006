"""The corrected estimator: the model whose expected report equals the average report.

A device reports h(x) (y - centre), with h the clipped vector. For coefficients u on z, the vector
before the clip, a model predicts E[h (mean(<u, z>) - centre)], an average over public rows or,
without rows, over Gaussian points of their moments. Equating the two needs no Stein constant,
corrects exactly for clipping and holds for any design. With an increasing link the prediction is
the gradient of a convex function of u, so the root is unique.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.errors import NoSolutionError
from discreet.glm import MeanFunction
from discreet.local.columns import Floats

_ITERATIONS = 200
_TOLERANCE = 1e-9
# A direction with less than this share of the largest variance counts as constant.
_UNSEEN = 1e-7


@dataclass(frozen=True, eq=False)
class Points:
    """A design to average over: vectors before and after clipping, and the number of public rows
    used.

    ``weights`` have the mean 1, and may be negative where rows were calibrated to collected
    moments.
    """

    vectors: Floats
    clipped: Floats
    public_rows: int
    weights: Floats | None = None

    @property
    def weighted(self) -> Floats:
        """The clipped vectors, each times its weight in the average."""
        if self.weights is None:
            return self.clipped / len(self.clipped)
        return self.clipped * (self.weights / len(self.weights))[:, np.newaxis]

    @property
    def moment(self) -> Floats:
        """E[z z^T]."""
        weights = np.ones(len(self.vectors)) if self.weights is None else self.weights
        return (self.vectors.T * weights) @ self.vectors / len(self.vectors)

    def expected(self, coef: Floats, link: MeanFunction, centre: float) -> Floats:
        """The average report, in label units, if these were the coefficients."""
        return self.weighted.T @ (link.mean(self.vectors @ coef) - centre)

    def slopes(self, coef: Floats, link: MeanFunction) -> Floats:
        """The derivative of ``expected`` in the coefficients."""
        weight = link.slope(self.vectors @ coef)[:, np.newaxis]
        return self.weighted.T @ (weight * self.vectors)

    def along(self, axes: Floats) -> Points:
        """The same points in the coordinates of these axes."""
        return Points(self.vectors @ axes, self.clipped @ axes, self.public_rows, self.weights)


def gaussian_points(moment: Floats, with_constant: bool, count: int = 8192) -> Floats:
    """Points with exactly this second moment that are otherwise like Gaussian ones; always the
    same.

    with_constant: the first coordinate is the constant 1, and the others are Gaussian around their
    mean.
    """
    size = len(moment) - int(with_constant)
    half = np.random.Generator(np.random.PCG64(20221117)).normal(size=(count // 2, size))
    drawn = np.vstack([half, -half])
    drawn = drawn @ _inverse_root(drawn.T @ drawn / len(drawn))
    if not with_constant:
        return drawn @ _root(moment)
    mean = moment[0, 1:] / moment[0, 0]
    covariance = moment[1:, 1:] / moment[0, 0] - np.outer(mean, mean)
    return np.hstack([np.ones((len(drawn), 1)), mean + drawn @ _root(covariance)])


def solve(points: Points, target: Floats, link: MeanFunction, centre: float, ridge: float = 0.0) -> Floats:
    """The coefficients whose expected report is ``target``.

    With a ridge, those that minimise the squared gap plus the ridge times their squared length.

    Directions in which the design does not vary (indicators that sum to 1) get coefficient 0.
    """
    values, vectors = np.linalg.eigh(points.moment)
    seen = vectors[:, values > _UNSEEN * values[-1]]
    inner = points.along(seen)
    aim = seen.T @ target
    tolerance = _TOLERANCE * max(float(np.linalg.norm(aim)), 1e-12)
    for start in _starts(inner, aim, link):
        coef, gap = _descend(inner, aim, link, centre, start, ridge, tolerance)
        if ridge > 0 or gap <= tolerance:
            return np.asarray(seen @ coef)
    raise NoSolutionError(
        f"no coefficients of the {link.name} model have the average report as their expectation: the noise is too "
        "large for so few reports, or the average lies outside the model's range; use more reports, a larger "
        "epsilon, fewer columns, or prior_std (how strong effects typically are)"
    )


def _starts(points: Points, target: Floats, link: MeanFunction) -> list[Floats]:
    """Starting points: zero, then both ways along the least-squares direction.

    The latter are for links that are flat at zero or decrease.
    """
    zero = np.zeros(points.vectors.shape[1])
    linear = points.weighted.T @ points.vectors
    direction: Floats = np.asarray(np.linalg.lstsq(linear, target, rcond=None)[0], dtype=np.float64)
    length = float(np.sqrt(np.mean((points.vectors @ direction) ** 2))) or 1.0
    flat = float(np.abs(link.slope(np.zeros(1)))[0]) < 1e-12
    ways = [size * direction / length for size in (0.5, -0.5, 1.5, -1.5)]
    return ways if flat else [zero, *ways]


def _descend(
    points: Points, target: Floats, link: MeanFunction, centre: float, coef: Floats, ridge: float, tolerance: float
) -> tuple[Floats, float]:
    """Levenberg-Marquardt steps on |gap|^2 + ridge |coef|^2; returns the remaining gap too."""
    damping = 1e-3
    with np.errstate(over="ignore", invalid="ignore"):
        gap = points.expected(coef, link, centre) - target
        cost = float(gap @ gap + ridge * coef @ coef)
        for _ in range(_ITERATIONS):
            slopes = points.slopes(coef, link)
            square = slopes.T @ slopes
            downhill = slopes.T @ gap + ridge * coef
            ridges = ridge + damping * max(float(np.trace(square)) / len(square), 1e-300)
            tried = coef - np.linalg.lstsq(square + ridges * np.eye(len(square)), downhill, rcond=None)[0]
            new_gap = points.expected(tried, link, centre) - target
            new_cost = float(new_gap @ new_gap + ridge * tried @ tried)
            if new_cost < cost:
                settled = ridge > 0 and cost - new_cost < 1e-12 * cost
                coef, gap, cost, damping = tried, new_gap, new_cost, max(damping / 10, 1e-14)
                if settled:
                    break
            else:
                damping *= 4
            if float(np.linalg.norm(gap)) <= tolerance or damping > 1e12:
                break
    return coef, float(np.linalg.norm(gap))


def _root(matrix: Floats) -> Floats:
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def _inverse_root(matrix: Floats) -> Floats:
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors / np.sqrt(np.maximum(values, 1e-300))) @ vectors.T)
