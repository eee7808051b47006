"""The key of a fit in a ledger: the user's name for it, and all public facts that identify the fit.

A stored answer is returned only to the same fit. This is decided by public facts: parameters and
declarations, columns and their types, and the number of rows where it is public. Cells are not
compared: neither the ledger nor the outcome may depend on them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from typing import Any

import narwhals as nw
import numpy as np


def job_key(job: str, *facts: Any) -> str:
    """The key of this job with these facts."""
    return f"{job}/{hashlib.sha256(spelt(facts).encode(errors='surrogatepass')).hexdigest()[:16]}"


def spelt(value: Any) -> str:
    """A text that is equal for equal values in every process: it contains
    everything and no address.
    """
    if isinstance(value, (bool, str, bytes)) or value is None:
        return repr(value)
    if isinstance(value, np.generic):
        return spelt(value.item())
    if isinstance(value, (int, float)):
        return repr(float(value)) if abs(value) < 2**53 else repr(value)  # 1 and 1.0 are the same parameter
    if isinstance(value, Mapping):
        return "{" + ",".join(sorted(f"{spelt(key)}:{spelt(one)}" for key, one in value.items())) + "}"
    if isinstance(value, AbstractSet):
        return "{" + ",".join(sorted(map(spelt, value))) + "}"
    if isinstance(value, os.PathLike):
        return repr(os.fspath(value))
    if isinstance(value, np.ndarray):
        return _array(value)
    if is_dataclass(value) and not isinstance(value, type):
        inside = ",".join(f"{one.name}={spelt(getattr(value, one.name))}" for one in fields(value))
        return f"{type(value).__name__}({inside})"
    if isinstance(value, Sequence):
        return "[" + ",".join(map(spelt, value)) + "]"
    return _other(value)


def _array(value: np.ndarray) -> str:
    if value.dtype.kind == "O":
        return f"array {value.shape} {spelt(value.tolist())}"
    content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    return f"array {value.dtype.str} {value.shape} {content}"


def _other(value: Any) -> str:
    """Frames by their columns, sparse matrices by their entries, all others
    by class and attributes.
    """
    if nw.dependencies.is_into_dataframe(value):
        frame = nw.from_native(value, eager_only=True)
        return spelt([[str(name), spelt(np.asarray(frame[name].to_list(), dtype=object))] for name in frame.columns])
    if nw.dependencies.is_into_series(value):
        return spelt(np.asarray(nw.from_native(value, series_only=True).to_list(), dtype=object))
    if hasattr(value, "tocoo"):
        entries = value.tocoo()
        return spelt([entries.shape, *entries.coords, entries.data])
    if not hasattr(value, "__dict__"):
        return repr(value)
    return f"{type(value).__name__}({spelt(vars(value))})"
