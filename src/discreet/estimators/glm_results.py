"""Results of a fitted generalized linear model."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.docstrings import described
from discreet.estimators.formula import reduced
from discreet.estimators.results import LinearResultMethods
from discreet.estimators.tables import read_table
from discreet.inference.predictive import predictive_interval


class GlmResultMethods(LinearResultMethods):
    """``bse``, ``pvalues`` and ``conf_int()`` have one entry per coefficient, in the
    order of ``coef_names_``.
    """

    _NO_ERRORS = "this solver gives no standard errors; solver='gd' with calibration='tight' does"

    def _new_offset(self, X: Any, exposure: Any, rows: int) -> np.ndarray:
        """What is added to the linear predictor of new rows: log(exposure),
        or the formula's offset.
        """
        own = self._encoder.offset_of(read_table(reduced(self._encoder, X)))
        if own is None:
            return log_exposure(exposure, rows)
        if exposure is not None:
            raise ValueError("the formula has an offset, which is read from the rows: leave exposure out")
        return own

    @described
    def mean_interval(
        self, X: Any, alpha: float = 0.05, exposure: Any = None, *, extrapolate: bool = False
    ) -> np.ndarray:
        """Confidence intervals (low, high) for the mean label of each row, with
        sampling and privacy noise.

        Features are clipped to their bounds, as in ``predict``.
        """
        eta, error = self._predictor(X, extrapolate)
        return self._mean_ends(eta + self._new_offset(X, exposure, len(eta)), error, alpha)

    @described
    def predict_interval(
        self, X: Any, alpha: float = 0.05, exposure: Any = None, *, extrapolate: bool = False
    ) -> np.ndarray:
        """Prediction intervals for new labels, one (low, high) per row.

        Features are clipped to their bounds, as in ``predict``.
        """
        eta, error = self._predictor(X, extrapolate)
        eta = eta + self._new_offset(X, exposure, len(eta))
        family, link = self._family()
        return predictive_interval(family, link, eta, error, self._result().scale, alpha)


def log_exposure(exposure: Any, rows: int) -> np.ndarray:
    """The offset of new rows; 0 without exposure."""
    if exposure is None:
        return np.zeros(rows)
    times = np.broadcast_to(np.asarray(exposure, dtype=np.float64), (rows,))
    if not np.all(times > 0):
        raise ValueError("exposure must be > 0 in every row to predict for")
    return np.log(times)
