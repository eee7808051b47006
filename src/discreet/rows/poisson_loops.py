"""Clipped scores of counts whose mean is subtracted, for a tile of rows.

The bits are those of glm/clipping.py and glm/clipped_means.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.rows.exp_loops import exp_line

CALLED = {
    "add_chances": False,
    "add_upper_chances": False,
    "poisson_means": False,
    "poisson_rows": False,
    "poisson_limits": False,
    "poisson_slopes": False,
}
# Lines of memory that these loops need, and how far apart they begin.
WORK_LINES, LINE = 8, 480


def add_chances(lines: Any, count: float, inverse: float, next_inverse: float, size: int) -> None:
    """Add the chances of a count and the next one: distances between lines that the compiler knows
    let it use vectors.
    """
    for i in range(size):
        here, mean = lines[i], lines[i + LINE]
        next_one = here * mean * inverse
        lines[i] = next_one * mean * next_inverse
        top, bottom = lines[i + 2 * LINE], lines[i + 3 * LINE]
        under = lines[i + 4 * LINE] + (here if count <= top else 0.0)
        lines[i + 4 * LINE] = under + (next_one if count + 1.0 <= top else 0.0)
        at = here if count <= top else lines[i + 5 * LINE]  # in the end, that of the last of them
        lines[i + 5 * LINE] = next_one if count + 1.0 <= top else at
        under = lines[i + 6 * LINE] + (here if count <= bottom else 0.0)
        lines[i + 6 * LINE] = under + (next_one if count + 1.0 <= bottom else 0.0)
        at = here if count <= bottom else lines[i + 7 * LINE]
        lines[i + 7 * LINE] = next_one if count + 1.0 <= bottom else at


def add_upper_chances(lines: Any, count: float, inverse: float, next_inverse: float, size: int) -> None:
    """``add_chances`` where both counts are above all lower limits."""
    for i in range(size):
        here, mean, top = lines[i], lines[i + LINE], lines[i + 2 * LINE]
        next_one = here * mean * inverse
        lines[i] = next_one * mean * next_inverse
        under = lines[i + 4 * LINE] + (here if count <= top else 0.0)
        lines[i + 4 * LINE] = under + (next_one if count + 1.0 <= top else 0.0)
        at = here if count <= top else lines[i + 5 * LINE]
        lines[i + 5 * LINE] = next_one if count + 1.0 <= top else at


def poisson_means(counts: int, lines: Any, size: int, work: Any) -> None:
    """The sixth of the lines of ``poisson_limits``, E max(-low, min(high, Y - centre)) for counts
    below so many, and the eighth, its derivative in the mean.
    """
    mean, centre, low, high = lines[0, :size], lines[2, :size], lines[3, :size], lines[4, :size]
    expected, rise, none, far = lines[5, :size], lines[7, :size], lines[8, :size], lines[9, :size]
    chance, again, top, bottom = work[0, :size], work[1, :size], work[2, :size], work[3, :size]
    under_top, at_top, under_bottom, at_bottom = work[4, :size], work[5, :size], work[6, :size], work[7, :size]
    for i in range(size):
        chance[i], again[i], shift = none[i], mean[i], mean[i] - centre[i]
        top[i], bottom[i] = np.floor(mean[i] + (high[i] - shift)), np.ceil(mean[i] - (low[i] + shift)) - 1
        under_top[i] = at_top[i] = under_bottom[i] = at_bottom[i] = 0.0
    flat = work.reshape(WORK_LINES * LINE)
    # Counts above the limits of all these rows would add nothing.
    highest = lowest = -1.0
    for i in range(size):
        highest, lowest = top[i] if top[i] > highest else highest, bottom[i] if bottom[i] > lowest else lowest
    highest = lowest if lowest > highest else highest
    for count in range(0, min(counts, int(min(highest, float(counts))) + 1), 2):
        if count <= lowest:
            add_chances(flat, float(count), 1.0 / (count + 1), 1.0 / (count + 2), size)
        else:
            add_upper_chances(flat, float(count), 1.0 / (count + 1), 1.0 / (count + 2), size)
    for i in range(size):
        shift = mean[i] - centre[i]
        lower, upper = low[i] + shift, high[i] - shift
        cut = (upper < far[i]) | (lower < (far[i] if far[i] < mean[i] else mean[i]))
        above = 1.0 if under_top[i] > 1.0 else under_top[i]
        below = 1.0 if under_bottom[i] > 1.0 else under_bottom[i]
        inner = mean[i] * (at_bottom[i] - at_top[i])
        part = inner + upper * (1.0 - above) - lower * below
        expected[i] = shift + part if cut else shift
        part = above - (top[i] + 1.0 - (mean[i] + upper)) * at_top[i]
        part = part - (below - (bottom[i] + 1.0 - (mean[i] - lower)) * at_bottom[i])
        rise[i] = part if cut else 1.0


def poisson_rows(law: Any, raw: Any, lines: Any, work: Any) -> None:
    """What no clip changes: means within what chances can be computed for, the nearest labels, the
    chance of none, and how far labels may lie; of the lines of ``poisson_limits``.
    """
    size, y_low, y_high = len(raw), law[1], law[2]
    mean, centre, reach = lines[0, :size], lines[2, :size], lines[6, :size]
    none, far = lines[8, :size], lines[9, :size]
    for i in range(size):
        middle = 1e-12 if raw[i] < 1e-12 else raw[i]
        middle = 1e12 if middle > 1e12 else middle
        mean[i], far[i], reach[i] = middle, 8.0 * (1 + np.sqrt(law[6] * middle)), -middle
        middle = y_low if middle < y_low else middle
        centre[i] = y_high if middle > y_high else middle
    exp_line(reach, work[0, :size], none)


def poisson_limits(clip: float, law: Any, length: Any, raw: Any, lines: Any, work: Any) -> None:
    """Mean, gain, centre, the limits of the clip, the mean of what it leaves, and the derivative of
    that in the mean of labels: of ten lines all but the last four, and the eighth.
    """
    size, y_low, y_high, counts = len(raw), law[1], law[2], int(law[2]) + 2
    mean, gain, centre = lines[0, :size], lines[1, :size], lines[2, :size]
    low, high, expected, reach = lines[3, :size], lines[4, :size], lines[5, :size], lines[6, :size]
    for i in range(size):
        ratio = raw[i] / mean[i]
        gain[i] = 1.0 if ratio < 1.0 else ratio
    for i in range(size):
        wide = length[i] if not length[i] < 1e-100 else 1e-100
        least = clip / wide / gain[i]
        reach[i] = 1e15 if least > 1e15 else least
        lowest, highest = centre[i] - y_low, y_high - centre[i]
        low[i] = reach[i] if not lowest <= reach[i] else lowest
        high[i] = reach[i] if not highest <= reach[i] else highest
    poisson_means(counts, lines, size, work)
    for i in range(size):
        shift, most = expected[i], reach[i]
        shift = -most if shift < -most else shift
        taken = (most if shift > most else shift) if np.abs(expected[i]) > 0.01 * most else 0.0
        lowest, highest = centre[i] - y_low, y_high - centre[i]
        less, more = most - taken, most + taken
        low[i] = less if not lowest <= less else lowest
        high[i] = more if not highest <= more else highest
    poisson_means(counts, lines, size, work)
    for i in range(size):
        most, below, above = reach[i], expected[i] + low[i], high[i] - expected[i]
        largest = above if above > below else below
        largest = most if most > largest else largest
        gain[i] = gain[i] * (most / largest)


def poisson_slopes(raw: Any, lines: Any, out: Any) -> None:
    """The derivatives of expected scores in eta, from what ``poisson_limits`` found."""
    gain, rise = lines[1, : len(raw)], lines[7, : len(raw)]
    for i in range(len(raw)):
        slope = gain[i] * raw[i] * rise[i]
        slope = 0.0 if slope < 0.0 else slope
        out[i] = raw[i] if slope > raw[i] else slope
