"""``plan``: two of n, epsilon and error are given, the third is solved for."""

from __future__ import annotations

import math
from typing import Any

from discreet.planning.design import Design
from discreet.planning.forecast import Forecast
from discreet.planning.kinds import kind_of
from discreet.planning.question import Question
from discreet.planning.remedy import NoForecast, Remedy, larger_error
from discreet.planning.sample import Sample
from discreet.privacy import check_neighbours

TRUSTS = ("central", "local", "parties")


def plan(
    family: str = "linear",
    *,
    d: int | None = None,
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
    sample: Any = None,
    bounds_X: Any = None,
    bounds_y: Any = None,
) -> Forecast:
    """Forecast a fit, or solve for the one of n, epsilon and error that is not given.

    Parameters
    ----------
    family : {'linear', 'logistic', 'poisson'}, default 'linear'
        The model.
    d : int, optional
        Columns after encoding: a category with five values has four. With a sample, its number of
        columns.
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
        default where the formula is known not to be sharp, and with a sample, if it takes only
        seconds.
    sample : Public or (X, y), optional
        Public rows with labels that resemble the private ones: old, published or synthetic rows,
        never private ones. A few hundred replace the assumption of independent normal columns and
        of labels that follow the model; with 2,000 forecasts are better. Numbers only: encode
        categories first. Central fits only.
    bounds_X : tuple, optional
        (low, high) of the features as the fit will declare them, for a sample. By default four
        standard deviations around its means, and the range of its rows.
    bounds_y : tuple, optional
        The same for labels.

    Returns
    -------
    Forecast
        Standard errors with and without privacy, excess risk, the lower bound, and what an attacker
        could learn.

    Privacy
    -------
    A forecast uses public numbers, and the sample if there is one, which gets no protection. It
    reads no private data and costs nothing.

    Examples
    --------
    >>> import discreet
    >>> forecast = discreet.plan("linear", n=20_000, d=5, epsilon=1.0)
    >>> forecast.standard_error > forecast.plain_standard_error
    True
    >>> discreet.plan("linear", d=5, epsilon=1.0, error=0.01).n > 1_000
    True

    A public sample with heavy tails shows more noise.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 2))
    >>> y = X[:, 0] + rng.standard_t(2, 500)
    >>> tails = discreet.plan("linear", n=20_000, epsilon=1.0, sample=(X, y), bounds_y=(-30, 30))
    >>> tails.distance >= tails.noise * 0.9
    True
    """
    if trust not in TRUSTS:
        raise ValueError(f"trust must be one of {', '.join(TRUSTS)}, got {trust!r}")
    if trust == "parties" and not kind_of(family).joins_parties:
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
    people = _people(family, d, effect, rate, trust, sample, bounds_X, bounds_y)
    question = Question(people, delta, check_neighbours(neighbours), trust, int(public))
    if error is None:
        if n is None or epsilon is None:
            raise ValueError("give two of n, epsilon and error: the third is solved for")
        return question.decided(_checked_n(n, question), epsilon, simulate)
    if not error > 0:
        raise ValueError(f"error must be > 0, got {error}")
    if (n is None) == (epsilon is None):
        raise ValueError("with error give one of n and epsilon: the other is solved for")
    if n is not None:
        n = _checked_n(n, question)
        plain = math.sqrt(1 / (n * question.design.information))
        # Clipped fits to heavy tails, as a sample shows them, may be better than the plain one.
        if error <= plain and isinstance(people, Design):
            raise NoForecast(
                f"{n:,} people give an error of {plain:.3g} even without privacy, and {error:g} was asked for: ask for "
                "a larger error, or leave out n to compute the number of people needed",
                Remedy("See how many people it takes at epsilon 1", {"n": None, "epsilon": 1.0}),
                larger_error(1.2 * plain),
            )
    return question.solved(error, n, epsilon, simulate)


def _people(
    family: str,
    d: int | None,
    effect: float | None,
    rate: float | None,
    trust: str,
    sample: Any,
    bounds_X: Any,
    bounds_y: Any,
) -> Design | Sample:
    if sample is None:
        if bounds_X is not None or bounds_y is not None:
            raise ValueError("bounds_X and bounds_y belong to a sample; without one bounds are assumed to be good")
        if d is None:
            raise ValueError("give d, the number of columns, or a sample")
        return Design.of(family, d, effect, rate)
    if trust != "central":
        raise ValueError("a sample is for central fits: leave trust at 'central'")
    if effect is not None or rate is not None:
        raise ValueError("a sample tells effect and rate: leave them out")
    people = Sample.of(family, sample, bounds_X, bounds_y)
    if d not in (None, people.d):
        raise ValueError(f"the sample has {people.d} columns, and d is {d}: leave d out")
    return people


def _checked_n(n: int, question: Question) -> int:
    least, most = question.counts
    if not least <= n <= most:
        nearest = min(max(int(n), least), most)
        raise NoForecast(
            f"n must be between {least} (for {question.design.d} columns) and {most:,}, got {n}",
            Remedy(f"Take {nearest:,} people", {"n": nearest}),
        )
    return int(n)
