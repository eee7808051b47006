"""The joint release as a ``Source``: it answers queries about second moments of all parties'
columns.

The releases hold one noisy second moment of (1, columns). A query that is linear in it is answered
at no further cost and with no further noise; any other is refused. Two things differ from a curator
over rows. Rows were clipped when they were mixed, party by party, so a query's own bounds have no
effect. And the noise is not the same in all directions: the answer states a bound that holds in
each of them (docs/decisions/0011), so standard errors from it are too large rather than too small.
``Joint.regress`` knows the noise entry by entry and is the sharper tool.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.domain import Encoder, Numeric
from discreet.errors import DomainError
from discreet.inference import Moments
from discreet.privacy import GDP
from discreet.rows import Answer, PowerSums, Query, SecondMoment

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class JointSource:
    """Answers ``PowerSums`` and ``SecondMoment`` about chosen columns, from what was released."""

    moments: Moments
    encoder: Encoder
    target: Numeric
    columns: Sequence[str]
    public_rows: int | None

    def sum(self, query: Query, cost: GDP) -> Answer:
        """The answer, which is already paid for: ``cost`` adds no noise."""
        if isinstance(query, SecondMoment):
            turn = self._turn(query)
            return Answer(turn @ self.moments.answer.value @ turn.T, self.noise_std(query, cost), isotropic=True)
        if isinstance(query, PowerSums):
            return Answer(self._power_sums(query), self.noise_std(query, cost))
        raise DomainError(f"the joint release answers questions of second moments only, not {query.label!r}")

    def sums(self, questions: Sequence[tuple[Query, GDP]]) -> list[Answer]:
        return [self.sum(query, cost) for query, cost in questions]

    def noise_std(self, query: Query, cost: GDP) -> float:
        """A bound on the noise in every direction of the answer."""
        if isinstance(query, SecondMoment):
            return self.moments.answer.noise_std * float(np.linalg.norm(self._turn(query), 2)) ** 2
        if isinstance(query, PowerSums):
            raw = self._encoded()
            return self.moments.answer.noise_std * float(np.linalg.norm(raw, 2)) ** 2 * (1 + math.sqrt(query.width))
        raise DomainError(f"the joint release answers questions of second moments only, not {query.label!r}")

    def _encoded(self) -> Floats:
        """The matrix from the released coordinates to (1, encoded x, encoded y)."""
        moments, encoder, target = self.moments, self.encoder, self.target
        names = [*self.columns, target.name]
        centre = np.append(encoder.centre, target.centre)
        half_width = np.append(encoder.half_width, target.half_width)
        turn = np.zeros((len(names) + 1, len(moments.weight)))
        turn[0, 0] = 1 / moments.weight[0]
        for row, name in enumerate(names, start=1):
            at = moments.names.index(name) + 1
            turn[row, at] = moments.width[at] / moments.weight[at] / half_width[row - 1]
            turn[row, 0] = (moments.offset[at] - centre[row - 1]) / half_width[row - 1] / moments.weight[0]
        return turn

    def _turn(self, query: SecondMoment) -> Floats:
        """The query's row (weight_1, u, weight_y v) from the released coordinates."""
        encoded = self._encoded()
        turn = encoded.copy()
        turn[0] *= query.weight_1
        turn[1:-1] = (encoded[1:-1] - np.outer(query.x_centre, encoded[0])) / query.x_scale
        turn[-1] = (encoded[-1] - query.y_centre * encoded[0]) * query.weight_y / query.y_scale
        return turn

    def _power_sums(self, query: PowerSums) -> Floats:
        encoded = self._encoded()
        moment = encoded @ self.moments.answer.value @ encoded.T
        count = moment[0, 0]
        sums = [count * query.count_weight, moment[0, -1], moment[-1, -1] - count * query.middle]
        if query.with_x:
            squares = float(np.trace(moment[1:-1, 1:-1]))
            sums += [squares / query.x_radius - count * query.x_radius * query.middle, *moment[0, 1:-1]]
        return np.array([sums])
