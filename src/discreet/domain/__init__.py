"""What the user declares in public, and the encoding that follows from it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.domain.columns import Categorical, Column, Numeric, as_floats, spelling
    from discreet.domain.domain import HOW_TO_DECLARE, Domain, check_bounds, declared_column
    from discreet.domain.encoding import EncodedBlock, Encoder, cells
    from discreet.domain.public import Public

# Imported when first used: a device that encodes one record needs the columns and none of the table libraries.
_HOMES = {
    "Categorical": "columns",
    "Column": "columns",
    "Numeric": "columns",
    "as_floats": "columns",
    "spelling": "columns",
    "HOW_TO_DECLARE": "domain",
    "Domain": "domain",
    "check_bounds": "domain",
    "declared_column": "domain",
    "EncodedBlock": "encoding",
    "Encoder": "encoding",
    "cells": "encoding",
    "Public": "public",
}

__all__ = [
    "HOW_TO_DECLARE",
    "Categorical",
    "Column",
    "Domain",
    "EncodedBlock",
    "Encoder",
    "Numeric",
    "Public",
    "as_floats",
    "cells",
    "check_bounds",
    "declared_column",
    "spelling",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"discreet.domain.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'discreet.domain' has no attribute {name!r}")
