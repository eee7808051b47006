"""What central generalized linear models share: parameters, opening the rows, solvers, units."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np

from discreet.algorithms.descent import descend
from discreet.algorithms.dp_gd import dp_gd
from discreet.algorithms.newton import newton
from discreet.algorithms.objective import objective, objective_costs
from discreet.algorithms.printed_gd import printed_descend
from discreet.algorithms.printed_newton import printed_newton
from discreet.algorithms.steps.glm_model import GlmModel, Guess
from discreet.docstrings import described
from discreet.domain import Encoder, Numeric
from discreet.errors import DomainError
from discreet.estimators.glm_results import GlmResultMethods
from discreet.estimators.moments import require_target
from discreet.estimators.public_guess import public_guess
from discreet.estimators.solved import COST, DP_GD, NEWTON, PRINTED_NEWTON, SolvedModel, Solver
from discreet.estimators.weights import declared_beside
from discreet.privacy import Budget, Unit
from discreet.results import Results


class PrivateGlm(GlmResultMethods, SolvedModel):
    """A private generalized linear model; subclasses define family and link."""

    def _solvers(self) -> dict[str, Solver]:
        family, link = self._family()
        if not family.has_likelihood:
            if self.calibration == "paper":
                raise ValueError("calibration='paper' is for models with printed noise; loss= has 'tight' only")
            return {"dp_gd": Solver(dp_gd, DP_GD), "cost_gd": Solver(printed_descend, COST)}
        if self.calibration == "paper":
            printed = Solver(partial(printed_descend, calibration="paper"), COST)
            newtons = Solver(printed_newton, PRINTED_NEWTON)
            return {"gd": printed, "newton": newtons, "cost_gd": printed}
        solvers = {
            "gd": Solver(descend),
            "newton": Solver(newton, NEWTON),
            "cost_gd": Solver(printed_descend, COST),
            "dp_gd": Solver(dp_gd, DP_GD),
        }
        if family.is_logistic(link):
            solvers["objective"] = Solver(objective)
        return solvers

    def _price(self, budget: Budget) -> list[Unit]:
        if self.solver != "objective":
            return super()._price(budget)
        return list(
            objective_costs(budget, replaced=self.neighbours == "replace_one", whitened=self.public is not None)
        )

    def _no_errors(self) -> str:
        without = "a fit by loss= has no standard errors, as no family says how labels vary"
        return super()._no_errors() if self._family()[0].has_likelihood else without

    def _target(self, name: str | None) -> Numeric:
        column = super()._target(name)
        self._family()[0].check_range(column.low, column.high)
        return column

    def _exposure(self, name: str | None) -> Numeric:
        if not self._family()[1].takes_exposure:
            raise DomainError("exposure multiplies the mean, so it needs the log link")
        column = declared_beside(self, "exposure", self.bounds_exposure, name, "bounds_exposure=(low, high)")
        if column.low <= 0:
            raise DomainError(f"exposure must be declared > 0, got bounds from {column.low} to {column.high}")
        return column

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
        return self._fit(X, y, groups, job, exposure, sample_weight)

    def _guess(self, encoder: Encoder, model: GlmModel) -> Guess | None:
        if self.public is None:
            return None
        target = require_target(encoder)
        return public_guess(self.public, encoder, model, lambda y: self._label_numbers(np.asarray(y), target))

    def _described(self, released: Results) -> Results:
        family, link = self._family()
        if len(self._class_values()) > 2:
            facts = (("Family", "multinomial, softmax link"),)
            return replace(released, family="multinomial", link="softmax", facts=facts)
        known = np.isnan(released.scale) or released.scale == 1
        spread = "" if known else f"; dispersion {released.scale:.4g} (noisy)"
        facts = (("Family", f"{family.name}, {link.name} link{spread}"),)
        return replace(released, family=family.name, link=link.name, facts=facts)
