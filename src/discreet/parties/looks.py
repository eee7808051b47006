"""The cheap looks that a party takes before its mixes: counts, centres, scales, and what shortening leaves.

Each is trusted only as far as its noise allows, and leans on what is typical for the rest.
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

# Of what the column sums leave, the parts that the party's own second moment and the look at shortening get.
_SPREAD_SHARE, _KEPT_SHARE = 0.12, 0.02
# In the sums: how much other columns count beside the likely label, and the number of complete rows beside all.
_OTHERS, _COUNT = 0.2, 0.1
# In the mixes the likely label counts this much more than the others, as it stands in every cross moment.
_LABEL_WEIGHT = 1.5
# What a column's encoded variance is before it has been seen, and how sure that is; and the least it may be.
_PRIOR_VARIANCE, _PRIOR_SPREAD, _LEAST_VARIANCE = 0.2, 0.15, 0.01
# How far the number of complete rows may lie from the number of rows, before the noisy count has been seen.
_COUNT_SPREAD = 0.05
# The least share of rows that is taken to be complete: a smaller noisy count is not divided by.
LEAST_COMPLETE = 0.1


def shares(party: Party, rows: int) -> tuple[float, float, float, float]:
    """How mu^2 is divided among sums, spread, what shortening leaves, and mixes, from public numbers.

    At full budget the mean's noise would cost 25 d / (mu n)^2 of a label's variance, if that is (range / 5)^2. Where
    this is not small only the mean can be learned, and the sums get nearly everything.
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
    # Each column adds at most its weight: numbers lie in [-1, 1], and of a category's indicators one is 1.
    norm = math.sqrt(math.fsum(w * w for w in weights) + _COUNT**2)
    return ColumnSums(np.array(entries), norm, _COUNT)


def centres(query: ColumnSums, sums: Answer, rows: int) -> tuple[float, Floats]:
    """The number of complete rows and the means; the count leans on the public number of rows as far as it is noisy."""
    noisy, noise = float(sums.value[0, 0]) / query.count_weight, sums.noise_std / query.count_weight
    spread = _COUNT_SPREAD * rows
    count = (noisy * spread**2 + rows * noise**2) / (spread**2 + noise**2)
    count = min(max(count, 1.0, LEAST_COMPLETE * rows), float(rows))
    return count, np.clip(sums.value[0, 1:] / query.weights / count, -1.0, 1.0)


def count_is_hidden(sums: Answer, rows: int) -> bool:
    """Whether the noise says less about the number of complete rows than is supposed before it is seen."""
    return sums.noise_std / _COUNT > _COUNT_SPREAD * rows


def scales(spread: Answer, count: float) -> Floats:
    """Standard deviations of the encoded columns, leaning on a typical one as far as they are noisy."""
    noise, seen = spread.noise_std / count, np.diag(spread.value) / count
    variance = (seen * _PRIOR_SPREAD**2 + _PRIOR_VARIANCE * noise**2) / (_PRIOR_SPREAD**2 + noise**2)
    return np.sqrt(np.maximum(variance, _LEAST_VARIANCE))


def kept_shares(query: Kept, answer: Answer, weight: Floats, count: float) -> Floats:
    """What shortening leaves of each column, leaning on a typical share as far as it is noisy.

    Columns with lighter tails than Gaussian ones lose less than those, down to nothing.
    """
    least = _gaussian_share(len(weight), query.radius / math.sqrt(float(weight @ weight)))
    prior, spread = (1 + least) / 2, max((1 - least) / 2, 1e-3)
    noise = answer.noise_std / (count * weight**2)
    seen = answer.value[0] / (count * weight**2)
    shares = (seen * spread**2 + prior * noise**2) / (spread**2 + noise**2)
    return np.asarray(np.clip(shares, least - 2 * spread, 1.0))


def _gaussian_share(columns: int, factor: float) -> float:
    """E[min(1, R / r) r^2] / d for the norm r of d independent standard normals, R = factor sqrt(d)."""
    radius = factor * math.sqrt(columns)
    inside = float(gammainc(columns / 2 + 1, radius**2 / 2))
    mean_ratio = math.exp(float(gammaln((columns + 1) / 2) - gammaln(columns / 2)))
    outside = math.sqrt(2) * mean_ratio * float(gammaincc((columns + 1) / 2, radius**2 / 2))
    return inside + radius * outside / columns


def column_weights(plan: Plan, party: Party) -> Floats:
    return np.array([_LABEL_WEIGHT if name == plan.label else 1.0 for name in party.encoder.names])


def spread_radius(party: Party, centre: Floats, noise: float) -> float:
    """Half the box's diagonal while noise rules, and the farthest corner from the centre once it does not."""
    if noise > 0.3:
        return party.encoder.radius
    farthest = float(np.linalg.norm(1 + np.abs(centre)))
    return min(farthest, 2 * party.encoder.radius)
