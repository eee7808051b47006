"""Inner products of a vector with every candidate of its report, in numpy or compiled by numba.

Both give the same bits. A device that makes one report never compiles. A process that makes
thousands of reports compiles the loop after the first few hundred.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.local.chacha import key_streams
from discreet.local.codebook import ANGLES, candidate_bytes, cosines, on_sphere

Floats = NDArray[np.float64]

_GROUP = 1 << 20  # numbers in memory at a time: a few megabytes, which fit into the processor's cache
_COMPILE_AFTER = 1 << 20  # number of candidates after which a process compiles its loop: about a second's work
_made = 0


def scores(keys: list[bytes], vectors: Floats, count: int) -> Floats:
    """One row for each key: inner products of its vector with its first ``count`` candidates.

    Products are added in the order of coordinates.
    """
    global _made
    _made += len(keys) * count
    compiled = _compiled() if _made > _COMPILE_AFTER else None
    dimension = vectors.shape[1]
    out = np.empty((len(keys), count))
    group = max(1, _GROUP // (count * dimension))

    def fill(start: int) -> None:
        part = slice(start, start + group)
        stream = key_streams(keys[part], candidate_bytes(dimension) * count)
        if compiled is None:
            in_numpy(stream, vectors[part], out[part])
        else:
            compiled(stream.view("<u2"), cosines(), vectors[part], out[part])

    starts = range(0, len(keys), group)
    if compiled is None or len(starts) == 1:
        for start in starts:
            fill(start)
    else:  # the loop runs without Python's lock
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(fill, starts))
    return out


def in_numpy(stream: NDArray[np.uint8], vectors: Floats, out: Floats) -> None:
    """The computation as docs/local_wire.md defines it."""
    dimension = vectors.shape[1]
    books = on_sphere(stream.reshape(-1, candidate_bytes(dimension)), dimension).reshape(*out.shape, dimension)
    out[:] = 0.0
    for place in range(dimension):
        out += books[:, :, place] * vectors[:, place, np.newaxis]


def loop(stream: Any, table: Any, vectors: Any, out: Any) -> None:
    """The same computation as scalar loops for numba, with the same order of operations.

    The stream is read as 16-bit words.
    """
    reports, count = out.shape
    dimension = vectors.shape[1]
    pairs = (dimension + 1) // 2
    ends, points = np.empty(pairs), np.empty(2 * pairs)
    ends[pairs - 1] = 4294967296.0
    for report in range(reports):
        at = 0
        for candidate in range(count):
            for cut in range(pairs - 1):
                value = float(stream[report, at]) + 65536.0 * float(stream[report, at + 1])
                at += 2
                place = cut
                while place > 0 and ends[place - 1] > value:  # sorted by insertion
                    ends[place] = ends[place - 1]
                    place -= 1
                ends[place] = value
            before, total, score = 0.0, 0.0, 0.0
            for pair in range(pairs):
                length = sqrt(ends[pair] - before)
                before = ends[pair]
                turn = int(stream[report, at]) & 4095
                at += 1
                points[2 * pair] = length * table[turn]
                points[2 * pair + 1] = length * table[(turn + 3072) & 4095]
            for place in range(dimension):
                total += points[place] * points[place]
            norm = sqrt(total)
            for place in range(dimension):
                points[place] /= norm
            for place in range(dimension):
                score += points[place] * vectors[report, place]
            out[report, candidate] = score


assert ANGLES == 4096  # the loop has it in numbers


@cache
def _compiled() -> Any:
    try:
        import numba
    except ImportError:
        return None
    # No fastmath: contraction and reordering would change bits.
    try:
        return numba.njit(nogil=True, cache=True, error_model="numpy")(loop)
    except RuntimeError:  # no folder for the compiled code can be written: each process compiles again
        return numba.njit(nogil=True, error_model="numpy")(loop)
