"""Methods of every fitted model: its summary, its table and its file."""

from __future__ import annotations

from os import PathLike
from typing import Any

from discreet.docstrings import described, passed_on
from discreet.errors import DiscreetError
from discreet.results.file import write_document
from discreet.results.results import Results


class ResultMethods:
    """For a class that has ``results_`` once it is fitted."""

    results_: Results

    summary = passed_on(Results.summary, "_fitted_results")

    @described
    def coef_table(self, alpha: float = 0.05) -> list[dict[str, Any]]:
        """One record for each coefficient, intercept included, without pandas: see
        ``results_.to_frame()``.

        Returns
        -------
        list of dict
            One record for each coefficient.
        """
        return self._fitted_results().records(alpha)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a JSON file, which ``discreet.load`` reads.

        It holds what was released and declared: coefficients, covariances, the guarantee with every
        release, the domain, and which ledger paid. It holds no rows, so it may be shared wherever
        the summary may.

        Parameters
        ----------
        path : str or path
            The JSON file to write.
        """
        self._fitted_results()
        write_document(self._document(), path)

    def _document(self) -> dict[str, Any]:
        raise DiscreetError(f"a {type(self).__name__} cannot be saved")

    def _fitted_results(self) -> Results:
        if not hasattr(self, "results_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"this {type(self).__name__} is not fitted yet: call fit first")
        return self.results_
