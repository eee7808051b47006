"""Sample weights: their declared range, and the solvers that support them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from discreet.domain import Encoder, Numeric, check_bounds
from discreet.errors import DomainError
from discreet.rows import RowsUsed


def declared_weight(estimator: Any, name: str | None) -> Numeric:
    """The declared range of
    ``sample_weight``, from 0 or more: ``bounds_weight``, or the domain's column.
    """
    if estimator.solver not in ("auto", "gd") or estimator.calibration != "tight":
        raise ValueError("sample_weight is for solver='gd', which is the default, with calibration='tight'")
    if estimator.bounds_weight is not None:
        low, high = check_bounds(estimator.bounds_weight, 1, "bounds_weight")
        column = Numeric(str(name or "sample_weight"), float(low[0]), float(high[0]))
    elif estimator.domain is not None and isinstance(name, str) and name in estimator.domain:
        declared = estimator.domain[name]
        if not isinstance(declared, Numeric):
            raise DomainError(f"sample_weight {name!r} must be declared with low and high")
        column = declared
    else:
        raise DomainError("no range was declared for sample_weight: pass bounds_weight=(0, largest)")
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
