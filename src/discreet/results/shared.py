"""Results by name on a fitted object that is no estimator with arrays of its own: those of its
``results_``.
"""

from __future__ import annotations

from typing import Any

from discreet.docstrings import passed_on
from discreet.results.methods import ResultMethods
from discreet.results.results import Results


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

    conf_int = passed_on(Results.conf_int, "_fitted_results")
    noise_int = passed_on(Results.noise_int, "_fitted_results")
    cov_params = passed_on(Results.cov_params, "_fitted_results")
    wald_test = passed_on(Results.wald_test, "_fitted_results")
    odds_ratios = passed_on(Results.odds_ratios, "_fitted_results")
    rate_ratios = passed_on(Results.rate_ratios, "_fitted_results")
    to_frame = passed_on(Results.to_frame, "_fitted_results")
