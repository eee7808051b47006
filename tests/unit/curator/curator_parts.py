"""Helpers for tests of the curator."""

from __future__ import annotations

import math

import numpy as np

from discreet.domain import Domain, Encoder, Numeric
from discreet.engines import MemoryEngine
from discreet.rows import Labels, LinearMap, LogisticLoss, PowerSums

ENCODER = Encoder(Domain.from_bounds(["a", "b"], (-1, 1)), Numeric("y", -1, 1))


LOOK = PowerSums(2, math.sqrt(2))


def engine(rows: int = 12) -> MemoryEngine:
    rng = np.random.default_rng(0)
    return MemoryEngine(ENCODER.encode, rng.uniform(-1, 1, (rows, 2)), rng.uniform(-1, 1, rows))


def loss(size: int = 2, penalty: float = 0.0) -> LogisticLoss:
    linear = LinearMap(np.eye(size))
    return LogisticLoss(linear, Labels(0.5, 0.5), 3.0, penalty * np.eye(size), np.full(size, 0.25))
