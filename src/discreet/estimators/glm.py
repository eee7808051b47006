"""Logistic, Poisson, gamma and other generalized linear models for one trusted curator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from discreet.docstrings import described, documented
from discreet.estimators.constructor import GlmParameters
from discreet.estimators.glm_base import PrivateGlm
from discreet.estimators.losses import chosen_family
from discreet.glm import Family, Gamma, Link, Loss, Poisson, link


class _GlmRegressor(RegressorMixin, GlmParameters, PrivateGlm):  # type: ignore[misc]
    """Parameters and predictions of a model of numbers."""

    bounds_y: Any = None
    bounds_exposure: Any = None

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

    @described
    def predict(self, X: Any, exposure: Any = None, *, extrapolate: bool = False) -> np.ndarray:
        """Predicted mean labels; for an exposure of 1 if none is given.

        NaN for a row with a missing or undeclared value, which ``fit`` would leave out. Features,
        and predictions without exposures, are clipped to their declared bounds, unless
        ``extrapolate`` is set.

        Returns
        -------
        array
            One mean per row.
        """
        design = self._design(X, extrapolate)
        eta = design @ self.coef_ + self.intercept_ + self._new_offset(X, exposure, len(design))
        # Bounds of labels are for declared exposures; a new row may have any.
        exposed = exposure is not None or self._encoder.exposures is not None
        return self._within_labels(self._family()[1].mean(eta), extrapolate or exposed)

    @described
    def score(self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None) -> float:
        """D^2: the explained share of the null model's deviance on these rows (not private).

        Parameters
        ----------
        y : array
            Labels, one for each row of X.
        sample_weight : array, optional
            The weight of each row.

        Returns
        -------
        float
            The score.
        """
        check_is_fitted(self, "coef_")
        labels = np.asarray(y, dtype=np.float64)
        chosen = self._family()[0]
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        mean = np.average(labels, weights=weights)
        null = np.average(chosen.deviance(labels, np.full_like(labels, mean)), weights=weights)
        own = np.average(chosen.deviance(labels, self.predict(X, exposure)), weights=weights)
        return float(1 - own / null) if null > 0 else 0.0


@documented()
class GeneralizedLinearRegressor(_GlmRegressor):
    """A differentially private generalized linear model, with standard errors.

    Parameters
    ----------
    family : str or Family, default 'gaussian'
        ``gaussian``, ``bernoulli``, ``poisson``, ``gamma``, ``negative_binomial``, ``tweedie``, or
        a family object.
    link : str or Link, optional
        ``identity``, ``log``, ``logit``, ``probit``, ``cloglog``, ``softplus``; by default the
        family's usual link.
    loss : Loss, optional
        A convex ``Loss`` instead of family and link: ``huber(...)``, ``smoothed_quantile(...)``, or
        a user-defined slope with a declared bound. Its solvers are ``"dp_gd"`` (the default) and
        ``"cost_gd"``.
    alpha : float, default 0.0
        Penalty ``alpha / 2`` on the sum of squared coefficients, added to half the sum of
        deviances.
    solver : str, default 'auto'
        ``"auto"`` is ``"gd"``, a whitened descent. ``"newton"``, ``"objective"`` (logistic only),
        ``"cost_gd"`` (COST's plain descent) and ``"dp_gd"`` (clipped gradients) are for
        comparison.
    max_iter : int, optional
        Steps of ``"newton"``, ``"cost_gd"`` and ``"dp_gd"``; by default chosen by the solver.
    step : float, optional
        The step size of ``"cost_gd"`` and ``"dp_gd"``, on columns scaled to [-1, 1] (whitened with
        public rows). By default, 1 over the curvature of the loss.
    radius : float, optional
        The radius of the ball for coefficients of ``"cost_gd"`` and ``"newton"``, on columns scaled
        to [-1, 1] (whitened with public rows; newton's are scaled to standard deviation 1) and in
        units of the linear predictor (identity link: of y's half-width, from the middle). By
        default 3 for
        ``"cost_gd"`` (50 for the logit) and 50 for ``"newton"``. The noise of ``"cost_gd"`` grows
        with it, and a fit that ends at its edge warns.
    clip : float, optional
        The clip norm of a row's gradient in ``"dp_gd"``, in units of y times such columns. By
        default, the norm for a typical row; with ``loss=``, chosen by a noisy histogram.
    eta : float, optional
        The probability (PMT) that a row is truncated, for ``"newton"`` with
        ``calibration="paper"``; .05 by default.
    calibration : str, default 'tight'
        ``"tight"``, or ``"paper"`` for the printed noise of COST's Algorithm 1 (``"gd"``,
        ``"cost_gd"``) or PMT's Algorithms 3 to 5 (``"newton"``).

    Privacy
    -------
    Noisy sums over the rows, whose joint cost is at most ``epsilon`` at ``delta``. The cost is
    charged to the ledger before a row is read.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (2_000, 2))
    >>> from discreet import GeneralizedLinearRegressor
    >>> y = rng.gamma(2.0, np.exp(X @ [0.5, -0.5]) / 2.0)
    >>> model = GeneralizedLinearRegressor(
    ...     epsilon=5.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(0.01, 20), family="gamma"
    ... )
    >>> model = model.fit(X, y)
    >>> model.coef_.shape
    (2,)
    """

    family: str | Family = "gaussian"
    link: str | Link | None = None
    loss: Loss | None = None

    def _family(self) -> tuple[Family, Link]:
        return chosen_family(self.family, self.link, self.loss)


@documented(like=GeneralizedLinearRegressor)
class PoissonRegressor(_GlmRegressor):
    """Differentially private Poisson regression for counts, with the log link.

    See GeneralizedLinearRegressor.

    ``fit(X, y, exposure=t)`` models counts in t units of time (or area, or people): the mean is
    t exp(x^T coef).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (2_000, 2))
    >>> from discreet import PoissonRegressor
    >>> years = rng.uniform(0.5, 1.0, 2_000)
    >>> y = rng.poisson(years * np.exp(X @ [0.5, -0.5]))
    >>> model = PoissonRegressor(epsilon=5.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(0, 10),
    ...                          bounds_exposure=(0.5, 1.0)).fit(X, y, exposure=years)
    >>> model.results_.rate_ratios().shape
    (3, 3)
    """

    def _family(self) -> tuple[Family, Link]:
        return Poisson(), link("log")


@documented(like=GeneralizedLinearRegressor)
class GammaRegressor(_GlmRegressor):
    """Differentially private gamma regression for positive amounts, with the log link.

    See GeneralizedLinearRegressor.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (2_000, 2))
    >>> from discreet import GammaRegressor
    >>> y = rng.gamma(2.0, np.exp(X @ [0.5, -0.5]) / 2.0)
    >>> model = GammaRegressor(epsilon=5.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(0.01, 20))
    >>> model = model.fit(X, y)
    >>> bool((model.predict(X[:5]) > 0).all())
    True
    """

    def _family(self) -> tuple[Family, Link]:
        return Gamma(), link("log")
