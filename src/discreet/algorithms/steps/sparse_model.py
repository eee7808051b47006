"""What sparse solvers share: their result, and assumptions about a model
before its columns are known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.parts.foresight import Foresight
from discreet.algorithms.parts.shrink import signal
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel
from discreet.algorithms.steps.wide_look import WideScaling
from discreet.rows import Floats, Indices, LinearMap, ResidualRanking
from discreet.rows.ranking import Sides
from discreet.rows.wide_queries import Score

# Scores of labels that are not classes are clipped at this many standard deviations,
# at the constant model.
_SCORE_CLIP = 2.0
# A larger |eta| is not plausible on average: a probability would be certain, a mean astronomical.
_LONGEST_ETA = 10.0


@dataclass(frozen=True, eq=False)
class SparseFit:
    """A fit of encoded (1, x[columns]); ``path``: the iterates (columns, slopes),
    if the solver keeps them.
    """

    columns: Indices
    fit: GlmFit
    path: tuple[tuple[Indices, Floats], ...] = ()


def start_intercept(model: GlmModel, known: WideScaling) -> float:
    """The predictor of the mean label, away from the ends of its range."""
    labels = model.labels
    mean = labels.centre + labels.half_width * known.y_centre
    margin = 0.02 * (labels.high - labels.low)
    return float(model.link.predictor(min(max(mean, labels.low + margin), labels.high - margin)))


def score_bound(model: GlmModel, known: WideScaling, intercept: float) -> float:
    """The clip of scores in rankings and gradients; ``intercept``: the constant model."""
    gain = float(model.family.gain(intercept, model.link))
    if model.family.label_free:
        # At the constant model |score| <= max(p, 1 - p) gain; larger scores in later
        # steps are clipped to it.
        return 0.5 * (1 + abs(known.y_centre)) * gain
    if model.family.limit is not None:
        return model.family.limit
    return _SCORE_CLIP * known.y_scale * model.labels.half_width * gain


def residual_ranking(
    model: GlmModel,
    score: Score,
    at: tuple[float, Floats],
    bounds: tuple[float, float],
    *,
    sides: Sides = "absolute",
    offset: Floats | None = None,
) -> ResidualRanking:
    """Columns by the gradient at this intercept and slopes; ``bounds``: of scores and cells."""
    intercept, beta = at
    support = np.flatnonzero(beta)
    predictor = LinearMap(np.concatenate([[intercept], beta[support]])[np.newaxis])
    return ResidualRanking(
        len(beta), predictor, support, model.labels, score, bounds[0], min(1.0, bounds[1]), sides=sides, offset=offset
    )


def mean_weight(model: GlmModel, intercept: float, eta_std: float) -> float:
    """The mean second derivative of a row's loss, for eta normal about the intercept."""
    return float(Foresight(model, constant=True).curvature(np.array([intercept, eta_std]))[0, 0])


def longest_eta(model: GlmModel) -> float:
    """A limit on |eta|, beyond which it would be noise."""
    if model.link.is_identity:
        return abs(model.labels.centre) + 2 * model.labels.half_width
    return _LONGEST_ETA


def kept_columns(fit: GlmFit, keep: Indices) -> GlmFit:
    """The fit after setting all columns except those at these positions to 0; free post-processing.

    The kept columns take over what they can of the dropped part b: with H the curvature
    of the loss, the nearest predictor has the slopes a + H_kk^-1 H_kd b, which is a -
    V_kd V_dd^-1 b for V = H^-1.
    """
    assert fit.noise_covariance is not None
    assert fit.sampling_covariance is not None
    assert fit.model_covariance is not None
    size, inverse = len(fit.coef), fit.model_covariance
    kept = np.concatenate([[0], 1 + keep])
    dropped = np.setdiff1d(np.arange(size), kept)
    turn = np.eye(size)[kept]
    turn[:, dropped] = -inverse[np.ix_(kept, dropped)] @ np.linalg.pinv(inverse[np.ix_(dropped, dropped)])
    noise, estimate = turn @ fit.noise_covariance @ turn.T, turn @ fit.estimate
    return replace(
        fit,
        coef=turn @ fit.coef,
        estimate=estimate,
        noise_covariance=noise,
        sampling_covariance=turn @ fit.sampling_covariance @ turn.T,
        model_covariance=turn @ inverse @ turn.T,
        signal=signal(estimate[1:], noise[1:, 1:], fit.used),
        hidden=tuple(np.flatnonzero(np.isin(keep, fit.hidden)).tolist()),
    )
