"""Levels of declared categories: which columns are indicators is public, and a first look shows
their shares of the rows.

All second moments of the columns of one category follow from the shares: p_i (1 - p_i) on the
diagonal and -p_i p_j beside it. So they need not be measured where the few long rows of a rare
level are clipped. In coordinates that are white for the category, rows of a level with the share p
have the squared length 1 / p - 1, those of the reference level among them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.rows import Floats

# A level that noise may hide counts as this many standard deviations of the noise. Stretched too
# far, its rows would be long and clipped, with all that they say of other columns.
_LEAST = 1.5


@dataclass(frozen=True, eq=False)
class Category:
    """The columns of a declared category, from ``start`` to ``stop``, and the shares of its levels,
    that of the reference first.
    """

    start: int
    stop: int
    shares: Floats
    # By how many standard deviations of the noise the rows are not all of this level, nor none.
    clear: Floats

    @classmethod
    def read(cls, start: int, stop: int, means: Floats, noise_std: float) -> Category:
        """From the noisy means of all columns."""
        seen = means[start:stop]
        noise = np.full(len(seen) + 1, noise_std)
        noise[0] *= math.sqrt(len(seen))
        every = np.concatenate([[1 - np.sum(seen)], seen])
        clear = np.maximum(np.minimum(every, 1 - every), 0.0) / noise
        shares = np.maximum(np.minimum(every, 1.0), _LEAST * np.minimum(noise, 1.0))
        return cls(start, stop, shares / np.sum(shares), clear)

    @property
    def places(self) -> slice:
        return slice(self.start, self.stop)

    @property
    def mean(self) -> Floats:
        """The means of its columns."""
        return self.shares[1:]

    def moment(self, constant: bool) -> Floats:
        """The covariance of its columns or, without a constant, their second moment about 0."""
        moment = np.diag(self.mean)
        return moment - np.outer(self.mean, self.mean) if constant else moment

    def root(self, constant: bool) -> Floats:
        """The map to white coordinates."""
        values, vectors = np.linalg.eigh(self.moment(constant))
        return np.asarray((vectors / np.sqrt(np.maximum(values, 1e-12))) @ vectors.T)

    def levels(self, constant: bool) -> Iterator[tuple[float, Floats, Floats]]:
        """For each level: its share, where its rows lie from z = 0, and the change of slopes that
        moves their predictor alone by 1. Without a constant, rows of the reference lie at 0.
        """
        size = len(self.mean)
        for level, share in enumerate(self.shares):
            if level == 0 and not constant:
                continue
            row = np.eye(size)[level - 1] if level else np.zeros(size)
            away, change = row - self.mean if constant else row, row if level else row - 1
            yield float(share), away, change / float(change @ away)


def categories(places: Sequence[tuple[int, int]], means: Floats, noise_std: float) -> tuple[Category, ...]:
    """The declared categories, whose columns begin and end at these places."""
    return tuple(Category.read(start, stop, means, noise_std) for start, stop in places)


def declared_places(declared: Sequence[Category], width: int) -> NDArray[np.bool_]:
    """Whether a column is an indicator of a declared category."""
    found = np.zeros(width, dtype=bool)
    for category in declared:
        found[category.places] = True
    return found
