"""What a user passes to ``fit_file``: a path and column names, checked against the declared domain."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from discreet.domain import Categorical, Encoder, Numeric
from discreet.errors import DomainError
from discreet.estimators.tables import named_target


def file_features(estimator: Any, target: str, features: Sequence[str] | None, groups: str | None) -> list[str]:
    """The columns of x: those asked for, or all declared ones but the target and the ids."""
    if estimator.domain is None:
        raise DomainError("fit_file needs domain=Domain(...): a file's columns are found by their declared names")
    if features is None:
        names = [column.name for column in estimator.domain.columns if column.name not in (target, groups)]
    else:
        names = list(features)
    if not names:
        raise DomainError(f"the domain declares no column besides the target {target!r}")
    if target in names or groups in names or len(set(names)) != len(names):
        raise DomainError("features must be different columns without the target and the ids")
    return names


def file_target(estimator: Any, target: str) -> Numeric:
    if estimator.bounds_y is None and target not in estimator.domain:
        declared = ", ".join(column.name for column in estimator.domain.columns)
        raise DomainError(f"target {target!r} is not declared; the domain has {declared}")
    return named_target(estimator, target)


def file_engine(path: str | PathLike[str], encoder: Encoder, groups: str | None, rows_per_person: int) -> Any:
    """The engine for the file's format, which its name tells."""
    from discreet.engines.arrow import CsvEngine, ParquetEngine  # pyarrow is an extra

    kind = Path(path).suffix.lower()
    columns = [column.name for column in encoder.domain.columns]
    target = None if encoder.target is None else encoder.target.name
    if kind in (".parquet", ".pq"):
        return ParquetEngine(path, encoder.encode, columns, target, groups=groups, rows_per_person=rows_per_person)
    if kind == ".csv":
        texts = [column.name for column in encoder.domain.columns if _is_text(column)]
        return CsvEngine(
            path, encoder.encode, columns, target, texts=texts, groups=groups, rows_per_person=rows_per_person
        )
    raise DomainError(f"{path} must be a .parquet or a .csv file: the ending tells how to read it")


def _is_text(column: Numeric | Categorical) -> bool:
    """A column whose declared values are texts; declared numbers and truth values are read as numbers."""
    return isinstance(column, Categorical) and any(isinstance(value, str) for value in column.values)
