"""The guarantee of a task for each device, and the further guarantee if reports are shuffled."""

from __future__ import annotations

import math

import numpy as np

from discreet.errors import GuaranteeError
from discreet.local.gaussian import Gaussian, joint_reach
from discreet.local.statistic import Statistic
from discreet.local.task import Task
from discreet.privacy import GDP, Guarantee, Pure, Release, clones_epsilon, gaussian_delta
from discreet.privacy.shuffling import SHUFFLE_THEOREM as SHUFFLE_THEOREM


def local_guarantee(task: Task) -> Guarantee:
    """The local guarantee, for the replacement of a whole record by any other.

    It holds against everybody, the collector included.

    Parameters
    ----------
    task : Task
        The public task that the reports answer.

    Returns
    -------
    Guarantee
        What one report costs its device; in the second round of NLDP's algorithm 5, which asks the
        same devices twice, what both do.

    Examples
    --------
    >>> from discreet import Domain, Numeric
    >>> from discreet.local import new_task
    >>> task = new_task(
    ...     "cost by age",
    ...     domain=Domain((Numeric("age", 18, 90),)),
    ...     target=Numeric("cost", 0, 1),
    ...     epsilon=4.0,
    ...     goal=20_000,
    ... )
    >>> from discreet.local import local_guarantee
    >>> local_guarantee(task).epsilon(0.0) <= 4.0
    True
    """
    randomizer = task.randomizer
    if not isinstance(randomizer, Gaussian):
        noise = randomizer.longest / math.sqrt(randomizer.dimension)
        return Guarantee((Release("local report", 2.0, noise, Pure(randomizer.epsilon)),), "replace_one")
    reports = [_noisy_report(task.statistic, randomizer)]
    if task.statistic.kind == "predictor":
        from discreet.local.printed import first_round

        reports.append(_noisy_report(*first_round(task)))
    return Guarantee(tuple(reports), "replace_one")


def _noisy_report(statistic: Statistic, randomizer: Gaussian) -> Release:
    noise = float(randomizer.entry_scales.max()) * randomizer.unit
    return Release("local report", joint_reach(statistic), noise, GDP(randomizer.mu))


def in_words(task: Task) -> str:
    """The local guarantee for people who are asked to take part.

    Parameters
    ----------
    task : Task
        The public task that the reports answer.

    Returns
    -------
    str
        A paragraph.

    Examples
    --------
    >>> from discreet import Domain, Numeric
    >>> from discreet.local import new_task
    >>> task = new_task(
    ...     "cost by age",
    ...     domain=Domain((Numeric("age", 18, 90),)),
    ...     target=Numeric("cost", 0, 1),
    ...     epsilon=4.0,
    ...     goal=20_000,
    ... )
    >>> from discreet.local import in_words
    >>> in_words(task)[:33]
    'Your device changes your answers '
    """
    factor = math.exp(min(task.epsilon, 700.0))
    exception, said = "", f"(epsilon {task.epsilon:g})"
    if task.delta > 0:
        exception = f", except with probability {task.delta:g}"
        said = f"(epsilon {task.epsilon:g}, delta {task.delta:g})"
    return (
        f"Your device changes your answers at random before it sends anything. With your true answers, any report "
        f"is at most {factor:.3g} times as likely as with any other answers"
        f"{exception} {said}. You need not trust the collector for this."
    )


def shuffled_epsilon(task: Task, n: int, delta: float) -> float:
    """The central epsilon at this delta if a trusted shuffler makes n honest reports anonymous.

    An (e0, d0)-private report gives, for e0 <= log(n / (16 log(4/d))), with d < delta the
    shuffler's own part,

        epsilon = log(1 + (1 - exp(-e0)) (8 sqrt(exp(e0) log(4/d) / n) + 8 exp(e0) / n)),
        delta   = d + (exp(epsilon) + 1) (1 + exp(-e0) / 2) n d0.

    A pure report has d0 = 0, and d = delta. Gaussian noise is (e0, d0)-private for a whole curve of
    pairs; the best one is taken. (The factor 1 - exp(-e0) is a little above the printed one, and
    1.5 stands for 1 + exp(-e0)/2: both err on the private side. The sharper bounds of 2023 carry an
    erratum for general randomizers and are not used.) Raises GuaranteeError where nothing is
    gained.

    Parameters
    ----------
    task : Task
        The public task that the reports answer.
    n : int
        How many reports are shuffled.
    delta : float
        The delta of the central guarantee.

    Returns
    -------
    float
        The central epsilon.

    Examples
    --------
    >>> from discreet import Domain, Numeric
    >>> from discreet.local import new_task
    >>> task = new_task(
    ...     "cost by age",
    ...     domain=Domain((Numeric("age", 18, 90),)),
    ...     target=Numeric("cost", 0, 1),
    ...     epsilon=4.0,
    ...     goal=20_000,
    ... )
    >>> from discreet.local import shuffled_epsilon
    >>> shuffled_epsilon(task, 100_000, 1e-6) < 4.0
    True
    """
    if not (0 < delta < 1 and n >= 1):
        raise ValueError("shuffling needs n >= 1 and 0 < delta < 1")
    if isinstance(task.randomizer, Gaussian):
        best, most = _shuffled_gaussian(task.randomizer.mu, n, delta)
        alone = GDP(task.randomizer.mu).epsilon(delta)
    else:
        alone, most = task.randomizer.epsilon, _largest_local(n, delta)
        best = clones_epsilon(alone, n, delta) if 0 < alone <= most else math.inf
    if best >= alone:
        raise GuaranteeError(
            f"the theorem gives no better epsilon for shuffling {n} reports of epsilon {task.epsilon:g}: it needs "
            f"a local epsilon of at most {most:.3g}{'' if task.delta == 0 else f' at a delta far below {delta:g} / n'}"
        )
    return best


def _shuffled_gaussian(mu: float, n: int, delta: float) -> tuple[float, float]:
    own = delta / 2
    most, best = _largest_local(n, own), math.inf
    for local in np.linspace(0, most, 2001)[1:] if most > 0 else []:
        epsilon = clones_epsilon(float(local), n, own)
        if (math.exp(epsilon) + 1) * 1.5 * n * gaussian_delta(float(local), mu) <= delta - own:
            best = min(best, epsilon)
    return best, most


def _largest_local(n: int, delta: float) -> float:
    return math.log(n / (16 * math.log(4 / delta))) if n > 16 * math.log(4 / delta) else 0.0
