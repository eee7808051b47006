"""Results of a fitted linear estimator, aligned with
``coef_``; ``results_`` includes the intercept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discreet.docstrings import described
from discreet.errors import DiscreetError
from discreet.estimators.evaluation import EvaluatedMethods
from discreet.parameters import normal_quantile
from discreet.results import Results


class LinearResultMethods(EvaluatedMethods):
    """Predictions, and the standard errors, intervals and tests of ``results_`` as arrays."""

    def _result(self) -> Results:
        check_is_fitted(self, "coef_")
        return self.results_

    @property
    def bse(self) -> np.ndarray:
        """Standard errors of the coefficients, sampling and privacy noise together."""
        return self._result().std_errors[self.results_.slopes]

    @property
    def tvalues(self) -> np.ndarray:
        """Estimates divided by their standard errors."""
        return self._result().z_scores[self.results_.slopes]

    @property
    def pvalues(self) -> np.ndarray:
        """Two-sided p-values of the coefficients."""
        return self._result().p_values[self.results_.slopes]

    @described
    def conf_int(self, alpha: float = 0.05) -> np.ndarray:
        """Confidence intervals of the coefficients, one (low, high) each,
        around the unshrunk estimates.

        Returns
        -------
        array of shape (coefficients, 2)
            The lower and upper ends.
        """
        return self._result().intervals(alpha)[self.results_.slopes]

    @described
    def noise_int(self, alpha: float = 0.05) -> np.ndarray:
        """Intervals for the coefficients of the same fit without privacy noise; no sampling error.

        Returns
        -------
        array of shape (coefficients, 2)
            The lower and upper ends.
        """
        return self._result().noise_intervals(alpha)[self.results_.slopes]

    def _predictor(self, X: Any, extrapolate: bool) -> tuple[np.ndarray, np.ndarray]:
        """The unshrunk linear predictor of each row, and its standard error."""
        result, design = self._result(), self._design(X, extrapolate)
        if len(result.names) > design.shape[1] + 1:
            raise DiscreetError("intervals of means need a model with one linear predictor, not more than two classes")
        if len(result.names) > design.shape[1]:
            design = np.column_stack([np.ones(len(design)), design])
        variance = np.einsum("ij,jk,ik->i", design, result._known(), design)
        return design @ result.estimates, np.sqrt(variance)

    def _eta(self, X: Any, extrapolate: bool) -> np.ndarray:
        """The linear predictor of each row, as ``predict`` uses it."""
        return np.asarray(self._design(X, extrapolate) @ self.coef_ + self.intercept_)

    @described
    def predict(self, X: Any, *, extrapolate: bool = False) -> np.ndarray:
        """Predicted means, in y's units.

        NaN for a row with a missing or undeclared value in a column that the model reads. Features
        and predictions are clipped to their bounds, unless ``extrapolate`` is set.
        """
        return self._within_labels(self._family()[1].mean(self._eta(X, extrapolate)), extrapolate)

    @described
    def mean_interval(self, X: Any, alpha: float = 0.05, *, extrapolate: bool = False) -> np.ndarray:
        """Confidence intervals (low, high) for the mean label of each row, with
        sampling and privacy noise.

        Features are clipped to their bounds, as in ``predict``.
        """
        return self._mean_ends(*self._predictor(X, extrapolate), alpha)

    def _mean_ends(self, eta: np.ndarray, error: np.ndarray, alpha: float) -> np.ndarray:
        """Intervals of the linear predictor, through the increasing link."""
        reach, mean = normal_quantile(alpha) * error, self._family()[1].mean
        return np.column_stack([mean(eta - reach), mean(eta + reach)])

    @described
    def predict_interval(self, X: Any, alpha: float = 0.05, *, extrapolate: bool = False) -> np.ndarray:
        """Prediction intervals for new labels, one (low, high) per row: coefficient
        error and residual spread.

        Features are clipped to their bounds, as in ``predict``.
        """
        slope = self._family()[1].slope(self._eta(X, extrapolate))
        reach = self._reach(slope * self._predictor(X, extrapolate)[1], alpha)
        middle = self.predict(X, extrapolate=extrapolate)
        return np.column_stack([middle - reach, middle + reach])

    def _reach(self, error: np.ndarray, alpha: float) -> np.ndarray:
        """Half the width of prediction intervals, from the standard errors of their means."""
        scale, noise_std = self._result().scale, self._result().scale_noise_std
        quantile = normal_quantile(alpha)
        # The scale is noisy, and coverage is concave in it: to second order, this increase
        # keeps the mean coverage.
        spread = scale + (1 + quantile**2) / 4 * noise_std**2 / scale
        return np.asarray(quantile * np.sqrt(spread + error**2))
