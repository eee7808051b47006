"""The accuracy to expect for a budget, before anything is spent: a forecast
from public numbers alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.planning.attacker import Attacker
from discreet.planning.bounds import coefficient_bound
from discreet.planning.central import central
from discreet.planning.descent import descent_errors, descent_plan
from discreet.planning.design import Design
from discreet.planning.distributed import local, parties
from discreet.planning.remedy import NoForecast, Remedy, larger_error
from discreet.planning.simulation import simulate_central
from discreet.planning.solving import least
from discreet.privacy import Budget, check_neighbours
from discreet.text import wrapped

TRUSTS = ("central", "local", "parties")
_EPSILONS, _COUNTS = (0.01, 50.0), (50, 10**9)
# This many cells are simulated within seconds; larger cases use the formula.
MOST_CELLS = 2_000_000
# Where the formula is not sharp, errors have heavy tails, which fewer fits would not show.
_REPEATS = 20
# Noise that moves the curvature's eigenvalues by this many times their size changes steps and
# predictions.
_HIDDEN = 1.5


@dataclass(frozen=True, repr=False)
class Forecast:
    """The expected accuracy of one fit; errors are per standard deviation of the feature.

    Attributes
    ----------
    family : str
        The model.
    n : int
        The number of people.
    d : int
        The number of features.
    epsilon : float
        The epsilon of the guarantee.
    delta : float
        The delta of the guarantee.
    neighbours : str
        The neighbour relation of the guarantee.
    trust : str
        Who adds the noise.
    public : int
        The number of public rows.
    effect : float
        Standard deviation of the true linear predictor.
    rate : float
        The share of ones, or the mean count; 0 for linear models.
    mu : float
        The guarantee as Gaussian differential privacy.
    standard_error : float
        Of a coefficient, privacy noise and sampling together.
    plain_standard_error : float
        Of a coefficient, without privacy.
    bound : float
        A lower bound for all private methods, over coefficients up to twice as large; 0 if none is
        known.
    excess_risk : float
        Per row, beyond the true model's; squared error in units of var(y) for linear models, else
        nats.
    plain_excess_risk : float
        The same without privacy.
    constant_risk : float
        The excess risk of the constant model.
    method : {'formula', 'simulation'}
        How the numbers were computed.
    sharp : bool
        Whether the formula was found accurate for such settings.
    solved : {'n', 'epsilon'}, optional
        The quantity that was solved for.

    Examples
    --------
    >>> import discreet
    >>> forecast = discreet.plan("logistic", n=20_000, d=5, epsilon=1.0)
    >>> forecast.bound < forecast.standard_error
    True
    """

    family: str
    n: int
    d: int
    epsilon: float
    delta: float
    neighbours: str
    trust: str
    public: int
    effect: float
    rate: float
    mu: float
    standard_error: float
    plain_standard_error: float
    bound: float
    excess_risk: float
    plain_excess_risk: float
    constant_risk: float
    method: str
    sharp: bool
    solved: str | None = None

    def __repr__(self) -> str:
        """A table: with privacy, without privacy, and the lower bound for all methods."""
        from discreet.planning.words import error_rows, headline

        rows = [("", "private", "not private", "lower bound"), *error_rows(self)]
        widths = [max(len(str(row[i])) for row in rows) for i in range(4)]
        lines = ["  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([wrapped(headline(self)), *(line.rstrip() for line in lines)])

    @property
    def r2(self) -> float | None:
        """R^2 on new rows, of linear models."""
        return self.effect**2 - self.excess_risk if self.family == "linear" else None

    @property
    def plain_r2(self) -> float | None:
        """R^2 on new rows without privacy, of linear models."""
        return self.effect**2 - self.plain_excess_risk if self.family == "linear" else None

    @property
    def coefficient(self) -> float:
        """The assumed size of a coefficient."""
        return self.effect / math.sqrt(self.d)

    @property
    def drowned(self) -> bool:
        """Whether the noise leaves about the constant model."""
        return self.excess_risk > 0.8 * self.constant_risk

    @property
    def attacker(self) -> Attacker:
        """What somebody could learn about one person."""
        return Attacker(self.mu)

    def along(self, axis: str, points: int = 15) -> Levels:
        """The error along ``axis``, varied by up to a factor of 30, by formula.

        Parameters
        ----------
        axis : {'epsilon', 'n'}
            The quantity to vary.
        points : int, default 15
            The number of values.

        Returns
        -------
        Levels
            Errors with and without privacy, and the lower bound.
        """
        middle, low, high = (self.epsilon, 0.02, 20.0) if axis == "epsilon" else (float(self.n), 100.0, 1e8)
        values = tuple(np.geomspace(max(middle / 30, low), min(middle * 30, high), points).tolist())
        design = Design.of(self.family, self.d, self.effect, self.rate or None)
        question = _Question(design, self.delta, self.neighbours, self.trust, self.public)
        asked = [(self.n, value) if axis == "epsilon" else (round(value), self.epsilon) for value in values]
        return Levels(
            values,
            tuple(question.standard_error(n, epsilon) for n, epsilon in asked),
            tuple(math.sqrt(1 / (n * design.information)) for n, _ in asked),
            tuple(
                coefficient_bound(design, n, Budget.of(epsilon, self.delta).mu, self.neighbours) for n, epsilon in asked
            ),
        )


@dataclass(frozen=True)
class Levels:
    """Errors of a coefficient along one axis: forecast, without privacy, and the lower bound."""

    values: tuple[float, ...]
    private: tuple[float, ...]
    plain: tuple[float, ...]
    bound: tuple[float, ...]


@dataclass(frozen=True)
class _Question:
    design: Design
    delta: float
    neighbours: str
    trust: str
    public: int

    def is_sharp(self, n: int, mu: float) -> bool:
        """Whether the formula is known to be accurate;
        experiments/plan_grid.md shows where it is not.

        It assumes that the descent converges and knows the curvature. Noise of the size of the
        signal prevents that. So does, for counts with a wide declared range, a first look that
        hardly determines their mean: a few such fits end far away.
        """
        if self.trust != "central":
            return True
        if self.design.family == "poisson" and mu * n < 1000:
            return False
        replaced = self.neighbours == "replace_one"
        rows, moved = (n, 2.0) if replaced else (None, 1.0)
        plan = descent_plan(self.design, Budget.from_mu(mu, self.delta), rows, public=self.public > 0)
        return mu * n / self.design.size >= 6 and plan.curvature_edge(n, moved) < _HIDDEN

    def standard_error(self, n: int, epsilon: float) -> float:
        """The error alone, which is all that solving needs."""
        budget = Budget.of(epsilon, self.delta)
        if self.trust == "central":
            replaced = self.neighbours == "replace_one"
            return descent_errors(self.design, n, budget, replaced=replaced, public=self.public > 0).standard_error
        return {"local": local, "parties": parties}[self.trust](self.design, n, budget, self.public)[0]

    def decided(self, n: int, epsilon: float, simulate: bool | None, *, solved: str | None = None) -> Forecast:
        """By simulation if requested, or if needed and quick."""
        few = n * self.design.d <= MOST_CELLS
        if simulate and not few:
            raise ValueError(f"simulation is for at most {MOST_CELLS:,} cells, got {n} x {self.design.d}")
        if simulate is None:
            simulate = few and not self.is_sharp(n, Budget.of(epsilon, self.delta).mu)
        return self.answer(n, epsilon, solved=solved, simulate=simulate)

    def answer(self, n: int, epsilon: float, *, solved: str | None = None, simulate: bool = False) -> Forecast:
        design, budget = self.design, Budget.of(epsilon, self.delta)
        if simulate:
            seen = simulate_central(
                design, n, epsilon, self.delta, neighbours=self.neighbours, public=self.public, repeats=_REPEATS
            )
            error, risk = seen.standard_error, seen.excess_risk
        elif self.trust == "central":
            error, risk = central(design, n, budget, neighbours=self.neighbours, public=self.public)
        else:
            error, risk = {"local": local, "parties": parties}[self.trust](design, n, budget, self.public)
        plain = math.sqrt(1 / (n * design.information))
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
            mu=budget.mu,
            standard_error=error,
            plain_standard_error=plain,
            bound=coefficient_bound(design, n, budget.mu, self.neighbours),
            excess_risk=risk,
            plain_excess_risk=design.size / n * (design.dispersion if design.family == "linear" else 0.5),
            constant_risk=design.constant_risk,
            method="simulation" if simulate else "formula",
            sharp=simulate or self.is_sharp(n, budget.mu),
            solved=solved,
        )


def plan(
    family: str = "linear",
    *,
    d: int,
    n: int | None = None,
    epsilon: float | None = None,
    error: float | None = None,
    delta: float = 1e-6,
    public: int = 0,
    trust: str = "central",
    neighbours: str = "replace_one",
    effect: float | None = None,
    rate: float | None = None,
    simulate: bool | None = None,
) -> Forecast:
    """Forecast a fit, or solve for the one of n, epsilon and error that is not given.

    Parameters
    ----------
    family : {'linear', 'logistic', 'poisson'}, default 'linear'
        The model.
    d : int
        Columns after encoding: a category with five values has four.
    n : int, optional
        The number of people; solved for if not given.
    epsilon : float, optional
        The privacy loss; solved for if not given.
    error : float, optional
        The wanted standard error of a coefficient, per standard deviation of its feature.
    delta : float, default 1e-6
        The delta of the guarantee.
    public : int, default 0
        The number of public rows, with labels.
    trust : {'central', 'local', 'parties'}, default 'central'
        Who adds the noise.
    neighbours : {'replace_one', 'add_or_remove_one'}, default 'replace_one'
        The neighbour relation of the guarantee: one row (or person) replaced, with a public number
        of rows; or one added or removed, with a private number.
    effect : float, optional
        Standard deviation of the true linear predictor.
    rate : float, optional
        The share of ones in a logistic model, 0.5 by default; the mean count in a Poisson model, 1
        by default.
    simulate : bool, optional
        Fit the estimator to simulated people instead of using the formula; central fits only. By
        default where the formula is known not to be sharp, if it takes only seconds.

    Returns
    -------
    Forecast
        Standard errors with and without privacy, excess risk, the lower bound, and what an attacker
        could learn.

    Privacy
    -------
    A forecast uses public numbers only. It reads no data and costs nothing.

    Examples
    --------
    >>> import discreet
    >>> forecast = discreet.plan("linear", n=20_000, d=5, epsilon=1.0)
    >>> forecast.standard_error > forecast.plain_standard_error
    True
    >>> discreet.plan("linear", d=5, epsilon=1.0, error=0.01).n > 1_000
    True
    """
    if trust not in TRUSTS:
        raise ValueError(f"trust must be one of {', '.join(TRUSTS)}, got {trust!r}")
    if trust == "parties" and family != "linear":
        raise NoForecast(
            "trust='parties' is forecast for family='linear' only",
            Remedy("Plan a linear regression", {"family": "linear", "rate": None}),
            Remedy("Trust one curator", {"trust": "central"}),
        )
    if simulate and trust != "central":
        raise ValueError("simulate=True fits the central estimator: leave trust at 'central'")
    if not 0 < delta < 0.1:
        raise NoForecast(
            f"delta must be > 0 and far below 1, such as 1e-6 (the guarantee may fail with it); got {delta:g}",
            Remedy("Take delta 1e-6", {"delta": 1e-6}),
        )
    if public < 0:
        raise NoForecast(
            f"public must be a number of rows >= 0, got {public}", Remedy("Take no public rows", {"public": 0})
        )
    question = _Question(Design.of(family, d, effect, rate), delta, check_neighbours(neighbours), trust, int(public))
    if error is None:
        if n is None or epsilon is None:
            raise ValueError("give two of n, epsilon and error: the third is solved for")
        return question.decided(_checked_n(n), epsilon, simulate)
    if not error > 0:
        raise ValueError(f"error must be > 0, got {error}")
    if (n is None) == (epsilon is None):
        raise ValueError("with error give one of n and epsilon: the other is solved for")
    if n is not None:
        n = _checked_n(n)
        plain = math.sqrt(1 / (n * question.design.information))
        if error <= plain:
            raise NoForecast(
                f"{n:,} people give an error of {plain:.3g} even without privacy, and {error:g} was asked for: ask for "
                "a larger error, or leave out n to compute the number of people needed",
                Remedy("See how many people it takes at epsilon 1", {"n": None, "epsilon": 1.0}),
                larger_error(1.2 * plain),
            )
        found = least(lambda value: question.standard_error(n, value), error, *_EPSILONS, "epsilon")
        return question.decided(n, found, simulate, solved="epsilon")
    assert epsilon is not None
    many = least(lambda value: question.standard_error(round(value), epsilon), error, *_COUNTS, "number of people")
    return question.decided(math.ceil(many), epsilon, simulate, solved="n")


def _checked_n(n: int) -> int:
    if not _COUNTS[0] <= n <= _COUNTS[1]:
        nearest = min(max(int(n), _COUNTS[0]), _COUNTS[1])
        raise NoForecast(
            f"n must be between {_COUNTS[0]} and {_COUNTS[1]:,}, got {n}",
            Remedy(f"Take {nearest:,} people", {"n": nearest}),
        )
    return int(n)
