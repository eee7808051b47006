"""The first steps of a multinomial descent: shares of the classes, white coordinates, a start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.algorithms.parts import plan as shares
from discreet.algorithms.parts.approach import Approach
from discreet.algorithms.parts.class_foresight import ClassForesight
from discreet.algorithms.parts.class_frame import LENGTHS, ClassFrame
from discreet.algorithms.parts.labels import label_scale
from discreet.algorithms.parts.start import first_coordinates
from discreet.algorithms.steps.coordinates import beyond_noise
from discreet.algorithms.steps.first_look import look_twice
from discreet.algorithms.steps.whitening import ClassShares, Whitening, whiten_classes
from discreet.privacy import GDP
from discreet.rows import Floats
from discreet.rows.class_scores import ClassCounts, contrasts


def best_length(rises: Floats) -> float:
    """The length with the smallest loss, from the derivative of the loss at each of ``LENGTHS``."""
    losses = np.concatenate([[0.0], np.cumsum(np.diff(LENGTHS) * (rises[1:] + rises[:-1]) / 2)])
    best = int(np.argmin(losses))
    other = best - 1 if rises[best] > 0 else best + 1
    if not 0 <= other < len(LENGTHS) or rises[best] * rises[other] >= 0:
        return float(LENGTHS[best])
    part = float(rises[best] / (rises[best] - rises[other]))
    return float(LENGTHS[best] + part * (LENGTHS[other] - LENGTHS[best]))


@dataclass
class ClassApproach(Approach):
    """As ``Approach``, for more than two classes."""

    frame: ClassFrame = None  # type: ignore[assignment]

    shares: ClassShares = None  # type: ignore[assignment]

    def look(self, x_radius: float) -> None:
        """Number of rows in total and in each class, location of x: one pass."""
        model = self.model
        counts = ClassCounts(model.classes, model.labels), self.plan.part(shares.OCTAVES)
        self.scaling, rest = look_twice(
            self.source,
            self.plan.part(shares.LOOK),
            model.width,
            x_radius,
            label_share=shares.LABEL_SHARE,
            more=[*self._columns_question(), counts],
        )
        self.shares = ClassShares.read(model.labels, self._columns_seen(rest)[0])
        self.label = label_scale(model, self.scaling, None)
        self.saved = 0.0

    def _whitened(self, rounds: int, length: float) -> Whitening:
        """White coordinates, and a start that corresponds to the differences of
        the class means in them.
        """
        scaling, model = self.scaling, self.model
        white, cross, noise_std = whiten_classes(
            self.source,
            self.plan.part(shares.WHITENING),
            rounds,
            first_coordinates(model, scaling, self.guess, self.rare),
            self.shares,
            length,
            scaling.count,
            self.spread_out,
            self.rare,
        )
        first, turn = int(white.coordinates.constant), contrasts(model.classes)
        foresight = ClassForesight(model, bool(first), classes=model.classes)
        self.frame = ClassFrame(self.source, model, white.coordinates, foresight, scaling.count, 1.0)
        moments = cross @ turn
        seen = moments[first:]
        moments[first:] = beyond_noise(seen.reshape(-1), noise_std).reshape(seen.shape)
        moments[:first] = self.shares.parts @ turn
        start = np.zeros(moments.shape)
        start[:first] = np.log(self.shares.parts) @ turn
        self.phi = foresight.explaining(moments, start)
        return white

    def _line_searched(self, cost: GDP, step_noise: float) -> bool:
        """Scale all slopes by one factor, if noise allows it to be found."""
        frame, first = self.frame, self.frame.constants
        psi = self.phi.reshape(-1, frame.predictors)
        slopes = psi[int(frame.coordinates.constant) :]
        longest = float(np.linalg.norm(slopes, 2)) if slopes.size else 0.0
        if longest <= 0:
            return False
        unit = np.concatenate([np.zeros(first), slopes.reshape(-1) / longest])
        query = frame.profile(unit, [self._with_constants(length * unit) for length in LENGTHS])
        noise_std = self.source.noise_std(query, cost) / frame.count
        curve = float(unit @ frame.foresight.curvature(self.phi) @ unit)
        if not self.plan.searches(noise_std / max(curve * max(longest, 1.0), 1e-300)):
            return False
        (answer,) = frame.ask((query, cost))
        self.phi = self._with_constants(best_length(answer.value[:, 0]) * unit)
        return True

    def _with_constants(self, phi: Floats) -> Floats:
        """Slopes with the constants that give the classes' shares."""
        phi, first = phi.copy(), self.frame.constants
        if first:
            phi[:first] = self.frame.foresight.constants_for(self.shares.parts, phi)
        return phi

    def _constants(self, phi: Floats) -> tuple[Floats, float]:
        """The constants that give the classes' shares, and the variance of the noise in them."""
        return self.frame.foresight.constants_for(self.shares.parts, phi), self.shares.variance
