"""The accuracy to expect for a budget, before anything is spent: a forecast
from public numbers or rows alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.planning.attacker import Attacker
from discreet.planning.kinds import kind_of
from discreet.planning.sample import Sample
from discreet.text import wrapped


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
        The root mean square error of a coefficient, of privacy noise and sampling together.
    stated_error : float
        The median standard error that a fit is expected to state, for intervals. A fit whose noise
        hides a coefficient states far more than ``standard_error``: it ends near 0 and knows
        nothing.
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
    noise : float
        The standard deviation of a coefficient between fits to the same rows.
    distance : float
        The root mean square distance of a coefficient from that of the plain fit to the same rows:
        noise, and with a sample also what rows do that do not follow the model.
    noises : tuple of float, optional
        The noise of every column's coefficient, if a sample was simulated.
    distances : tuple of float, optional
        The distance of every column's coefficient, if a sample was simulated.
    sample : Sample, optional
        The public rows that the forecast is for.

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
    stated_error: float
    plain_standard_error: float
    bound: float
    excess_risk: float
    plain_excess_risk: float
    constant_risk: float
    method: str
    sharp: bool
    solved: str | None = None
    noise: float = 0.0
    distance: float = 0.0
    noises: tuple[float, ...] | None = None
    distances: tuple[float, ...] | None = None
    sample: Sample | None = None

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
        return self.effect**2 - self.excess_risk if kind_of(self.family).has_r2 else None

    @property
    def plain_r2(self) -> float | None:
        """R^2 on new rows without privacy, of linear models."""
        return self.effect**2 - self.plain_excess_risk if kind_of(self.family).has_r2 else None

    @property
    def coefficient(self) -> float:
        """The assumed size of a coefficient."""
        return self.effect / math.sqrt(self.d)

    @property
    def drowned(self) -> bool:
        """Whether the noise leaves about the constant model."""
        return self.excess_risk > 0.8 * self.constant_risk

    @property
    def unknown(self) -> bool:
        """Whether intervals are expected to be wider than any coefficient could be."""
        return self.stated_error > self.effect

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
        from discreet.planning.design import Design
        from discreet.planning.question import Question

        middle, low, high = (self.epsilon, 0.02, 20.0) if axis == "epsilon" else (float(self.n), 100.0, 1e8)
        values = tuple(np.geomspace(max(middle / 30, low), min(middle * 30, high), points).tolist())
        design = self.sample or Design.of(self.family, self.d, self.effect, self.rate or None)
        question = Question(design, self.delta, self.neighbours, self.trust, self.public)
        # The formula for a sample is corrected by what was simulated.
        off = question.off(self) if self.sample and self.method == "simulation" else 1.0
        asked = [(self.n, value) if axis == "epsilon" else (round(value), self.epsilon) for value in values]
        return Levels(
            values,
            tuple(question.corrected(n, epsilon, off) for n, epsilon in asked),
            tuple(question.plain_error(n) for n, _ in asked),
            tuple(question.bound(n, epsilon) for n, epsilon in asked),
        )


@dataclass(frozen=True)
class Levels:
    """Errors of a coefficient along one axis: forecast, without privacy, and the lower bound."""

    values: tuple[float, ...]
    private: tuple[float, ...]
    plain: tuple[float, ...]
    bound: tuple[float, ...]
