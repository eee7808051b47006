"""The columns of a table and the names of their types, which are public, and without any cell."""

from __future__ import annotations

from typing import Any


def types_of(table: Any) -> Any:
    """Without categories, which may be cells. None where nothing is known."""
    if hasattr(table, "columns") and hasattr(table, "to_native"):  # a narwhals frame
        return {name: type(table[name].dtype).__name__ for name in table.columns}
    if hasattr(table, "dtype") and hasattr(table, "shape"):
        return str(table.dtype), tuple(table.shape[1:])
    return getattr(table, "types", None)
