"""What a user passes to ``fit_file``: a path and column names, checked against the declared domain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from discreet.domain import Categorical, Encoder, Numeric, as_floats
from discreet.errors import DomainError
from discreet.rows import Columns


def file_features(
    estimator: Any, target: str, features: Sequence[str] | None, groups: str | None, exposure: str | None = None
) -> list[str]:
    """The columns of x: those asked for, or all declared ones but the target, the ids and the exposure."""
    if estimator.domain is None:
        raise DomainError("fit_file needs domain=Domain(...): a file's columns are found by their declared names")
    if features is None:
        names = [column.name for column in estimator.domain.columns if column.name not in (target, groups, exposure)]
    else:
        names = list(features)
    if not names:
        raise DomainError(f"the domain declares no column besides the target {target!r}")
    if {target, groups, exposure} & set(names) or len(set(names)) != len(names):
        raise DomainError("features must be different columns without the target, the ids and the exposure")
    return names


def file_engine(
    path: str | PathLike[str],
    encoder: Encoder,
    groups: str | None,
    rows_per_person: int,
    numbers: Callable[[Any], Any],
    *,
    texts: bool = False,
) -> Any:
    """The engine for the file's format, which its name tells; ``numbers`` turns labels, perhaps texts, into numbers."""
    from discreet.engines.arrow import CsvEngine, ParquetEngine  # pyarrow is an extra

    kind = Path(path).suffix.lower()
    columns = [column.name for column in encoder.domain.columns]
    if encoder.exposure is not None:
        columns.append(encoder.exposure.name)
    target = None if encoder.target is None else encoder.target.name

    def encode(table: Columns, y: Any) -> Any:
        if encoder.exposure is None:
            return encoder.encode(table, None if y is None else numbers(y))
        *features, exposure = table.arrays
        both = np.column_stack([as_floats(numbers(y)), as_floats(exposure)])
        return encoder.encode(Columns(features, len(table)), both)

    if kind in (".parquet", ".pq"):
        return ParquetEngine(path, encode, columns, target, groups=groups, rows_per_person=rows_per_person)
    if kind == ".csv":
        text_columns = [column.name for column in encoder.domain.columns if _is_text(column)]
        text_columns += [target] if texts and target is not None else []
        return CsvEngine(
            path, encode, columns, target, texts=text_columns, groups=groups, rows_per_person=rows_per_person
        )
    raise DomainError(f"{path} must be a .parquet or a .csv file: the ending tells how to read it")


def _is_text(column: Numeric | Categorical) -> bool:
    """A column whose declared values are texts; declared numbers and truth values are read as numbers."""
    return isinstance(column, Categorical) and any(isinstance(value, str) for value in column.values)
