"""Wide tables: arrays, frames and sparse matrices, checked by public facts and never copied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from discreet.domain import (
    Domain,
    Numeric,
    as_floats,
    check_numbers,
    kind_of_dtype,
    kind_of_series,
    name_of_dtype,
    numbers,
)
from discreet.errors import DomainError
from discreet.estimators.tables import check_table, names_are_written
from discreet.rows import Coded, Columns, SparseRows, WideEncoding
from discreet.rows.wide import EncodedRows


def check_wide(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as a 2-d array of numbers or as SparseRows; dense numbers and canonical CSR
    matrices are not copied.
    """
    if sparse.issparse(X):
        return _check_sparse(estimator, X, reset=reset)
    table = check_table(estimator, X, reset=reset)
    if not isinstance(table, np.ndarray):
        for place, name in enumerate(table.columns, start=1):
            called = repr(name) if names_are_written(estimator) else f"column {place}"
            what, series = f"sparse models take numeric columns only: {called}", table[name]
            check_numbers(what, kind_of_series(series), type(series.dtype).__name__)
        columns = [numbers(table[name]) for name in table.columns]
        return np.column_stack(columns) if columns else np.zeros((len(table), 0))
    check_numbers("X", kind_of_dtype(table.dtype), name_of_dtype(table.dtype))
    if table.dtype.kind == "O":
        return np.column_stack([as_floats(column) for column in table.T])
    return table.astype(np.float64) if table.dtype.kind == "b" else table


def _check_sparse(estimator: Any, X: Any, *, reset: bool) -> SparseRows:
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    validate_data(estimator, X=X, reset=reset, skip_check_array=True)
    if X.shape[0] == 0 and estimator.neighbours != "add_or_remove_one":
        raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
    matrix = X.tocsr()
    if not matrix.has_canonical_format:
        # A row must not store a cell twice: its parts would be clipped separately.
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return SparseRows(matrix)


def wide_bounds(domain: Domain) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds of every column, which must all be numeric."""
    if domain.missing != "drop":
        raise DomainError("sparse models leave out rows with missing values: declare missing='drop'")
    odd = [column.name for column in domain.columns if not isinstance(column, Numeric)]
    if odd:
        raise DomainError(f"sparse models take numeric columns only; {odd[0]!r} is categorical")
    bounds = np.array([(column.low, column.high) for column in domain.columns if isinstance(column, Numeric)])
    return bounds[:, 0].copy(), bounds[:, 1].copy()


def wide_columns(encoding: WideEncoding, labels: Callable[[Any], np.ndarray], table: Columns, y: Any) -> EncodedRows:
    """A block of a table that is stored by columns."""
    cells = np.empty((len(table), encoding.width))
    for position, column in enumerate(table.arrays):
        cells[:, position] = numbers(column)
    return encoding.encode(cells, y.map(labels) if isinstance(y, Coded) else labels(y))


def columns_of(table: Any, columns: np.ndarray) -> np.ndarray:
    """Some columns as float64, one row per record."""
    cells = table.matrix[:, columns].toarray() if isinstance(table, SparseRows) else table[:, columns]
    return np.asarray(cells, dtype=np.float64)
