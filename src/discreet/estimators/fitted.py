"""The results that a fitted estimator stores, from which its coefficients can be restored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.domain import Encoder
from discreet.privacy import Guarantee
from discreet.report.methods import ReportMethods
from discreet.results import Results


class FittedMethods(ReportMethods):
    """Stores ``results_`` after a fit, or takes over results that were made elsewhere."""

    delta: float
    coef_: Any
    intercept_: Any
    privacy_: Guarantee
    _encoder: Encoder
    # Pipeline steps that were fitted to the same rows; no guarantee covers them.
    _fitted_before: tuple[str, ...] = ()
    # The number of fitted rows, where it is public.
    _public_rows: int | None = None
    _NO_ERRORS = "this solver gives no standard errors"

    def _store_results(self, encoder: Encoder, released: Results | None) -> None:
        """Store the released results, with what a reader needs beside them; without
        errors if there are none.
        """
        with_intercept = self._has_intercept(encoder)
        flat = self._flat_coefficients(with_intercept)
        if released is None:
            released = Results(
                target="y" if encoder.target is None else encoder.target.name,
                names=(("const",) if with_intercept else ()) + tuple(encoder.names),
                shrunk=flat,
                estimates=flat,
                covariance=None,
                noise_covariance=None,
                privacy=self.privacy_,
                used=getattr(self, "_used", None),
                signal=getattr(self, "signal_", None),
                no_errors=self._no_errors(),
            )
        paying = self.__dict__.pop("_paying", None)
        self.results_ = replace(
            self._described(released),
            # The exact numbers that predict: another order of the same products
            # may round differently.
            shrunk=flat,
            model=type(self).__name__,
            delta=float(self.delta),
            privacy=self.privacy_,
            rows=self._public_rows,
            not_covered=self._fitted_before,
            payment=None if paying is None else paying.payment,
        )

    def _no_errors(self) -> str:
        """Why there are no standard errors, where there are none."""
        return self._NO_ERRORS

    if TYPE_CHECKING:

        def _has_intercept(self, encoder: Encoder) -> bool: ...

    def _described(self, released: Results) -> Results:
        """The results with family, link and further facts for the summary."""
        return released

    def _flat_coefficients(self, with_intercept: bool) -> np.ndarray:
        """All coefficients in the order of ``results_.names``: for each class its
        intercept first, if any.
        """
        coef = np.atleast_2d(np.asarray(self.coef_, dtype=np.float64))
        if not with_intercept:
            return coef.ravel()
        intercepts = np.reshape(np.asarray(self.intercept_, dtype=np.float64), (len(coef), 1))
        return np.hstack([intercepts, coef]).ravel()

    def adopt(self, results: Results, encoder: Encoder, feature_names: Sequence[str] | None) -> Any:
        """Take over results that were computed elsewhere: by several parties, or before saving.

        Parameters
        ----------
        results : Results
            Estimates, covariances and guarantee.
        encoder : Encoder
            The declared encoding of the columns.
        feature_names : sequence of str
            The names of the columns that ``predict`` expects.

        Returns
        -------
        self
            The fitted estimator.
        """
        if feature_names is not None:
            self.feature_names_in_ = np.array(list(feature_names), dtype=object)
        self.privacy_, self.results_ = results.privacy, results
        if not hasattr(self, "n_features_in_"):  # sparse models have more columns than the chosen ones
            self.n_features_in_ = len(encoder.domain.columns)
        self._encoder, self.coef_names_ = encoder, encoder.names
        self._fitted_before, self._public_rows = results.not_covered, results.rows
        for name, value in (
            ("n_used_", None if results.used is None else results.used.count),
            ("signal_", results.signal),
        ):
            if value is not None:
                setattr(self, name, value)
        self._take(results.shrunk, len(results.slopes) < len(results.names))
        return self

    def _document(self) -> dict[str, Any]:
        from discreet.estimators.model_file import model_document

        return model_document(self, self._fitted_results())

    def _spans(self) -> dict[str, float]:
        if self._encoder.domain.data_norm is not None:  # a norm of rows gives no column range
            return {}
        return dict(zip(self._encoder.names, map(float, self._encoder.spans), strict=True))

    def _take(self, flat: np.ndarray, with_intercept: bool) -> None:
        """Set ``coef_`` and ``intercept_`` from coefficients in the order of ``results_.names``."""
        self.intercept_ = float(flat[0]) if with_intercept else 0.0
        self.coef_ = flat[int(with_intercept) :]
