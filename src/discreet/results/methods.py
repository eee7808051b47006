"""What every fitted model offers, whoever fitted it: its results and a summary of them."""

from __future__ import annotations

from typing import Any

from discreet.results.results import Results


class ResultMethods:
    """For a class that has ``results_`` once it is fitted."""

    results_: Results

    def summary(self, *, predictive: bool = False) -> Any:
        """The fit as a table, with its guarantee: it prints itself, and notebooks show HTML.

        predictive: show the shrunk coefficients, which predict best, beside the estimates.
        """
        return self._fitted_results().summary(predictive=predictive)

    def _fitted_results(self) -> Results:
        if not hasattr(self, "results_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"this {type(self).__name__} is not fitted yet: call fit first")
        return self.results_
