"""Least squares in units of y's declared half-width, so that papers' statements about
unit coefficients apply.

With other links a predictor of 1 has the same meaning for any unit of y.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.steps.glm_model import GlmModel, Guess
from discreet.rows import Floats, Labels


@dataclass(frozen=True)
class LabelUnits:
    """y = centre + unit * (fitted label)."""

    centre: float
    unit: float

    @classmethod
    def of(cls, model: GlmModel) -> LabelUnits:
        if not model.link.is_identity:
            return cls(0.0, 1.0)
        # Without an intercept no coefficient could absorb a shift of y.
        return cls(model.labels.centre if model.origin is None else 0.0, model.labels.half_width)

    def model(self, model: GlmModel) -> GlmModel:
        """The same model of labels in these units; losses and penalties scale
        alike, so penalties stay.
        """
        labels = Labels((model.labels.centre - self.centre) / self.unit, model.labels.half_width / self.unit)
        return replace(model, labels=labels, family=model.family.in_units(self.centre, self.unit))

    def guess(self, guess: Guess | None) -> Guess | None:
        if guess is None or guess.coefficients is None:
            return guess
        return replace(guess, coefficients=(guess.coefficients - self._shift(guess.coefficients)) / self.unit)

    def coefficients(self, fitted: Floats) -> Floats:
        """The coefficients of (1, x) for y itself."""
        return np.asarray(self.unit * fitted + self._shift(fitted))

    def _shift(self, coefficients: Floats) -> Floats:
        shift = np.zeros(len(coefficients))
        shift[0] = self.centre
        return shift
