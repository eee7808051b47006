"""The Gaussian randomizer: the record's vector on a grid, plus exact discrete Gaussian noise.

Its guarantee is (epsilon, delta).

Replacing the whole record moves the vector of statistic.py, whose parts have the weights f, o and
g, by at most

    sqrt(2) o (1 + t) if t = g^2 / (2 o^2) <= 1, else 2 g     between two usable records
    sqrt(f^2 + o^2 + g^2)                                     usable and incomplete record

in Euclidean norm, where t is the cosine of the worst angle (docs/papers/nldp.md). Rounding to the
grid adds at most half a unit per entry for each of the two vectors. By
docs/papers/discrete_gaussian.md, noise of variance (reach / mu)^2 + 4 is then mu-GDP. This
module does not import scipy, so that a device starts quickly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DomainError
from discreet.fields import number, whole
from discreet.local.statistic import Statistic
from discreet.noise import discrete_gaussian
from discreet.noise.bits import Bits

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Values are sent as 24-bit integers.
LARGEST = 2**23 - 1
# A Gaussian vector is longer than sqrt(entries) + 5 standard deviations once in 270,000 times; it
# is then shortened.
_TAIL = 5.0
# Covers the rounding of calibration and the proof's factor e^(m eta).
_MARGIN = 1 + 1e-12


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Noise scales of a vector's parts (flag, outer, cross), its grid and the ball of valid
    reports.

    scales and limit are in grid units, ``unit`` is a power of two; ``counts`` says how many entries
    each part has.
    """

    mu: float
    unit: float
    limit: int
    scales: tuple[float, float, float]
    counts: tuple[int, int, int]

    name = "gaussian"
    code = 2

    def __post_init__(self) -> None:
        if not (0 < self.mu <= 20 and math.frexp(self.unit)[0] == 0.5 and 1 <= self.limit <= LARGEST):
            raise DomainError(f"a gaussian randomizer has 0 < mu <= 20, a power of two as unit, limit <= {LARGEST}")
        if not all(1 <= scale <= LARGEST for scale in self.scales):
            raise DomainError("the scales of a gaussian randomizer must lie between 1 and the largest value")

    @classmethod
    def tight(cls, statistic: Statistic, features: int, mu: float) -> Gaussian:
        """The least noise that makes the report mu-GDP, on the finest grid that the report format
        can hold.
        """
        return _on_grid(statistic, features, mu, lambda unit, slack: [(joint_reach(statistic) / unit + slack) / mu] * 3)

    @classmethod
    def with_noise(cls, statistic: Statistic, features: int, outer: float, cross: float) -> Gaussian:
        """The paper's noise, given per part in units of the vector; mu is its actual cost."""
        made = _on_grid(statistic, features, 1.0, lambda unit, slack: [1.0, outer / unit, cross / unit])
        return cls(_spent(statistic, made) * _MARGIN, made.unit, made.limit, made.scales, made.counts)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any], statistic: Statistic, features: int) -> Gaussian:
        scales = entry.get("scales")
        if set(entry) != {"name", "mu", "unit", "limit", "scales"} or not isinstance(scales, list) or len(scales) != 3:
            raise DomainError("a gaussian randomizer has the fields name, mu, unit, limit and three scales")
        flag, outer, cross = (number(scale, "scales") for scale in scales)
        mu, unit, limit = number(entry["mu"], "mu"), number(entry["unit"], "unit"), whole(entry["limit"], "limit")
        return cls(mu, unit, limit, (flag, outer, cross), _counts(statistic, features))

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "mu": self.mu,
            "unit": self.unit,
            "limit": self.limit,
            "scales": list(self.scales),
        }

    @property
    def dimension(self) -> int:
        return sum(self.counts)

    @property
    def payload_bytes(self) -> int:
        return 3 * self.dimension

    @property
    def entry_scales(self) -> Floats:
        """The noise scale of every entry, in grid units."""
        return np.repeat(self.scales, self.counts)

    @property
    def longest(self) -> float:
        """The longest report that is valid, in units of the vector."""
        return self.limit * self.unit

    def gives(self, epsilon: float, delta: float, rounds_mu: float = 0.0) -> bool:
        """Whether mu, with the cost of other rounds, gives (epsilon, delta)."""
        return gaussian_delta_bound(epsilon, math.hypot(self.mu, rounds_mu)) <= delta

    def keeps(self, statistic: Statistic) -> bool:
        """Whether the noise gives mu for this statistic."""
        return _spent(statistic, self) <= self.mu

    def second_moment(self, inputs: Floats, directions: Floats) -> Floats:
        """E[Z Z^T] of a decoded report, from E[v v^T] with v the record's vector."""
        return inputs + np.diag((self.entry_scales * self.unit) ** 2)

    def exact(self, vectors: Floats) -> Integers:
        """The vector to which noise is added, in grid units."""
        return np.rint(vectors / self.unit).astype(np.int64)

    def randomize(self, digest: bytes, vectors: Floats, identities: list[bytes], bits: Bits) -> list[bytes]:
        """The payload of each record's report: its noisy entries, three bytes each."""
        return [self.payload(self._noisy(row, bits)) for row in self.exact(vectors)]

    def _noisy(self, values: Integers, bits: Bits) -> Integers:
        noise = np.empty(self.dimension, dtype=np.int64)
        scales = self.entry_scales
        for scale in np.unique(scales):
            which = scales == scale
            noise[which] = discrete_gaussian(float(scale), int(which.sum()), bits=bits)
        return within_support(values + noise, self.limit)

    def payload(self, values: Integers) -> bytes:
        """Whole numbers as 24-bit little-endian integers."""
        return values.astype("<i4").view(np.uint8).reshape(-1, 4)[:, :3].tobytes()

    def decode(self, digest: bytes, identity: bytes, payload: bytes) -> Integers | None:
        """The values, in grid units; None outside of the support."""
        wide = np.zeros((self.dimension, 4), dtype=np.uint8)
        # The low byte is left 0 and shifted out again, which carries the sign.
        wide[:, 1:] = np.frombuffer(payload, dtype=np.uint8).reshape(-1, 3)
        values = (wide.view("<i4")[:, 0] >> 8).astype(np.int64)
        # 10,000 squares of 24-bit numbers stay below 2^60.
        return values if int(values @ values) <= self.limit**2 else None


def joint_reach(statistic: Statistic) -> float:
    """The sensitivity: how far replacing one record moves the whole vector."""
    outer, cross = statistic.outer, statistic.cross
    if statistic.kind == "pilot":
        return 2.0
    if statistic.kind == "predictor":
        return 1.0
    if cross**2 <= 2 * outer**2:
        both = math.sqrt(2) * outer * (1 + cross**2 / (2 * outer**2)) if outer > 0 else 0.0
    else:
        both = 2 * cross
    return max(both, math.hypot(statistic.flag, outer, cross))


def _spent(statistic: Statistic, made: Gaussian) -> float:
    """The mu of these noise scales: by the joint sensitivity if they are equal, else
    part by part.
    """
    slack = _slack(made.dimension)
    flag, outer, cross = (math.sqrt(max(scale**2 - 4, 1e-300)) for scale in made.scales)
    least = min(scale for scale, count in zip((flag, outer, cross), made.counts, strict=True) if count)
    joint = (joint_reach(statistic) / made.unit + slack) / least * _MARGIN
    pairs = [(math.sqrt(2) * statistic.outer, outer), (2 * statistic.cross, cross)]
    apart = math.hypot(*((part / made.unit + slack) / scale for part, scale in pairs if part > 0))
    # A record with something missing moves the flag as well: only the joint bound covers that.
    return min(joint, apart * _MARGIN) if statistic.kind == "printed" else joint


def _slack(entries: int) -> float:
    # In units: rounding two vectors by half a unit an entry; 1 for the floating-point error of the
    # vector itself, whose relative size is far below 2^-23.
    return math.sqrt(entries) + 1


def _counts(statistic: Statistic, features: int) -> tuple[int, int, int]:
    entries = statistic.dimension(features)
    if statistic.kind == "pilot":
        return (1, 0, entries - 1)
    flag = int(statistic.flagged)
    return (flag, statistic.cross_at - flag, statistic.width)


def _on_grid(statistic: Statistic, features: int, mu: float, needed: Any) -> Gaussian:
    """The finest grid that the report format can hold, with the noise scales that ``needed``
    returns.
    """
    counts = _counts(statistic, features)
    slack = _slack(sum(counts))
    for exponent in range(80, -80, -1):
        unit = 2.0**-exponent
        flag, outer, cross = (math.sqrt((scale * _MARGIN**4) ** 2 + 4) for scale in needed(unit, slack))
        scales = (flag, outer, cross)
        length = math.hypot(*(scale * math.sqrt(count) for scale, count in zip(scales, counts, strict=True)))
        limit = math.ceil(1 / unit + slack + length + _TAIL * max(scales))
        if limit <= LARGEST:
            return Gaussian(mu, unit, limit, scales, counts)
    raise DomainError(f"no grid carries reports of {sum(counts)} entries at mu {mu:g}")


def within_support(values: Integers, limit: int) -> Integers:
    """The values, shortened to the limit if their norm is above it: post-processing, once in
    270,000 reports.
    """
    squares = sum(value * value for value in values.tolist())
    if squares <= limit**2:
        return values
    # Rounding towards zero cannot lengthen.
    return np.asarray(np.trunc(values * (limit / math.sqrt(squares) * (1 - 1e-12))).astype(np.int64))


def gaussian_delta_bound(epsilon: float, mu: float) -> float:
    """An upper bound, good to nine digits, on the delta of mu-GDP at this epsilon, by ``math.erfc``
    alone.
    """
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    first = 0.5 * math.erfc(near / math.sqrt(2))
    tail = 0.5 * math.erfc(far / math.sqrt(2))
    # Below this the tail has lost its precision; omitting it only raises the bound.
    second = math.exp(min(epsilon + math.log(tail), 0.0)) if tail > 1e-290 else 0.0
    # Each term has a relative error of about (1 + epsilon) 1e-15; the bound adds all of it.
    return first - second + (first + second) * 1e-14 * (1 + epsilon)
