"""NoisyHT (COST, Algorithm 3, "peeling"): the s largest entries of a sum over rows and
their values, privately.

As printed: s rounds of Laplace noise of scale lambda 2 sqrt(3 s ln(1/delta)) / epsilon on all
entries, in each of which the largest entry is removed; then such noise on the chosen entries.
lambda bounds how far a replaced row moves an entry.

Tight: Gumbel noise, drawn once; its s largest entries are s consecutive exponential mechanisms.
Then Gaussian noise on the chosen sums. Costs add up in mu^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.privacy import Budget, Pure, Repeated, picks_within, refuse_weaker
from discreet.rows import Floats, Indices, OnSupport, WideSource
from discreet.rows.column_sums import ChosenSums, LargestSums

# The share of mu^2 for the choice; the rest is for the values.
_CHOICE = 0.5


@dataclass(frozen=True, eq=False)
class Chosen:
    """Columns in increasing order, noisy sums of their encoded cells, and the noise in each."""

    columns: Indices
    sums: Floats
    noise_std: float


def noisy_threshold(
    source: WideSource, budget: Budget, *, width: int, sparsity: int, calibration: str = "tight"
) -> Chosen:
    """The ``sparsity`` columns whose sums are largest in absolute value.

    Privacy: a selection of columns and their sums; their joint cost is the budget.
    """
    if calibration == "paper":
        return _printed(source, budget, width, sparsity)
    choice, rest = budget.split([_CHOICE, 1 - _CHOICE])
    columns = np.sort(source.select(LargestSums(width), picks_within(choice, sparsity, [rest])).indices)
    answer = OnSupport(source, columns).sum(ChosenSums(sparsity), rest)
    return Chosen(columns, answer.value[:, 0], answer.noise_std)


def _printed(source: WideSource, budget: Budget, width: int, sparsity: int) -> Chosen:
    if source.public_rows is None:
        raise ValueError("calibration='paper' needs neighbours='replace_one' with a public number of rows")
    query = LargestSums(width)
    scale = 2 * 2 * math.sqrt(3 * sparsity * math.log(1 / budget.delta)) / budget.epsilon  # lambda = 2
    # Noise and cost are inversely proportional: the noise at cost 1 gives the cost of this noise.
    each = source.selection_scale(query, Repeated(Pure(1.0), sparsity)) / scale
    picks, values = Repeated(Pure(each), sparsity), Repeated(Pure(each / 2), sparsity)
    refuse_weaker([picks, values], budget)
    picked = source.select(query, picks, values=values)
    order = np.argsort(picked.indices)
    return Chosen(picked.indices[order], picked.values[order], math.sqrt(2) * scale)
