"""A fit by one of several solvers: its options, the model in encoded features, the result in the
user's units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.algorithms.steps.glm_model import GlmFit, GlmModel, Guess
from discreet.curator import Curator
from discreet.domain import Encoder, Numeric
from discreet.estimators.base import check_choice
from discreet.estimators.moments import require_target
from discreet.estimators.public_guess import public_guess
from discreet.estimators.results import LinearResultMethods
from discreet.estimators.solvers import check_options, check_penalty, check_solver
from discreet.estimators.units import COV_TYPES, linear_result, store_facts, store_path, units
from discreet.estimators.weights import declared_weight, used_weight
from discreet.privacy import Budget
from discreet.results import Results
from discreet.rows import Labels


@dataclass(frozen=True)
class Solver:
    """An algorithm and its options: the estimator's parameter name and the
    algorithm's argument name. Without ``solve`` the estimator's ``_solved`` calls it.
    """

    solve: Callable[..., Any] | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    def asked(self, estimator: Any) -> dict[str, Any]:
        """An estimator's options under the names of the algorithm's arguments."""
        return {there: getattr(estimator, here) for here, there in self.options.items()}

    @property
    def called(self) -> Callable[..., Any]:
        assert self.solve is not None
        return self.solve


_STEPS = {"max_iter": "steps"}
NEWTON = {**_STEPS, "radius": "ball"}
COST = {**NEWTON, "step": "step"}
PRINTED_NEWTON = {**NEWTON, "eta": "failure"}
DP_GD = {**_STEPS, "step": "step", "clip": "clip"}


class SolvedModel(LinearResultMethods):
    """Checks parameters, builds a curator, calls one solver and stores the result."""

    def _solvers(self) -> dict[str, Solver]:
        """The solvers of this model by name; ``auto`` is the first."""
        raise NotImplementedError

    def _chosen(self) -> str:
        """The name of the solver, which ``auto`` leaves open."""
        return next(iter(self._solvers())) if self.solver == "auto" else self.solver

    def _options(self) -> tuple[str, ...]:
        return tuple(self._solvers()[self._chosen()].options)

    def _check_parameters(self) -> Budget:
        check_solver(self, ("auto", *self._solvers()))
        check_penalty(self.alpha)
        # After one step from the constant model, standard errors would be about another point.
        least = 2 if self.solver == "newton" and self.calibration == "tight" else 1
        check_options(self, self._options(), least_steps=least)
        check_choice("cov_type", self.cov_type, COV_TYPES)
        family, link = self._family()
        family.check_link(link)
        return super()._check_parameters()

    def _weight(self, name: str | None) -> Numeric:
        return declared_weight(self, name)

    def _penalty(self) -> float:
        """The penalty on half the squared coefficients."""
        return float(self.alpha)

    def _model(self, encoder: Encoder) -> GlmModel:
        family, link = self._family()
        target = require_target(encoder)
        return GlmModel(
            family.within(target.low, target.high),
            link,
            Labels(target.centre, target.half_width),
            penalty=self._penalty() / encoder.half_width**2,
            origin=None if self._has_intercept(encoder) else -encoder.centre / encoder.half_width,
            exposure=encoder.exposures,
            categories=encoder.categories,
        )

    def _guess(self, encoder: Encoder, model: GlmModel) -> Guess | None:
        return None if self.public is None else public_guess(self.public, encoder, model)

    def _asked_options(self, encoder: Encoder) -> dict[str, Any]:
        """The options of the solver under the names of its arguments."""
        return self._solvers()[self._chosen()].asked(self)

    def _solved(self, source: Curator, encoder: Encoder, budget: Budget) -> Results | None:
        solve, model = self._solvers()[self._chosen()].called, self._model(encoder)
        guess, options = self._guess(encoder, model), self._asked_options(encoder)
        fit: GlmFit = solve(source, budget, model, x_radius=encoder.radius, guess=guess, **options)
        self._store(fit, encoder)
        self.n_iter_ = fit.iterations
        store_path(self, fit.path, encoder)
        store_facts(self, used_weight(fit.used, encoder), fit.signal)
        if fit.noise_covariance is None or fit.sampling_covariance is None:
            return None
        intercept = self._has_intercept(encoder)
        return linear_result(fit, encoder, source.guarantee, intercept, self.cov_type, self._class_values())

    def _class_values(self) -> Sequence[Any]:
        """The values of a classifier's classes, in their order."""
        return ()

    def _store(self, fit: GlmFit, encoder: Encoder) -> None:
        coefficients = units(encoder, with_intercept=True) @ fit.coef
        self.intercept_: Any = float(coefficients[0]) if self._has_intercept(encoder) else 0.0
        self.coef_: Any = coefficients[1:]
