"""What a fitted linear estimator tells about itself, aligned with ``coef_`` (the intercept is in ``result_``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted

from discreet.errors import DiscreetError
from discreet.inference import LinearResult


class LinearResultMethods:
    """Standard errors, intervals, tests and the summary of an estimator that stores a ``result_``."""

    epsilon: float
    delta: float
    coef_: np.ndarray
    result_: LinearResult

    def predict(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    def _design(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    def _result(self) -> LinearResult:
        check_is_fitted(self, "coef_")
        if not hasattr(self, "result_"):
            raise DiscreetError("calibration='paper' has no standard errors: the papers give none; use 'tight'")
        return self.result_

    @property
    def _slopes(self) -> slice:
        return slice(len(self._result().params) - len(self.coef_), None)

    @property
    def bse(self) -> np.ndarray:
        """Standard errors of the coefficients, sampling and privacy noise together."""
        return self._result().bse[self._slopes]

    @property
    def tvalues(self) -> np.ndarray:
        return self._result().tvalues[self._slopes]

    @property
    def pvalues(self) -> np.ndarray:
        """Two-sided p-values of the coefficients."""
        return self._result().pvalues[self._slopes]

    def conf_int(self, alpha: float = 0.05) -> np.ndarray:
        """Confidence intervals of the coefficients: one row (low, high) each, about the unshrunk estimate."""
        return self._result().conf_int(alpha)[self._slopes]

    def noise_int(self, alpha: float = 0.05) -> np.ndarray:
        """Where the same fit would be without privacy noise: sampling error is not in these intervals."""
        return self._result().noise_int(alpha)[self._slopes]

    def coef_table(self) -> list[dict[str, Any]]:
        """One record per coefficient, intercept included: ready for a data frame."""
        result = self._result()
        low, high = result.conf_int().T
        columns = (result.names, result.shrunk, result.params, result.bse, result.noise_bse, result.pvalues, low, high)
        keys = ("name", "coef", "estimate", "std_err", "noise_std_err", "p_value", "ci_low", "ci_high")
        return [dict(zip(keys, (row[0], *map(float, row[1:])), strict=True)) for row in zip(*columns, strict=True)]

    def predict_interval(self, X: Any, alpha: float = 0.05) -> np.ndarray:
        """Prediction intervals for new labels, one row (low, high) each: coefficient error and residual spread."""
        result = self._result()
        design = self._design(X)
        if len(result.params) > design.shape[1]:
            design = np.column_stack([np.ones(len(design)), design])
        quantile = -float(ndtri(alpha / 2))
        # The scale is noisy, and coverage is concave in it: to second order, this much more keeps the mean coverage.
        spread = result.scale + (1 + quantile**2) / 4 * result.scale_noise_std**2 / result.scale
        variance = spread + np.einsum("ij,jk,ik->i", design, result.cov_params(), design)
        reach = quantile * np.sqrt(variance)
        middle = self.predict(X)
        return np.column_stack([middle - reach, middle + reach])

    def summary(self) -> Any:
        """The fit as a table in statsmodels' manner, with its guarantee; print it, or let a notebook show it."""
        from discreet.report.summary import Summary

        return Summary(type(self).__name__, self._result(), self.epsilon, self.delta)
