"""Sparse regression on wide tables: a few columns are selected privately and fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from discreet.docstrings import described, documented
from discreet.errors import DomainError
from discreet.estimators.classes import DeclaredClasses, declared_classes
from discreet.estimators.losses import chosen_family
from discreet.estimators.sparse_base import SparseModel
from discreet.glm import Bernoulli, Family, Gaussian, Link, Loss, Poisson


class _SparseRegressor(RegressorMixin, SparseModel):  # type: ignore[misc]
    bounds_y: Any = None


@documented()
class SparseLinearRegression(_SparseRegressor):
    """Differentially private least squares on a few of many columns.

    Parameters
    ----------
    sparsity : int or str
        The number of columns to keep, or "auto": those that are clear of the noise.
    solver : str, default 'auto'
        "auto" (rounds of selection and refit), "two_stage" (one round), "iht" (COST, Algorithm 5),
        "frank_wolfe".
    max_iter : int, optional
        Steps of "iht" and "frank_wolfe".
    radius : float, optional
        The radius of frank_wolfe's L1 ball, on columns scaled to [-1, 1].
    step : float, optional
        The step size of the printed "iht", on the same scale.
    calibration : str, default 'tight'
        "tight", or "paper" for the noise printed in COST.

    Privacy
    -------
    Selections of columns and noisy sums over the rows, whose joint cost is at most ``epsilon`` at
    ``delta``. The cost is charged to the ledger before a row is read.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (2_000, 30))
    >>> from discreet import SparseLinearRegression
    >>> y = 3 * X[:, 4] + rng.normal(0, 0.5, 2_000)
    >>> model = SparseLinearRegression(
    ...     epsilon=5.0, delta=1e-6, sparsity=1, bounds_X=(-1, 1), bounds_y=(-5, 5)
    ... )
    >>> model.fit(X, y).get_support(indices=True).tolist()
    [4]
    """

    def _family(self) -> tuple[Family, Link]:
        return Gaussian(), Gaussian.default_link


@documented(like=SparseLinearRegression)
class SparsePoissonRegressor(_SparseRegressor):
    """Differentially private Poisson regression (log link) on a few of many columns.

    See SparseLinearRegression.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (2_000, 30))
    >>> from discreet import SparsePoissonRegressor
    >>> y = rng.poisson(np.exp(1.5 * X[:, 4]))
    >>> model = SparsePoissonRegressor(
    ...     epsilon=5.0, delta=1e-6, sparsity=1, bounds_X=(-1, 1), bounds_y=(0, 15)
    ... )
    >>> model.fit(X, y).get_support(indices=True).tolist()
    [4]
    """

    def _family(self) -> tuple[Family, Link]:
        return Poisson(), Poisson.default_link

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


@documented(like=SparseLinearRegression)
class SparseRegressor(_SparseRegressor):
    """Differentially private regression of any family or convex loss on a few columns.

    The other parameters are those of SparseLinearRegression.

    Parameters
    ----------
    family, link
        As in GeneralizedLinearRegressor.
    loss : Loss, optional
        A convex ``Loss`` instead: ``huber(...)``, ``smoothed_quantile(...)``, or a user-defined
        slope with a declared bound. It is fitted by COST's Algorithm 4 (``solver="iht"``, the
        default then).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (2_000, 30))
    >>> from discreet import SparseRegressor, huber
    >>> y = 3 * X[:, 4] + rng.standard_t(3, 2_000)
    >>> model = SparseRegressor(
    ...     epsilon=5.0,
    ...     delta=1e-6,
    ...     sparsity=1,
    ...     loss=huber(2.0),
    ...     bounds_X=(-1, 1),
    ...     bounds_y=(-10, 10),
    ... )
    >>> model.fit(X, y).get_support(indices=True).tolist()
    [4]
    """

    family: str | Family = "gaussian"
    link: str | Link | None = None
    loss: Loss | None = None

    def _family(self) -> tuple[Family, Link]:
        return chosen_family(self.family, self.link, self.loss)


@documented(like=SparseLinearRegression)
class SparseLogisticRegression(ClassifierMixin, DeclaredClasses, SparseModel):  # type: ignore[misc]
    """Differentially private logistic regression on a few of many columns.

    See SparseLinearRegression.

    Parameters
    ----------
    classes : default (0, 1)
        The two possible labels; a row with another label contributes nothing.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (2_000, 30))
    >>> from discreet import SparseLogisticRegression
    >>> y = (X[:, 4] + rng.normal(0, 0.2, 2_000) > 0).astype(int)
    >>> model = SparseLogisticRegression(epsilon=5.0, delta=1e-6, sparsity=1, bounds_X=(-1, 1))
    >>> model.fit(X, y).get_support(indices=True).tolist()
    [4]
    """

    def _family(self) -> tuple[Family, Link]:
        return Bernoulli(), Bernoulli.default_link

    classes: Any = (0, 1)

    def _declared(self, name: str | None) -> tuple[Any, ...]:
        wanted = "the two different labels that y can have"
        classes = declared_classes(self.classes, self.domain, name, wanted)
        if len(classes) != 2:
            raise DomainError(f"classes must be {wanted}, got {list(classes)!r}")
        return classes

    def _set_coef(self, coef: np.ndarray, intercept: float) -> None:
        # One row, as in scikit-learn's LogisticRegression for two classes.
        self.coef_ = coef[np.newaxis]
        self.intercept_ = np.array([intercept])

    @described
    def decision_function(self, X: Any, *, extrapolate: bool = False) -> np.ndarray:
        """The log odds of the second class; NaN for a row with a missing value in a chosen column.

        Features are clipped to their declared bounds, as in ``fit``, unless ``extrapolate`` is set.

        Returns
        -------
        array
            Log odds, one per row.
        """
        return self._eta(X, extrapolate)

    def _missing(self, X: Any, extrapolate: bool) -> dict[str, int]:
        empty = np.isnan(self._chosen(X, extrapolate)).sum(axis=0).tolist()
        return {name: count for name, count in zip(self.results_.names[1:], empty, strict=True) if count}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
