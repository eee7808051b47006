"""What public rows give an index model: mean and covariance of encoded x
and, with labels, residuals.
"""

from __future__ import annotations

import numpy as np

from discreet.domain import Encoder, Public, as_floats
from discreet.errors import DomainError
from discreet.estimators.moments import require_target
from discreet.estimators.public_moment import encoded_rows, public_moments

Floats = np.ndarray


def shrunk_moments(public: Public, encoder: Encoder) -> tuple[Floats, Floats]:
    """Mean and covariance of encoded x.

    With fewer rows than columns the covariance is shrunk towards its diagonal. With many rows it is
    hardly shrunk: flat directions are then known as precisely as wide ones.
    """
    centre, covariance, n, _ = public_moments(public, encoder)
    diagonal = np.diag(np.maximum(np.diag(covariance), 1e-9))
    trust = n**2 / (n**2 + encoder.width**2)
    return np.clip(centre, -1, 1), trust * covariance + (1 - trust) * diagonal


def labelled_rows(public: Public | None, encoder: Encoder) -> tuple[Floats, Floats]:
    """Encoded public rows and their labels, within the declared range; refused
    if there are none.
    """
    if public is None or public.rows is None or public.y is None:
        raise DomainError(
            "solver='glmtron' takes its clipping thresholds from public rows with labels: "
            "pass public=Public(rows=..., y=...), in the terminal --public, or use solver='auto' or 'minibatch', which "
            "need none"
        )
    x, target = encoded_rows(public, encoder), require_target(encoder)
    y = np.clip(as_floats(np.asarray(public.y)), target.low, target.high)
    if y.shape != (x.shape[1],) or not np.isfinite(y).all():
        raise DomainError(f"public y must be one finite number for each of the {x.shape[1]} public rows")
    return x, y
