"""Clipped scores of counts whose mean is subtracted, for a tile of rows.

The bits are those of glm/clipping.py and glm/clipped_means.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.rows.exp_loops import exp_line

CALLED = {"chance_table": False, "poisson_means": False, "poisson_limits": False, "poisson_slopes": False}


def chance_table(mean: Any, work: Any, table: Any) -> None:
    """For counts of this mean a line with the chance of each, and below them all a line with the
    chance of no more than that.
    """
    counts, less = len(table) // 2, work[0, : len(mean)]
    for i in range(len(mean)):
        less[i] = -mean[i]
    chances, totals = table[0, : len(mean)], table[counts, : len(mean)]
    exp_line(less, work[1, : len(mean)], chances)
    for i in range(len(mean)):
        totals[i] = chances[i]
    for count in range(1, counts):
        inverse, before, sums = 1.0 / count, table[count - 1, : len(mean)], table[counts + count - 1, : len(mean)]
        chances, totals = table[count, : len(mean)], table[counts + count, : len(mean)]
        for i in range(len(mean)):
            chance = before[i] * mean[i] * inverse
            chances[i], totals[i] = chance, sums[i] + chance


def poisson_means(
    mean: Any, centre: Any, low: Any, high: Any, dispersion: float, table: Any, work: Any, out: Any
) -> None:
    """E max(-low, min(high, Y - centre)) for counts of the mean that the table is about."""
    size, stride, counts, last = len(out), table.shape[1], len(table) // 2, len(table) // 2 - 1.0
    chances, totals = table[:counts].reshape(counts * stride), table[counts:].reshape(counts * stride)
    under_top, at_top, under_bottom, at_bottom = work[0, :size], work[1, :size], work[2, :size], work[3, :size]
    for i in range(size):
        shift = mean[i] - centre[i]
        end = np.floor(mean[i] + (high[i] - shift))
        near = end if end >= 0.0 else 0.0
        near = last if near > last else near
        place = np.int64(near) * stride + i
        under_top[i] = totals[place] if end >= 0.0 else 0.0
        at_top[i] = chances[place] if end == near else 0.0
        end = np.ceil(mean[i] - (low[i] + shift)) - 1
        near = end if end >= 0.0 else 0.0
        near = last if near > last else near
        place = np.int64(near) * stride + i
        under_bottom[i] = totals[place] if end >= 0.0 else 0.0
        at_bottom[i] = chances[place] if end == near else 0.0
    for i in range(size):
        shift = mean[i] - centre[i]
        lower, upper = low[i] + shift, high[i] - shift
        far = 8.0 * (1 + np.sqrt(dispersion * mean[i]))
        cut = (upper < far) | (lower < (far if far < mean[i] else mean[i]))
        inner = mean[i] * (at_bottom[i] - at_top[i])
        above = 1.0 if under_top[i] > 1.0 else under_top[i]
        below = 1.0 if under_bottom[i] > 1.0 else under_bottom[i]
        part = inner + upper * (1.0 - above) - lower * below
        out[i] = shift + part if cut else shift


def poisson_limits(clip: float, law: Any, length: Any, raw: Any, lines: Any, work: Any) -> None:
    """Mean, gain, centre, the limits of the clip and the mean of what it leaves: six lines."""
    size, y_low, y_high = len(raw), law[1], law[2]
    mean, gain, centre = lines[0, :size], lines[1, :size], lines[2, :size]
    low, high, expected, reach = lines[3, :size], lines[4, :size], lines[5, :size], lines[6, :size]
    for i in range(size):
        middle = 1e-12 if raw[i] < 1e-12 else raw[i]
        middle = 1e12 if middle > 1e12 else middle
        ratio = raw[i] / middle
        mean[i], gain[i] = middle, 1.0 if ratio < 1.0 else ratio
        far = length[i] if not length[i] < 1e-100 else 1e-100
        least = clip / far / gain[i]
        reach[i] = 1e15 if least > 1e15 else least
        middle = y_low if middle < y_low else middle
        centre[i] = y_high if middle > y_high else middle
        lowest, highest = centre[i] - y_low, y_high - centre[i]
        low[i] = reach[i] if not lowest <= reach[i] else lowest
        high[i] = reach[i] if not highest <= reach[i] else highest
    table = work[4:]
    chance_table(mean, work, table)
    poisson_means(mean, centre, low, high, law[6], table, work, expected)
    for i in range(size):
        shift, far = expected[i], reach[i]
        shift = -far if shift < -far else shift
        taken = (far if shift > far else shift) if np.abs(expected[i]) > 0.01 * far else 0.0
        lowest, highest = centre[i] - y_low, y_high - centre[i]
        less, more = far - taken, far + taken
        low[i] = less if not lowest <= less else lowest
        high[i] = more if not highest <= more else highest
    poisson_means(mean, centre, low, high, law[6], table, work, expected)
    for i in range(size):
        far, below, above = reach[i], expected[i] + low[i], high[i] - expected[i]
        largest = above if above > below else below
        largest = far if far > largest else largest
        gain[i] = gain[i] * (far / largest)


def poisson_slopes(law: Any, raw: Any, lines: Any, work: Any, out: Any) -> None:
    """The derivatives of expected scores in eta."""
    size = len(raw)
    mean, gain, centre, low, high = (
        lines[0, :size],
        lines[1, :size],
        lines[2, :size],
        lines[3, :size],
        lines[4, :size],
    )
    moved, above, table = lines[6, :size], lines[7, :size], work[4:]
    for i in range(size):
        moved[i] = mean[i] + 1e-4 * mean[i]
    chance_table(moved, work, table)
    poisson_means(moved, centre, low, high, law[6], table, work, above)
    for i in range(size):
        moved[i] = mean[i] - 1e-4 * mean[i]
    chance_table(moved, work, table)
    poisson_means(moved, centre, low, high, law[6], table, work, out)
    for i in range(size):
        slope = gain[i] * raw[i] * (above[i] - out[i]) / (2 * (1e-4 * mean[i]))
        slope = 0.0 if slope < 0.0 else slope
        out[i] = raw[i] if slope > raw[i] else slope
