"""A model in whitened coordinates, and the questions that a descent asks about it there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.parts.foresight import Foresight
from discreet.algorithms.parts.noisy_matrix import Seen, corrected, relative_edge
from discreet.algorithms.parts.sizes import EDGES, Sizes
from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.whitening import Whitening
from discreet.glm import ClippedRows, ClippedScore
from discreet.privacy import GDP
from discreet.rows import Answer, Floats, Query, Source, shared
from discreet.rows.gradient import BoundedSum, GradientSum, SizeHistogram, WeightedMoment

# Squared residuals are cut at this many times the dispersion, or where noise is this part of it: with a large budget
# nothing is cut, and the dispersion is the plain one whatever the tails.
_SQUARES, _MOST_SQUARES, _SQUARES_NOISE = 9.0, 1e6, 0.01
_HALVINGS = 50
_FARTHEST = 3.0
_LEAST_DISPERSION = 1e-9
_LEAST_NORM, _MOST_NORM = 1e-60, 1e60


@dataclass(frozen=True, eq=False)
class Frame:
    """Coordinates, the (noisy) number of rows, and the dispersion of labels as far as it is known."""

    source: Source
    model: GlmModel
    coordinates: Coordinates
    foresight: Foresight
    count: float
    dispersion: float

    @property
    def predictors(self) -> int:
        """How many linear predictors a row has."""
        return 1

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return self.coordinates.size * self.predictors

    @property
    def constants(self) -> int:
        """How many of them, the first ones, are constants."""
        return int(self.coordinates.constant) * self.predictors

    @property
    def root_size(self) -> float:
        """The typical length of a row."""
        return math.sqrt(self.coordinates.size)

    @property
    def farthest(self) -> float:
        """How far slopes may lie from where they are looked for, in standard deviations of the linear predictor.

        A direction whose noise is larger than that tells nothing.
        """
        return math.inf if self.model.link.is_identity else _FARTHEST

    @property
    def farthest_variance(self) -> float:
        return 0.0 if self.model.link.is_identity else _FARTHEST**2

    def length(self, step: Floats, phi: Floats) -> float:
        """How far a step goes, in typical directions: flat ones count less."""
        return math.sqrt(max(float(step @ self.foresight.curvature(phi) @ step) / self.weight(phi), 0.0))

    @property
    def turn(self) -> Floats:
        """From phi to the coefficients of (1, x)."""
        return self.coordinates.matrix.T

    @property
    def penalty(self) -> Floats:
        """The second derivative of the user's penalty, per row."""
        matrix = self.coordinates.matrix[:, 1:]
        return np.asarray((matrix * self.model.penalty) @ matrix.T / self.count)

    def ask(self, *questions: tuple[Query, GDP]) -> Sequence[Answer]:
        """All answers from one pass over the rows."""
        return self.source.sums(questions)

    def typical_norm(self, phi: Floats) -> float:
        """The root mean square of the norms of scores; a number that squares, whatever noise has made of the labels."""
        return min(max(self.foresight.typical_size(phi, self.dispersion) * self.root_size, _LEAST_NORM), _MOST_NORM)

    def gradient(self, phi: Floats, top: float, bottom: float = 0.0) -> GradientSum:
        """The sum of scores clipped at ``top``, less that of scores clipped at ``bottom``."""
        rows = self._clipped_rows(phi)

        def weight(y: Floats, eta: Floats, length: Floats) -> Floats:
            score = rows(top, y, eta, length).score
            return score - rows(bottom, y, eta, length).score if bottom > 0 else score

        label = "gradient" if bottom == 0 else "gradient above the clip norm"
        return GradientSum(self.coordinates.map(phi), self.model.labels, weight, top - bottom, self.root_size, label)

    def histogram(self, phi: Floats, unit: float) -> SizeHistogram:
        """How large the norms of scores are, in cells of ``EDGES`` units; rows that have no weight are in none."""
        score, family, link = self._score, self.model.family, self.model.link

        def size(y: Floats, eta: Floats, length: Floats) -> Floats:
            return np.where(family.weight(eta, link) > 0, score.size(y, eta) * length / unit, np.nan)

        return SizeHistogram(self.coordinates.map(phi), self.model.labels, size, EDGES)

    def lengths(self, phi: Floats) -> SizeHistogram:
        """How long rows are, in typical lengths."""
        typical = self.root_size  # alone: a function that held this frame would take the source along to a cluster
        return SizeHistogram(
            self.coordinates.map(phi),
            self.model.labels,
            lambda y, eta, length: length / typical + 0 * y,
            EDGES,
            label="lengths of rows",
        )

    def weight(self, phi: Floats) -> float:
        """The curvature in a typical direction."""
        return float(np.trace(self.foresight.curvature(phi))) / self.size

    def curvature_question(
        self, phi: Floats, clip: float, longest: float, kept: float, cost: GDP
    ) -> tuple[Query, float]:
        """How the gradient of clipped scores responds to a change of phi, and how much of it noise will hide.

        ``longest``: what rows are cut to, in squares of their typical length; ``kept``: what the clip norm leaves.
        """
        weight = float(np.trace(self.foresight.curvature(phi))) / self.size
        query = self.curvature(phi, clip, math.sqrt(self.size * weight * longest))
        noise_std = self.source.noise_std(query, cost) / self.count
        return query, relative_edge(noise_std, self.size, weight * kept)

    def rough(self, phi: Floats, clip: float, longest: float, cost: GDP, sizes: Sizes) -> bool:
        """Whether only a part of the curvature can be asked for."""
        return False

    def see_curvature(self, answer: Answer, expected: Floats) -> tuple[Floats, Seen]:
        """The curvature by an answer and by what was expected of it, and what was seen."""
        return corrected(answer, self.count, expected), Seen(answer.value / self.count, answer.noise_std / self.count)

    def whitening_moment(self, white: Whitening, phi: Floats) -> Seen:
        """The second moment of z as a curvature, up to a factor."""
        return Seen(white.moment, white.noise_std)

    def curvature(self, phi: Floats, clip: float, norm: float) -> WeightedMoment:
        """How the gradient of clipped scores responds to a change of phi."""
        rows = self._clipped_rows(phi)
        return WeightedMoment(
            self.coordinates.map(phi),
            self.model.labels,
            lambda y, eta, length: np.sqrt(rows(clip, y, eta, length).slope),
            norm,
        )

    def scores_moment(self, phi: Floats, clip: float) -> WeightedMoment:
        """The second moment of clipped scores: the meat of the sandwich."""
        rows = self._clipped_rows(phi)
        return WeightedMoment(
            self.coordinates.map(phi),
            self.model.labels,
            lambda y, eta, length: rows(clip, y, eta, length).score,
            clip,
            label="second moment of scores",
            weighs_squares=True,
        )

    def squares(self, phi: Floats, cost: GDP) -> tuple[BoundedSum, GDP]:
        """Squared residuals, each over the variance function, cut where they tell nothing of the dispersion."""
        family, link = self.model.family, self.model.link

        def value(y: Floats, eta: Floats, length: Floats) -> Floats:
            return family.squared_residual(y, eta, link)

        query = BoundedSum(self.coordinates.map(phi), self.model.labels, value, self.dispersion)
        affordable = _SQUARES_NOISE * self.count * self.dispersion / max(self.source.noise_std(query, cost), 1e-300)
        return replace(query, bound=min(max(affordable, _SQUARES), _MOST_SQUARES) * self.dispersion), cost

    def with_squares(self, question: tuple[Query, GDP], answer: Answer) -> Frame:
        """The dispersion under which cut squares have the mean that was seen, as far as the noise lets it be seen."""
        bound = 2 * question[0].left_norm  # squares are summed about the middle of their range
        mean, noise = float(answer.value[0, 0]) / self.count + bound / 2, answer.noise_std / self.count
        low, high = 0.02 * self.dispersion, 20 * self.dispersion
        for _ in range(_HALVINGS):
            middle = math.sqrt(low * high)
            below = middle * self.model.family.capped_square(bound / middle, middle) < mean
            low, high = (middle, high) if below else (low, middle)
        trust = self.dispersion**2 / (self.dispersion**2 + (3 * noise) ** 2)
        mixed = self.dispersion ** (1 - trust) * middle**trust
        return replace(self, dispersion=max(mixed, _LEAST_DISPERSION))

    def shift(self, phi: Floats, clip: float, dispersion: float) -> Floats:
        """The mean of clipped scores at the optimum, if the dispersion is not what this frame takes it to be."""
        bound = np.array([clip / self.root_size])
        return self.foresight.mean_of(phi, lambda eta: self._score.shift(eta, bound, dispersion))

    def _clipped_rows(self, phi: Floats) -> Callable[[float, Floats, Floats, Floats], ClippedRows]:
        """From a clip norm and rows to what is clipped of them, computed once for all questions of a pass."""
        score, through = self._score, self.coordinates.map(phi).key
        law = score.family, score.link, score.y_low, score.y_high, score.dispersion

        def rows(clip: float, y: Floats, eta: Floats, length: Floats) -> ClippedRows:
            # A copy of eta: what is shared is used later, when others may have written to its memory.
            found: ClippedRows = shared((through, law, clip), lambda: score.at(y, np.array(eta), clip / length))
            return found

        return rows

    @property
    def _score(self) -> ClippedScore:
        labels = self.model.labels
        return ClippedScore(self.model.family, self.model.link, labels.low, labels.high, self.dispersion)
