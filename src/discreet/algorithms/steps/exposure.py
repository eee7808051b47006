"""The mean exposure of the rows, which must not be absorbed by a model's intercept."""

from __future__ import annotations

import math

from discreet.algorithms.steps.glm_model import GlmModel
from discreet.privacy import GDP
from discreet.rows import Answer, ExposureSum, Source


def mean_offset(source: Source, cost: GDP, model: GlmModel, count: float) -> float:
    """The log of the mean exposure, from one noisy sum, limited to the declared
    range; 0 without exposure.

    Privacy: one sum if the model has an exposure, none otherwise.
    """
    if model.exposure is None:
        return 0.0
    return offset_of(source.sum(ExposureSum(model.exposure[1]), cost), model.exposure, count)


def offset_of(answer: Answer, exposure: tuple[float, float], count: float) -> float:
    """The log of the mean exposure from the answer to ``ExposureSum``."""
    low, high = exposure
    return math.log(min(max(float(answer.value[0, 0]) * high / count, low), high))
