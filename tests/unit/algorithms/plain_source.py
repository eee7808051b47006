"""A source without noise: what algorithms compute from exact answers, in plain floats."""

from __future__ import annotations

import numpy as np

from discreet.rows import Answer, LinearMap


class PlainBlock:
    """Encoded rows, one per line of x."""

    def __init__(self, x, y, offset=None):
        self.x, self.y, self.offset, self.records = (
            np.asarray(x, dtype=float),
            np.asarray(y, dtype=float),
            offset,
            len(x),
        )

    def write_x(self, out):
        out[:] = self.x.T


class PlainSource:
    """Float sums over all rows, and no noise at all: for tests of what algorithms compute."""

    def __init__(self, x, y, offset=None):
        self._block = PlainBlock(x, y, offset)
        self.asked = []

    @property
    def public_rows(self):
        return self._block.records

    def noise_std(self, query, cost):
        return 1e-12

    def sum(self, query, cost):
        self.asked.append(query.label)
        left, right = query.factors(self._block)
        return Answer(left @ right.T, 1e-12, query.geometry == "square")


def plain_map(self, block):
    """``LinearMap.apply`` in floats: the exact map rounds its matrix to 26 bits, too few to compare
    10 digits.
    """
    row = np.vstack([np.ones(block.records), block.x.T])
    return self.matrix @ row


def plain_map_with_norms(self, block, skipped=0):
    mapped = plain_map(self, block)
    return mapped, np.linalg.norm(mapped[skipped:], axis=0)


def without_rounding(monkeypatch):
    monkeypatch.setattr(LinearMap, "apply", plain_map)
    monkeypatch.setattr(LinearMap, "with_norms", plain_map_with_norms)
