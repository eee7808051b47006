"""Results by name on a fitted object that is no estimator with arrays of its own: those of its
``results_``.
"""

from __future__ import annotations

from typing import Any

from discreet.docstrings import documented_as
from discreet.results.methods import ResultMethods
from discreet.results.results import Results
from discreet.results.wald import WaldTest


class NamedMethods(ResultMethods):
    """``params``, ``conf_int()`` and the others, with names and intercept, as ``results_`` has
    them.
    """

    @property
    def params(self) -> Any:
        """The unshrunk estimates, by name."""
        return self._fitted_results().params

    @property
    def bse(self) -> Any:
        """Standard errors that include the privacy noise, by name."""
        return self._fitted_results().bse

    @property
    def tvalues(self) -> Any:
        """Estimates over their standard errors, by name."""
        return self._fitted_results().tvalues

    @property
    def pvalues(self) -> Any:
        """Two-sided p-values, by name."""
        return self._fitted_results().pvalues

    @documented_as(Results.conf_int)
    def conf_int(self, alpha: float = 0.05) -> Any:
        return self._fitted_results().conf_int(alpha)

    @documented_as(Results.noise_int)
    def noise_int(self, alpha: float = 0.05) -> Any:
        return self._fitted_results().noise_int(alpha)

    @documented_as(Results.cov_params)
    def cov_params(self) -> Any:
        return self._fitted_results().cov_params()

    @documented_as(Results.wald_test)
    def wald_test(self, hypothesis: Any, values: Any = 0.0) -> WaldTest:
        return self._fitted_results().wald_test(hypothesis, values)

    @documented_as(Results.odds_ratios)
    def odds_ratios(self, alpha: float = 0.05) -> Any:
        return self._fitted_results().odds_ratios(alpha)

    @documented_as(Results.rate_ratios)
    def rate_ratios(self, alpha: float = 0.05) -> Any:
        return self._fitted_results().rate_ratios(alpha)

    @documented_as(Results.to_frame)
    def to_frame(self, alpha: float = 0.05) -> Any:
        return self._fitted_results().to_frame(alpha)
