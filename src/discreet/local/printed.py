"""Tasks with NLDP's printed noise, to reproduce the paper: what that noise really gives is computed and checked."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.domain import Domain, Numeric, Public
from discreet.errors import DomainError
from discreet.local.columns import Floats, declared
from discreet.local.gaussian import Gaussian
from discreet.local.make import known_design
from discreet.local.statistic import Statistic
from discreet.local.target import Target
from discreet.local.task import Task

# |f'| <= L and f(0) of the links that NLDP's algorithms 3 and 4 are printed for; the cubic's slope grows with |eta|.
_LINKS = {"sigmoid": (0.25, 0.5), "softplus": (1.0, math.log(2)), "cubic": (math.inf, 0.0), "identity": (1.0, 0.0)}


@dataclass(frozen=True)
class PrintedLink:
    """y = f(<x, w>) + noise of size at most ``noise_bound``: algorithms 3 and 4 bound |y| by L r + |f(0)| + C."""

    name: str
    noise_bound: float = 0.05

    def label_bound(self, radius: float) -> float:
        if self.name not in _LINKS:
            raise DomainError(f"link must be one of {', '.join(_LINKS)}, got {self.name!r}")
        slope, start = _LINKS[self.name]
        # |<x, w>| <= r with |w| <= 1, so the cubic's slope eta^2 is at most r^2.
        return (radius**2 if math.isinf(slope) else slope) * radius + abs(start) + self.noise_bound


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
) -> Task:
    """A task of algorithm 1 or 3 (design "gaussian") or 2 or 4 ("bounded"), with the noise as printed.

    link: None for a GLM (algorithms 1 and 2), whose |y| is bounded by the declared range.
    """
    columns = tuple(declared(column) for column in domain.columns)
    known = None if public is None else known_design(Domain(columns), public)
    raw = _raw(columns)
    radius = _radius(raw, None if known is None else known.moment, design, goal)
    bound = max(abs(target.low), abs(target.high)) if link is None else link.label_bound(radius)
    share = math.sqrt(0.5)
    statistic = Statistic("printed", outer=share, cross=share, radius=radius, transform=raw)
    # Both parts get half of epsilon and delta: sigma = 2 sqrt(2 log(2.5/delta)) / epsilon times the printed
    # sensitivities 2 r^2 and 2 r B, here in units of the vector.
    spread = 2 * math.sqrt(2 * math.log(2.5 / delta)) / epsilon
    randomizer = Gaussian.with_noise(statistic, len(raw), outer=spread * 2 * share, cross=spread * 2 * share)
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


def _raw(columns: tuple[object, ...]) -> Floats:
    if not all(isinstance(column, Numeric) for column in columns):
        raise DomainError("calibration 'paper' is printed for numbers, not for categories")
    centres = [column.centre for column in columns if isinstance(column, Numeric)]
    halves = [column.half_width for column in columns if isinstance(column, Numeric)]
    return np.hstack([np.array(centres)[:, np.newaxis], np.diag(halves)])


def _radius(raw: Floats, moment: Floats | None, design: str, n: int) -> float:
    if design == "bounded":
        return float(np.abs(raw).sum())  # the L1 radius of the declared box, as Alg. 2 and 4 print it
    if design != "gaussian" or moment is None:
        raise DomainError("calibration 'paper' needs design 'bounded', or 'gaussian' with public rows")
    spread = float(np.linalg.eigvalsh(raw @ moment @ raw.T)[-1])
    return math.sqrt(20 * len(raw) * spread * math.log(n))
