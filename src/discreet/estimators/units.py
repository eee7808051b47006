"""From coefficients of encoded features to those of the user's columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.algorithms.steps.glm_model import GlmFit
from discreet.domain import Encoder
from discreet.errors import DiscreetError, UnusableRowsWarning, warn_user
from discreet.estimators.moments import require_target
from discreet.estimators.weights import used_weight
from discreet.privacy import Guarantee
from discreet.results import Results
from discreet.results.words import note_of_narrow
from discreet.rows import Floats, RowsUsed


def units(encoder: Encoder, *, with_intercept: bool) -> np.ndarray:
    """The matrix from coefficients of (1, encoded x) to those of (1, x), or of x alone."""
    turn = np.diag(np.concatenate([[1.0], 1 / encoder.half_width]))
    turn[0, 1:] = -encoder.centre / encoder.half_width
    return turn if with_intercept else turn[1:]


COV_TYPES = ("robust", "model")


def linear_result(
    fit: GlmFit,
    encoder: Encoder,
    privacy: Guarantee,
    with_intercept: bool,
    cov_type: str = "robust",
    classes: Sequence[Any] = (),
) -> Results:
    """The fit as a result in the user's units; ``scale`` is its dispersion.

    classes: if there are more than two, each has its own coefficients.

    cov_type: the sandwich covariance, or that of a true model if the solver has it.
    """
    sampling = fit.sampling_covariance
    if cov_type == "model" and fit.model_covariance is not None:
        sampling = fit.model_covariance
    if fit.noise_covariance is None or sampling is None:
        raise DiscreetError("this solver gives no standard errors")
    turn, used = units(encoder, with_intercept=with_intercept), used_weight(fit.used, encoder)
    names = (("const",) if with_intercept else ()) + tuple(encoder.names)
    if len(classes) > 2:  # the coefficients of each class, one class after another
        turn = np.kron(np.eye(len(classes)), turn)
        names = tuple(f"{value}: {name}" for value in classes for name in names)
    noise = turn @ fit.noise_covariance @ turn.T
    return Results(
        target=require_target(encoder).name,
        names=names,
        shrunk=turn @ fit.coef,
        estimates=turn @ fit.estimate,
        covariance=noise + turn @ sampling @ turn.T,
        noise_covariance=noise,
        scale=fit.dispersion,
        scale_noise_std=0.0,
        nobs=fit.count if used is None else used.count,
        used=used,
        signal=fit.signal,
        privacy=privacy,
        notes=note_of_narrow([encoder.names[column] for column in fit.hidden]),
    )


def store_facts(estimator: Any, used: RowsUsed | None, signal: str | None = None) -> None:
    """Store ``n_used_``, the noisy number of rows that contributed, and ``signal_``."""
    for name, value in (("n_used_", None if used is None else used.count), ("signal_", signal)):
        if value is not None:
            setattr(estimator, name, value)
        elif hasattr(estimator, name):
            delattr(estimator, name)
    estimator._used = used
    warn_of_none(used)


def warn_of_none(used: RowsUsed | None) -> None:
    """Warn if the noisy count says that no row was used."""
    if used is not None and used.none:
        warn_user(
            f"rows used, by a noisy count: {used}. Check the declarations: types, units, the spelling of categories, "
            "bounds, and columns that are always missing",
            UnusableRowsWarning,
        )


def store_path(estimator: Any, path: Sequence[Floats], encoder: Encoder) -> None:
    """Store ``path_``: intercept and coefficients after each step of a paper's
    iteration, in the user's units.

    All of them are post-processing of releases.
    """
    if hasattr(estimator, "path_"):
        del estimator.path_
    if len(path):
        estimator.path_ = np.array(path) @ units(encoder, with_intercept=True).T
