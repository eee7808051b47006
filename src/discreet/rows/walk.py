"""Single rows: each row's direction, a weight times its coordinates, at the current iterate.

A direction is clipped to its limit and put on a grid of 2^22 units: whole numbers,
no longer than the limit.

Proof of the bound. The norm |z| is known to a relative error of (m + 4) 2^-53 for m coordinates,
and the factor weight UNITS / max(|weight| |z|, clip) to 5 2^-53 more; rounding towards zero only
shortens. So a direction has at most UNITS (1 + (m + 12) 2^-53) units, and ``LONGEST`` leaves 2^-30.
A row is left out if its weight is NaN, or if the product of its weight and |z| is not finite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.rows.kernels import column_norms
from discreet.rows.linear_map import LinearMap
from discreet.rows.query import Block, Floats
from discreet.rows.scores import Labels

# Grid units of a direction at its limit, and the largest possible number of them.
UNITS = 2.0**22
LONGEST = UNITS * (1 + 2.0**-30)

# Maps a label and the index theta . z to the weight of z.
Weight = Callable[[float, float], float]


@dataclass(frozen=True, eq=False)
class WalkedRows:
    """Rows' coordinates, one line each; the same scaled down to the radius,
    their norms, and labels.
    """

    z: Floats
    short: Floats
    length: Floats
    y: Floats

    def units(self, row: int, theta: Floats, weight: Weight, clip: float) -> Floats:
        """The row's direction in whole grid units of clip / UNITS."""
        moved = weight(float(self.y[row]), float((self.z[row] * theta).sum()))
        size = abs(moved) * float(self.length[row])
        if not size < math.inf:
            return np.zeros(len(theta))
        return np.asarray(np.trunc(self.short[row] * (moved * (UNITS / max(size, clip)))))


@dataclass(frozen=True, eq=False)
class Walk:
    """What a pass over single rows uses: coordinates by a public map, far rows
    scaled down, labels.
    """

    map: LinearMap
    labels: Labels
    radius: float
    label: str = "gradient"

    @property
    def size(self) -> int:
        return self.map.outputs

    def read(self, block: Block) -> WalkedRows:
        """Numbers do not depend on other rows of the block: the map is applied in whole numbers."""
        with np.errstate(all="ignore"):
            z = np.array(self.map.apply(block).T, order="C")
            shrink = self.radius / np.maximum(column_norms(np.ascontiguousarray(z.T)), self.radius)
            short = z * shrink[:, np.newaxis]
            length = column_norms(np.ascontiguousarray(short.T))
        return WalkedRows(z, short, length, np.array(self.labels.of(block)))
