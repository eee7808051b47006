"""Logistic, Poisson, gamma and other generalized linear models for one trusted curator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from discreet.domain import Public
from discreet.estimators.glm_base import PrivateGlm
from discreet.estimators.losses import loss_family
from discreet.glm import Family, Gamma, Link, Loss, Poisson, family, link


class GeneralizedLinearRegressor(RegressorMixin, PrivateGlm):
    """A differentially private generalized linear model of any family and link, with standard errors.

    epsilon, delta: the guarantee, for everything that the fitted object shows.
    family: ``gaussian``, ``bernoulli``, ``poisson``, ``gamma``, ``negative_binomial``, ``tweedie``, or a family object.
    link: ``identity``, ``log``, ``logit``, ``probit``, ``cloglog``, ``softplus``; the family's usual one by default.
    loss: a convex ``Loss`` in the place of family and link: ``huber(...)``, ``smoothed_quantile(...)``, one's own slope
    with a declared bound. Its solvers are ``"dp_gd"`` (which ``"auto"`` then is) and ``"cost_gd"``.
    bounds_X, bounds_y: declared ``(low, high)``, one number or one per column, or by name, ``{"age": (18, 90)}``; or
        ``data_norm``, or a ``domain``.
    formula: terms over declared columns, as ``"claims ~ age * smoker + offset(log(years))"``; ``fit(frame)`` then
        needs no y.
    bounds_exposure: the declared range of ``exposure``, if ``fit`` is given one.
    bounds_weight: the declared range of ``sample_weight``, ``(0, largest)``, if ``fit`` is given one.
    public: rows that are public anyway (with labels or without), or their second moment.
    alpha: penalty ``alpha / 2`` on the sum of squared coefficients, added to half the sum of deviances.
    solver: ``"auto"`` is ``"gd"``, a whitened descent; ``"newton"``, ``"objective"`` (logistic only), ``"cost_gd"``
    (COST's plain descent) and ``"dp_gd"`` (clipped gradients) are there to compare.
    max_iter: steps of ``"newton"``, ``"cost_gd"`` and ``"dp_gd"``; chosen by the solver if None.
    step: the length of a step of ``"cost_gd"`` and ``"dp_gd"``, on columns scaled to [-1, 1] (white ones with public
    rows); 1 over the loss's curvature if None.
    radius: the ball that ``"cost_gd"`` and ``"newton"`` keep coefficients in, on columns scaled to [-1, 1] (white ones
    with public rows; newton's are scaled to spread 1) and in units of the linear predictor (identity link: of y's
    half-width, from the middle). If None, 3 for ``"cost_gd"`` (50 for the logit) and 50 for ``"newton"``. Noise of
    ``"cost_gd"`` grows with it, and a fit that ends at its edge warns.
    clip: how long a row's gradient may be in ``"dp_gd"``, in units of y times such columns; if None, the length that
    it has for a typical row.
    eta: PMT's probability that a row is truncated, for ``"newton"`` with ``calibration="paper"``; .05 if None.
    cov_type: ``"robust"``, the sandwich covariance, which holds whatever the variance of labels is; or ``"model"``,
    narrower if labels vary as the family says.
    calibration: ``"tight"``, or ``"paper"`` for the noise that COST's Algorithm 1 (``"gd"``, ``"cost_gd"``) or PMT's
    Algorithms 3 to 5 (``"newton"``) print.
    neighbours: ``"replace_one"`` (the number of rows is public) or ``"add_or_remove_one"`` (it is private).
    ledger: a Ledger or its path; every fit, clone and cross-validation fold then pays from it.
    random_state: for tests only; it makes the result not private.
    """

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float,
        family: str | Family = "gaussian",
        link: str | Link | None = None,
        loss: Loss | None = None,
        bounds_X: Any = None,
        bounds_y: Any = None,
        bounds_exposure: Any = None,
        bounds_weight: Any = None,
        data_norm: float | None = None,
        domain: Any = None,
        formula: str | None = None,
        public: Public | None = None,
        fit_intercept: bool = True,
        alpha: float = 0.0,
        solver: str = "auto",
        max_iter: int | None = None,
        step: float | None = None,
        radius: float | None = None,
        clip: float | None = None,
        eta: float | None = None,
        cov_type: str = "robust",
        neighbours: str = "replace_one",
        calibration: str = "tight",
        ledger: Any = None,
        rows_per_person: int = 1,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.family = family
        self.link = link
        self.loss = loss
        self.bounds_X = bounds_X
        self.bounds_y = bounds_y
        self.bounds_exposure = bounds_exposure
        self.bounds_weight = bounds_weight
        self.data_norm = data_norm
        self.domain = domain
        self.formula = formula
        self.public = public
        self.fit_intercept = fit_intercept
        self.alpha = alpha
        self.solver = solver
        self.max_iter = max_iter
        self.step = step
        self.radius = radius
        self.clip = clip
        self.eta = eta
        self.cov_type = cov_type
        self.neighbours = neighbours
        self.calibration = calibration
        self.ledger = ledger
        self.rows_per_person = rows_per_person
        self.random_state = random_state

    def _family(self) -> tuple[Family, Link]:
        if self.loss is not None:
            return loss_family(self.loss, self.family, self.link)
        chosen = family(self.family)
        return chosen, chosen.default_link if self.link is None else link(self.link)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = not self._allows_negative_labels()
        return tags

    def _allows_negative_labels(self) -> bool:
        try:
            self._family()[0].check_range(-1.0, 1.0)
        except ValueError:
            return False
        return True

    def predict(self, X: Any, exposure: Any = None, *, extrapolate: bool = False) -> np.ndarray:
        """Predicted mean labels; for an exposure of 1 if none is given.

        NaN for a row with a missing or undeclared value, as ``fit`` leaves it out. Features are moved into their
        declared bounds, as in ``fit``; ``extrapolate`` goes on beyond them.
        """
        design = self._design(X, extrapolate)
        eta = design @ self.coef_ + self.intercept_ + self._new_offset(X, exposure, len(design))
        return self._family()[1].mean(eta)

    def score(self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None) -> float:
        """D^2: the share of the null model's deviance that the model explains, on these rows (not private)."""
        check_is_fitted(self, "coef_")
        labels = np.asarray(y, dtype=np.float64)
        chosen = self._family()[0]
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        mean = np.average(labels, weights=weights)
        null = np.average(chosen.deviance(labels, np.full_like(labels, mean)), weights=weights)
        own = np.average(chosen.deviance(labels, self.predict(X, exposure)), weights=weights)
        return float(1 - own / null) if null > 0 else 0.0


class _OneFamily(GeneralizedLinearRegressor):
    """A regressor whose family is fixed and whose link is the log."""

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float,
        bounds_X: Any = None,
        bounds_y: Any = None,
        bounds_exposure: Any = None,
        bounds_weight: Any = None,
        data_norm: float | None = None,
        domain: Any = None,
        formula: str | None = None,
        public: Public | None = None,
        fit_intercept: bool = True,
        alpha: float = 0.0,
        solver: str = "auto",
        max_iter: int | None = None,
        step: float | None = None,
        radius: float | None = None,
        clip: float | None = None,
        eta: float | None = None,
        cov_type: str = "robust",
        neighbours: str = "replace_one",
        calibration: str = "tight",
        ledger: Any = None,
        rows_per_person: int = 1,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds_X = bounds_X
        self.bounds_y = bounds_y
        self.bounds_exposure = bounds_exposure
        self.bounds_weight = bounds_weight
        self.data_norm = data_norm
        self.domain = domain
        self.formula = formula
        self.public = public
        self.fit_intercept = fit_intercept
        self.alpha = alpha
        self.solver = solver
        self.max_iter = max_iter
        self.step = step
        self.radius = radius
        self.clip = clip
        self.eta = eta
        self.cov_type = cov_type
        self.neighbours = neighbours
        self.calibration = calibration
        self.ledger = ledger
        self.rows_per_person = rows_per_person
        self.random_state = random_state


class PoissonRegressor(_OneFamily):
    """Differentially private regression for counts, with the log link; see GeneralizedLinearRegressor.

    ``fit(X, y, exposure=t)`` models counts in t units of time (or area, or people): the mean is t exp(x^T coef).
    """

    def _family(self) -> tuple[Family, Link]:
        return Poisson(), link("log")


class GammaRegressor(_OneFamily):
    """Differentially private regression for positive amounts, with the log link; see GeneralizedLinearRegressor."""

    def _family(self) -> tuple[Family, Link]:
        return Gamma(), link("log")
