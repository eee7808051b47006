"""Fields of files by others: a value of another type is refused, not converted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.documents import shown
from discreet.errors import DomainError


def number(value: Any, name: str) -> float:
    """A finite number; truth values and texts are refused."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise DomainError(f"{name} must be a number, got {shown(value)}")
    try:
        made = float(value)
    except OverflowError:
        made = math.inf
    if not math.isfinite(made):
        raise DomainError(f"{name} must be finite")
    return made


def whole(value: Any, name: str) -> int:
    """A whole number below 2^53, also where TOML or JSON spelt it 4.0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value // 1 or abs(value) >= 2**53:
        raise DomainError(f"{name} must be a whole number below 2^53, got {shown(value)}")
    return int(value)


def text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise DomainError(f"{name} must be text, got {shown(value)}")
    return value


def table(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise DomainError(f"{name} must be a table, got {shown(value)}")
    return value


def matrix(value: Any, name: str) -> NDArray[np.float64]:
    """Rows of numbers, all of one length."""
    if not isinstance(value, list) or not value or not all(isinstance(row, list) for row in value):
        raise DomainError(f"{name} must be a list of rows")
    if len({len(row) for row in value}) != 1:
        raise DomainError(f"{name} must have rows of one length")
    return np.array([[number(entry, name) for entry in row] for row in value], dtype=np.float64)
