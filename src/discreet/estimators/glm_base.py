"""What central generalized linear models share: parameters, opening the rows, solvers, units."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np

from discreet.algorithms.descent import descend
from discreet.algorithms.dp_gd import dp_gd
from discreet.algorithms.newton import newton
from discreet.algorithms.objective import objective, objective_costs
from discreet.algorithms.printed_gd import printed_descend
from discreet.algorithms.printed_newton import printed_newton
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel, Guess
from discreet.curator import Curator
from discreet.docstrings import described
from discreet.domain import Encoder, Numeric, check_bounds
from discreet.errors import DomainError
from discreet.estimators.base import check_choice
from discreet.estimators.evaluation import EvaluatedMethods
from discreet.estimators.glm_results import GlmResultMethods
from discreet.estimators.moments import require_target
from discreet.estimators.public_guess import public_guess
from discreet.estimators.solvers import check_options, check_solver
from discreet.estimators.units import COV_TYPES, linear_result, store_facts, store_path, units
from discreet.estimators.weights import declared_weight, used_weight
from discreet.parameters import is_number
from discreet.privacy import Budget, Unit
from discreet.results import Results
from discreet.rows import Labels


@dataclass(frozen=True)
class Solver:
    """An algorithm and its options: the estimator's parameter name and the
    algorithm's argument name.
    """

    solve: Callable[..., GlmFit]
    options: Mapping[str, str] = field(default_factory=dict)


_STEPS = {"max_iter": "steps"}
_NEWTON = {**_STEPS, "radius": "ball"}
_COST = {**_NEWTON, "step": "step"}
_PRINTED_NEWTON = {**_NEWTON, "eta": "failure"}
_DP_GD = {**_STEPS, "step": "step", "clip": "clip"}


class PrivateGlm(GlmResultMethods, EvaluatedMethods):
    """A private generalized linear model; subclasses define family and link."""

    bounds_exposure: Any = None
    bounds_weight: Any = None

    def _solvers(self) -> dict[str, Solver]:
        """The solvers of this model by name; ``auto`` is the first."""
        family, link = self._family()
        if not family.has_likelihood:
            if self.calibration == "paper":
                raise ValueError("calibration='paper' is for models with printed noise; loss= has 'tight' only")
            return {"dp_gd": Solver(dp_gd, _DP_GD), "cost_gd": Solver(printed_descend, _COST)}
        if self.calibration == "paper":
            printed = Solver(partial(printed_descend, calibration="paper"), _COST)
            newtons = Solver(printed_newton, _PRINTED_NEWTON)
            return {"gd": printed, "newton": newtons, "cost_gd": printed}
        solvers = {
            "gd": Solver(descend),
            "newton": Solver(newton, _NEWTON),
            "cost_gd": Solver(printed_descend, _COST),
            "dp_gd": Solver(dp_gd, _DP_GD),
        }
        if family.is_logistic(link):
            solvers["objective"] = Solver(objective)
        return solvers

    def _solver(self) -> Solver:
        solvers = self._solvers()
        return next(iter(solvers.values())) if self.solver == "auto" else solvers[self.solver]

    def _options(self) -> tuple[str, ...]:
        return tuple(self._solver().options)

    def _check_parameters(self) -> Budget:
        check_solver(self, ("auto", *self._solvers()))
        if not (is_number(self.alpha) and 0 <= self.alpha < math.inf):
            raise ValueError(f"alpha must be finite and >= 0, got {self.alpha!r}")
        # After one step from the constant model, standard errors would be about another point.
        least = 2 if self.solver == "newton" and self.calibration == "tight" else 1
        check_options(self, self._options(), least_steps=least)
        check_choice("cov_type", self.cov_type, COV_TYPES)
        family, link = self._family()
        family.check_link(link)
        return super()._check_parameters()

    def _price(self, budget: Budget) -> list[Unit]:
        if self.solver != "objective":
            return super()._price(budget)
        return list(
            objective_costs(budget, replaced=self.neighbours == "replace_one", whitened=self.public is not None)
        )

    def _target(self, name: str | None) -> Numeric:
        column = super()._target(name)
        self._family()[0].check_range(column.low, column.high)
        return column

    def _exposure(self, name: str | None) -> Numeric:
        if not self._family()[1].takes_exposure:
            raise DomainError("exposure multiplies the mean, so it needs the log link")
        if self.bounds_exposure is not None:
            low, high = check_bounds(self.bounds_exposure, 1, "bounds_exposure")
            column = Numeric(str(name or "exposure"), float(low[0]), float(high[0]))
        elif self.domain is not None and isinstance(name, str) and name in self.domain:
            declared = self.domain[name]
            if not isinstance(declared, Numeric):
                raise DomainError(f"exposure {name!r} must be declared with low and high")
            column = declared
        else:
            raise DomainError("no range was declared for exposure: pass bounds_exposure=(low, high)")
        if column.low <= 0:
            raise DomainError(f"exposure must be declared > 0, got bounds from {column.low} to {column.high}")
        return column

    def _weight(self, name: str | None) -> Numeric:
        return declared_weight(self, name)

    def _check_offset(self) -> None:
        if not self._family()[1].takes_exposure:
            super()._check_offset()

    @described
    def fit(
        self,
        X: Any,
        y: Any = None,
        groups: Any = None,
        *,
        exposure: Any = None,
        sample_weight: Any = None,
        job: str | None = None,
    ) -> Self:
        """Fit on private rows.

        Parameters
        ----------
        exposure : optional
            The exposure of each row: how long or how much it was observed (log link). Its range is
            declared as bounds_exposure.

        Privacy
        -------
        Noisy sums over the rows, whose joint cost is at most ``epsilon`` at ``delta``.
        """
        budget = self._check_parameters()
        source, encoder = self._open(X, y, groups, job, exposure, sample_weight)
        return self._fit_source(source, encoder, budget)

    def _model(self, encoder: Encoder) -> GlmModel:
        family, link = self._family()
        target = require_target(encoder)
        return GlmModel(
            family.within(target.low, target.high),
            link,
            Labels(target.centre, target.half_width),
            penalty=float(self.alpha) / encoder.half_width**2,
            origin=None if self._has_intercept(encoder) else -encoder.centre / encoder.half_width,
            exposure=encoder.exposures,
        )

    def _guess(self, encoder: Encoder, model: GlmModel) -> Guess | None:
        if self.public is None:
            return None
        target = require_target(encoder)
        return public_guess(self.public, encoder, model, lambda y: self._label_numbers(np.asarray(y), target))

    def _fit_source(self, source: Curator, encoder: Encoder, budget: Budget) -> Self:
        model = self._model(encoder)
        solver = self._solver()
        options = {there: getattr(self, here) for here, there in solver.options.items()}
        fit = solver.solve(source, budget, model, x_radius=encoder.radius, guess=self._guess(encoder, model), **options)
        self._store(fit, encoder)
        self.n_iter_ = fit.iterations
        store_path(self, fit.path, encoder)
        store_facts(self, used_weight(fit.used, encoder), fit.signal)
        self.privacy_ = source.finish()
        self.coef_names_ = encoder.names
        self._encoder = encoder
        released = None
        if fit.noise_covariance is not None and fit.sampling_covariance is not None:
            released = linear_result(
                fit, encoder, self.privacy_, self._has_intercept(encoder), self.cov_type, self._class_values()
            )
        self._store_results(encoder, released)
        return self

    def _class_values(self) -> Sequence[Any]:
        """The values of a classifier's classes, in their order."""
        return ()

    def _described(self, released: Results) -> Results:
        family, link = self._family()
        if len(self._class_values()) > 2:
            facts = (("Family", "multinomial, softmax link"),)
            return replace(released, family="multinomial", link="softmax", facts=facts)
        known = np.isnan(released.scale) or released.scale == 1
        spread = "" if known else f"; dispersion {released.scale:.4g} (noisy)"
        facts = (("Family", f"{family.name}, {link.name} link{spread}"),)
        return replace(released, family=family.name, link=link.name, facts=facts)

    def _store(self, fit: GlmFit, encoder: Encoder) -> None:
        coefficients = units(encoder, with_intercept=True) @ fit.coef
        self.intercept_: Any = float(coefficients[0]) if self._has_intercept(encoder) else 0.0
        self.coef_: Any = coefficients[1:]
