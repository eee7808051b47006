"""A party's first answers before its mixes: counts, centres, scales, and what clipping leaves.

They take little budget. Each estimate is shrunk towards a typical value according to its noise.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, gammaln

from discreet.parties.plan import Party, Plan
from discreet.parties.queries import ColumnSums, Kept
from discreet.rows import Answer

Floats = NDArray[np.float64]

# Shares of the budget left by the column sums: for the party's second moment, and for what clipping
# leaves.
_SPREAD_SHARE, _KEPT_SHARE = 0.12, 0.02
# Weights in the sums: of other columns relative to the likely label, and of the number of complete
# rows.
_OTHERS, _COUNT = 0.2, 0.1
# The likely label's weight in the mixes relative to other columns: it is in every cross moment of
# interest.
_LABEL_WEIGHT = 1.5
# Prior of a column's encoded variance: mean and relative precision; and the least variance allowed.
_PRIOR_VARIANCE, _PRIOR_SPREAD, _LEAST_VARIANCE = 0.2, 0.15, 0.01
# Prior standard deviation of the number of complete rows around the number of rows.
_COUNT_SPREAD = 0.05
# The least share of rows that is taken to be complete; nothing is divided by a smaller noisy count.
LEAST_COMPLETE = 0.1


def shares(party: Party, rows: int) -> tuple[float, float, float, float]:
    """How mu^2 is divided among sums, second moment, what clipping leaves, and mixes; public.

    At full budget the mean's noise would cost 25 d / (mu n)^2 of a label's variance, if that is
    (range / 5)^2. Where this is not small only the mean can be estimated, and the sums get nearly
    all of the budget.
    """
    mean_cost = 25 * len(party.domain.columns) / (party.budget.mu * rows) ** 2
    sums = min(max(6 * math.sqrt(mean_cost), 0.03), 0.985)
    left = 1 - sums
    return sums, _SPREAD_SHARE * left, _KEPT_SHARE * left, (1 - _SPREAD_SHARE - _KEPT_SHARE) * left


def column_sums(plan: Plan, party: Party) -> ColumnSums:
    own = [column.name for column in party.domain.columns]
    others = _OTHERS if plan.label in own else 1.0
    weights = [1.0 if column.name == plan.label else others for column in party.domain.columns]
    entries = [w for w, column in zip(weights, party.domain.columns, strict=True) for _ in column.names]
    # Each column adds at most its weight: numbers lie in [-1, 1], and of a category's indicators
    # one is 1.
    norm = math.sqrt(math.fsum(w * w for w in weights) + _COUNT**2)
    return ColumnSums(np.array(entries), norm, _COUNT)


def centres(query: ColumnSums, sums: Answer, rows: int) -> tuple[float, Floats]:
    """The number of complete rows and the means; the noisy count is shrunk towards the number of
    rows.
    """
    noisy, noise = float(sums.value[0, 0]) / query.count_weight, sums.noise_std / query.count_weight
    spread = _COUNT_SPREAD * rows
    count = (noisy * spread**2 + rows * noise**2) / (spread**2 + noise**2)
    count = min(max(count, 1.0, LEAST_COMPLETE * rows), float(rows))
    return count, np.clip(sums.value[0, 1:] / query.weights / count, -1.0, 1.0)


def count_is_hidden(sums: Answer, rows: int) -> bool:
    """Whether the noisy count of complete rows is less precise than its prior."""
    return sums.noise_std / _COUNT > _COUNT_SPREAD * rows


def scales(spread: Answer, count: float) -> Floats:
    """Standard deviations of the encoded columns, shrunk towards a typical one by their noise."""
    noise, seen = spread.noise_std / count, np.diag(spread.value) / count
    variance = (seen * _PRIOR_SPREAD**2 + _PRIOR_VARIANCE * noise**2) / (_PRIOR_SPREAD**2 + noise**2)
    return np.sqrt(np.maximum(variance, _LEAST_VARIANCE))


def kept_shares(query: Kept, answer: Answer, weight: Floats, count: float) -> Floats:
    """The share of each column that clipping leaves, shrunk towards a typical one by its noise.

    Columns with lighter tails than Gaussian ones lose less than those, or nothing.
    """
    least = _gaussian_share(len(weight), query.radius / math.sqrt(float(weight @ weight)))
    prior, spread = (1 + least) / 2, max((1 - least) / 2, 1e-3)
    noise = answer.noise_std / (count * weight**2)
    seen = answer.value[0] / (count * weight**2)
    shares = (seen * spread**2 + prior * noise**2) / (spread**2 + noise**2)
    return np.asarray(np.clip(shares, least - 2 * spread, 1.0))


def _gaussian_share(columns: int, factor: float) -> float:
    """E[min(1, R / r) r^2] / d for the norm r of d independent standard normals, R = factor
    sqrt(d).
    """
    radius = factor * math.sqrt(columns)
    inside = float(gammainc(columns / 2 + 1, radius**2 / 2))
    mean_ratio = math.exp(float(gammaln((columns + 1) / 2) - gammaln(columns / 2)))
    outside = math.sqrt(2) * mean_ratio * float(gammaincc((columns + 1) / 2, radius**2 / 2))
    return inside + radius * outside / columns


def column_weights(plan: Plan, party: Party) -> Floats:
    return np.array([_LABEL_WEIGHT if name == plan.label else 1.0 for name in party.encoder.names])


def spread_radius(party: Party, centre: Floats, noise: float) -> float:
    """Half the box's diagonal while noise dominates, else the distance of the farthest corner."""
    if noise > 0.3:
        return party.encoder.radius
    farthest = float(np.linalg.norm(1 + np.abs(centre)))
    return min(farthest, 2 * party.encoder.radius)
