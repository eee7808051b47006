"""The cost of each fit of a search, decided before anything is charged: each fit is
rehearsed up to its first query.

A rehearsal (curator/accountant.py) shows what a fit would reserve, and reveals errors in its
parameters while that is free. Budgets are shared in mu^2. If all costs have a mu, that is all. A
perturbed objective or a shuffled pass has none: then everything that the search would reserve is
composed, and the shares are scaled until it fits. Which candidate is refitted is not known
beforehand. If their costs are of different kinds, the refit is charged as Gaussian noise, and those
without a mu get a smaller epsilon, at which the noise covers them (privacy/cover.py).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone

from discreet.curator import Rehearsal, Rehearsed, disclosure
from discreet.errors import GuaranteeError
from discreet.estimators.held_out import Rows
from discreet.estimators.table_parts import TableRows
from discreet.privacy import GDP, Approximate, Budget, Composition, Repeated, Unit, gaussian_cover, picks_within

Shares = tuple[float, float, float]

# mu is found from epsilon numerically, to many digits; the margin covers the rest.
_MARGIN = 1 - 1e-9
# The share of delta for all fits of which only (epsilon, delta) is known.
_DELTA_SHARE = 0.1
# A plan that uses this much of epsilon is accepted; a little is left for rounding in loss tables.
_ENOUGH, _MOST, _MOST_TRIALS = 0.98, 0.998, 8


@dataclass(frozen=True)
class Allowance:
    """The epsilon and delta of one fit, and the costs that it reserves."""

    epsilon: float
    delta: float
    costs: tuple[Unit, ...]


@dataclass(frozen=True)
class SearchPlan:
    """Allowances of the candidates, the cost of the choice, the refit of each candidate,
    and a cover of all refits.
    """

    fits: tuple[Allowance, ...]
    choice: GDP
    refits: tuple[Allowance, ...]
    refit: tuple[Unit, ...]
    whole: GDP | None = None

    @property
    def costs(self) -> tuple[Unit, ...]:
        """All reserved costs, whichever candidate is refitted."""
        if self.whole is not None:
            return (self.whole,)
        return (*(cost for fit in self.fits for cost in fit.costs), *self.choices, *self.refit)

    @property
    def choices(self) -> tuple[Unit, ...]:
        """What is reserved for the choice: beside costs without a mu, a pick composes better as
        itself than as Gaussian noise.
        """
        return (self.choice,) if self.whole is not None else (self.pick,)

    @property
    def pick(self) -> Repeated:
        """The choice; Gaussian costs of the refit come after it."""
        return picks_within(self.choice, 1, [cost for cost in self.refit if isinstance(cost, GDP) and self.whole])


def search_costs(budget: Budget, candidates: int, shares: Shares) -> list[GDP]:
    """The mu of each candidate, of the choice, and of the refit."""
    fits, choice, refit = shares
    return budget.split([*([fits / candidates] * candidates), choice, refit])


@dataclass(frozen=True)
class Planner:
    """Settings of a search, its unfitted candidates and their rows, which are not read here.

    rest: the rows for the candidates; rows: those for the refit; kept: whether
    answers are stored for a job.
    """

    candidates: Sequence[Any]
    budget: Budget
    shares: Shares
    rest: Rows | TableRows
    rows: Rows | TableRows
    kept: bool = False

    def plan(self) -> SearchPlan:
        """Allowances whose joint cost is within the budget, whichever candidate is refitted."""
        planned, scale, best = self._scaled(1.0), 1.0, None
        if math.isfinite(Composition(planned.costs).mu):
            return replace(planned, whole=GDP(self.budget.mu))  # no leftovers from rounding
        for _ in range(_MOST_TRIALS):
            epsilon = Composition(planned.costs).epsilon(self.budget.delta)
            if epsilon <= _MOST * self.budget.epsilon:
                best = planned
                if epsilon >= _ENOUGH * self.budget.epsilon:
                    break
            # Epsilon is about proportional to the scale; slightly less, to end below the target.
            scale *= min(max(0.99 * self.budget.epsilon / epsilon, 0.1), 2.0)
            planned = self._scaled(scale)
        if best is None:
            raise GuaranteeError(
                f"no plan for the candidates and the refit of one of them fits into {self.budget}: use solvers "
                "with Gaussian noise, or a larger epsilon. Nothing was spent"
            )
        return best

    def _scaled(self, scale: float) -> SearchPlan:
        """The plan with shares of mu scaled by this factor."""
        made = self.candidates
        *mus, choice, refit = [GDP(cost.mu * scale) for cost in search_costs(self.budget, len(made), self.shares)]
        fits = tuple(self._allowed(one, self.rest, cost) for one, cost in zip(made, mus, strict=True))
        refits = tuple(self._allowed(one, self.rows, refit) for one in made)
        if len({one.costs for one in refits}) == 1:
            return SearchPlan(fits, choice, refits, refits[0].costs)
        covered = tuple(self._covered(one, refit, allowed) for one, allowed in zip(made, refits, strict=True))
        slack = max(gaussian_cover(allowed.costs).slack for allowed in covered)
        return SearchPlan(fits, choice, covered, (refit, disclosure(slack)))

    def _allowed(self, made: Any, rows: Rows | TableRows, cost: GDP) -> Allowance:
        """The fit at the epsilon of this mu, and what it would reserve; errors of
        the fit are raised here.
        """
        delta = self.budget.delta
        costs = self._rehearsed(made, rows, _epsilon(cost, delta), delta)
        if any(isinstance(one, Approximate) for one in costs):  # deltas add up
            delta *= _DELTA_SHARE / (len(self.candidates) + 1)
            costs = self._rehearsed(made, rows, _epsilon(cost, delta), delta)
        has_mu = math.isfinite(Composition(costs).mu)
        return Allowance(_epsilon(cost, delta), delta, (cost,) if has_mu else costs)

    def _covered(self, made: Any, cost: GDP, allowed: Allowance) -> Allowance:
        """The same refit at nearly the largest epsilon at which Gaussian
        noise of this cost covers it.
        """
        for _ in range(4 * _MOST_TRIALS):
            mu = gaussian_cover(allowed.costs).mu
            if mu <= cost.mu:
                return allowed
            epsilon = allowed.epsilon * max(0.995 * cost.mu / mu, 0.1)  # about proportional
            costs = self._rehearsed(made, self.rows, epsilon, allowed.delta)
            allowed = Allowance(epsilon, allowed.delta, costs)
        raise GuaranteeError(
            f"a refit by solver={made.solver!r} cannot be made as cheap as its share, mu {cost.mu:.4g}. "
            "Nothing was spent"
        )

    def _rehearsed(self, made: Any, rows: Rows | TableRows, epsilon: float, delta: float) -> tuple[Unit, ...]:
        rehearsal = Rehearsal(Budget.of(epsilon, delta), keeps=self.kept)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit itself warns
            try:
                rows.fit(clone(made).set_params(epsilon=epsilon, delta=delta, ledger=rehearsal, random_state=None))
            except Rehearsed:
                return rehearsal.costs
        raise AssertionError("a fit ended without a release")


def _epsilon(cost: GDP, delta: float) -> float:
    return GDP(cost.mu * _MARGIN).epsilon(delta)
