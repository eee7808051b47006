"""Survival times as counts: each row of a table becomes one record for each declared interval of
time.

A record of interval (a, b] says for how long the row was at risk there, which is the exposure, and
whether the event happened there, which is the label. A row that ended before the interval has a
missing exposure there, and such a record contributes nothing. One row makes at most as many records
as there are intervals. So a person with k rows has at most k times as many records, which the
curator's sensitivity covers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.domain.columns import Numeric
from discreet.domain.encoding import EncodedBlock, Encoder
from discreet.domain.values import Floats
from discreet.rows import WholeBlock, whole_numbers

# Relative tolerance of durations at breaks: a row that ends at a break ends before the next
# interval, in spite of rounding by the encoding.
SLACK = 1 + 2.0**-30
# Labels are 0 or 1, but their Poisson model must not treat them as counts clipped at 1: this bound
# is far above the events that a record can have.
_MOST_EVENTS = 8.0
# A time at risk counts as no less than this part of the last break: its logarithm must be finite.
LEAST_PART = 1e-4


@dataclass(frozen=True)
class PiecewiseEncoder:
    """Features of the records: those of the rows, then an indicator for each interval but the
    first.

    ``rows`` encodes the rows, with the duration as its target and whether the event happened in the
    place of weights.
    """

    rows: Encoder
    breaks: tuple[float, ...]
    exposure: Numeric | None = None
    weight: Numeric | None = None

    @property
    def domain(self) -> Any:
        return self.rows.domain

    @cached_property
    def target(self) -> Numeric:
        """Whether the event happened."""
        return Numeric("event" if self.rows.weight is None else self.rows.weight.name, 0.0, _MOST_EVENTS)

    @property
    def intervals(self) -> list[tuple[float, float]]:
        return list(zip((0.0, *self.breaks), self.breaks, strict=False))

    @cached_property
    def names(self) -> list[str]:
        return [*self.rows.names, *(f"interval ({low:g}, {high:g}]" for low, high in self.intervals[1:])]

    @property
    def width(self) -> int:
        return len(self.names)

    @cached_property
    def centre(self) -> Floats:
        return np.concatenate([self.rows.centre, np.zeros(len(self.breaks) - 1)])

    @cached_property
    def half_width(self) -> Floats:
        return np.concatenate([self.rows.half_width, np.ones(len(self.breaks) - 1)])

    @property
    def categories(self) -> tuple[tuple[int, int], ...]:
        first = self.rows.width
        own = ((first, self.width),) if self.width > first else ()
        return (*self.rows.categories, *own)

    @property
    def spans(self) -> Floats:
        """The width of each feature's range; 1 for an interval's indicator."""
        return np.concatenate([self.rows.spans, np.ones(len(self.breaks) - 1)])

    @property
    def radius(self) -> float:
        """A record has at most one indicator besides its row's features."""
        return float(np.hypot(self.rows.radius, 1.0))

    @property
    def intercept(self) -> bool:
        return True

    @property
    def exposures(self) -> tuple[float, float]:
        """The shortest and the longest time at risk in an interval."""
        return LEAST_PART * self.breaks[-1], max(high - low for low, high in self.intervals)

    def offset_of(self, table: Any) -> None:
        return None

    def see(self, block: Any) -> PiecewiseBlock:
        """The records of some rows."""
        return PiecewiseBlock(self, block)


class PiecewiseBlock(WholeBlock):
    """Some rows as records: all rows in the first interval, then all in the second, and so on."""

    def __init__(self, encoder: PiecewiseEncoder, block: EncodedBlock) -> None:
        self._encoder = encoder
        self._block = block
        self.memory: dict[str, Any] = block.memory.setdefault("records", {})

    @property
    def records(self) -> int:
        return self._block.records * len(self._encoder.breaks)

    @cached_property
    def y(self) -> Floats:
        """Whether the event happened in the interval, as an encoded label; NaN where it is not
        known.

        Not every query reads exposures, so a row that was no longer at risk has no label either.
        """
        duration, happened = durations(self._encoder.rows, self._block), events(self._block)
        ended = [duration <= high * SLACK for _, high in self._encoder.intervals]
        parts = [
            np.where((duration > low * SLACK) | (number == 0), happened * over, np.nan)
            for number, ((low, _), over) in enumerate(zip(self._encoder.intervals, ended, strict=True))
        ]
        target = self._encoder.target
        return np.concatenate([(part - target.centre) / target.half_width + 0.0 * duration for part in parts])

    @cached_property
    def offset(self) -> Floats:
        """The logarithm of the time at risk in the interval; NaN where the row was no longer at
        risk.
        """
        least, duration = self._encoder.exposures[0], durations(self._encoder.rows, self._block)
        parts = []
        for number, (low, high) in enumerate(self._encoder.intervals):
            there = np.clip(duration - low, least, high - low)
            parts.append(np.where((duration > low * SLACK) | (number == 0), np.log(there), np.nan) + 0.0 * duration)
        return np.concatenate(parts)

    def write_x(self, out: Floats) -> None:
        rows, width = self._block.records, self._encoder.rows.width
        self._block.write_x(out[:width, :rows])
        out[width:] = 0.0
        for number in range(1, len(self._encoder.breaks)):
            part = slice(number * rows, (number + 1) * rows)
            out[:width, part] = out[:width, :rows]
            out[width + number - 1, part] = 1.0

    def write_whole(self, out: Floats, scale: float) -> None:
        out[0] = scale
        self.write_x(out[1:])
        whole_numbers(out[1:], scale)


def durations(rows: Encoder, block: EncodedBlock) -> Floats:
    """For how long each row was followed."""
    target = rows.target
    assert target is not None
    return np.asarray(block.y * target.half_width + target.centre)


def events(block: EncodedBlock) -> Floats:
    """1 for rows whose event happened, 0 for censored ones.

    The meaning of other codes (such as 1 and 2) is not known: NaN.
    """
    given = block.weight_as_given
    return np.ones(block.records) if given is None else np.where((given == 0) | (given == 1), given, np.nan)
