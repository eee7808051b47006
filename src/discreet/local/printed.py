"""Tasks with the noise that NLDP prints, to reproduce the paper; its actual guarantee
is checked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.domain import Domain, Numeric, Public
from discreet.errors import DomainError, GuaranteeError
from discreet.local.collection import Collection
from discreet.local.columns import Floats, declared
from discreet.local.design import Reported
from discreet.local.gaussian import Gaussian
from discreet.local.make import known_design
from discreet.local.statistic import Statistic
from discreet.local.stein import least_squares
from discreet.local.target import Target
from discreet.local.task import Task, check_asked

# L with |f'| <= L, and f(0), of the links in NLDP's algorithms 3 and 4; the cubic's slope grows
# with |eta|.
_LINKS = {"sigmoid": (0.25, 0.5), "softplus": (1.0, math.log(2)), "cubic": (math.inf, 0.0), "identity": (1.0, 0.0)}


@dataclass(frozen=True)
class PrintedLink:
    """y = f(<x, w>) + noise of size at most ``noise_bound``: algorithms 3 and 4 bound |y| by L
    r + |f(0)| + C.

    Parameters
    ----------
    name : str
        The link.
    noise_bound : float
        How far a label lies from its mean at most.

    Examples
    --------
    >>> from discreet.local import PrintedLink
    >>> PrintedLink("sigmoid").noise_bound
    0.05
    """

    name: str
    noise_bound: float = 0.05

    def label_bound(self, radius: float) -> float:
        """How large a label can be, for rows in a ball and coefficients in the unit ball.

        Parameters
        ----------
        radius : float
            The largest norm of a row.

        Returns
        -------
        float
            The bound.
        """
        if self.name not in _LINKS:
            raise DomainError(f"link must be one of {', '.join(_LINKS)}, got {self.name!r}")
        slope, start = _LINKS[self.name]
        # |<x, w>| <= r with |w| <= 1, so the cubic's slope eta^2 is at most r^2.
        return (radius**2 if math.isinf(slope) else slope) * radius + abs(start) + self.noise_bound


# sigma for a sensitivity of 1 at a share of epsilon and half of delta: sqrt(2
# log(2.5 / delta)) / (share epsilon).
def _spread(epsilon: float, delta: float, share: float) -> float:
    return math.sqrt(2 * math.log(2.5 / delta)) / (share * epsilon)


def printed_task(
    name: str,
    *,
    domain: Domain,
    target: Numeric,
    epsilon: float,
    delta: float,
    goal: int,
    public: Public | None = None,
    design: str = "gaussian",
    link: PrintedLink | None = None,
    closes: str = "goal",
    rounds: int = 1,
    covariance_norm: float | None = None,
) -> Task:
    """A task of NLDP's algorithm 1 or 3 (design "gaussian"), or 2 or 4 ("bounded"), as printed.

    Parameters
    ----------
    name : str
        What the task is about.
    domain : Domain
        What is asked, without the label.
    target : Numeric
        The label; of two classes as a number between 0 and 1.
    epsilon : float
        The privacy loss that is allowed. Smaller means more privacy and more noise.
    delta : float
        The probability with which epsilon may be exceeded; well below 1 over the number of people.
    goal : int
        How many reports are planned.
    public : Public, optional
        Public rows without labels.
    design : {'gaussian', 'bounded'}
        Which of the paper's assumptions about features holds.
    link : PrintedLink, optional
        None for a GLM (algorithms 1 and 2), whose |y| is bounded by the declared range.
    closes : str, default 'goal'
        When the task ends: at its goal, or on a date such as ``'2030-12-31'``.
    rounds : int, default 1
        2 for algorithm 5, which has no public rows but knows the covariance's largest eigenvalue,
        ``covariance_norm``; ``printed_second`` makes its second task, and both together must keep
        (epsilon, delta).
    covariance_norm : float, optional
        The largest eigenvalue of the features' covariance, for algorithm 5.

    Returns
    -------
    Task
        What devices are asked.

    Privacy
    -------
    ``local_guarantee`` computes the guarantee that the printed noise gives.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import Domain, Numeric, Public
    >>> from discreet.local import printed_task
    >>> public = Public(np.random.default_rng(0).uniform(-1, 1, (200, 1)))
    >>> printed_task(
    ...     "as printed",
    ...     domain=Domain((Numeric("x0", -1, 1),)),
    ...     target=Numeric("y", 0, 1),
    ...     epsilon=4.0,
    ...     delta=1e-6,
    ...     goal=1_000,
    ...     public=public,
    ... ).calibration
    'paper'
    """
    check_asked(epsilon, delta, goal)
    if (rounds == 2) != (covariance_norm is not None) or (rounds == 2 and (public is not None or link is not None)):
        raise DomainError("algorithm 5 has two rounds, covariance_norm=, and neither public rows nor a link")
    if not isinstance(target, Numeric):
        raise DomainError(
            f"the printed algorithms take labels as numbers: declare {target.name!r} with low = 0 and high = 1"
        )
    columns = tuple(declared(column) for column in domain.columns)
    known = None if public is None else known_design(Domain(columns), public)
    raw = _raw(columns)
    if covariance_norm is None:
        radius = _radius(raw, None if known is None else known.moment, design, goal)
    else:
        radius = math.sqrt(10 * len(raw) * covariance_norm * math.log(goal))
    bound = max(abs(target.low), abs(target.high)) if link is None else link.label_bound(radius)
    statistic, randomizer = _moments(raw, radius, epsilon, delta, rounds)
    if rounds == 2 and not randomizer.gives(epsilon, delta, _predictor_noise(epsilon, delta).mu):
        raise GuaranteeError(f"the printed noise of two rounds does not give epsilon {epsilon:g} at delta {delta:g}")
    return Task(
        name=name,
        epsilon=float(epsilon),
        delta=float(delta),
        goal=goal,
        closes=closes,
        columns=columns,
        target=Target(target.name, float(target.low), float(target.high), 0.0, bound),
        statistic=statistic,
        randomizer=randomizer,
        calibration="paper",
        fit_intercept=False,
        design=known,
    )


def printed_second(first: Task, collection: Collection) -> Task:
    """The second round of algorithm 5: every device reports <x, w_ols>, clipped to [0, 1], with
    noise.

    Parameters
    ----------
    first : Task
        The task of the first round.
    collection : Collection
        The sum of the reports.

    Returns
    -------
    Task
        The second round's task.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import Domain, Numeric
    >>> from discreet.local import printed_second, printed_task, simulate
    >>> first = printed_task(
    ...     "as printed",
    ...     domain=Domain((Numeric("x0", -1, 1),)),
    ...     target=Numeric("y", 0, 1),
    ...     epsilon=8.0,
    ...     delta=1e-6,
    ...     goal=1_000,
    ...     rounds=2,
    ...     covariance_norm=1.0,
    ... )
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, 500)
    >>> collection = simulate(first, {"x0": x}, (x > 0).astype(float), rng)
    >>> printed_second(first, collection).parent == first.digest
    True
    """
    if first.calibration != "paper" or first.statistic.kind != "printed" or collection.task.digest != first.digest:
        raise DomainError("a second round needs the first round's printed task and the collection of its reports")
    reported = Reported.of(first, collection.mean)
    assert reported.second is not None
    coef = least_squares(reported.second, reported.cross * first.target.scale)
    statistic = Statistic("predictor", transform=(coef @ first.statistic.transform)[np.newaxis])
    randomizer = _predictor_noise(first.epsilon, first.delta)
    return replace(first, statistic=statistic, randomizer=randomizer, parent=first.digest)


def _moments(raw: Floats, radius: float, epsilon: float, delta: float, rounds: int) -> tuple[Statistic, Gaussian]:
    """The printed report of both moments, and its noise."""
    share = math.sqrt(0.5)
    statistic = Statistic("printed", outer=share, cross=share, radius=radius, transform=raw)
    # Both parts get half of epsilon, in algorithm 5 a quarter; the printed sensitivities are 2 r^2
    # and 2 r B, here in units of the vector.
    noise = 2 * share * _spread(epsilon, delta, 0.5 / rounds)
    return statistic, Gaussian.with_noise(statistic, len(raw), outer=noise, cross=noise)


def first_round(second: Task) -> tuple[Statistic, Gaussian]:
    """What the devices of a second round have reported in the first, and its noise, which depends
    on the number of columns, epsilon and delta alone.
    """
    return _moments(_raw(second.columns), 1.0, second.epsilon, second.delta, 2)


def _predictor_noise(epsilon: float, delta: float) -> Gaussian:
    """N(0, 8 log(2.5/delta) / epsilon^2) for a number in [0, 1]."""
    noise = _spread(epsilon, delta, 0.5)
    return Gaussian.with_noise(Statistic("predictor", transform=np.ones((1, 2))), 1, outer=noise, cross=noise)


def _raw(columns: tuple[object, ...]) -> Floats:
    if not all(isinstance(column, Numeric) for column in columns):
        raise DomainError("calibration 'paper' is defined for numbers, not for categories")
    centres = [column.centre for column in columns if isinstance(column, Numeric)]
    halves = [column.half_width for column in columns if isinstance(column, Numeric)]
    return np.hstack([np.array(centres)[:, np.newaxis], np.diag(halves)])


def _radius(raw: Floats, moment: Floats | None, design: str, n: int) -> float:
    if design == "bounded":
        return float(np.abs(raw).sum())  # the L1 radius of the declared box, as Alg. 2 and 4 print it
    if design != "gaussian":
        raise DomainError(f"design must be one of gaussian, bounded, got {design!r}")
    if moment is None:
        raise DomainError(
            "the printed algorithms 1 and 3 (design 'gaussian') need public rows; without any there are 2 and 4 "
            "(design 'bounded'), and 5 (two rounds, covariance_norm=)"
        )
    spread = float(np.linalg.eigvalsh(raw @ moment @ raw.T)[-1])
    return math.sqrt(20 * len(raw) * spread * math.log(n))
