"""Two rounds without public rows: a tenth of the devices report means and scales, the rest follow.

The second round's reports are in units of these means and scales.

Each device takes part in one round, with the whole epsilon: its ledger allows a report for a task
or for the one that continues it, never both. Splitting people costs less than splitting epsilon. A
pilot reduces the error where columns lie off the middle of their declared range or vary little
inside it, if there are enough people to estimate that (experiments/nldp/two_rounds.md).
``two_rounds_advice`` says whether there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.domain import Categorical, Domain, Numeric
from discreet.domain.columns import Column
from discreet.errors import DomainError
from discreet.local.collection import Collection
from discreet.local.columns import Floats, declared
from discreet.local.design import SUPPOSED_SPREAD, pilot_noise, supposed_moment
from discreet.local.make import task_in_units
from discreet.local.statistic import Statistic
from discreet.local.target import Target
from discreet.local.task import Task, check_asked
from discreet.local.unit import Unit

PILOT_SHARE = 0.1
_FLAG = 0.04  # the flag's part of the squared length; means and squares share the rest
# Squared errors of the pilot's means, in units of the assumed variance. Up to the first, two rounds
# beat one on all numeric designs that were tried. Above the second, neither gives a useful fit.
_CLEAR, _TOO_NOISY = 0.01, 0.5
# Standard deviations below this share of half the range are raised to it: the noise of squares is
# about as large.
_LEAST_SPREAD = 0.01


def pilot_task(
    name: str,
    *,
    domain: Domain,
    target: Numeric | Categorical,
    epsilon: float,
    goal: int,
    closes: str = "goal",
    fit_intercept: bool = True,
    positive: object = None,
) -> Task:
    """The first of two rounds, answered by a tenth of the devices; ``goal`` counts both rounds.

    Parameters
    ----------
    name : str
        What the task is about, for people.
    domain : Domain
        What is asked, without the label.
    target : Numeric or Categorical
        The label of the task that follows.
    epsilon : float
        The privacy loss of one report.
    goal : int
        How many reports are planned for both rounds.
    closes : str, default 'goal'
        When the task ends: at its goal, or on a date such as ``'2030-12-31'``.
    fit_intercept : bool, default True
        Whether the model has an intercept.
    positive : object, optional
        The level of a categorical target that counts as 1; of two levels, the second by default.

    Returns
    -------
    Task
        The first round's task.

    Privacy
    -------
    A device answers the pilot or the task that follows, never both.

    Examples
    --------
    >>> from discreet import Domain, Numeric
    >>> from discreet.local import pilot_task
    >>> pilot = pilot_task(
    ...     "cost by age",
    ...     domain=Domain((Numeric("age", 18, 90),)),
    ...     target=Numeric("cost", 0, 1),
    ...     epsilon=4.0,
    ...     goal=100_000,
    ... )
    >>> pilot.goal
    10000
    """
    check_asked(epsilon, 0.0, goal)
    columns = tuple(declared(column) for column in domain.columns)
    if pilot_error(columns, epsilon, goal) > _TOO_NOISY:
        raise DomainError(two_rounds_advice(columns, epsilon, goal))
    statistic, randomizer = _asked(columns, epsilon)
    return Task(
        name=name,
        epsilon=float(epsilon),
        delta=0.0,
        goal=pilot_people(goal),
        closes=closes,
        columns=columns,
        target=Target.of(target, positive),
        statistic=statistic,
        randomizer=randomizer,
        fit_intercept=fit_intercept,
    )


def pilot_people(goal: int) -> int:
    """How many of the devices answer the pilot."""
    return max(round(PILOT_SHARE * goal), 1)


def planned_people(task: Task) -> int:
    """How many devices are asked in all, in a pilot or in a task of one round."""
    return round(task.goal / PILOT_SHARE) if task.statistic.kind == "pilot" else task.goal


def _asked(columns: Sequence[Column], epsilon: float) -> tuple[Statistic, Unit]:
    share = math.sqrt((1 - _FLAG) / 2)
    statistic = Statistic("pilot", flag=math.sqrt(_FLAG), first=share, second=share)
    features = sum(len(column.names) for column in columns)
    return statistic, Unit.best(statistic.dimension(features), float(epsilon))


def pilot_error(columns: Sequence[Column], epsilon: float, goal: int) -> float:
    """The expected squared error of the pilot's mean of a number, in units of the assumed variance.

    0 if there is no numeric column.
    """
    if not any(isinstance(column, Numeric) for column in columns):
        return 0.0
    statistic, randomizer = _asked(columns, epsilon)
    features = sum(len(column.names) for column in columns)
    return pilot_noise(statistic, randomizer, features, pilot_people(goal)) ** 2 / SUPPOSED_SPREAD**2


def two_rounds_advice(columns: Sequence[Column], epsilon: float, goal: int) -> str:
    """Whether two rounds are better than one without public facts
    (experiments/nldp/two_rounds.md).
    """
    if not any(isinstance(column, Numeric) for column in columns):
        return "one round: without numeric columns a pilot has no means and scales to estimate"
    error = pilot_error(columns, epsilon, goal)
    told = f"{pilot_people(goal):,} pilot reports estimate means to about {math.sqrt(error):.2g} standard deviations"
    if error > _TOO_NOISY:
        return f"one round: {told}, too little to be of use; ask more people, fewer columns, or find public rows"
    if error > _CLEAR:
        return f"one round, unless columns lie off the middle of their declared range, where two are far better: {told}"
    return f"two rounds (--rounds 2), unless columns are known to lie in the middle of their range: {told}"


def second_task(pilot: Task, collection: Collection, goal: int | None = None, closes: str = "goal") -> Task:
    """The second of two rounds, scaled by the means and standard deviations that the pilot
    estimated.

    Parameters
    ----------
    pilot : Task
        The task of the first round.
    collection : Collection
        The sum of the reports.
    goal : int, optional
        How many devices are asked; nine times as many as the pilot's if not given.
    closes : str, default 'goal'
        When the task ends: at its goal, or on a date such as ``'2030-12-31'``.

    Returns
    -------
    Task
        The second round's task.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import Domain, Numeric
    >>> from discreet.local import pilot_task, second_task, simulate
    >>> pilot = pilot_task(
    ...     "cost by age",
    ...     domain=Domain((Numeric("age", 18, 90),)),
    ...     target=Numeric("cost", 0, 1),
    ...     epsilon=4.0,
    ...     goal=100_000,
    ... )
    >>> rng = np.random.default_rng(0)
    >>> collection = simulate(pilot, {"age": rng.uniform(18, 90, 10_000)}, rng.random(10_000), rng)
    >>> second_task(pilot, collection).parent == pilot.digest
    True
    """
    if pilot.statistic.kind != "pilot" or collection.task.digest != pilot.digest:
        raise DomainError("a second task needs a pilot and the collection of its reports")
    rest = planned_people(pilot) - pilot.goal
    common: dict[str, Any] = {
        "name": pilot.name,
        "epsilon": pilot.epsilon,
        "delta": 0.0,
        "goal": rest if goal is None else goal,
        "closes": closes,
        "columns": pilot.columns,
        "target": pilot.target,
        "fit_intercept": pilot.fit_intercept,
        "parent": pilot.digest,
    }
    return task_in_units(common, pilot_moment(pilot, collection))


def pilot_moment(pilot: Task, collection: Collection) -> Floats:
    """E[(1, x)(1, x)^T] as the pilot estimates it, with uncorrelated columns.

    An estimate within twice its noise of the assumed value is replaced by that value: a noisy unit
    is worse than a guess that fits as well.
    """
    statistic, mean = pilot.statistic, collection.mean
    size = len(pilot.names)
    usable = float(mean[0]) / statistic.flag
    if usable < 0.1:
        raise DomainError("the pilot's estimated share of complete records is about zero; ask more devices")
    first = mean[1 : 1 + size] * (math.sqrt(size) / (statistic.first * usable))
    second = mean[1 + size :] * (math.sqrt(size) / (statistic.second * usable))
    noise = pilot_noise(statistic, pilot.randomizer, size, collection.count) / usable
    supposed = supposed_moment(pilot.columns)
    middle = supposed[0, 1:]
    levels = np.array([not isinstance(column, Numeric) for column in pilot.columns for _ in column.names])
    # The square of an indicator is the indicator, so both entries estimate its mean.
    first = np.where(levels, (first + second) / 2, first)
    close = np.where(levels, noise / math.sqrt(2), noise)
    first = np.where(np.abs(first - middle) > 2 * close, np.clip(first, -1.0, 1.0), middle)
    spread = np.where(levels, first * (1 - first), _number_spread(second - first**2, np.diag(supposed)[1:], noise))
    augmented = np.array([1.0, *first])
    return np.outer(augmented, augmented) + np.diag([0.0, *np.maximum(spread, _LEAST_SPREAD**2)])


def _number_spread(told: Floats, supposed: Floats, noise: float) -> Floats:
    """Variances of numeric columns; one below twice its noise is taken as at most that."""
    seen = np.where(told > 2 * noise, told, np.minimum(supposed, 2 * noise))
    return np.where(np.abs(told - supposed) > 2 * noise, seen, supposed)
