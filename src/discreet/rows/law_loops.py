"""One loop from the cells of a block to all sums that a pass of a descent asks for.

A few hundred rows at a time are encoded, mapped, weighed and summed while they are in a core's own
cache. Weights are those of ``laws.py``. There is no version in numpy: without numba the steps are
those of ``gradient.py`` and of the families, one by one, with the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.rows.exp_loops import exp_line
from discreet.rows.fused_loops import (
    add_carried,
    encode_tile,
    map_tile,
    spans_of_four,
)
from discreet.rows.kernel_loops import aligned, digit_sums, lower_squares, mirror, place_tile, weight_digits
from discreet.rows.poisson_loops import LINE, WORK_LINES, poisson_limits, poisson_rows, poisson_slopes

NAMES = ("law_pass",)
# Less than 512, whose squares float64 adds exactly; lines of 512 would share the same few places
# of the first-level cache.
_TILE = 480
CALLED = {
    "law_lines": False,
    "rule_line": False,
    "clipped_score": False,
    "clipped_slope": False,
    "limits_for": False,
    "shrunk_rows": False,
    "bounded_weight": False,
}


def law_lines(law: Any, y: Any, eta: Any, lines: Any, work: Any) -> None:
    """Scores, their sizes, weights in the information, and means of rows: the first lines."""
    size, family = len(y), law[0]
    score, sizes, weight, mean = lines[0, :size], lines[1, :size], lines[2, :size], lines[3, :size]
    lines[4, 0] = lines[4, 1] = -1.0  # no clip norm yet, and nothing found for any
    if family == 0.0:
        for i in range(size):
            score[i] = eta[i] - y[i]
            sizes[i] = np.abs(score[i])
            weight[i] = 1.0
    elif family == 1.0:
        for i in range(size):
            sizes[i] = -np.abs(eta[i])
        exp_line(sizes, work[0, :size], weight)
        for i in range(size):
            tail = weight[i]
            chance = (1.0 if eta[i] >= 0.0 else tail) / (1.0 + tail)
            other = 1.0 - chance
            score[i] = chance - y[i]
            sizes[i] = chance if chance > other else other
            weight[i] = tail / ((1.0 + tail) * (1.0 + tail))
    else:
        for i in range(size):
            near = -700.0 if eta[i] < -700.0 else eta[i]
            sizes[i] = 700.0 if near > 700.0 else near
        exp_line(sizes, work[0, :size], mean)
        for i in range(size):
            score[i] = mean[i] - y[i]
            sizes[i] = np.abs(score[i])
            weight[i] = mean[i]


def clipped_score(law: Any, clip: float, y: Any, length: Any, lines: Any, work: Any, out: Any) -> None:
    """Scores within clip / length."""
    size, score, sizes = len(out), lines[0, : len(out)], lines[1, : len(out)]
    if law[0] == 2.0 and law[3] > 0.0:
        limits_for(law, clip, length, lines, work)
        gain, centre, low, high = lines[6, :size], lines[7, :size], lines[8, :size], lines[9, :size]
        expected = lines[10, :size]
        for i in range(size):
            label = y[i] - centre[i]
            label = -low[i] if label < -low[i] else label
            label = high[i] if label > high[i] else label
            out[i] = gain[i] * (expected[i] - label)
        return
    for i in range(size):
        far = length[i] if not length[i] < 1e-100 else 1e-100
        value = sizes[i] if not sizes[i] < 1e-300 else 1e-300
        part = clip / far / value
        out[i] = score[i] * (1.0 if part > 1.0 else part)


def limits_for(law: Any, clip: float, length: Any, lines: Any, work: Any) -> None:
    """``poisson_limits``, unless they are there already."""
    if lines[4, 0] != clip:
        if lines[4, 1] < 0.0:
            lines[4, 1] = 0.0
            poisson_rows(law, lines[3, : len(length)], lines[5:], work)
        lines[4, 0] = clip
        poisson_limits(clip, law, length, lines[3, : len(length)], lines[5:], work)


def clipped_slope(law: Any, clip: float, length: Any, lines: Any, work: Any, out: Any) -> None:
    """The derivatives of expected scores within clip / length."""
    size, sizes, weight = len(out), lines[1, : len(out)], lines[2, : len(out)]
    if law[0] == 2.0 and law[3] > 0.0:
        limits_for(law, clip, length, lines, work)
        poisson_slopes(lines[3, :size], lines[5:], out)
        return
    for i in range(size):
        far = length[i] if not length[i] < 1e-100 else 1e-100
        if law[0] == 1.0:
            value = sizes[i] if not sizes[i] < 1e-300 else 1e-300
            part = clip / far / value
            out[i] = weight[i] * (1.0 if part > 1.0 else part)
        else:
            out[i] = weight[i] * (1.0 if sizes[i] < clip / far else 0.0)


def rule_line(law: Any, rule: Any, y: Any, length: Any, lines: Any, work: Any, out: Any) -> None:
    """What a rule of ``laws.py`` asks of each row."""
    what, first, second, size = rule[0], rule[1], rule[2], len(y)
    score, sizes, weight, more = lines[0, :size], lines[1, :size], lines[2, :size], lines[15, :size]
    if what == 0.0:
        if second > 0.0:
            clipped_score(law, second, y, length, lines, work, more)
        clipped_score(law, first, y, length, lines, work, out)
        for i in range(size if second > 0.0 else 0):
            out[i] -= more[i]
    elif what == 1.0:
        clipped_slope(law, first, length, lines, work, out)
        for i in range(size):
            out[i] = np.sqrt(out[i])
    elif what == 2.0:
        for i in range(size):
            far = length[i] if not length[i] < 1e-100 else 1e-100
            out[i] = sizes[i] * far / first if weight[i] > 0.0 else np.nan
    elif what == 3.0:
        for i in range(size):
            far = length[i] if not length[i] < 1e-100 else 1e-100
            out[i] = far / first + 0.0 * y[i]
    elif what == 5.0:
        for i in range(size):
            far = length[i] if not length[i] < 1e-100 else 1e-100
            out[i] = 0.0 if sizes[i] < first / far else 1.0 / far
    else:
        for i in range(size):
            out[i] = score[i] * score[i]


def bounded_weight(clip: float, length: Any, weight: Any) -> None:
    """Weights with which rows are no longer than ``clip``, up to rounding."""
    for i in range(len(weight)):
        norm = np.abs(weight[i]) * length[i]
        weight[i] *= clip / (clip if norm < clip else norm)


def shrunk_rows(numbers: Any, y: Any, length: Any, weight: Any, last: Any) -> None:
    """Weights that scale far rows down, and labels below them: those of ``MappedMoment``."""
    radius, centre, scale, bound, worth = numbers[3], numbers[4], numbers[5], numbers[6], numbers[7]
    for i in range(len(y)):
        weight[i] = radius / (radius if length[i] < radius else length[i])
        label = (y[i] - centre) / scale
        label = -bound if label < -bound else label
        label = bound if label > bound else label
        last[i] = label * (worth * weight[i])


def law_pass(
    addresses: Any,
    stride: int,
    scaling: Any,
    scale: float,
    matrix: Any,
    spans: Any,
    skipped: int,
    labels: Any,
    used: Any,
    law: Any,
    moments: Any,
    gradients: Any,
    asked: Any,
    exact_rows: int,
    squares: Any,
    sums: Any,
    out: Any,
) -> None:
    """Moments, sums of weighted rows, and numbers of rows; see ``law_parts.py`` for what each line
    of ``moments``, ``gradients`` and ``asked`` holds.
    """
    outputs, inputs = matrix.shape
    tile, z, placed = aligned(inputs, _TILE), aligned(outputs, _TILE), aligned(squares.shape[2], _TILE)
    rows, lines, digits = aligned(6, _TILE), aligned(16, _TILE), aligned(3, _TILE)
    work = aligned(WORK_LINES, LINE)
    tile[:], rows[5], none = 0.0, 1.0, rows[4, :0]
    totals = np.zeros((len(gradients), 3, inputs))
    whole, spans = spans[:, 0].max() <= 1 and spans[:, 1].min() >= inputs, spans_of_four(spans)
    all_used, summed = used.all(), 0
    for start in range(0, len(labels), _TILE):
        size = min(_TILE, len(labels) - start)
        some = used[start : start + size]
        y, length, weight, last = rows[0, :size], rows[1, :size], rows[2, :size], rows[3, :size]
        for i in range(size):
            y[i] = labels[start + i] * law[4] + law[5]
        encode_tile(addresses, stride, start, size, scaling, scale, tile)
        map_tile(matrix, spans, skipped, whole, tile, size, z, length)
        if skipped:
            law_lines(law, y, z[0, :size], lines, work)
        for number in range(len(asked)):
            rule = asked[number]
            rule_line(law, rule, y, length, lines, work, out[number, start : start + size])
        for number in range(len(moments)):
            rule = moments[number]
            if skipped:
                rule_line(law, rule, y, length, lines, work, weight)
                bounded_weight(rule[3], length, weight)
                place_tile(z[skipped:], weight, none, 0, size, rule[3], rule[4], placed)
            else:
                shrunk_rows(rule, y, length, weight, last)
                place_tile(z, weight, last, 0, size, rule[8], rule[9], placed)
            placed[:, size:] = 0.0
            for entry in range(0 if all_used else len(placed)):
                target = placed[entry, :size]
                for i in range(size):
                    target[i] = target[i] if some[i] else 0.0
            lower_squares(placed, squares[number, 0], squares[number, 1])
        if summed + size > exact_rows:
            for number in range(len(gradients)):
                add_carried(totals[number], sums[number, 0], sums[number, 1])
            summed = 0
        summed += size
        for number in range(len(gradients)):
            rule = gradients[number]
            if rule[7] > 0.0:  # rows of length one have limits of their own
                length, lines[4, 0] = rows[5, :size], -1.0
            rule_line(law, rule, y, length, lines, work, weight)
            for i in range(0 if all_used else size):
                weight[i] = weight[i] if some[i] else 0.0
            weight_digits(weight, length, rule[3], rule[4], rule[5], rule[6], digits)
            digits[:, size:] = 0.0
            digit_sums(tile, digits, totals[number])
    for number in range(len(gradients)):
        add_carried(totals[number], sums[number, 0], sums[number, 1])
    for number in range(len(moments)):
        mirror(squares[number, 0], squares[number, 1])
