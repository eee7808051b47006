"""Synthetic rows as a frame of pandas or polars, whichever is installed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any


def frame_of(columns: Mapping[str, Any]) -> Any:
    """A table with these columns."""
    return _library().DataFrame(dict(columns))


def series_of(name: str, values: Any) -> Any:
    """One column with its name."""
    return frame_of({name: values})[name]


def _library() -> Any:
    for name in ("pandas", "polars"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise ValueError("a model with a domain takes frames: install pandas or polars to audit it")
