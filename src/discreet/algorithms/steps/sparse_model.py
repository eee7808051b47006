"""What sparse solvers share: the model they fit, what they return, and averages over a Gaussian predictor."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.glm import Family, Link
from discreet.rows import Floats, Indices, Labels, RowsUsed

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
_SHARES = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True, eq=False)
class Model:
    """A family with its link, and the labels in the family's units; everything about it is public."""

    family: Family
    link: Link
    labels: Labels

    def score(self, y: Floats, eta: Floats) -> Floats:
        return self.family.score(y, eta, self.link)

    def negative_score(self, y: Floats, eta: Floats) -> Floats:
        return -self.score(y, eta)

    @property
    def label_low(self) -> float:
        return self.labels.centre - self.labels.half_width

    @property
    def label_high(self) -> float:
        return self.labels.centre + self.labels.half_width

    @property
    def is_linear(self) -> bool:
        return self.family.name == "gaussian" and self.link.name == "identity"

    @property
    def longest_eta(self) -> float:
        """No model of interest has a larger |eta| on average: beyond, noise has the upper hand."""
        return abs(self.labels.centre) + 2 * self.labels.half_width if self.link.is_identity else 10.0

    def mean_over(self, middle: float, variance: float) -> float:
        """The mean label where eta is normal with this mean and variance."""
        return float(_SHARES @ self.link.mean(_etas(middle, variance)))

    def slope_over(self, middle: float, variance: float) -> float:
        """The mean slope of the mean label in eta; the weight, where the link is the canonical one."""
        return float(_SHARES @ self.link.slope(_etas(middle, variance)))

    def weight_over(self, middle: float, variance: float) -> float:
        return float(_SHARES @ self.family.weight(_etas(middle, variance), self.link))

    def curvature(self, phi: Floats) -> Floats:
        """E[weight(eta) (1, z)(1, z)^T] per row at coefficients phi, for standard normal z.

        Only the direction of phi is bent; across it the second moment is the mean weight.
        """
        slopes = phi[1:]
        length = float(np.linalg.norm(slopes))
        weights = self.family.weight(_etas(float(phi[0]), length**2), self.link) * _SHARES
        direction = slopes / length if length > 0 else slopes
        mean, along, square = float(weights.sum()), float(weights @ _NODES), float(weights @ _NODES**2)
        matrix = mean * np.eye(len(phi))
        matrix[0, 1:] = matrix[1:, 0] = along * direction
        matrix[1:, 1:] += (square - mean) * np.outer(direction, direction)
        return matrix


def start_intercept(model: Model, y_centre: float) -> float:
    """The predictor of the mean label, kept off the ends of its range."""
    margin = 0.02 * (model.label_high - model.label_low)
    mean = model.labels.centre + model.labels.half_width * y_centre
    return float(model.link.predictor(np.clip(mean, model.label_low + margin, model.label_high - margin)))


def score_bound(model: Model, y_centre: float, y_scale: float, clip: float = 2.0) -> float:
    """What a score is clipped to in rankings and gradients, in the family's units."""
    if model.family.name == "bernoulli":
        # At the constant model |score| <= max(p, 1 - p); what is longer later is clipped there.
        return 0.5 * (1 + abs(y_centre))
    if model.family.limit is not None:
        return model.family.limit
    # How far a score moves with its label; 1 where the link is the family's canonical one.
    gain = 1.0
    if model.link != model.family.canonical_link:
        gain = float(model.family.gain(start_intercept(model, y_centre), model.link))
    return clip * y_scale * model.labels.half_width * gain


def _etas(middle: float, variance: float) -> Floats:
    return np.asarray(middle + math.sqrt(max(variance, 0.0)) * _NODES)


@dataclass(frozen=True, eq=False)
class SparseFit:
    """A sparse model on the encoded scale: eta = intercept + slopes . x[columns], in the family's units.

    ``covariance`` is that of (intercept, slopes), noise and sampling together and given the selection, where known.
    """

    columns: Indices
    intercept: float
    slopes: Floats
    passes: int
    covariance: Floats | None = None
    path: tuple[tuple[Indices, Floats], ...] = ()
    # How many rows have a label; None where the solver does not say.
    used: RowsUsed | None = None

    def sorted(self) -> SparseFit:
        """The same with columns in rising order."""
        order = np.argsort(self.columns)
        covariance = self.covariance
        if covariance is not None:
            positions = np.concatenate([[0], 1 + order])
            covariance = covariance[np.ix_(positions, positions)]
        return replace(self, columns=self.columns[order], slopes=self.slopes[order], covariance=covariance)
