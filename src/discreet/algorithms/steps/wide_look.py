"""A cheap first look at a wide table: the number of rows, location and scale of y,
one scale for all cells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.privacy import GDP
from discreet.rows import OnSupport, RowsUsed, WideLook, WideSource

# This many evenly spaced columns give the scale of all: reading every cell would cost another pass.
_SAMPLED = 64
_LEAST_SQUARE = 1e-4


@dataclass(frozen=True)
class WideScaling:
    """What a selection needs beforehand; y and cells are encoded to [-1, 1]."""

    count: float
    y_centre: float
    y_scale: float
    cell_scale: float
    # Rows with a label: a missing cell drops out of its own column only.
    used: RowsUsed
    # The noise in y_centre.
    y_noise_std: float = 0.0
    # The mean of y before it is limited to its range.
    y_mean: float = 0.0


def wide_look(source: WideSource, cost: GDP, width: int) -> WideScaling:
    """Privacy: one sum."""
    columns = np.unique(np.linspace(0, width - 1, min(width, _SAMPLED)).astype(np.int64))
    query = WideLook(len(columns)) if source.public_rows is None else WideLook.counting(len(columns))
    answer = OnSupport(source, columns).sum(query, cost)
    weight, (seen, y, y_square, square) = query.count_weight, answer.value[0]
    used = RowsUsed.seen(float(seen) / weight, answer.noise_std / weight, source.public_rows)
    count = used.likely
    noise = answer.noise_std / count
    centre = float(np.clip(y / count, -1, 1))
    variance = float(y_square) / count + query.middle - centre**2 + noise
    cell_square = float(np.clip(square / count + 0.5, _LEAST_SQUARE, 1.0))
    y_scale = math.sqrt(float(np.clip(variance, 1e-3, 1.0)))
    return WideScaling(count, centre, y_scale, math.sqrt(cell_square), used, noise, float(y) / count)
