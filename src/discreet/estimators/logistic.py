"""Logistic regression for one trusted curator: two declared classes, or more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from discreet.algorithms.steps.glm_model import GlmFit, GlmModel, Guess
from discreet.curator import Curator
from discreet.docstrings import described, documented
from discreet.domain import Encoder, Public
from discreet.estimators.classes import ZERO_ONE, DeclaredClasses, declared_classes
from discreet.estimators.constructor import GlmParameters
from discreet.estimators.formula import reduced
from discreet.estimators.glm import GeneralizedLinearRegressor
from discreet.estimators.glm_base import PrivateGlm
from discreet.estimators.public_guess import public_guess
from discreet.estimators.tables import check_table
from discreet.estimators.units import units
from discreet.glm import Bernoulli, Family, Link, link
from discreet.privacy import Budget

# A matrix of all coefficients is inverted about a hundred times, which limits their number.
_MOST_COEFFICIENTS = 1500


@documented(like=GeneralizedLinearRegressor)
class LogisticRegression(ClassifierMixin, DeclaredClasses, GlmParameters, PrivateGlm):  # type: ignore[misc]
    """Differentially private logistic regression, with standard errors.

    With two classes ``coef_`` has one row; with more, one per class, and the rows sum to zero.

    Parameters
    ----------
    classes : Sequence[Any], default (0, 1)
        The possible labels, declared and never learnt from y. The second of two is the positive
        class. Rows with another label contribute nothing. By default, the values that a ``domain``
        declares for the target, if it does.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (2_000, 2))
    >>> from discreet import LogisticRegression
    >>> y = rng.random(2_000) < 1 / (1 + np.exp(-(X @ [1.0, -2.0])))
    >>> model = LogisticRegression(epsilon=5.0, delta=1e-6, bounds_X=(-1, 1), classes=[False, True])
    >>> model = model.fit(X, y)
    >>> model.predict_proba(X[:3]).shape
    (3, 2)
    """

    classes: Sequence[Any] = ZERO_ONE

    def _family(self) -> tuple[Family, Link]:
        return Bernoulli(), link("logit")

    def _declared(self, name: str | None) -> tuple[Any, ...]:
        return declared_classes(self.classes, self.domain, name)

    @property
    def _predictors(self) -> int:
        """The number of linear predictors: one for two classes, else one per class."""
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _class_values(self) -> Sequence[Any]:
        return tuple(self.classes_.tolist())

    def _fit_source(self, source: Curator, encoder: Encoder, budget: Budget) -> Self:
        classes = len(self.classes_)
        if classes > 2:
            if self.solver not in ("auto", "gd") or self.calibration != "tight":
                raise ValueError("more than two classes are fitted by solver='gd' with calibration='tight' only")
            size = (classes - 1) * (encoder.width + 1)
            if size > _MOST_COEFFICIENTS:
                raise ValueError(
                    f"{classes} classes of {encoder.width} columns have {size:,} coefficients, and no more than "
                    f"{_MOST_COEFFICIENTS:,} are fitted together: fit one class against the others at a time"
                )
        return super()._fit_source(source, encoder, budget)

    def _model(self, encoder: Encoder) -> GlmModel:
        return replace(super()._model(encoder), classes=len(self.classes_))

    def _guess(self, encoder: Encoder, model: GlmModel) -> Guess | None:
        if model.classes == 2 or self.public is None:
            return super()._guess(encoder, model)
        # With more than two classes, public rows give the location of x only;
        # their labels are not used.
        rows = Public(rows=self.public.rows, second_moment=self.public.second_moment, n=self.public.n)
        return public_guess(rows, encoder, model)

    def _store(self, fit: GlmFit, encoder: Encoder) -> None:
        rows = self._predictors
        coefficients = fit.coef.reshape(rows, -1) @ units(encoder, with_intercept=True).T
        self.coef_ = coefficients[:, 1:]
        self.intercept_ = coefficients[:, 0] if self._has_intercept(encoder) else np.zeros(rows)

    def _take(self, flat: np.ndarray, with_intercept: bool) -> None:
        rows = flat.reshape(self._predictors, -1)
        self.intercept_ = rows[:, 0].copy() if with_intercept else np.zeros(len(rows))
        self.coef_ = rows[:, int(with_intercept) :].copy()

    @described
    def decision_function(self, X: Any, *, extrapolate: bool = False) -> np.ndarray:
        """The log odds of the second class, or one linear predictor per class if there are more.

        NaN for a row with a missing or undeclared value, which ``fit`` would leave out. Features
        are clipped to their declared bounds, as in ``fit``, unless ``extrapolate`` is set.

        Returns
        -------
        array
            Log odds, one per row; with more than two classes one column per class.
        """
        scores = self._design(X, extrapolate) @ self.coef_.T + self.intercept_
        return np.asarray(scores[:, 0] if self._predictors == 1 else scores)

    @described
    def predict_log_proba(self, X: Any, *, extrapolate: bool = False) -> np.ndarray:
        """The logarithm of each class's probability, in the order of ``classes_``.

        Returns
        -------
        array of shape (rows, classes)
            Log probabilities.
        """
        return np.asarray(np.log(np.maximum(self.predict_proba(X, extrapolate=extrapolate), 1e-300)))

    def _missing(self, X: Any, extrapolate: bool) -> dict[str, int]:
        return self._encoder.missing_columns(check_table(self, reduced(self._encoder, X), reset=False))
