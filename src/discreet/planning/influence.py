"""How far a clipped fit is from the plain one, row by row, from a public sample.

To first order an estimate is the optimum plus the mean of its rows' influences, J^-1 z score. The
difference of the clipped and the plain influence has a mean, the bias of clipping where rows do not
follow the model, and a variance. The latter moves the two fits apart in every table, by less the
more rows it has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.parts.shrink import clear
from discreet.planning.descent import Choice, Errors, choice
from discreet.planning.kinds import Floats
from discreet.planning.sample import Sample
from discreet.privacy import Budget


@dataclass(frozen=True, eq=False)
class Apart:
    """In white coordinates: covariance of the noise, mean and covariance of one row's difference of
    influences, and covariance of one row's clipped influence.
    """

    noise: Floats
    mean: Floats
    row: Floats
    clipped: Floats
    # From white coordinates to slopes per standard deviation of a column.
    turn: Floats
    rows: int

    @property
    def own(self) -> float:
        """The part of rows that keep their own label when a table is drawn from the sample.

        The mean difference of few rows is mostly chance, and a table drawn from them would repeat
        it as if it were misfit. The squared length that is clear of it remains. The constant is
        left out: a bias that it has from skewed errors does not need the rows' own labels.
        """
        values, vectors = np.linalg.eigh(self.row[1:, 1:] / self.rows)
        seen = vectors.T @ self.mean[1:] / np.sqrt(np.maximum(values, 1e-300))
        return math.sqrt(clear(seen, 1.0))

    def errors(self, n: int) -> Errors:
        """Of a fit to n rows, as mean squares over slopes."""
        bias = self.own * (self.turn @ self.mean[1:])
        return Errors(
            self._slopes(self.noise),
            self._slopes(self.clipped) / n,
            float(np.mean(bias**2)),
        )

    @property
    def between(self) -> float:
        """The variance of a slope by which the fits to a table of one row would be apart."""
        return self._slopes(self.row)

    def risk(self, n: int, sample: Sample) -> float:
        """The risk beyond that of the plain fit, in the second order, if predictions are not
        shrunk.
        """
        family, link = sample.model
        rows = np.column_stack([np.ones(self.rows), sample.X @ sample.turn])
        weight = family.weight(sample.typical()[2], link)
        curvature = (rows.T * weight) @ rows / self.rows
        away = self.own * self.mean
        lost = float(np.sum((self.noise + self.row / n) * curvature) + away @ curvature @ away)
        return lost * sample.kind.loss_scale / 2

    def _slopes(self, covariance: Floats) -> float:
        return float(np.mean(np.diag(self.turn @ covariance[1:, 1:] @ self.turn.T)))


def apart(sample: Sample, n: int, budget: Budget, *, replaced: bool, public: bool = False) -> Apart:
    chosen = choice(sample, n, budget, replaced=replaced, public=public)
    family, link = sample.model
    rows, m = chosen.rows, sample.rows
    scores, slopes, variance = _with_levels(chosen, n, m)
    back = np.linalg.pinv((rows.T * slopes) @ rows / m)
    plain = np.linalg.pinv((rows.T * family.weight(chosen.eta, link)) @ rows / m)
    clipped = (rows * scores[:, np.newaxis]) @ back
    difference = clipped - (rows * family.score(chosen.y, chosen.eta, link)[:, np.newaxis]) @ plain
    return Apart(
        variance * back @ back.T,
        difference.mean(axis=0),
        np.cov(difference, rowvar=False),
        np.cov(clipped, rowvar=False),
        sample.turn,
        m,
    )


def sample_errors(sample: Sample, n: int, budget: Budget, *, replaced: bool, public: bool = False) -> Errors:
    """The errors of a slope per standard deviation of its column."""
    return apart(sample, n, budget, replaced=replaced, public=public).errors(n)


def _with_levels(chosen: Choice, n: int, m: int) -> tuple[Floats, Floats, float]:
    """Scores and slopes with what a fit to n rows would keep of the levels, and the noise variance
    of their mean.
    """
    clip, size = chosen.bounds.clip, chosen.rows.shape[1]
    scores, slopes, variance = chosen.scores(clip), chosen.slopes(clip), chosen.noise_std**2
    for (low, top), noise in zip(chosen.bounds.levels, chosen.level_noise, strict=True):
        more = chosen.scores(top) - chosen.scores(low)
        one = chosen.rows * more[:, np.newaxis]
        mean, spread = one.mean(axis=0), float(np.sum(np.var(one, axis=0)))
        # The expected square of a release: n rows have less chance in their mean than the sample.
        square = max(float(mean @ mean) - spread / m, 0.0) + spread / n + size * noise**2
        keep = clear(np.array([math.sqrt(square / size)] * size), noise**2)
        scores, variance = scores + keep * more, variance + (keep * noise) ** 2
        slopes = slopes + keep * (chosen.slopes(top) - chosen.slopes(low))
    return scores, slopes, variance
