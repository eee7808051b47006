"""DP-Threshold (RELU, Algorithm 2): a threshold above nearly all residuals, found by doubling.

As printed it counts residuals without their absolute value, counts one sample too many, and waits
for a noisy count to reach all m rows, which happens only by chance. Corrected here: it waits for
m - slack. Two calibrations: ``paper`` releases a count for every threshold, each with the noise of
all of them; ``tight`` releases the histogram between thresholds, where one row moves two cells
whatever their number, and adds up from the top.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.privacy import GDP
from discreet.rows import Floats, Source
from discreet.rows.histograms import ResidualCounts, ResidualHistogram, Residuals

# All counts are within their slack at once, except with this probability.
_FAILURE = 0.05


def doubling(smallest: float, largest: float) -> Floats:
    """smallest, 2 smallest, ... up to the first that is at least ``largest``."""
    if not 0 < smallest < largest < math.inf:
        raise ValueError(f"thresholds need 0 < smallest < largest, got {smallest!r} and {largest!r}")
    return np.asarray(smallest * 2.0 ** np.arange(math.ceil(math.log2(largest / smallest)) + 1))


def private_threshold(
    source: Source,
    cost: GDP,
    residuals: Residuals,
    edges: Floats,
    *,
    share: float | None = None,
    calibration: str = "tight",
) -> tuple[float, Floats]:
    """The smallest edge above about this share of the rows, and the noisy numbers
    of rows above each edge.

    share: None means all rows except what the noise can hide (the paper's choice),
    but at least half of them.

    Privacy: one sum, at this cost.
    """
    noise_of: Floats
    if calibration == "paper":
        # The last edge is returned whatever its count is, so it needs none: the printed noise is
        # for the log2(largest / smallest) others.
        counts = ResidualCounts(residuals, edges[:-1])
        answer = source.sum(counts, cost)
        rows = float(source.public_rows or 0)
        above = np.append(rows / 2 - answer.value[:, 0], 0.0)
        noise_of = np.full(len(edges), answer.noise_std)
    else:
        histogram = ResidualHistogram(residuals, edges)
        answer = source.sum(histogram, cost)
        cells = answer.value[:, 0]
        above = np.cumsum(cells[::-1])[::-1][1:]
        noise_of = answer.noise_std * np.sqrt(np.arange(len(edges), 0, -1))
        rows = float(source.public_rows or max(float(np.sum(cells)), answer.noise_std * math.sqrt(len(cells))))
    hidden = noise_of * math.sqrt(2 * math.log(len(edges) / _FAILURE))
    allowed = np.minimum(hidden, rows / 2) if share is None else np.full(len(edges), (1 - share) * rows)
    enough = np.flatnonzero(above <= allowed)
    return float(edges[enough[0]] if len(enough) else edges[-1]), above


def public_threshold(sizes: Floats, edges: Floats, share: float = 1.0) -> float:
    """The same from public residuals: exact counts, of which ``share`` must be below."""
    if share == 1.0:  # the edge above the largest
        return float(edges[min(int(np.searchsorted(edges, np.max(sizes, initial=0.0))), len(edges) - 1)])
    below = np.searchsorted(np.sort(sizes), edges, side="right")
    enough = np.flatnonzero(below >= share * len(sizes))
    return float(edges[enough[0]] if len(enough) else edges[-1])
