"""Exposures and sample weights: their declared ranges, and the solvers that support weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from discreet.domain import Encoder, Numeric, check_bounds
from discreet.errors import DomainError
from discreet.rows import RowsUsed


def declared_beside(estimator: Any, what: str, bounds: Any, name: str | None, needed: str) -> Numeric:
    """The declared range of an exposure or a weight: its bounds, or the domain's column."""
    if bounds is not None:
        low, high = check_bounds(bounds, 1, needed.partition("=")[0])
        return Numeric(str(name or what), float(low[0]), float(high[0]))
    if estimator.domain is None or not isinstance(name, str) or name not in estimator.domain:
        raise DomainError(f"no range was declared for {what}: pass {needed}")
    column = estimator.domain[name]
    if not isinstance(column, Numeric):
        raise DomainError(f"{what} {name!r} must be declared with low and high")
    return column


def declared_weight(estimator: Any, name: str | None) -> Numeric:
    """The declared range of ``sample_weight``, from 0 or more."""
    if estimator.solver not in ("auto", "gd") or estimator.calibration != "tight":
        raise ValueError("sample_weight is for solver='gd', which is the default, with calibration='tight'")
    needed = "bounds_weight=(0, largest)"
    column = declared_beside(estimator, "sample_weight", estimator.bounds_weight, name, needed)
    if column.low < 0:
        raise DomainError(f"sample_weight must be declared >= 0, got bounds from {column.low} to {column.high}")
    return column


def used_weight(used: RowsUsed | None, encoder: Encoder) -> RowsUsed | None:
    """The noisy number of rows used or, if they have weights, the sum of their weights."""
    if used is None or encoder.weight is None:
        return used
    return replace(
        used, count=used.count * encoder.weight.high, noise_std=used.noise_std * encoder.weight.high, of=None
    )
