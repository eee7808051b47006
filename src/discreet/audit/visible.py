"""All numbers in a released object, which an attacker may use."""

from __future__ import annotations

import dataclasses
import inspect
import numbers
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DEEPEST = 8


def visible_numbers(released: Any) -> NDArray[np.float64]:
    """Every number in the object's state, in a fixed order; of an estimator, only what ``fit`` has
    added.
    """
    return np.array(list(_numbers(_state(released), 0)), dtype=np.float64)


def _state(released: Any) -> Any:
    if not hasattr(released, "fit") or not hasattr(released, "__dict__"):
        return released
    given = set(inspect.signature(type(released).__init__).parameters)
    return {name: value for name, value in vars(released).items() if name not in given}


def _numbers(value: Any, depth: int) -> Iterator[float]:
    if depth > _DEEPEST or value is None or isinstance(value, (str, bytes)):
        return
    if isinstance(value, (numbers.Real, np.bool_)):
        yield float(value)
    elif isinstance(value, np.ndarray):
        if value.dtype.kind in "bifu":
            yield from value.astype(np.float64).ravel().tolist()
        elif value.dtype.kind == "O":
            for item in value.ravel():
                yield from _numbers(item, depth + 1)
    elif isinstance(value, Mapping):
        for name in sorted(value, key=str):
            yield from _numbers(value[name], depth + 1)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _numbers(item, depth + 1)
    elif dataclasses.is_dataclass(value):
        for part in dataclasses.fields(value):
            yield from _numbers(getattr(value, part.name, None), depth + 1)
        if hasattr(value, "value") and hasattr(value, "noise_std"):
            # The noise scale is public, so values are in units of it.
            yield from _numbers(np.asarray(value.value) / value.noise_std, depth + 1)
    elif hasattr(value, "__dict__") and not callable(value):
        yield from _numbers(vars(value), depth + 1)
