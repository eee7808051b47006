"""Candidate vectors of a report: uniform on the sphere, computed from the report's id alone.

Every language gets the same bits.

A uniform vector in 2 q dimensions is q pairs: the squared lengths of pairs are the spacings of
q - 1 sorted uniform numbers, and each pair's angle is uniform. A vector in 2 q - 1 dimensions is
the same without its last coordinate, divided by its length. Cuts have 32 bits and angles 12, so the
law is that of the sphere to about one part in 2^12 of an angle, averaged over a full symmetric set
of angles. Only additions, products, quotients and square roots are used, in the order of
docs/local_wire.md: IEEE 754 fixes every bit of them.
"""

from __future__ import annotations

import hashlib
import math
import struct
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.local.chacha import key_stream, key_streams

Floats = NDArray[np.float64]

ANGLES = 4096
_WHOLE = 2.0**32
_SCALE = 2.0**30


def candidate_bytes(dimension: int) -> int:
    """How many bytes of the stream one candidate takes: 4 for each cut, 2 for each angle."""
    pairs = (dimension + 1) // 2
    return 6 * pairs - 4


def codebook_key(digest: bytes, identity: bytes) -> bytes:
    """The stream's key for one report of one task."""
    return hashlib.sha256(digest + identity).digest()


def candidates(keys: list[bytes], dimension: int, count: int) -> Floats:
    """The first ``count`` candidates of each key, as an array (keys, candidates, dimension)."""
    size = candidate_bytes(dimension)
    stream = key_streams(keys, size * count)
    return on_sphere(stream.reshape(-1, size), dimension).reshape(len(keys), count, dimension)


def chosen(key: bytes, dimension: int, index: int) -> list[float]:
    """One candidate alone, which is what a collector needs.

    The same steps on Python numbers: faster for a single vector.
    """
    pairs = (dimension + 1) // 2
    size = candidate_bytes(dimension)
    numbers = struct.unpack(f"<{pairs - 1}I{pairs}H", key_stream(key, size * index, size))
    ends = [0, *sorted(numbers[: pairs - 1]), 2**32]
    table = _cosine_list()
    points: list[float] = []
    for low, high, turn in zip(ends, ends[1:], numbers[pairs - 1 :], strict=False):
        length = math.sqrt(high - low)
        points += (length * table[turn % ANGLES], length * table[(turn - ANGLES // 4) % ANGLES])
    del points[dimension:]
    total = 0.0
    for point in points:
        total += point * point
    norm = math.sqrt(total)
    return [point / norm for point in points]


def on_sphere(stream: NDArray[np.uint8], dimension: int) -> Floats:
    """One unit vector for each row of bytes: the cuts first, then the angles."""
    pairs = (dimension + 1) // 2
    cuts = np.sort(np.ascontiguousarray(stream[:, : 4 * pairs - 4]).view("<u4"), axis=1).astype(np.float64)
    angles = np.ascontiguousarray(stream[:, 4 * pairs - 4 :]).view("<u2") & np.uint16(ANGLES - 1)
    ends = np.empty((len(stream), pairs + 1))
    ends[:, 0], ends[:, 1:-1], ends[:, -1] = 0.0, cuts, _WHOLE
    lengths = np.sqrt(ends[:, 1:] - ends[:, :-1])
    points = np.empty((len(stream), 2 * pairs))
    points[:, 0::2] = lengths * cosines()[angles]
    points[:, 1::2] = lengths * cosines()[(angles - np.uint16(ANGLES // 4)) & np.uint16(ANGLES - 1)]
    points = points[:, :dimension]
    return points / np.sqrt(ordered_sum(points * points))[:, np.newaxis]


@cache
def cosines() -> Floats:
    """cos(2 pi (a + 1/2) / 4096) in units of 2^-30, rounded to whole numbers.

    No value is near enough to a half for two libraries to round it differently.
    """
    return np.array(_cosine_list())


@cache
def _cosine_list() -> list[float]:
    return [float(round(_SCALE * math.cos(2 * math.pi * (place + 0.5) / ANGLES))) for place in range(ANGLES)]


def ordered_sum(terms: Floats) -> Floats:
    """The sum over the last axis, from the first term to the last, as a plain loop adds."""
    total = terms[..., 0].copy()
    for place in range(1, terms.shape[-1]):
        total += terms[..., place]
    return total
