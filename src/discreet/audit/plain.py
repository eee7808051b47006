"""Findings and synthetic tables as JSON, and back; reading a state file runs no code.

Texts, whole numbers, truth values, None and lists are themselves. Everything else is an object with
a "kind". Only the kinds below are read; a record is one of the classes of an audit's findings.
"""

from __future__ import annotations

import base64
import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.audit.frames import frame_of, series_of
from discreet.privacy import Release, Split, Unit, unit_from_dict

# Arrays of these types are stored as bytes; others, such as categories, as lists of cells.
_TYPES = ("<f8", "<i8", "|b1")


def plain(value: Any) -> Any:
    """The value for JSON; a TypeError for types that no finding holds."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"kind": "float", "value": repr(value)}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, tuple):
        return {"kind": "tuple", "items": [plain(item) for item in value]}
    if isinstance(value, np.ndarray):
        return _plain_array(value)
    if type(value).__name__ in _records():
        fields = [[field.name, plain(getattr(value, field.name))] for field in dataclasses.fields(value)]
        return {"kind": "record", "type": type(value).__name__, "fields": fields}
    if hasattr(value, "to_dict") and hasattr(value, "loss_distribution"):
        return {"kind": "unit", "fields": value.to_dict()}
    return _plain_table(value)


def restored(value: Any) -> Any:
    """What ``plain`` was given; a ValueError for anything else."""
    if isinstance(value, list):
        return [restored(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    try:
        return _MAKERS[value["kind"]](value)
    except (KeyError, TypeError, ArithmeticError, AttributeError) as error:
        raise ValueError(f"this is no finding: {type(error).__name__}") from None


def _plain_array(array: Any) -> dict[str, Any]:
    kind = {"f": "<f8", "i": "<i8", "u": "<i8", "b": "|b1"}.get(array.dtype.kind)
    if kind is None:
        return {"kind": "cells", "shape": list(array.shape), "values": [plain(cell) for cell in array.ravel().tolist()]}
    data = base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()
    return {"kind": "array", "type": kind, "shape": list(array.shape), "data": data}


def _plain_table(table: Any) -> dict[str, Any]:
    import narwhals as nw

    native = nw.from_native(table, eager_only=True, allow_series=True)
    if isinstance(native, nw.Series):
        return {"kind": "series", "name": native.name, "cells": plain(native.to_numpy())}
    columns = [[name, plain(native[name].to_numpy())] for name in native.columns]
    return {"kind": "frame", "columns": columns}


def _array(value: Mapping[str, Any]) -> Any:
    if value["type"] not in _TYPES:
        raise ValueError("this is no array of numbers")
    return np.frombuffer(base64.b64decode(value["data"]), dtype=value["type"]).reshape(value["shape"]).copy()


def _cells(value: Mapping[str, Any]) -> Any:
    cells = np.empty(len(value["values"]), dtype=object)
    cells[:] = [restored(cell) for cell in value["values"]]
    return cells.reshape(value["shape"])


def _record(value: Mapping[str, Any]) -> Any:
    return _records()[value["type"]](**{name: restored(held) for name, held in value["fields"]})


def _unit(value: Mapping[str, Any]) -> Unit:
    return unit_from_dict(dict(value["fields"]))


_MAKERS: dict[str, Any] = {
    "float": lambda value: float(value["value"]),
    "tuple": lambda value: tuple(restored(item) for item in value["items"]),
    "array": _array,
    "cells": _cells,
    "record": _record,
    "unit": _unit,
    "series": lambda value: series_of(value["name"], restored(value["cells"])),
    "frame": lambda value: frame_of({name: restored(cells) for name, cells in value["columns"]}),
}


def _records() -> dict[str, Any]:
    """The classes of which findings are made."""
    from discreet.audit.black_box import BlackBox
    from discreet.audit.confidence import ErrorRates
    from discreet.audit.replay import Replay
    from discreet.audit.search import Worst
    from discreet.audit.suite import Finding

    return {made.__name__: made for made in (BlackBox, ErrorRates, Finding, Release, Replay, Split, Worst)}
