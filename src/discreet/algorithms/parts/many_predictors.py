"""The start of a model with one linear predictor per class: shares of the classes, a start from
their means, a line search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.algorithms.parts import plan as shares
from discreet.algorithms.parts.class_foresight import ClassForesight
from discreet.algorithms.parts.class_frame import ClassFrame
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.labels import label_scale
from discreet.algorithms.parts.looks import Columns, columns_question
from discreet.algorithms.parts.plan import Plan
from discreet.algorithms.steps.coordinates import Coordinates, beyond_noise
from discreet.algorithms.steps.first_look import Scaling, look_twice
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.whitening import ClassShares, LabelScale, Whitening, whiten_classes
from discreet.privacy import GDP
from discreet.rows import Floats, LinearMap, Source
from discreet.rows.class_scores import ClassCounts, ClassProfile
from discreet.rows.contrasts import contrasts

# Lengths of the slopes that a line search tries, in standard deviations of a contrast's predictor,
# and the clip of a row's derivative there.
LENGTHS = np.array([0.4, 0.8, 1.2, 1.8, 2.7, 4, 6, 9])
_PROFILE_BOUND = 2.0


def best_length(rises: Floats) -> float:
    """The length with the smallest loss, from the derivative of the loss at each of ``LENGTHS``."""
    losses = np.concatenate([[0.0], np.cumsum(np.diff(LENGTHS) * (rises[1:] + rises[:-1]) / 2)])
    best = int(np.argmin(losses))
    other = best - 1 if rises[best] > 0 else best + 1
    if not 0 <= other < len(LENGTHS) or rises[best] * rises[other] >= 0:
        return float(LENGTHS[best])
    part = float(rises[best] / (rises[best] - rises[other]))
    return float(LENGTHS[best] + part * (LENGTHS[other] - LENGTHS[best]))


@dataclass(frozen=True, eq=False)
class ManyPredictors:
    """As ``OnePredictor``, for more than two classes."""

    source: Source
    model: GlmModel
    plan: Plan
    scaling: Scaling
    label: LabelScale
    columns: Columns
    shares: ClassShares
    spent: float = 0.0
    last_search: float = 0.0

    @classmethod
    def look(cls, source: Source, model: GlmModel, plan: Plan, x_radius: float) -> ManyPredictors:
        """Number of rows in total and in each class, location of x: one pass."""
        counts = ClassCounts(model.classes, model.labels), plan.part(shares.OCTAVES)
        more = [*columns_question(model.width, plan), counts]
        cost, share = plan.part(shares.LOOK), shares.LABEL_SHARE
        scaling, rest = look_twice(source, cost, model.width, x_radius, label_share=share, more=more)
        columns, answers = Columns.read(model, scaling, rest)
        label = label_scale(model, scaling, None)
        return cls(source, model, plan, scaling, label, columns, ClassShares.read(model.labels, answers[0]))

    def whitened(
        self, coordinates: Coordinates, share: float, rounds: int, length: float, *, narrow: bool, typical: bool
    ) -> tuple[Whitening, Frame, Floats]:
        """White coordinates, and a start that corresponds to the differences of the class means in
        them.
        """
        source, model, columns = self.source, self.model, self.columns
        white, cross, noise_std = whiten_classes(
            source,
            self.plan.part(share),
            rounds,
            coordinates,
            self.shares,
            length,
            self.scaling.count,
            columns.spread_out if narrow else None,
            columns.rare,
        )
        first, turn = int(white.coordinates.constant), contrasts(model.classes)
        frame = ClassFrame(source, model, white.coordinates, self._foresight, self.scaling.count, 1.0)
        moments = cross @ turn
        seen = moments[first:]
        moments[first:] = beyond_noise(seen.reshape(-1), noise_std).reshape(seen.shape)
        moments[:first] = self.shares.parts @ turn
        start = np.zeros(moments.shape)
        start[:first] = np.log(self.shares.parts) @ turn
        return white, frame, self._foresight.explaining(moments, start)

    def line_searched(self, frame: Frame, phi: Floats, cost: GDP, step_noise: float) -> tuple[Frame, Floats] | None:
        """All slopes times one factor, if noise allows it to be found."""
        first = frame.constants
        psi = phi.reshape(-1, frame.predictors)
        slopes = psi[int(frame.coordinates.constant) :]
        longest = float(np.linalg.norm(slopes, 2)) if slopes.size else 0.0
        if longest <= 0:
            return None
        unit = np.concatenate([np.zeros(first), slopes.reshape(-1) / longest])
        query = self._profile(frame, unit)
        noise_std = self.source.noise_std(query, cost) / frame.count
        curve = float(unit @ frame.foresight.curvature(phi) @ unit)
        if not self.plan.searches(noise_std / max(curve * max(longest, 1.0), 1e-300)):
            return None
        (answer,) = frame.ask((query, cost))
        return frame, self._with_constants(frame, best_length(answer.value[:, 0]) * unit)

    def _profile(self, frame: Frame, unit: Floats) -> ClassProfile:
        """The derivative of the loss along the slopes ``unit``, at points of other lengths and the
        constants that go with them.
        """
        turn, first = contrasts(self.model.classes), frame.constants
        matrix = turn @ unit.reshape(-1, frame.predictors).T @ frame.coordinates.matrix
        points = [self._with_constants(frame, length * unit) for length in LENGTHS]
        constants = np.array([turn @ phi[:first] if first else np.zeros(len(turn)) for phi in points])
        return ClassProfile(LinearMap(matrix), self.model.labels, LENGTHS, constants, _PROFILE_BOUND)

    def _with_constants(self, frame: Frame, phi: Floats) -> Floats:
        """Slopes with the constants that give the classes' shares."""
        phi, first = phi.copy(), frame.constants
        if first:
            phi[:first], _ = self.constants(frame, phi)
        return phi

    def constants(self, frame: Frame, phi: Floats) -> tuple[Floats, float]:
        """The constants that give the classes' shares, and the variance of the noise in them."""
        return self._foresight.constants_for(self.shares.parts, phi), self.shares.variance

    @property
    def _foresight(self) -> ClassForesight:
        return ClassForesight(self.model, self.model.origin is None, classes=self.model.classes)
