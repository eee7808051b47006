"""Public declarations of a table, and the encoding that they define."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.domain.columns import Categorical, Column, Numeric, check_scalable
    from discreet.domain.dates import Date, days_of
    from discreet.domain.declared import column_fields, columns_toml, declared_columns, named_tables
    from discreet.domain.domain import HOW_TO_DECLARE, Domain, check_bounds
    from discreet.domain.encoding import EncodedBlock, Encoder, cells, numbers
    from discreet.domain.formula import Design, FormulaEncoder, parse_formula
    from discreet.domain.kinds import (
        Kind,
        check_kind,
        check_label_kind,
        check_numbers,
        kind_of_dtype,
        kind_of_series,
        name_of_dtype,
    )
    from discreet.domain.names import check_bounds_names, check_declared, check_header, frame_of, is_number, lacking
    from discreet.domain.public import Public
    from discreet.domain.values import as_floats, levels_of, objects, spelling, unmasked

# Imported when first used: a device that encodes one record needs the columns and none of the table
# libraries.
_HOMES = {
    "Categorical": "columns",
    "Column": "columns",
    "Numeric": "columns",
    "check_scalable": "columns",
    "Date": "dates",
    "days_of": "dates",
    "HOW_TO_DECLARE": "domain",
    "Domain": "domain",
    "check_bounds": "domain",
    "column_fields": "declared",
    "columns_toml": "declared",
    "declared_columns": "declared",
    "named_tables": "declared",
    "EncodedBlock": "encoding",
    "Encoder": "encoding",
    "cells": "encoding",
    "numbers": "encoding",
    "Design": "formula",
    "FormulaEncoder": "formula",
    "parse_formula": "formula",
    **dict.fromkeys(
        ("check_bounds_names", "check_declared", "check_header", "frame_of", "is_number", "lacking"), "names"
    ),
    "Public": "public",
    "Kind": "kinds",
    "check_kind": "kinds",
    "check_label_kind": "kinds",
    "check_numbers": "kinds",
    "kind_of_dtype": "kinds",
    "kind_of_series": "kinds",
    "name_of_dtype": "kinds",
    "as_floats": "values",
    "levels_of": "values",
    "objects": "values",
    "spelling": "values",
    "unmasked": "values",
}

__all__ = [
    "HOW_TO_DECLARE",
    "Categorical",
    "Column",
    "Date",
    "Design",
    "Domain",
    "EncodedBlock",
    "Encoder",
    "FormulaEncoder",
    "Kind",
    "Numeric",
    "Public",
    "as_floats",
    "cells",
    "check_bounds",
    "check_bounds_names",
    "check_declared",
    "check_header",
    "check_kind",
    "check_label_kind",
    "check_numbers",
    "check_scalable",
    "column_fields",
    "columns_toml",
    "days_of",
    "declared_columns",
    "frame_of",
    "is_number",
    "kind_of_dtype",
    "kind_of_series",
    "lacking",
    "levels_of",
    "name_of_dtype",
    "named_tables",
    "numbers",
    "objects",
    "parse_formula",
    "spelling",
    "unmasked",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"discreet.domain.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'discreet.domain' has no attribute {name!r}")
