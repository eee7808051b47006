"""A source with the noise of a curator, from a seeded generator, in plain floats: fast enough for
many fits.
"""

from __future__ import annotations

import math

import numpy as np
from plain_source import PlainBlock

from discreet.rows import Answer
from discreet.rows.query import reach


class NoisySource:
    """Sums of clipped rows and normal noise; ``spent`` adds up mu^2."""

    def __init__(self, x, y, random, neighbours):
        self.block, self.random, self.neighbours = PlainBlock(x, y), random, neighbours
        self.spent, self.passes = 0.0, 0

    @property
    def public_rows(self):
        return self.block.records if self.neighbours == "replace_one" else None

    def noise_std(self, query, cost):
        return reach(query.geometry, self.neighbours, query.left_norm * query.right_norm) / cost.mu

    def sum(self, query, cost):
        return self.sums([(query, cost)])[0]

    def sums(self, questions):
        self.passes += 1
        return [self._answer(query, cost) for query, cost in questions]

    def _answer(self, query, cost):
        self.spent += cost.mu**2
        left, right = (np.array(factor, dtype=float) for factor in query.factors(self.block))
        if query.geometry == "cells":
            each = query.shape[0] // len(left)
            left = np.vstack([(line == np.arange(each)[:, np.newaxis]) * 1.0 for line in left])
        square = query.geometry == "square"
        if query.geometry == "mapped":
            norms = np.linalg.norm(left, axis=0) * np.abs(right[0])
            right = right * np.minimum(1, query.left_norm / np.maximum(norms, 1e-300))
        else:
            first = int(query.geometry == "counted")  # a row's count is not clipped
            left = _shortened(left, query.left_norm)
            right = left if square else np.vstack([right[:first], _shortened(right[first:], query.right_norm)])
        total, std = left @ right.T, self.noise_std(query, cost)
        noise = std * self.random.normal(size=total.shape)
        if square:
            noise = np.diag(np.diagonal(noise)) + (np.triu(noise, 1) + np.triu(noise, 1).T) / math.sqrt(2)
        return Answer(total + noise, std, square)


def _shortened(rows, norm):
    return rows * np.minimum(1, norm / np.maximum(np.linalg.norm(rows, axis=0), 1e-300))
