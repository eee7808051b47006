"""The unit randomizer: pure epsilon for a vector in the unit ball, reported as the number of one
candidate.

The report's random id fixes K candidate vectors on the sphere (codebook.py). Let v be the record's
vector. It is rounded to the unit vector v/|v| or its opposite, the former with probability
(1 + |v|)/2, so that its mean is v. The m candidates with the largest inner product with it are the
top. Candidate j is reported with probability

    high / (m high + (K - m) low) if it is in the top,    low / (m high + (K - m) low) otherwise.

Theorem. The report is epsilon-private for the replacement of the whole record,
epsilon = log(high / low), exactly.

Proof. The id does not depend on the record. For a given id and a given rounded vector, exactly m
candidates have the weight ``high``, whatever the vector is and however its inner products were
rounded: ties go to the smaller number. So the normaliser m high + (K - m) low is the same for all
records, and each candidate's probability is one of two numbers with the ratio high / low. The
rounding to +-v mixes two such distributions, and a mixture lies between its parts. The choice is
drawn from a uniform whole number below the normaliser, so these are the true probabilities. QED

The mean. Candidates are uniform on the sphere and independent, so by symmetry E[V] = shrink u for a
unit vector u, with a constant from unit_law.py: V / shrink is unbiased, for v of any length <= 1,
and its second moment is known. As K grows this is the optimal randomizer (Asi, Feldman and Talwar
2022): e^epsilon times the density on the best cap.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DomainError
from discreet.fields import whole
from discreet.local.book_scores import scores
from discreet.local.codebook import chosen, codebook_key, ordered_sum
from discreet.local.unit_law import UnitLaw, best_size, top_share, unit_law
from discreet.noise.bits import Bits

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Decoded coordinates are whole numbers of 2^-20.
GRID = 2**20
_LOW = 2**16
_LARGEST_WEIGHT = 2**53 - 1
# e^epsilon has a relative error of about 1e-16 in every language; this margin covers it.
_MARGIN = 1e-12


@dataclass(frozen=True)
class Unit:
    """K candidates, of which the top m are more probable, with whole-number weights."""

    dimension: int
    candidates: int
    top: int
    high: int
    low: int

    name = "unit"
    code = 1
    payload_bytes = 2

    def __post_init__(self) -> None:
        fields = (self.dimension, self.candidates, self.top, self.high, self.low)
        if not all(isinstance(value, int) and not isinstance(value, bool) for value in fields):
            raise DomainError("dimension, candidates, top, high and low of a unit randomizer are whole numbers")
        if not (self.dimension >= 2 and 2 <= self.candidates <= 2**16 and 1 <= self.top < self.candidates):
            raise DomainError("a unit randomizer has dimension >= 2, 2 to 65536 candidates and 1 <= top < candidates")
        if not (1 <= self.low <= self.high and self.total <= _LARGEST_WEIGHT):
            raise DomainError("a unit randomizer needs 1 <= low <= high, and all weights add up to less than 2^53")

    @classmethod
    def best(cls, dimension: int, epsilon: float) -> Unit:
        """The unit randomizer with the least error at this epsilon."""
        count, top = best_size(dimension, epsilon)
        most = (_LARGEST_WEIGHT - (count - top) * _LOW) // top
        high = min(math.floor(_LOW * math.exp(min(epsilon, 30.0)) * (1 - _MARGIN)), most)
        return cls(dimension, count, top, max(high, _LOW), _LOW)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Unit:
        names = ("dimension", "candidates", "top", "high", "low")
        if set(entry) != {"name", *names}:
            raise DomainError(f"a unit randomizer has the fields name, {', '.join(names)}")
        return cls(**{name: whole(entry[name], name) for name in names})

    def to_dict(self) -> dict[str, Any]:
        names = ("dimension", "candidates", "top", "high", "low")
        return {"name": self.name, **{name: getattr(self, name) for name in names}}

    @property
    def total(self) -> int:
        """The normaliser, which is the same for every record."""
        return self.top * self.high + (self.candidates - self.top) * self.low

    @property
    def epsilon(self) -> float:
        """What one report costs."""
        return math.log(self.high / self.low)

    def gives(self, epsilon: float, delta: float) -> bool:
        """Whether the ratio of weights is at most e^epsilon."""
        return self.high <= self.low * math.exp(min(epsilon, 700.0)) * (1 - _MARGIN / 2)

    @cached_property
    def law(self) -> UnitLaw:
        share = top_share(self.candidates, self.top, self.high, self.low)
        return unit_law(self.dimension, self.candidates, self.top, share)

    @property
    def unit(self) -> float:
        """The value of one unit of a decoded report, which makes its mean the record's vector."""
        return 1 / (GRID * self.law.shrink)

    @property
    def longest(self) -> float:
        """The length of every decoded report, honest or not."""
        return 1 / self.law.shrink

    def second_moment(self, inputs: Floats, directions: Floats) -> Floats:
        """E[Z Z^T] of a decoded report, from E[u u^T] with u the direction of the
        record's vector.
        """
        law = self.law
        return (law.across * np.eye(len(directions)) + (law.along - law.across) * directions) / law.shrink**2

    def randomize(self, digest: bytes, vectors: Floats, identities: list[bytes], bits: Bits) -> list[bytes]:
        """The payload of each record's report: a candidate's number, two bytes."""
        rounded = self._rounded(vectors, bits)
        keys = [codebook_key(digest, one) for one in identities]
        return [self._choose(row, bits).to_bytes(2, "little") for row in scores(keys, rounded, self.candidates)]

    def chances(self, digest: bytes, vector: Floats, identity: bytes) -> Floats:
        """The probability of each candidate for one record and one id, for audits."""
        length = min(float(np.sqrt(ordered_sum(vector * vector))), 1.0)
        directed = vector if length > 0 else np.eye(1, self.dimension)[0]
        key = codebook_key(digest, identity)
        both = scores([key, key], np.stack([directed, -directed]), self.candidates)
        weights = [np.where(self._favoured(side), self.high, self.low) for side in both]
        keep = (1 + length) / 2
        return (keep * weights[0] + (1 - keep) * weights[1]) / self.total

    def _rounded(self, vectors: Floats, bits: Bits) -> Floats:
        """Each vector or its opposite, by 53 random bits; the first axis in place of a
        zero vector.
        """
        lengths = np.minimum(np.sqrt(ordered_sum(vectors * vectors)), 1.0)
        directed = np.where(lengths[:, np.newaxis] > 0, vectors, np.eye(1, self.dimension))
        draws = (bits.words(len(vectors)) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return np.where((draws < (1 + lengths) / 2)[:, np.newaxis], directed, -directed)

    def _choose(self, scores: Floats, bits: Bits) -> int:
        draw = below(self.total, bits)
        favoured = self._favoured(scores)
        if draw < self.top * self.high:
            return int(np.flatnonzero(favoured)[draw // self.high])
        return int(np.flatnonzero(~favoured)[(draw - self.top * self.high) // self.low])

    def _favoured(self, scores: Floats) -> NDArray[np.bool_]:
        """Which candidates are in the top; their number is always the same."""
        edge = np.partition(scores, self.candidates - self.top)[self.candidates - self.top]
        favoured = scores > edge
        ties = np.flatnonzero(scores == edge)  # ties go to the smaller numbers
        favoured[ties[: self.top - int(np.count_nonzero(favoured))]] = True
        return np.asarray(favoured)

    def decode(self, digest: bytes, identity: bytes, payload: bytes) -> Integers | None:
        """The chosen candidate in units of 2^-20; None if there is no such candidate."""
        index = int.from_bytes(payload, "little")
        if index >= self.candidates:
            return None
        vector = chosen(codebook_key(digest, identity), self.dimension, index)
        return np.array([round(GRID * value) for value in vector], dtype=np.int64)


def below(total: int, bits: Bits) -> int:
    """A uniform whole number below ``total``, from 64-bit words with rejection."""
    limit = 2**64 - 2**64 % total
    while True:
        word = int(bits.words(1)[0])
        if word < limit:
            return word % total
