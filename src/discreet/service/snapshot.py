"""What the page and ``/v1/models`` show: plain numbers, all of them post-processing of sums of randomized reports."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Coefficient:
    """One coefficient, its 95 % interval, and how far lying devices could move it, by their share in percent.

    ``span`` is half the declared range of its feature, by which it is drawn beside others; None is not drawn.
    """

    name: str
    value: float
    low: float
    high: float
    moved_by: dict[int, float]
    span: float | None = 1.0


@dataclass(frozen=True)
class FittedModel:
    """One model fitted to the collection, or why it could not be."""

    title: str
    explanation: str
    coefficients: tuple[Coefficient, ...] = ()
    failure: str = ""


@dataclass(frozen=True)
class Forecast:
    """The expected error of the coefficients together at a number of reports, relative to a typical effect."""

    n: int
    error: float


@dataclass(frozen=True)
class Snapshot:
    """The state of a collection at one moment; models belong to ``fitted`` reports, which may be a little behind."""

    batch: int
    closed: bool
    counted: int
    goal: int
    next_batch: int
    fitted: int
    now: Forecast | None
    at_goal: Forecast | None
    models: tuple[FittedModel, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
