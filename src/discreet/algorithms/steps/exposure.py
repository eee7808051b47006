"""The mean exposure of the rows, which must not be absorbed by a model's intercept."""

from __future__ import annotations

import math

from discreet.algorithms.steps.glm_model import GlmModel
from discreet.privacy import GDP
from discreet.rows import ExposureSum, Source


def mean_offset(source: Source, cost: GDP, model: GlmModel, count: float) -> float:
    """The log of the mean exposure, from one noisy sum, limited to the declared
    range; 0 without exposure.

    Privacy: one sum if the model has an exposure, none otherwise.
    """
    if model.exposure is None:
        return 0.0
    low, high = model.exposure
    mean = float(source.sum(ExposureSum(high), cost).value[0, 0]) * high / count
    return math.log(min(max(mean, low), high))
