"""What a fitted linear estimator tells about itself, aligned with ``coef_`` (the intercept is in ``result_``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    _fitted_before: tuple[str, ...]

    if TYPE_CHECKING:

        def predict(self, X: Any, *, extrapolate: bool = False) -> np.ndarray: ...

        def _design(self, X: Any, extrapolate: bool) -> np.ndarray: ...

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

    def _predictor(self, X: Any, extrapolate: bool) -> tuple[np.ndarray, np.ndarray]:
        """The unshrunk linear predictor of each row, and its standard error."""
        result, design = self._result(), self._design(X, extrapolate)
        if len(result.params) > design.shape[1]:
            design = np.column_stack([np.ones(len(design)), design])
        variance = np.einsum("ij,jk,ik->i", design, result.cov_params(), design)
        return design @ result.params, np.sqrt(variance)

    def mean_interval(self, X: Any, alpha: float = 0.05, *, extrapolate: bool = False) -> np.ndarray:
        """Confidence intervals for the mean label of each row: (low, high), sampling and privacy noise together.

        Features are moved into their bounds as in ``predict``.
        """
        eta, error = self._predictor(X, extrapolate)
        reach = -float(ndtri(alpha / 2)) * error
        return np.column_stack([eta - reach, eta + reach])

    def predict_interval(self, X: Any, alpha: float = 0.05, *, extrapolate: bool = False) -> np.ndarray:
        """Prediction intervals for new labels, one row (low, high) each: coefficient error and residual spread.

        Features are moved into their bounds as in ``predict``.
        """
        reach = self._reach(self._predictor(X, extrapolate)[1], alpha)
        middle = self.predict(X, extrapolate=extrapolate)
        return np.column_stack([middle - reach, middle + reach])

    def _reach(self, error: np.ndarray, alpha: float) -> np.ndarray:
        """Half the width of prediction intervals, from the standard errors of their means."""
        scale, noise_std = self._result().scale, self._result().scale_noise_std
        quantile = -float(ndtri(alpha / 2))
        # The scale is noisy, and coverage is concave in it: to second order, this much more keeps the mean coverage.
        spread = scale + (1 + quantile**2) / 4 * noise_std**2 / scale
        return np.asarray(quantile * np.sqrt(spread + error**2))

    def summary(self) -> Any:
        """The fit as a table in statsmodels' manner, with its guarantee; print it, or let a notebook show it."""
        from discreet.report.summary import Summary

        return Summary(type(self).__name__, self._result(), self.epsilon, self.delta, self._fitted_before)
