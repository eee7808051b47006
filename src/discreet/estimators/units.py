"""From coefficients of encoded features to those of the user's columns."""

from __future__ import annotations

import numpy as np

from discreet.algorithms.steps.glm_model import GlmFit
from discreet.domain import Encoder
from discreet.errors import DiscreetError
from discreet.estimators.moments import require_target
from discreet.inference import LinearResult
from discreet.privacy import Guarantee


def units(encoder: Encoder, *, with_intercept: bool) -> np.ndarray:
    """The matrix from coefficients of (1, encoded x) to those of (1, x), or of x alone."""
    turn = np.diag(np.concatenate([[1.0], 1 / encoder.half_width]))
    turn[0, 1:] = -encoder.centre / encoder.half_width
    return turn if with_intercept else turn[1:]


def linear_result(fit: GlmFit, encoder: Encoder, privacy: Guarantee, with_intercept: bool) -> LinearResult:
    """The fit as a result in the user's units; ``scale`` is its dispersion."""
    if fit.noise_covariance is None or fit.sampling_covariance is None:
        raise DiscreetError("this solver gives no standard errors")
    turn = units(encoder, with_intercept=with_intercept)
    return LinearResult(
        target=require_target(encoder).name,
        names=(("const",) if with_intercept else ()) + tuple(encoder.names),
        shrunk=turn @ fit.coef,
        params=turn @ fit.estimate,
        noise_covariance=turn @ fit.noise_covariance @ turn.T,
        sampling_covariance=turn @ fit.sampling_covariance @ turn.T,
        scale=fit.dispersion,
        scale_noise_std=0.0,
        nobs=fit.count,
        privacy=privacy,
    )
