"""Public rows, or a public second moment of (1, x) or of x alone, as mean and covariance of
encoded features.
"""

from __future__ import annotations

import numpy as np

from discreet.domain import Encoder, Public, frame_of
from discreet.errors import DomainError
from discreet.estimators.tables import is_frame
from discreet.rows import Floats


def public_moments(
    public: Public, encoder: Encoder, *, intercept: bool = True
) -> tuple[Floats, Floats, int, Floats | None]:
    """Mean and covariance of encoded features, the number of rows behind them, and the rows if
    given.
    """
    if public.rows is None:
        return *encoded_moments(public, encoder, intercept=intercept), None
    x = encoded_rows(public, encoder)
    return x.mean(axis=1), np.atleast_2d(np.cov(x, bias=True)), x.shape[1], x


def encoded_rows(public: Public, encoder: Encoder) -> Floats:
    """Public rows, encoded: one column each."""
    names = [column.name for column in encoder.domain.columns]
    rows = public.rows
    if is_frame(rows):
        # Names are not told: where the user wrote none, they are those of the private table.
        there = sum(name in frame_of(rows).columns for name in names)
        if there < len(names):
            raise DomainError(f"public rows must have the {len(names)} columns of X by name; they have {there} of them")
    else:
        rows = np.asarray(rows)
        if rows.ndim != 2 or rows.shape[1] != len(names):
            raise DomainError(f"public rows must have the {len(names)} columns of X, got shape {rows.shape}")
    x = encoder.encode(rows).x
    if x.shape[1] < 2 or not np.isfinite(x).all():
        raise DomainError("public rows must be at least two and complete, with every value declared")
    return x


def encoded_moments(public: Public, encoder: Encoder, *, intercept: bool = True) -> tuple[Floats, Floats, int]:
    """Mean and covariance of encoded x, and the number of rows behind them.

    The moment of x alone (PMT, Remark 3.1) does not determine the mean, which is assumed to be
    0. A model without an intercept only needs the moment about 0. For one with an intercept, 0
    must lie within the bounds.
    """
    moment = _checked(np.asarray(public.second_moment, dtype=np.float64), encoder.width)
    if len(moment) == encoder.width:
        if intercept:
            _refuse_far_zero(encoder)
        mean, covariance = np.zeros(encoder.width), moment
    else:
        moment = moment / moment[0, 0]
        mean = moment[0, 1:]
        covariance = moment[1:, 1:] - np.outer(mean, mean)
    widths = np.outer(encoder.half_width, encoder.half_width)
    return (mean - encoder.centre) / encoder.half_width, covariance / widths, int(public.n or 1)


def _checked(moment: Floats, width: int) -> Floats:
    if moment.shape not in ((width + 1, width + 1), (width, width)):
        raise DomainError(
            f"second_moment must be that of (1, x): {width + 1} rows and columns, or of x alone: {width}, "
            f"got shape {moment.shape}"
        )
    least = float(np.linalg.eigvalsh((moment + moment.T) / 2)[0])
    skew = float(np.max(np.abs(moment - moment.T)))
    size = float(np.trace(moment))
    if not (moment[0, 0] > 0 and least >= -1e-6 * size and skew <= 1e-6 * size):
        raise DomainError("second_moment must be that of rows: symmetric, with no negative eigenvalue")
    return moment


def _refuse_far_zero(encoder: Encoder) -> None:
    """The mean of a column cannot be 0 if its declared bounds exclude 0."""
    far = np.abs(encoder.centre) > encoder.half_width * (1 + 1e-9)
    if far.any():
        name = encoder.names[int(np.argmax(far))]
        raise DomainError(
            f"second_moment is that of x alone, which does not give the mean of {name!r}, and its declared bounds "
            "exclude 0: pass the moment of (1, x), or fit_intercept=False"
        )
