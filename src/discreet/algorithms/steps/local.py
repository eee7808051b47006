"""The loss of a generalized linear model about a point, as far as noisy answers have shown it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates, blended
from discreet.algorithms.steps.descent_plan import DescentPlan
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.glm import ClippedScore
from discreet.privacy import GDP
from discreet.rows import Answer, CurvatureSum, Floats, ScoreSum, Source


@dataclass(frozen=True, eq=False)
class Local:
    """A point phi in coordinates where the loss curves about equally, by ``curvature`` a row, in every direction.

    ``dispersion`` scales the variance of labels; ``filling`` is the variance of the clipped scores over their slope,
    the filling of the sandwich that is the estimate's covariance.
    """

    coordinates: Coordinates
    phi: Floats
    curvature: float
    dispersion: float
    filling: float = 1.0

    @property
    def size(self) -> int:
        return self.coordinates.size

    @property
    def score_std(self) -> float:
        return math.sqrt(self.dispersion * self.curvature)

    def at(self, phi: Floats) -> Local:
        return replace(self, phi=phi)


@dataclass(frozen=True, eq=False)
class Inquiry:
    """Asks a source about one model's scores, with bounds of a plan; ``count`` is the noisy number of rows."""

    source: Source
    model: GlmModel
    plan: DescentPlan
    count: float

    def gradient(self, local: Local, phi: Floats, cost: GDP) -> tuple[Floats, float]:
        """The mean of clipped scores at phi, penalty included, and the noise in each of its entries."""
        query = ScoreSum(
            local.coordinates.map(phi),
            self.model.labels,
            self._score(local).score,
            self._radius(local),
            self._clip(local),
        )
        answer = self.source.sum(query, cost)
        return answer.value[:, 0] / self.count + self.penalty(local) @ phi, answer.noise_std / self.count

    def curvature(self, local: Local, cost: GDP) -> Local:
        """The same point, in coordinates that the slopes of the scores there make round."""
        clip = self._clip(local)
        slope_norm = self.plan.slope_norm * self.plan.moment_radius * math.sqrt(local.size * local.curvature)
        score = self._score(local)
        query = CurvatureSum(
            map=local.coordinates.map(local.phi),
            labels=self.model.labels,
            score=score.score,
            slope=score.slope,
            radius=self._radius(local),
            clip=clip,
            slope_norm=slope_norm,
            score_weight=0.5 * slope_norm / clip,
        )
        return self._seen(local, self.source.sum(query, cost), query.score_weight)

    def _seen(self, local: Local, answer: Answer, score_weight: float) -> Local:
        moment, noise_std, size = answer.value / self.count, answer.noise_std / self.count, local.size
        slopes = moment[:-1, :-1].copy()
        mean_slope = blended(float(np.trace(slopes)) / size, noise_std / math.sqrt(size), local.curvature)
        spread_guess = local.dispersion * mean_slope * size
        spread = blended(float(moment[-1, -1]) / score_weight**2, noise_std / score_weight**2, spread_guess)
        if local.coordinates.constant:
            slopes[0, 0] = blended(float(slopes[0, 0]), noise_std, local.curvature)
        white = local.coordinates.whitened(slopes, noise_std)
        filling = spread / (mean_slope * size)
        return Local(
            coordinates=white,
            phi=white.phi(local.coordinates.coefficients(local.phi)),
            # Whitened coordinates have the constant's curvature in every direction, or 1 without a constant.
            curvature=float(slopes[0, 0]) if local.coordinates.constant else 1.0,
            dispersion=1.0 if self.model.family.dispersion_known else filling,
            filling=filling,
        )

    def penalty(self, local: Local) -> Floats:
        """The second derivative of the user's penalty in these coordinates, per row."""
        matrix = local.coordinates.matrix[:, 1:]
        return (matrix * self.model.penalty) @ matrix.T / self.count

    def inverse(self, local: Local) -> Floats:
        """The inverse of the loss's curvature."""
        return np.asarray(np.linalg.inv(local.curvature * np.eye(local.size) + self.penalty(local)))

    def _score(self, local: Local) -> ClippedScore:
        model = self.model
        return ClippedScore(model.family, model.link, model.labels.low, model.labels.high, max(local.dispersion, 1e-3))

    def _radius(self, local: Local) -> float:
        return self.plan.radius * math.sqrt(local.size)

    def _clip(self, local: Local) -> float:
        """How long a row's contribution may be; binary scores are at most 1, so the radius is enough for them."""
        if self.model.family.name == "bernoulli":
            return min(self.plan.binary_clip, self.plan.radius) * math.sqrt(local.size)
        return self.plan.clip * math.sqrt(local.size) * local.score_std
