"""The loss of a generalized linear model about a point, as far as noisy answers have shown it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates, blended
from discreet.algorithms.steps.descent_plan import DescentPlan
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.glm import ClippedScore
from discreet.glm.clipping import is_corrected
from discreet.privacy import GDP
from discreet.rows import Answer, CurvatureSum, Floats, LinearMap, ScoreSum, Source

# Scores this many times as long as typical ones count as such in the spread: their tail is not worth more noise.
_TYPICAL_SCORES = 4.0
# Scores may vanish where a link is flat; a bound must stay a number that squares.
_LEAST_CLIP = 1e-30


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

    def slope(self, local: Local, phi: Floats, way: Floats, cost: GDP) -> float:
        """How the loss changes at phi along a way of length 1: one number, with the noise of one."""
        matrix = np.vstack([local.coordinates.coefficients(phi), local.coordinates.coefficients(way)])
        line = replace(local, coordinates=Coordinates(matrix[1:], constant=False), phi=np.zeros(1))
        query = ScoreSum(
            LinearMap(matrix), self.model.labels, self._score(local).score, self._radius(line), self._clip(line)
        )
        answer = self.source.sum(query, cost)
        return float(answer.value[0, 0]) / self.count + float(way @ self.penalty(local) @ phi)

    def curvature(self, local: Local, cost: GDP) -> Local:
        """The same point, in coordinates that the slopes of the scores there make round."""
        clip = self._clip(local)
        slope_norm = self.plan.slope_norm * self.plan.moment_radius * math.sqrt(local.size * local.curvature)
        score_norm = min(clip, _TYPICAL_SCORES * math.sqrt(local.size) * local.score_std)
        score = self._score(local)
        query = CurvatureSum(
            map=local.coordinates.map(local.phi),
            labels=self.model.labels,
            score=score.score,
            slope=score.slope,
            radius=self._radius(local),
            clip=clip,
            slope_norm=slope_norm,
            score_norm=score_norm,
            score_weight=0.5 * slope_norm / score_norm,
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
            dispersion=1.0 if self.model.family.dispersion_known else self._dispersion(local, filling, mean_slope),
            filling=filling,
        )

    def _dispersion(self, local: Local, filling: float, mean_slope: float) -> float:
        """What the dispersion must be for scores cut at the typical row's bound to vary as they were seen to.

        A normal score of standard deviation s, cut at u s, has the variance s^2 (P + u^2 (1 - P) - 2 u density(u))
        and P = 2 Phi(u) - 1 of its slope.
        """
        bound = self._clip(local) / math.sqrt(local.size)
        dispersion, weight = filling, mean_slope
        for _ in range(20):
            u = bound / math.sqrt(dispersion * weight)
            inside = max(math.erf(u / math.sqrt(2)), 1e-3)
            density = math.exp(-(u**2) / 2) / math.sqrt(2 * math.pi)
            kept = inside + u**2 * (1 - inside) - 2 * u * density
            dispersion, weight = filling * inside / max(kept, 1e-6), mean_slope / inside
        # A bound far inside the scores says little: stay near what was there to see.
        return min(dispersion, 4 * filling)

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
        clip = self.plan.corrected_clip if is_corrected(self.model.family) else self.plan.clip
        return max(clip * math.sqrt(local.size) * local.score_std, _LEAST_CLIP)
