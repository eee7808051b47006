"""The noise of one report, from public numbers alone: what a device re-checks before it answers.

A record becomes a vector h of norm at most ``radius`` and a label c in [-1, 1]. The report is ``h c``, or also the
upper triangle of ``h h^T``. Replacing the whole record moves it, in Frobenius norm, by at most

    h c                    2 r                               opposite labels on the same h
    (h h^T, w h c)         sqrt(2) r^2 (1 + t) if t <= 1     with t = w^2 / (2 r^2), the best angle's cosine; else 2 w r

On the grid, rounding to nearest adds at most half a unit per entry and side. docs/papers/discrete_gaussian.md: noise of
variance (reach / mu)^2 + 4 is then mu-GDP. No scipy here: a device starts in the time that numpy takes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Reports travel as 24-bit integers.
LARGEST = 2**23 - 1
# A Gaussian vector is longer than sqrt(entries) + 5 standard deviations once in 270,000 times; it is then shortened.
_TAIL = 5.0
# Covers the rounding of calibration and the proof's factor e^(m eta).
_MARGIN = 1 + 1e-12


@dataclass(frozen=True, eq=False)
class Plan:
    """Noise scales, grid unit and support of every report of a task; reach, scales and limit in grid units."""

    entries: int
    unit: float
    reach: float
    scales: Floats
    limit: int
    mu: float

    @property
    def noise_std(self) -> Floats:
        """The noise of each entry, in the units of the statistic."""
        return self.scales * self.unit


def entry_count(width: int, outer: bool) -> int:
    """How many integers a report has."""
    return width + (width * (width + 1) // 2 if outer else 0)


def statistic_reach(radius: float, outer: bool, cross_weight: float) -> float:
    """How far replacing one record moves the exact statistic, in Frobenius norm."""
    if not outer:
        return 2 * radius
    cosine = cross_weight**2 / (2 * radius**2)
    return math.sqrt(2) * radius**2 * (1 + cosine) if cosine <= 1 else 2 * cross_weight * radius


def tight_plan(width: int, radius: float, outer: bool, cross_weight: float, mu: float) -> Plan:
    """The least noise that makes the joint report mu-GDP, on the finest grid that fits the wire."""
    reach = statistic_reach(radius, outer, cross_weight)
    # An off-diagonal entry stands twice in the Frobenius norm, so half the variance is enough for it.
    shares = np.where(_off_diagonal(width, outer), math.sqrt(0.5), 1.0)
    return replace(_on_grid(width, radius, outer, cross_weight, reach, shares / mu), mu=mu)


def printed_plan(width: int, radius: float, epsilon: float, delta: float) -> Plan:
    """The noise that NLDP prints: half of epsilon and delta to each part, and what that really gives."""
    spread = 2 * math.sqrt(2 * math.log(2.5 / delta)) / epsilon  # per unit of sensitivity, at epsilon / 2 and delta / 2
    matrix, cross = spread * 2 * radius**2, spread * 2 * radius
    scales = np.where(np.arange(entry_count(width, True)) < width * (width + 1) // 2, matrix, cross)
    reach = math.hypot(math.sqrt(2) * radius**2, 2 * radius)
    plan = _on_grid(width, radius, True, 1.0, reach, scales / reach)
    slack = plan.reach - reach / plan.unit
    parts = [(math.sqrt(2) * radius**2, plan.scales[0]), (2 * radius, plan.scales[-1])]
    # The upper triangle is no longer than the whole matrix, whose reach is sqrt(2) r^2 and not the printed 2 r^2.
    losses = [(part / plan.unit + slack) / math.sqrt(scale**2 - 4) for part, scale in parts]
    return replace(plan, mu=math.hypot(*losses) * _MARGIN)


def _on_grid(width: int, radius: float, outer: bool, cross_weight: float, reach: float, per_reach: Floats) -> Plan:
    """The finest grid that fits the wire, with these noise scales per unit of reach; mu is left to the caller."""
    entries = entry_count(width, outer)
    norm = math.hypot(radius**2 if outer else 0.0, cross_weight * radius)
    # In units: sqrt(2 entries) for rounding two statistics by half a unit each, off-diagonals counted twice; 1 for the
    # floating-point error of the statistic itself, whose relative size is far below 2^-23.
    slack = math.sqrt(2 * entries) + 1
    for exponent in range(80, -80, -1):
        unit = 2.0**-exponent
        grid_reach = reach / unit + slack
        scales = np.sqrt((grid_reach * per_reach * _MARGIN) ** 2 + 4)
        length = math.sqrt(float(scales @ scales)) + _TAIL * float(scales.max())
        limit = math.ceil(norm / unit + slack + length)
        if limit <= LARGEST:
            return Plan(entries, unit, grid_reach, scales, limit, math.inf)
    raise ValueError("no grid carries reports of this radius and mu")


def _off_diagonal(width: int, outer: bool) -> NDArray[np.bool_]:
    """Which entries stand twice in the symmetric matrix: the report is the upper triangle, then the cross moment."""
    flags = np.zeros(entry_count(width, outer), dtype=bool)
    if outer:
        rows, columns = np.triu_indices(width)
        flags[: len(rows)] = rows != columns
    return flags


def gaussian_delta_bound(epsilon: float, mu: float) -> float:
    """An upper bound, good to nine digits, on the delta of mu-GDP at this epsilon, by ``math.erfc`` alone."""
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    first = 0.5 * math.erfc(near / math.sqrt(2))
    tail = 0.5 * math.erfc(far / math.sqrt(2))
    # Below this the tail has lost its digits; leaving it out only raises the bound.
    second = math.exp(min(epsilon + math.log(tail), 0.0)) if tail > 1e-290 else 0.0
    # Each term is right to about (1 + epsilon) 1e-15 relatively; the difference is charged with all of it.
    return first - second + (first + second) * 1e-14 * (1 + epsilon)
