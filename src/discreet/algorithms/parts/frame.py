"""A model in whitened coordinates, and the queries of a descent about it."""

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
from discreet.algorithms.steps.rare import Direction, RareColumns
from discreet.algorithms.steps.whitening import Whitening
from discreet.glm import Bernoulli, ClippedRows, ClippedScore, Gaussian, Log, Logit, Poisson
from discreet.privacy import GDP
from discreet.rows import Answer, Floats, LinearMap, Query, Source, laws, shared
from discreet.rows.gradient import BoundedSum, GradientSum, SizeHistogram, WeightedMoment
from discreet.rows.laws import Law, Rule

# Squared residuals are clipped at this many times the dispersion, or where the noise is this part
# of it, or of its sampling error for normal residuals. With a large budget nothing is clipped, and
# the dispersion is the plain one for any tails.
_SQUARES, _MOST_SQUARES, _SQUARES_NOISE, _SQUARES_SAMPLING = 9.0, 1e6, 0.01, 0.15
# The dispersion is at most this many times the mean of clipped squares: far from the optimum these
# do not follow the family, and one of heavy tails would need a hundred times the dispersion.
_MOST_BEYOND = 2.0
_HALVINGS = 50
FARTHEST = 3.0
_LEAST_DISPERSION = 1e-9
_LEAST_NORM, _MOST_NORM = 1e-60, 1e60


@dataclass(frozen=True, eq=False)
class Frame:
    """Coordinates, the (noisy) number of rows, and the dispersion of labels as
    far as it is known.
    """

    source: Source
    model: GlmModel
    coordinates: Coordinates
    foresight: Foresight
    count: float
    dispersion: float
    # Whether the mean of clipped scores under the model is subtracted from them.
    centred: bool = True
    # Indicators of rare categories, whose rows are long.
    rare: RareColumns | None = None

    @property
    def predictors(self) -> int:
        """The number of linear predictors per row."""
        return 1

    @property
    def size(self) -> int:
        """The number of coefficients."""
        return self.coordinates.size * self.predictors

    @property
    def constants(self) -> int:
        """The number of constants, which are the first coefficients."""
        return int(self.coordinates.constant) * self.predictors

    @property
    def root_size(self) -> float:
        """The typical length of a row."""
        return math.sqrt(self.coordinates.size)

    @property
    def farthest(self) -> float:
        """The largest distance of slopes from the current point, in standard deviations
        of the linear predictor.

        A direction whose noise is larger than that carries no information.
        """
        return math.inf if self.model.link.is_identity else FARTHEST * self.foresight.unit

    @property
    def farthest_variance(self) -> float:
        return 0.0 if self.model.link.is_identity else self.farthest**2

    def length(self, step: Floats, phi: Floats) -> float:
        """The length of a step, relative to typical directions: flat ones count less."""
        return math.sqrt(max(float(step @ self.foresight.curvature(phi) @ step) / self.weight(phi), 0.0))

    @property
    def across(self) -> Floats:
        """The covariance of a column's slopes, one for each class, whose contrasts are white."""
        return np.eye(1)

    @property
    def turn(self) -> Floats:
        """The matrix from phi to the coefficients of (1, x)."""
        return self.coordinates.matrix.T

    @property
    def penalty(self) -> Floats:
        """The Hessian of the user's penalty, per row."""
        return self.model.penalty_in(self.coordinates) / self.count

    def ask(self, *questions: tuple[Query, GDP]) -> Sequence[Answer]:
        """All answers from one pass over the rows."""
        return self.source.sums(questions)

    def typical_norm(self, phi: Floats) -> float:
        """The root mean square of the norms of scores, limited so that its square
        is finite for any noise.
        """
        return min(max(self.foresight.typical_size(phi, self.dispersion) * self.root_size, _LEAST_NORM), _MOST_NORM)

    def gradient(self, phi: Floats, top: float, bottom: float = 0.0) -> Query:
        """The sum of scores clipped at ``top``, minus that of scores clipped at ``bottom``."""
        rows = self._clipped_rows(phi)

        def weight(y: Floats, eta: Floats, length: Floats) -> Floats:
            score = rows(top, y, eta, length).score
            return score - rows(bottom, y, eta, length).score if bottom > 0 else score

        label = "gradient" if bottom == 0 else "gradient above the clip norm"
        rule = Rule(weight, self._law, laws.SCORE, top, bottom)
        return GradientSum(self.coordinates.map(phi), self.model.labels, rule, top - bottom, self.root_size, label)

    def mean_score(self, phi: Floats, clip: float, along: Floats | None = None) -> GradientSum:
        """The sum of scores, each clipped without regard to the row's length, or of their products
        with z along a direction.
        """
        # A local: a function that held this frame would send the source to a cluster.
        score, coefficients = self._score, self.coordinates.coefficients(phi)
        one = np.eye(1, len(coefficients)) if along is None else self.coordinates.coefficients(along)
        linear = LinearMap(np.vstack([coefficients, one]))
        rule = Rule(lambda y, eta, length: score.at(y, eta, clip / length).score, self._law, laws.SCORE, clip)
        label = "mean score" if along is None else "mean score along a direction"
        return GradientSum(linear, self.model.labels, rule, clip, 1.0, label)

    def clipped_share(self, phi: Floats, clip: float) -> Query:
        """The sum of z / |z| of all rows whose scores are clipped."""
        score = self._score

        def weight(y: Floats, eta: Floats, length: Floats) -> Floats:
            return np.where(score.size(y, eta) < clip / length, 0.0, 1 / length)

        rule, label = Rule(weight, self._law, laws.CLIPPED, clip), "clipped rows by direction"
        return GradientSum(self.coordinates.map(phi), self.model.labels, rule, 1.0, self.root_size, label)

    def histogram(self, phi: Floats, unit: float) -> Query:
        """The histogram of the norms of scores, in cells of ``EDGES`` units,
        without rows of weight 0.
        """
        score, family, link = self._score, self.model.family, self.model.link

        def size(y: Floats, eta: Floats, length: Floats) -> Floats:
            return np.where(family.weight(eta, link) > 0, score.size(y, eta) * length / unit, np.nan)

        rule = Rule(size, self._law, laws.SIZE, unit)
        return SizeHistogram(self.coordinates.map(phi), self.model.labels, rule, EDGES)

    def lengths(self, phi: Floats, *, weighted: bool) -> Query:
        """The histogram of row lengths, in typical lengths.

        ``weighted``: those of rows in the curvature, with the root of their weight.
        """
        # Locals: a function that held this frame would send the source to a cluster.
        family, link, typical = self.model.family, self.model.link, self.root_size
        rule = Rule(lambda y, eta, length: length / typical + 0 * y, self._law, laws.LENGTH, typical)
        if weighted:
            typical *= math.sqrt(self.weight(phi))
            rule = Rule(lambda y, eta, length: np.sqrt(family.weight(eta, link)) * length / typical + 0 * y, None, 0)
        return SizeHistogram(self.coordinates.map(phi), self.model.labels, rule, EDGES, label="lengths of rows")

    def weight(self, phi: Floats) -> float:
        """The curvature in a typical direction."""
        return float(np.trace(self.foresight.curvature(phi))) / self.size

    def curvature_question(
        self, phi: Floats, clip: float, longest: float, kept: float, cost: GDP
    ) -> tuple[Query, float]:
        """The query for the derivative of the gradient of clipped scores in
        phi, and its relative noise.

        ``longest``: the clip of rows, in squares of their typical length; ``kept``:
        what the clip norm keeps.
        """
        weight = float(np.trace(self.foresight.curvature(phi))) / self.size
        query = self.curvature(phi, clip, math.sqrt(self.size * weight * longest))
        noise_std = self.source.noise_std(query, cost) / self.count
        return query, relative_edge(noise_std, self.size, weight * kept)

    def rough(self, phi: Floats, clip: float, longest: float, cost: GDP, sizes: Sizes) -> bool:
        """Whether only a part of the curvature can be released."""
        return False

    @property
    def rare_directions(self) -> list[Direction]:
        """Those of indicators of rare categories, for a single predictor."""
        return [] if self.rare is None or self.predictors > 1 else self.rare.directions(self.coordinates)

    @property
    def keeps_whole_rows(self) -> bool:
        """Whether a clipped score has the slope of the plain one or none, rather than a part."""
        return not self.model.family.label_free and self._score.expected(np.zeros(1), np.ones(1)) is None

    def about(self, phi: Floats, row: Floats) -> Foresight:
        """The foresight of rows about this one."""
        return replace(self.foresight, offset=self.foresight.offset + float(row @ phi))

    def see_curvature(self, answer: Answer, expected: Floats, cut: Floats) -> tuple[Floats, Seen]:
        """The curvature from an answer and its expectation, and the released curvature; ``cut``:
        what the answer lacks.
        """
        seen = Seen(answer.value / self.count, answer.noise_std / self.count)
        return corrected(answer, self.count, expected - cut) + cut, seen

    def whitening_moment(self, white: Whitening, phi: Floats) -> Seen:
        """The second moment of z as a curvature, up to a factor."""
        return Seen(white.moment, white.noise_std)

    def curvature(self, phi: Floats, clip: float, norm: float) -> WeightedMoment:
        """The derivative of the gradient of clipped scores in phi."""
        rows = self._clipped_rows(phi)
        return WeightedMoment(
            self.coordinates.map(phi),
            self.model.labels,
            Rule(lambda y, eta, length: np.sqrt(rows(clip, y, eta, length).slope), self._law, laws.ROOT_SLOPE, clip),
            norm,
        )

    def scores_moment(self, phi: Floats, clip: float) -> Query:
        """The second moment of clipped scores: the middle of the sandwich covariance."""
        rows = self._clipped_rows(phi)
        return WeightedMoment(
            self.coordinates.map(phi),
            self.model.labels,
            Rule(lambda y, eta, length: rows(clip, y, eta, length).score, self._law, laws.SCORE, clip),
            clip,
            label="second moment of scores",
            weighs_squares=True,
        )

    def squares(self, phi: Floats, cost: GDP) -> tuple[BoundedSum, GDP]:
        """Squared residuals divided by the variance function, clipped where they are too noisy."""
        family, link = self.model.family, self.model.link

        def value(y: Floats, eta: Floats, length: Floats) -> Floats:
            return family.squared_residual(y, eta, link)

        rule = Rule(value, self._law, laws.SQUARE)
        query = BoundedSum(self.coordinates.map(phi), self.model.labels, rule, self.dispersion)
        noise = max(_SQUARES_NOISE * self.count, _SQUARES_SAMPLING * math.sqrt(2 * self.count)) * self.dispersion
        affordable = noise / max(self.source.noise_std(query, cost), 1e-300)
        most = min(2 * self.count, _MOST_SQUARES)  # no square exceeds the sum of all
        return replace(query, bound=max(min(affordable, most), _SQUARES) * self.dispersion), cost

    def with_squares(self, question: tuple[Query, GDP], answer: Answer) -> Frame:
        """The frame with the dispersion that explains the mean of clipped squares, as
        far as the noise allows.
        """
        bound = 2 * question[0].left_norm  # squares are summed about the middle of their range
        mean, noise = float(answer.value[0, 0]) / self.count + bound / 2, answer.noise_std / self.count
        low, high = 0.02 * self.dispersion, 20 * self.dispersion
        high = max(min(high, _MOST_BEYOND * (mean + noise)), low)
        for _ in range(_HALVINGS):
            middle = math.sqrt(low * high)
            below = middle * self.model.family.capped_square(bound / middle, middle) < mean
            low, high = (middle, high) if below else (low, middle)
        trust = self.dispersion**2 / (self.dispersion**2 + (3 * noise) ** 2)
        mixed = self.dispersion ** (1 - trust) * middle**trust
        return replace(self, dispersion=max(mixed, _LEAST_DISPERSION))

    def shift(self, phi: Floats, clip: float, dispersion: float) -> Floats:
        """The mean of clipped scores at the optimum, if the dispersion differs
        from this frame's.
        """
        bound = np.array([clip / self.root_size])
        return self.foresight.mean_of(phi, lambda eta: self._score.shift(eta, bound, dispersion))

    def _clipped_rows(self, phi: Floats) -> Callable[[float, Floats, Floats, Floats], ClippedRows]:
        """A function from a clip norm and rows to their clipped scores, computed once
        for all queries of a pass.
        """
        score, through = self._score, self.coordinates.map(phi).key
        law = score.family, score.link, score.y_low, score.y_high, score.dispersion, score.centred

        def rows(clip: float, y: Floats, eta: Floats, length: Floats) -> ClippedRows:
            # A copy of eta: the shared result is used later, when its memory may
            # have been overwritten.
            found: ClippedRows = shared((through, law, clip), lambda: score.at(y, np.array(eta), clip / length))
            return found

        return rows

    @property
    def _law(self) -> Law | None:
        """The law of labels, where loops know it."""
        model = self.model
        if type(model.family) is Gaussian and model.link.is_identity:
            return Law(laws.GAUSSIAN, 0.0, 0.0, centred=False)
        if type(model.family) is Bernoulli and isinstance(model.link, Logit):
            return Law(laws.BERNOULLI, 0.0, 0.0, centred=False)
        low, high = model.labels.low, model.labels.high
        if type(model.family) is Poisson and isinstance(model.link, Log) and high <= laws.MOST_COUNTS:
            return Law(laws.POISSON, low, high, self.centred, self.dispersion)
        return None

    @property
    def _score(self) -> ClippedScore:
        model, labels = self.model, self.model.labels
        return ClippedScore(model.family, model.link, labels.low, labels.high, self.dispersion, self.centred)
