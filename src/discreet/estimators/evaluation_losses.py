"""Row losses of a private evaluation: functions of labels, predictors and the offset alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_softmax

Floats = np.ndarray
# Probabilities are kept at least this far from 0 and 1.
NEAREST = 1e-3


@dataclass(frozen=True)
class LogLoss:
    """The log-loss of each row, from its class and the linear predictors of one
    class or of all classes.
    """

    def __call__(self, labels: Floats, eta: Floats, offset: Any) -> Floats:
        if len(eta) == 1:
            eta = np.vstack([np.zeros_like(eta[0]), eta[0]])
        chances = np.clip(log_softmax(eta, axis=0), math.log(NEAREST), math.log1p(-NEAREST))
        place = np.where(np.isnan(labels), 0, np.clip(np.rint(labels), 0, len(eta) - 1)).astype(np.intp)
        own = np.take_along_axis(chances, place[np.newaxis], axis=0)[0]
        return np.asarray(-own + 0.0 * labels)[np.newaxis]


@dataclass(frozen=True)
class Deviance:
    """Deviances of the model and, unless ``null`` is NaN, of one mean for all
    rows (times their exposure).
    """

    family: Any
    link: Any
    low: float
    high: float
    null: float = math.nan

    def __call__(self, labels: Floats, eta: Floats, offset: Any) -> Floats:
        own = self.family.deviance(labels, self._within(self.link.mean(eta[0])))
        if math.isnan(self.null):
            return np.asarray(own)[np.newaxis]
        mean = self.null * (np.ones_like(labels) if offset is None else np.exp(offset))
        return np.stack([own, self.family.deviance(labels, mean)])

    def _within(self, mean: Floats) -> Floats:
        """Least squares is clipped to the declared range; other links stay
        within their range anyway.
        """
        return np.clip(mean, self.low, self.high) if self.family.least_squares else mean


@dataclass(frozen=True)
class OneDeviance:
    """One line of ``Deviance``."""

    losses: Deviance
    line: int

    def __call__(self, labels: Floats, eta: Floats, offset: Any) -> Floats:
        return self.losses(labels, eta, offset)[self.line : self.line + 1]
