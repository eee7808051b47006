"""Survival times as one count for each row, given the shape of the hazard over time.

With a known baseline hazard l(t), a row that was followed until t has the likelihood of a Poisson
count of events (0 or 1) with the exposure L(t), the integral of l up to t, but for a factor that
does not depend on the row's features. Here L(t) is divided by the mean of l over the declared time,
so that it is in units of time: the time at risk, in which times of a high hazard count for more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.domain.columns import Numeric
from discreet.domain.encoding import EncodedBlock, Encoder
from discreet.domain.piecewise import LEAST_PART, SLACK, durations, events
from discreet.domain.values import Floats
from discreet.rows import WholeBlock


@dataclass(frozen=True)
class FollowUpEncoder:
    """Features of the rows, whether the event happened as the label, and the time at risk.

    ``rows`` encodes the rows, as for ``PiecewiseEncoder``; ``hazards`` are the baseline's in the
    intervals that end at ``breaks``.
    """

    rows: Encoder
    breaks: tuple[float, ...]
    hazards: tuple[float, ...]

    @cached_property
    def target(self) -> Numeric:
        """Whether the event happened."""
        return Numeric("event" if self.rows.weight is None else self.rows.weight.name, 0.0, 1.0)

    @property
    def names(self) -> list[str]:
        return self.rows.names

    @property
    def centre(self) -> Floats:
        return self.rows.centre

    @property
    def half_width(self) -> Floats:
        return self.rows.half_width

    @cached_property
    def mean_hazard(self) -> float:
        """The mean of the baseline hazard over the declared time."""
        return float(self._shares @ np.array(self.hazards))

    @property
    def _shares(self) -> Floats:
        """The length of each interval as a share of the declared time."""
        return np.diff((0.0, *self.breaks)) / self.breaks[-1]

    def at_risk(self, duration: Floats) -> Floats:
        """The time at risk of rows that were followed for so long."""
        lengths = np.diff((0.0, *self.breaks))
        weights = np.array(self.hazards) / self.mean_hazard
        low = np.array([0.0, *self.breaks[:-1]])
        there = np.maximum(duration, LEAST_PART * self.breaks[-1])
        return np.asarray(np.clip(there[..., np.newaxis] - low, 0.0, lengths) @ weights)

    @property
    def exposures(self) -> tuple[float, float]:
        """The shortest and the longest time at risk."""
        least, most = self.at_risk(np.array([0.0, self.breaks[-1]]))
        return float(least), float(most)

    def see(self, block: EncodedBlock) -> FollowUpBlock:
        """Some rows as counts."""
        return FollowUpBlock(self, block)


class FollowUpBlock(WholeBlock):
    """Some rows, one count each."""

    def __init__(self, encoder: FollowUpEncoder, block: EncodedBlock) -> None:
        self._encoder = encoder
        self._block = block
        self.memory: dict[str, Any] = block.memory.setdefault("follow up", {})

    @property
    def records(self) -> int:
        return self._block.records

    @cached_property
    def _duration(self) -> Floats:
        return durations(self._encoder.rows, self._block)

    @cached_property
    def y(self) -> Floats:
        """The event within the declared time as an encoded label; NaN where it is not known."""
        seen = events(self._block) * (self._duration <= self._encoder.breaks[-1] * SLACK)
        return np.asarray(2 * seen - 1 + 0.0 * self._duration)

    @cached_property
    def offset(self) -> Floats:
        """The logarithm of the time at risk."""
        return np.log(self._encoder.at_risk(self._duration))

    def write_x(self, out: Floats) -> None:
        self._block.write_x(out)

    def write_whole(self, out: Floats, scale: float) -> None:
        self._block.write_whole(out, scale)
