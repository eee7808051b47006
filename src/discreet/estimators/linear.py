"""Linear and ridge regression for one trusted curator."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from discreet.algorithms.descent import descend
from discreet.algorithms.dp_gd import dp_gd
from discreet.algorithms.moments import release_moments
from discreet.algorithms.pmt import pmt
from discreet.algorithms.printed_gd import printed_descend
from discreet.algorithms.printed_pmt import printed_pmt
from discreet.algorithms.printed_ridge import printed_ridge
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel, Guess
from discreet.curator import Curator
from discreet.docstrings import described, documented
from discreet.domain import Encoder
from discreet.errors import DomainError
from discreet.estimators.constructor import GlmParameters
from discreet.estimators.glm import GeneralizedLinearRegressor
from discreet.estimators.moments import moments_in_units, public_scaling, require_target
from discreet.estimators.solved import COST, DP_GD, SolvedModel, Solver
from discreet.estimators.units import store_facts
from discreet.glm import Family, Gaussian, Identity, Link
from discreet.inference import residual_fact
from discreet.privacy import Budget
from discreet.results import Results


class _MomentRegressor(RegressorMixin, GlmParameters, SolvedModel):  # type: ignore[misc]
    bounds_y: Any = None
    l1_ratio: float | None = None
    _NO_ERRORS = "this solver gives no standard errors, as its paper has none: use 'auto', 'moments' or 'pmt', tight"

    @described
    def fit(
        self, X: Any, y: Any = None, groups: Any = None, *, sample_weight: Any = None, job: str | None = None
    ) -> Self:
        """Fit on private rows.

        Privacy
        -------
        Noisy sums over the rows (two with ``"moments"``), whose joint cost is at most ``epsilon``
        at ``delta``.
        """
        return self._fit(X, y, groups, job, None, sample_weight)

    def _check_parameters(self) -> Budget:
        budget = super()._check_parameters()
        if self.solver == "pmt" and self.public is None:
            raise DomainError(
                "solver='pmt' whitens by public moments: pass public=Public(...), in the terminal --public or "
                "--public-moment"
            )
        return budget

    def _family(self) -> tuple[Family, Link]:
        return Gaussian(), Identity()

    def _solvers(self) -> dict[str, Solver]:
        if self.calibration == "paper":
            printed = Solver(partial(printed_descend, calibration="paper"), COST)
            by_public = Solver(self._printed_pmt, {"eta": "failure"})
            return {"gd": printed, "moments": Solver(), "pmt": by_public, "cost_gd": printed}
        return {
            "gd": Solver(descend),
            "moments": Solver(options={"l1_ratio": "l1"}),
            "pmt": Solver(pmt, {"l1_ratio": "l1"}),
            "cost_gd": Solver(printed_descend, COST),
            "dp_gd": Solver(dp_gd, DP_GD),
        }

    def _chosen(self) -> str:
        by_moments = self._by_moments or (self.solver == "auto" and self.calibration == "paper")
        return "moments" if by_moments else super()._chosen()

    def _options(self) -> tuple[str, ...]:
        either = self.solver == "auto" and self.calibration == "tight"
        return ("l1_ratio",) if either else super()._options()

    def _asked_options(self, encoder: Encoder) -> dict[str, Any]:
        options = super()._asked_options(encoder)
        if "l1" in options:  # the penalty on absolute coefficients of encoded x
            l1 = float(self.alpha) * float(self.l1_ratio or 0.0) / encoder.half_width
            options["l1"] = l1 if l1.any() else None
        return options

    @property
    def _by_moments(self) -> bool:
        """Whether the fit is a release of moments: by request, or because an L1
        penalty is post-processing.
        """
        return self.solver == "moments" or (self.solver == "auto" and self.l1_ratio is not None)

    def _what(self) -> str:
        return "moments" if self._by_moments else super()._what()

    def _asked(self, encoder: Encoder) -> Any:
        # The moments serve every penalty, with or without an intercept.
        free = self._by_moments and self.calibration == "tight"
        kind, encoder, parameters, seeded = super()._asked(encoder)
        if free:
            kind = "moments"
            without = ("alpha", "l1_ratio", "fit_intercept")
            parameters = {name: value for name, value in parameters.items() if name not in without}
            parameters["solver"] = "moments"
        return kind, encoder, parameters, seeded

    def _solved(self, source: Curator, encoder: Encoder, budget: Budget) -> Results | None:
        if self._chosen() != "moments":
            return super()._solved(source, encoder, budget)
        if self.calibration == "tight":
            return self._fit_moments(source, encoder, budget)
        self._fit_printed(source, encoder, budget)
        return None

    def _fit_moments(self, source: Curator, encoder: Encoder, budget: Budget) -> Results:
        known = None if self.public is None else public_scaling(self.public, encoder)
        release = release_moments(source, budget, width=encoder.width, x_radius=encoder.radius, known=known)
        self.moments_ = moments_in_units(release, encoder, source.guarantee)
        released = self.moments_.regress(
            require_target(encoder).name,
            encoder.names,
            alpha=float(self.alpha),
            l1_ratio=float(self.l1_ratio or 0.0),
            fit_intercept=self._has_intercept(encoder),
        )
        self._take(released.shrunk, self._has_intercept(encoder))
        self.n_iter_ = 1
        store_facts(self, release.used)
        return replace(released, used=release.used)

    def _described(self, released: Results) -> Results:
        return replace(released, facts=() if np.isnan(released.scale) else residual_fact(released.scale))

    def _penalty(self) -> float:
        return float(self.alpha) * (1 - float(self.l1_ratio or 0.0))

    def _printed_pmt(
        self, source: Curator, budget: Budget, model: GlmModel, *, x_radius: float, guess: Guess, failure: float | None
    ) -> GlmFit:
        assert self.public is not None
        # Without public labels, the far end of the declared range replaces their root mean square.
        y, y_scale = self.public.y, max(abs(model.labels.low), abs(model.labels.high))
        if y is not None:
            y_scale = max(float(np.sqrt(np.mean(np.square(np.asarray(y, dtype=np.float64))))), 1e-6 * y_scale)
        return printed_pmt(source, budget, model, guess=guess, y_scale=y_scale, failure=failure)

    def _fit_printed(self, source: Curator, encoder: Encoder, budget: Budget) -> None:
        intercept = self._has_intercept(encoder)
        target = require_target(encoder)
        if not intercept and (np.any(encoder.centre) or target.centre != 0):
            raise DomainError(
                "calibration='paper' without an intercept needs data_norm and bounds_y symmetric about 0: "
                "centring by declared bounds would move the origin"
            )
        coef = printed_ridge(
            source,
            budget,
            width=encoder.width,
            x_radius=encoder.radius,
            fit_intercept=intercept,
            penalty=np.concatenate([[0.0] * intercept, self.alpha / encoder.half_width**2]),
        )
        self.coef_ = coef[int(intercept) :] * target.half_width / encoder.half_width
        at_centre = target.centre + target.half_width * (coef[0] if intercept else 0.0)
        self.intercept_ = float(at_centre - encoder.centre @ self.coef_)
        self.n_iter_ = 1


@documented(like=GeneralizedLinearRegressor)
class LinearRegression(_MomentRegressor):
    """Differentially private least squares, with standard errors that include the privacy noise.

    Parameters
    ----------
    alpha : float, default 0.0
        The penalty alpha (l1_ratio |b|_1 + (1 - l1_ratio) |b|^2 / 2), added to half the sum of
        squares. With ``"moments"`` (the default with an L1 part) and ``"pmt"`` it is
        post-processing of the release.
    l1_ratio : float, optional
        The L1 share of the penalty: a ridge without it, the lasso at 1, an elastic net between.
    solver : str, default 'auto'
        ``"gd"`` has the smallest error for one model and is the default. ``"moments"`` serves every
        linear model of the columns from one release (``moments_``), and reads the rows only twice.
        ``"pmt"`` needs public moments. ``"cost_gd"`` is COST's plain descent and ``"dp_gd"`` one
        with clipped gradients, for comparison.
    max_iter : int, optional
        Gradient steps of ``"cost_gd"`` and ``"dp_gd"``; by default chosen by the solver.
    radius : float, optional
        The radius of the ball for coefficients of ``"cost_gd"``, on columns scaled to [-1, 1] and
        in half-widths of y from the middle of its range; 3 by default. The noise grows with it, and
        a fit that ends at its edge warns.
    clip : float, optional
        The clip norm of a row's gradient in ``"dp_gd"``, in units of y times such columns. By
        default, the norm for a typical row.
    eta : float, optional
        The probability (PMT) that a row is truncated, for ``"pmt"`` with ``calibration="paper"``;
        .05 by default.
    calibration : str, default 'tight'
        ``"tight"``, or ``"paper"`` for printed noise: DP-RR's (``"auto"``, ``"moments"``),
        DP-PMTRR's (``"pmt"``), or that of COST's Algorithm 1 (``"gd"``, ``"cost_gd"``).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (2_000, 2))
    >>> from discreet import LinearRegression
    >>> y = X @ [1.0, -2.0] + rng.normal(0, 0.5, 2_000)
    >>> model = LinearRegression(epsilon=5.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-5, 5))
    >>> model = model.fit(X, y)
    >>> bool(np.abs(model.coef_ - [1.0, -2.0]).max() < 0.5)
    True
    >>> round(model.privacy_.epsilon(1e-6), 6) <= 5.0
    True
    """


@documented(like=LinearRegression)
class Ridge(_MomentRegressor):
    """``LinearRegression`` with an L2 penalty ``alpha``, as in scikit-learn's Ridge.

    Parameters
    ----------
    alpha : float, default 1.0
        The penalty: alpha times half the sum of squared coefficients, added to half the sum of
        squares. It is post-processing of the release.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (2_000, 2))
    >>> from discreet import Ridge
    >>> y = X @ [1.0, -2.0] + rng.normal(0, 0.5, 2_000)
    >>> model = Ridge(epsilon=5.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-5, 5), alpha=1.0)
    >>> model = model.fit(X, y)
    >>> bool(np.abs(model.coef_ - [1.0, -2.0]).max() < 0.5)
    True
    """

    alpha: float = 1.0
