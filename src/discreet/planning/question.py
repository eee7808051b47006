"""The question behind a forecast, and its answers by formula or simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.planning.bounds import coefficient_bound
from discreet.planning.central import central
from discreet.planning.descent import descent_errors, descent_plan
from discreet.planning.design import Design
from discreet.planning.distributed import local, parties
from discreet.planning.forecast import Forecast
from discreet.planning.influence import apart, sample_errors
from discreet.planning.resampling import rehearse
from discreet.planning.sample import Sample
from discreet.planning.simulation import simulate_central
from discreet.planning.solving import least
from discreet.privacy import Budget

_EPSILONS, _COUNTS = (0.01, 50.0), (10, 10**9)
# This many cells are simulated within seconds; larger cases use the formula.
MOST_CELLS = 2_000_000
# Where the formula is not sharp, errors have heavy tails, which fewer fits would not show. Small
# tables are fitted more often, up to this many cells in all.
_REPEATS, _ALL_CELLS = (20, 60), 20 * MOST_CELLS
# The formula is sharp if noise moves the curvature's eigenvalues by a smaller part of them than
# this, and if mu n is this many times the number of coefficients. Of 120 random designs (1 to 40
# columns, 300 to 40,000 rows, epsilon .1 to 5) the rule was chosen on half: the 29 errors where it
# holds were at most 1.33 times the formula's, others up to 40 times.
_HIDDEN, _LEAST_SIGNAL = 0.3, 100.0
# Corrections of the formula by simulation, and how close to the wanted error they end: an error
# of 20 fits is not known better.
_CORRECTIONS, _CLOSE = 3, 0.1
# Budgets among which that of the least error is looked for.
_TRIED = 18


@dataclass(frozen=True)
class Question:
    design: Design | Sample
    delta: float
    neighbours: str
    trust: str
    public: int

    def is_sharp(self, n: int, mu: float) -> bool:
        """Whether the formula is known to be accurate;
        experiments/plan_grid.md shows where it is not.

        It assumes that the descent starts near the optimum and knows the curvature. Noise prevents
        both. So do few outcomes, and, for counts with a wide declared range, a first look that
        hardly determines their mean: a few such fits end far away.
        """
        if self.trust != "central":
            return True
        if isinstance(self.design, Sample):  # a formula knows nothing of rare columns, for example
            return False
        if self.design.kind.is_hidden(mu, n, self.design.rate):
            return False
        replaced = self.neighbours == "replace_one"
        rows, moved = (n, 2.0) if replaced else (None, 1.0)
        plan = descent_plan(self.design, Budget.from_mu(mu, self.delta), rows, public=self.public > 0)
        return mu * n >= _LEAST_SIGNAL * self.design.size and plan.curvature_edge(n, moved) < _HIDDEN

    @property
    def counts(self) -> tuple[int, int]:
        """The fewest and the most people; fewer than coefficients have no fit without privacy."""
        return max(_COUNTS[0], self.design.size + 1), _COUNTS[1]

    def used(self, n: int) -> int:
        """The number of rows that tell a fit anything."""
        return max(round(n * self.design.complete), 1)

    def plain_error(self, n: int) -> float:
        """The standard error without privacy."""
        return math.sqrt(1 / (self.used(n) * self.design.information))

    def standard_error(self, n: int, epsilon: float) -> float:
        """The error alone by formula, which is all that solving needs."""
        design, budget, public, n = self.design, Budget.of(epsilon, self.delta), self.public > 0, self.used(n)
        replaced = self.neighbours == "replace_one"
        if isinstance(design, Sample):
            return sample_errors(design, n, budget, replaced=replaced, public=public).standard_error
        if self.trust == "central":  # without the risk, which is slower
            return descent_errors(design, n, budget, replaced=replaced, public=public).standard_error
        return self._by_formula(design, n, budget)[0]

    def bound(self, n: int, epsilon: float) -> float:
        """The lower bound for all methods; none is known for the columns of a sample."""
        if isinstance(self.design, Sample):
            return 0.0
        return coefficient_bound(self.design, n, Budget.of(epsilon, self.delta).mu, self.neighbours)

    def decided(self, n: int, epsilon: float, simulate: bool | None, *, solved: str | None = None) -> Forecast:
        """By simulation if requested, or if needed and quick."""
        few = self.simulable(n, epsilon)
        if simulate and not few:
            raise ValueError(f"simulation is for at most {MOST_CELLS:,} cells, got {n} x {self.design.d}")
        if simulate is None:
            simulate = few and not self.is_sharp(n, Budget.of(epsilon, self.delta).mu)
        return self.answer(n, epsilon, solved=solved, simulate=simulate)

    def simulable(self, n: int, epsilon: float) -> bool:
        """Whether a simulation takes seconds. Smaller tables represent larger ones like a sample,
        unless their budget would be one that protects nobody.
        """
        if n * self.design.d <= MOST_CELLS or not isinstance(self.design, Sample):
            return n * self.design.d <= MOST_CELLS
        _, budget = self._smaller(n, epsilon)
        return not descent_plan(self.design, budget, None, public=False).nominal

    def _smaller(self, n: int, epsilon: float) -> tuple[int, Budget]:
        """A table of at most as many cells as are simulated, with the same mu n, on which the noise
        depends, and the bias, as the clip norm follows the noise.
        """
        budget, fewer = Budget.of(epsilon, self.delta), max(MOST_CELLS // self.design.d, 1)
        return (n, budget) if n <= fewer else (fewer, Budget.from_mu(budget.mu * n / fewer, self.delta))

    def solved(self, error: float, n: int | None, epsilon: float | None, simulate: bool | None) -> Forecast:
        """For n or epsilon, whichever is None: by formula. Where the answer is simulated, the
        formula is corrected by it, and solved again.
        """
        name, there = "epsilon" if epsilon is None else "n", self._settings(error, n, epsilon)
        for _ in range(1 + _CORRECTIONS):
            here = there
            found = self.decided(*here, simulate, solved=name)
            if found.method == "formula" or abs(found.standard_error / error - 1) < _CLOSE:
                break
            if (there := self._settings(error, n, epsilon, self.off(found))) == here:  # the fewest, or the least
                break
        return found

    def off(self, found: Forecast) -> float:
        """How far the formula is off where fits were simulated: a factor of its noise."""
        plain = found.plain_standard_error**2
        told = self.standard_error(found.n, found.epsilon) ** 2 - plain
        return math.sqrt(max(found.standard_error**2 - plain, 0.0) / told) if told > 0 else 1.0

    def corrected(self, n: int, epsilon: float, off: float) -> float:
        """The error by formula with a corrected noise."""
        told, plain = self.standard_error(n, epsilon), self.plain_error(n) ** 2
        return told if off == 1.0 else math.sqrt(plain + off**2 * max(told**2 - plain, 0.0))

    def _settings(self, error: float, n: int | None, epsilon: float | None, off: float = 1.0) -> tuple[int, float]:
        """n and epsilon with this error by formula, its noise corrected."""
        if n is not None:
            low, high = _EPSILONS
            if isinstance(self.design, Sample):  # with heavy tails a clipped fit may beat the plain one
                high = min(np.geomspace(low, high, _TRIED).tolist(), key=lambda value: self.corrected(n, value, off))
            return n, least(lambda value: self.corrected(n, value, off), error, low, high, "epsilon")
        assert epsilon is not None
        wanted = least(
            lambda value: self.corrected(round(value), epsilon, off), error, *self.counts, "number of people"
        )
        return math.ceil(wanted), epsilon

    def answer(self, n: int, epsilon: float, *, solved: str | None = None, simulate: bool = False) -> Forecast:
        design, mu = self.design, Budget.of(epsilon, self.delta).mu
        used = self.used(n)
        if isinstance(design, Sample):
            found = self._rehearsed(design, used, epsilon) if simulate else self._formula_of(design, used, epsilon)
        else:
            found = self._designed(design, n, epsilon, simulate)
        return Forecast(
            family=design.family,
            n=n,
            d=design.d,
            epsilon=epsilon,
            delta=self.delta,
            neighbours=self.neighbours,
            trust=self.trust,
            public=self.public,
            effect=design.effect,
            rate=design.rate,
            mu=mu,
            plain_standard_error=self.plain_error(n),
            plain_excess_risk=design.plain_risk / used,
            constant_risk=design.constant_risk,
            method="simulation" if simulate else "formula",
            sharp=simulate or self.is_sharp(n, mu),
            solved=solved,
            sample=design if isinstance(design, Sample) else None,
            **vars(found),
        )

    def _designed(self, design: Design, n: int, epsilon: float, simulate: bool) -> _Found:
        """For assumed people."""
        if simulate:
            cells = design.d * (n + 10 * design.d**2)  # matrices are answers as well
            repeats = min(max(_ALL_CELLS // cells, _REPEATS[0]), _REPEATS[1])
            seen = simulate_central(
                design, n, epsilon, self.delta, neighbours=self.neighbours, public=self.public, repeats=repeats
            )
            error, stated, risk = seen.standard_error, seen.stated_error, seen.excess_risk
        else:
            error, risk = self._by_formula(design, n, Budget.of(epsilon, self.delta))
            stated = error
        noise = math.sqrt(max(error**2 - 1 / (n * design.information), 0.0))
        return _Found(error, stated, noise, noise, risk, self.bound(n, epsilon))

    def _by_formula(self, design: Design, n: int, budget: Budget) -> tuple[float, float]:
        if self.trust == "central":
            return central(design, n, budget, neighbours=self.neighbours, public=self.public)
        return {"local": local, "parties": parties}[self.trust](design, n, budget, self.public)

    def _rehearsed(self, sample: Sample, n: int, epsilon: float) -> _Found:
        """For people like those of a sample, by fits to tables that are drawn from it."""
        fewer, budget = self._smaller(n, epsilon)
        seen = rehearse(sample, fewer, budget.epsilon, self.delta, neighbours=self.neighbours, public=self.public)
        error = math.sqrt(float(np.mean(seen.noise + seen.bias + seen.sampling * fewer / n)))
        noises, distances = (tuple(np.sqrt(one).tolist()) for one in (seen.noise, seen.distance))
        noise, distance = (math.sqrt(float(np.mean(one))) for one in (seen.noise, seen.distance))
        # The standard errors of the small table have more of sampling.
        stated = math.sqrt(max(seen.wider**2 / fewer - 1 / fewer + 1 / n, 0.0) / sample.information)
        return _Found(error, stated, noise, distance, sample.plain_risk / n + seen.risk, 0.0, noises, distances)

    def _formula_of(self, sample: Sample, n: int, epsilon: float) -> _Found:
        """The same to the first order."""
        replaced = self.neighbours == "replace_one"
        told = apart(sample, n, Budget.of(epsilon, self.delta), replaced=replaced, public=self.public > 0)
        errors, risk = told.errors(n), sample.plain_risk / n + told.risk(n, sample)
        distance = math.sqrt(errors.noise + errors.bias + told.between / n)
        stated = math.sqrt(errors.noise + errors.sampling)
        return _Found(errors.standard_error, stated, math.sqrt(errors.noise), distance, risk, 0.0)


@dataclass(frozen=True)
class _Found:
    """The part of a ``Forecast`` that is computed, under its names."""

    standard_error: float
    stated_error: float
    noise: float
    distance: float
    excess_risk: float
    bound: float
    noises: tuple[float, ...] | None = None
    distances: tuple[float, ...] | None = None
