"""The numbers on the page and in ``/v1/models``: post-processing of sums of randomized reports."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Coefficient:
    """One coefficient, its 95 % interval, and how far lying devices could move it, by their share
    in percent.

    ``span`` is half the declared range of its feature, 1 for a category; None for the intercept,
    which has none.
    """

    name: str
    value: float
    low: float
    high: float
    moved_by: dict[int, float]
    span: float | None = 1.0

    def per_half_range(self) -> Coefficient:
        """The effect over half the feature's declared range, which is comparable
        between features.
        """
        by = 1.0 if self.span is None else self.span
        moved = {share: by * move for share, move in self.moved_by.items()}
        return Coefficient(self.name, by * self.value, by * self.low, by * self.high, moved, self.span)

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2

    @property
    def certain(self) -> bool:
        """Whether zero lies outside of the interval."""
        return self.low > 0 or self.high < 0

    def sign_could_turn(self, share: int) -> bool:
        """Whether this share of lying devices, in percent, could change the sign of the
        estimate.
        """
        return abs(self.value) <= self.moved_by[share]


@dataclass(frozen=True)
class FittedModel:
    """One model fitted to the collection, or why it could not be.

    ``usable`` is the estimated share of reports from complete records, ``assumption`` what else the
    model assumes.
    """

    name: str
    coefficients: tuple[Coefficient, ...] = ()
    failure: str = ""
    usable: float | None = None
    usable_std: float = 0.0
    assumption: str = ""

    @property
    def effects(self) -> list[Coefficient]:
        """Every feature's effect over half its declared range."""
        return [c.per_half_range() for c in self.coefficients if c.span is not None]

    @property
    def typical_half_width(self) -> float | None:
        """The median half-width of the effects' intervals."""
        widths = [effect.half_width for effect in self.effects]
        return median(widths) if widths and all(map(math.isfinite, widths)) else None


@dataclass(frozen=True)
class Fit:
    """All models, fitted to the same reports of one batch."""

    batch: int
    reports: int
    models: tuple[FittedModel, ...]


@dataclass(frozen=True)
class WidthPoint:
    """The typical half-width of each model at one published fit."""

    reports: int
    widths: dict[str, float]


@dataclass(frozen=True)
class Snapshot:
    """The state of a collection at one moment; models belong to ``fitted`` reports, which may be a
    little behind.
    """

    batch: int
    closed: bool
    counted: int
    goal: int
    next_batch: int
    fitted: int
    models: tuple[FittedModel, ...]
    width_now: float | None  # typical half-width of the first model's effects
    width_at_goal: float | None
    advice: str
    widths: tuple[WidthPoint, ...] = ()
    forecast: tuple[tuple[int, float], ...] = ()  # typical half-width of the first model at further numbers of reports

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
