"""A first look for index models: the location of y and the length of rows, from histograms.

Sums of squares would need noise for the longest declared row. A histogram needs noise for one row
in one cell, so a scale is found to within a factor even if the declared bounds are far too wide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.privacy import GDP
from discreet.rows import Floats, Labels, RowsUsed, Source
from discreet.rows.histograms import Look

# Cells double in size away from zero: this many on each side.
_DOUBLINGS = 8


@dataclass(frozen=True)
class Seen:
    """The number of rows, location and spread of y (in the user's units), and the
    typical norm of encoded x.
    """

    count: float
    y_middle: float
    y_spread: float
    x_norm: float
    # The number of rows that contributed; None without a look.
    used: RowsUsed | None = None


def look(source: Source, cost: GDP, labels: Labels, width: int, x_radius: float, with_norms: bool = True) -> Seen:
    """``with_norms``: whether lengths of rows are asked for; public rows may tell them.

    Privacy: one sum, of one or two histograms.
    """
    low, high = labels.low, labels.high
    shrinking = 2.0 ** -np.arange(_DOUBLINGS)
    largest = max(abs(low), abs(high))
    edges = np.unique(np.concatenate([-largest * shrinking, [0.0], largest * shrinking]))
    edges = edges[(edges > low) & (edges < high)]
    norms = x_radius * 2.0 ** -np.arange(0.5, 6.0, 0.5)[::-1] if with_norms else np.empty(0)
    query = Look(labels, width, edges, norms)
    answer = source.sum(query, cost)
    of_y, of_norm = query.read(answer.value)
    used = RowsUsed.seen(float(np.sum(of_y)), answer.noise_std * math.sqrt(len(of_y)), source.public_rows)
    count = float(source.public_rows or max(float(np.sum(of_y)), used.noise_std))
    quantiles = [_quantile(of_y, edges, low, high, count, share) for share in (0.16, 0.5, 0.84)]
    spread = max((quantiles[2] - quantiles[0]) / 2, largest * 2.0**-_DOUBLINGS)
    x_norm = 1.05 * _quantile(of_norm, norms, 0.0, x_radius, count, 0.5) if with_norms else x_radius
    return Seen(count, quantiles[1], spread, max(x_norm, 2.0**-6 * x_radius), used)


def _quantile(counts: Floats, edges: Floats, low: float, high: float, total: float, share: float) -> float:
    """Where the noisy cumulative counts, averaged over both directions, first
    reach this share of all rows.
    """
    ends = np.concatenate([[low], edges, [high]])
    below = np.concatenate([[0.0], np.cumsum(counts)])
    above = total - np.concatenate([np.cumsum(counts[::-1])[::-1], [0.0]])
    # Each direction has the noise of the cells on its side: they are weighted by it.
    cells = np.arange(len(ends), dtype=np.float64)
    weight = cells[::-1] / cells[-1]
    cumulative = np.maximum.accumulate(np.clip(weight * below + (1 - weight) * above, 0.0, total))
    return float(np.interp(share * total, cumulative + 1e-9 * total * cells, ends))
