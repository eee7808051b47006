"""Public data, which guide a fit at no cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import DomainError
from discreet.parameters import is_whole


@dataclass(frozen=True, eq=False)
class Public:
    """Public rows (with or without labels), or only their second-moment matrix and their number.

    Public data is used freely: it costs no budget and gets no protection. Never put private rows
    here.

    Parameters
    ----------
    rows : array or frame, optional
        Public rows of features.
    y : array, optional
        Their labels, where they have any.
    second_moment : optional
        Of (1, x), or of x alone, in the columns' own units. One of x alone says nothing of the
        mean, which is then taken to be 0.
    n : int, optional
        How many rows are behind ``second_moment``.
    exposure : optional
        How long or how much each public row was observed, where ``fit`` is given an exposure, too.

    Privacy
    -------
    Public data is used freely: it costs no budget and gets no protection. Never put private rows
    here.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import LinearRegression, Public
    >>> public = Public(np.random.default_rng(0).uniform(-1, 1, (100, 2)))
    >>> model = LinearRegression(
    ...     epsilon=1.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-5, 5), public=public
    ... )
    """

    rows: Any = None
    y: Any = None
    second_moment: Any = None
    n: int | None = None
    exposure: Any = None

    def __post_init__(self) -> None:
        if (self.rows is None) == (self.second_moment is None):
            raise DomainError("Public needs either rows= or second_moment=, and not both")
        if self.exposure is not None and self.y is None:
            raise DomainError("exposure= belongs to labelled public rows: pass rows= and y= as well")
        if self.second_moment is not None:
            try:
                moment = np.asarray(self.second_moment, dtype=np.float64)
            except (TypeError, ValueError):
                kind = type(self.second_moment).__name__
                raise DomainError(f"second_moment must be a matrix of numbers, got {kind}") from None
            if moment.ndim != 2 or moment.shape[0] != moment.shape[1] or not np.isfinite(moment).all():
                raise DomainError(f"second_moment must be a finite square matrix, got shape {moment.shape}")
            if not (is_whole(self.n) and self.n >= 1):  # type: ignore[operator]
                raise DomainError(f"second_moment= needs n=, the number of public rows behind it, got {self.n!r}")
