"""A multinomial model in whitened coordinates, and the queries of a descent about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.parts.class_foresight import ClassForesight
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.noisy_matrix import Seen, carried_by, corrected, relative_edge
from discreet.algorithms.parts.sizes import EDGES, Sizes
from discreet.algorithms.steps.whitening import Whitening
from discreet.privacy import GDP
from discreet.rows import Answer, Floats, LinearMap, Query
from discreet.rows.class_scores import (
    ClassCurvature,
    ClassScores,
    ClassScoresMoment,
    ClassSizes,
    ClassWeightedMoment,
)
from discreet.rows.contrasts import contrasts

# Noise that moves the eigenvalues of the full curvature by this part of them hides it.
_HIDDEN = 1.0
# The largest number of entries of zz^T per row: 270 MB for a block of 16,384 rows.
_MOST_ENTRIES = 2100


@dataclass(frozen=True, eq=False)
class ClassFrame(Frame):
    """As ``Frame``; phi holds K - 1 contrasts of the classes for each coordinate."""

    foresight: ClassForesight

    @property
    def predictors(self) -> int:
        return self.model.classes - 1

    @property
    def penalty(self) -> Floats:
        return np.asarray(np.kron(super().penalty, np.eye(self.predictors)), dtype=np.float64)

    @property
    def across(self) -> Floats:
        several = contrasts(self.model.classes)
        return np.asarray(several @ several.T)

    @property
    def turn(self) -> Floats:
        """The matrix from phi to the coefficients of (1, x), class by class."""
        matrix = self.coordinates.matrix
        wide = np.einsum("ka,ji->kija", contrasts(self.model.classes), matrix)
        return np.asarray(wide.reshape(self.model.classes * matrix.shape[1], self.size))

    def weight(self, phi: Floats) -> float:
        """The curvature weighted by the cost of noise: tr H^-1 / tr H^-2.

        It is far smaller for rare classes.
        """
        values = np.linalg.eigvalsh(self.foresight.curvature(phi))
        return float(np.sum(1 / values) / np.sum(1 / values**2))

    def length(self, step: Floats, phi: Floats) -> float:
        """The standard deviation of the predictor that changes most, over contrasts of length 1.

        Relative to the curvature, as for one predictor, a step for common classes would be many
        times as long as it is, because rare classes have little curvature.
        """
        if not np.all(np.isfinite(step)):
            return math.inf
        return float(np.linalg.norm(step.reshape(-1, self.predictors), 2))

    def ask(self, *questions: tuple[Query, GDP]) -> Sequence[Answer]:
        """All answers from one pass over the rows, with coefficients in phi's order."""
        answers = super().ask(*questions)
        return [self._in_order(query, answer) for (query, _), answer in zip(questions, answers, strict=True)]

    @staticmethod
    def _in_order(query: Query, answer: Answer) -> Answer:
        if isinstance(query, ClassScores):
            return replace(answer, value=answer.value.reshape(-1, 1))
        if isinstance(query, ClassCurvature):
            return replace(answer, value=query.unfolded(answer.value))
        return answer

    def _map(self, phi: Floats) -> LinearMap:
        """The predictors of all classes, then z."""
        matrix, psi = self.coordinates.matrix, phi.reshape(-1, self.predictors)
        return LinearMap(np.vstack([contrasts(self.model.classes) @ psi.T @ matrix, matrix]))

    def gradient(self, phi: Floats, top: float, bottom: float = 0.0) -> Query:
        label = "gradient" if bottom == 0 else "gradient above the clip norm"
        return ClassScores(self._map(phi), self.model.labels, self.model.classes, top, bottom, label)

    def histogram(self, phi: Floats, unit: float) -> Query:
        return ClassSizes(self._map(phi), self.model.labels, self.model.classes, EDGES * unit)

    def lengths(self, phi: Floats, *, weighted: bool) -> Query:
        return super().lengths(np.zeros(self.coordinates.size), weighted=False)

    def curvature_question(
        self, phi: Floats, clip: float, longest: float, kept: float, cost: GDP
    ) -> tuple[Query, float]:
        """The curvature, or its trace over the classes if noise would hide it or
        memory could not hold it.
        """
        weight = float(np.trace(self.foresight.curvature(phi))) / self.size
        coordinates, both = self.coordinates.size, (self._map(phi), self.model.labels, self.model.classes, clip)
        full = ClassCurvature(*both, coordinates * longest * self.foresight.class_norm(phi))
        doubt = relative_edge(self.source.noise_std(full, cost) / self.count, self.size, weight * kept)
        if doubt < _HIDDEN and full.shape[0] <= _MOST_ENTRIES:
            return full, doubt
        spread = weight * self.predictors
        trace = ClassWeightedMoment(*both, math.sqrt(coordinates * longest * spread))
        noise_std = self.source.noise_std(trace, cost) / self.count
        return trace, relative_edge(noise_std, coordinates, spread * kept)

    def rough(self, phi: Floats, clip: float, longest: float, cost: GDP, sizes: Sizes) -> bool:
        query, _ = self.curvature_question(phi, clip, longest, sizes.kept(clip), cost)
        return isinstance(query, ClassWeightedMoment)

    def see_curvature(self, answer: Answer, expected: Floats, cut: Floats) -> tuple[Floats, Seen]:
        """The curvature from an answer; a trace over the classes changes only the rows'
        part of the expected one.
        """
        if len(answer.value) == self.size:
            return super().see_curvature(answer, expected, cut)
        size, free = self.coordinates.size, self.predictors
        trace = np.einsum("iaja->ij", expected.reshape(size, free, size, free))
        turn = carried_by(trace, corrected(answer, self.count, trace))
        wide = np.kron(turn, np.eye(free))
        seen = np.asarray(wide @ expected @ wide.T)
        return seen, Seen(seen, answer.noise_std / self.count / math.sqrt(free))

    def whitening_moment(self, white: Whitening, phi: Floats) -> Seen:
        across = self.foresight.class_covariance(phi)
        largest = float(np.linalg.eigvalsh(across)[-1])
        return Seen(np.asarray(np.kron(white.moment, across), dtype=np.float64), white.noise_std * largest)

    def scores_moment(self, phi: Floats, clip: float) -> Query:
        return ClassScoresMoment(self._map(phi), self.model.labels, self.model.classes, clip)
