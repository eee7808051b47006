"""One loop from the cells of a block to all sums that a pass of a descent asks for.

A few hundred rows at a time are encoded, mapped, weighed and summed while they are in a core's own
cache. Weights are those of ``laws.py``. There is no version in numpy: without numba the steps are
those of ``gradient.py`` and of the families, one by one, with the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.rows.fused_loops import add_carried, add_squares, encode_tile, mapped_four, mapped_one, silent_line
from discreet.rows.kernel_loops import aligned, digit_sums, place_tile, square_sums, weight_digits

NAMES = ("law_pass",)
# Less than 512, whose squares float64 adds exactly; lines of 512 would share the same few places
# of the first-level cache.
_TILE = 480
CALLED = {
    "map_tile": False,
    "law_lines": False,
    "rule_line": False,
    "clipped_score": False,
    "shrunk_rows": False,
    "bounded_weight": False,
}


def map_tile(matrix: Any, spans: Any, skipped: int, whole: bool, tile: Any, size: int, z: Any, norms: Any) -> None:
    """All outputs of a tile, and the norm of all but the ``skipped`` first."""
    if not whole:
        silent_line(tile, size)
    outputs, output = len(matrix), 0
    norms[:] = 0.0
    while output < outputs:
        number = 4 if output + 4 <= outputs else 1
        begin, end = spans[output : output + number, 0].min(), spans[output : output + number, 1].max()
        if number == 4:
            mapped_four(matrix, output, begin, end, tile, size, z[output : output + 4])
        else:
            mapped_one(matrix[output], begin, end, tile, z[output, :size])
        for line in range(output, output + number):
            if line >= skipped:
                add_squares(z[line, :size], norms)
        output += number
    for i in range(len(norms)):
        norms[i] = np.sqrt(norms[i])


def law_lines(law: Any, y: Any, eta: Any, lines: Any) -> None:
    """Scores, their sizes, and weights in the information of rows: the first lines."""
    score, sizes, weight = lines[0, : len(y)], lines[1, : len(y)], lines[2, : len(y)]
    for i in range(len(y)):
        score[i] = eta[i] - y[i]
        sizes[i] = np.abs(score[i])
        weight[i] = 1.0


def clipped_score(clip: float, length: Any, lines: Any, out: Any) -> None:
    """Scores within clip / length."""
    score, sizes = lines[0, : len(out)], lines[1, : len(out)]
    for i in range(len(out)):
        far = length[i] if not length[i] < 1e-100 else 1e-100
        value = sizes[i] if not sizes[i] < 1e-300 else 1e-300
        part = clip / far / value
        out[i] = score[i] * (1.0 if part > 1.0 else part)


def rule_line(what: int, first: float, second: float, y: Any, length: Any, lines: Any, out: Any) -> None:
    """What a rule of ``laws.py`` asks of each row."""
    score, sizes, weight, more = lines[0, : len(y)], lines[1, : len(y)], lines[2, : len(y)], lines[3, : len(y)]
    if what == 0:
        clipped_score(first, length, lines, out)
        if second > 0.0:
            clipped_score(second, length, lines, more)
            for i in range(len(out)):
                out[i] -= more[i]
    elif what == 1:
        for i in range(len(out)):
            far = length[i] if not length[i] < 1e-100 else 1e-100
            out[i] = np.sqrt(weight[i] if sizes[i] < first / far else 0.0 * weight[i])
    elif what == 2:
        for i in range(len(out)):
            far = length[i] if not length[i] < 1e-100 else 1e-100
            out[i] = sizes[i] * far / first if weight[i] > 0.0 else np.nan
    elif what == 3:
        for i in range(len(out)):
            far = length[i] if not length[i] < 1e-100 else 1e-100
            out[i] = far / first + 0.0 * y[i]
    else:
        for i in range(len(out)):
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
    rows, lines, digits = aligned(5, _TILE), aligned(8, _TILE), aligned(3, _TILE)
    tile[:], none = 0.0, rows[4, :0]
    totals = np.zeros((len(gradients), 3, inputs))
    whole = spans[:, 0].max() <= 1 and spans[:, 1].min() >= inputs
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
            law_lines(law, y, z[0, :size], lines)
        for number in range(len(asked)):
            rule = asked[number]
            rule_line(int(rule[0]), rule[1], rule[2], y, length, lines, out[number, start : start + size])
        for number in range(len(moments)):
            rule = moments[number]
            if skipped:
                rule_line(int(rule[0]), rule[1], rule[2], y, length, lines, weight)
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
            square_sums(placed, squares[number, 0], squares[number, 1])
        if summed + size > exact_rows:
            for number in range(len(gradients)):
                add_carried(totals[number], sums[number, 0], sums[number, 1])
            summed = 0
        summed += size
        for number in range(len(gradients)):
            rule = gradients[number]
            rule_line(int(rule[0]), rule[1], rule[2], y, length, lines, weight)
            for i in range(0 if all_used else size):
                weight[i] = weight[i] if some[i] else 0.0
            weight_digits(weight, length, rule[3], rule[4], rule[5], rule[6], digits)
            digits[:, size:] = 0.0
            digit_sums(tile, digits, totals[number])
    for number in range(len(gradients)):
        add_carried(totals[number], sums[number, 0], sums[number, 1])
