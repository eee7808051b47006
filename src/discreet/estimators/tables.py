"""The input of ``fit`` and ``predict``: arrays and frames, checked by their public facts only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from discreet.domain import (
    Categorical,
    Domain,
    Numeric,
    check_bounds,
    check_bounds_names,
    check_declared,
    check_header,
    check_kind,
    frame_of,
    is_number,
    kind_of_dtype,
    kind_of_series,
    lacking,
    name_of_dtype,
    unmasked,
)
from discreet.errors import DomainError
from discreet.estimators.vectors import rows_of_lists
from discreet.text import did_you_mean


def is_frame(X: Any) -> bool:
    """Whether X is a table with named columns; numbered ones (as in
    ``pd.DataFrame(array)``) make it an array.
    """
    if isinstance(X, np.ndarray) or not nw.dependencies.is_into_dataframe(X):
        return False
    return all(isinstance(name, str) for name in frame_of(X).columns)


def check_table(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as a frame (unchanged) or a 2-d array; shapes, names and types may
    raise, values never do.
    """
    table = read_table(X)
    if is_frame(X):
        if reset:
            check_written(list(table.columns), estimator.domain, estimator.bounds_X)
        _check_names(estimator, list(table.columns), reset=reset)
        return table
    if isinstance(table, np.ndarray):
        # An empty table is a neighbour of others: if the number of rows is
        # private, it must not raise.
        least = int(estimator.neighbours != "add_or_remove_one")
        check_array(table, dtype=None, ensure_all_finite=False, estimator=estimator, ensure_min_samples=least)
    validate_data(estimator, X=table if isinstance(table, np.ndarray) else X, reset=reset, skip_check_array=True)
    return table


def read_table(X: Any) -> Any:
    """A frame with named columns (x0, x1, ... if it has no names), or a 2-d array."""
    if not isinstance(X, np.ndarray) and nw.dependencies.is_into_dataframe(X):
        return frame_of(X if is_frame(X) else _named(X))
    return as_table(X)


def column_names(table: Any) -> list[str]:
    """The names of a table's columns, x0, x1, ... for an array."""
    return [f"x{i}" for i in range(table.shape[1])] if isinstance(table, np.ndarray) else list(table.columns)


def _named(X: Any) -> Any:
    return X.set_axis([f"x{i}" for i in range(X.shape[1])], axis=1)


def as_table(X: Any) -> NDArray[Any]:
    """A 2-d array of numbers, texts or objects; other forms are refused
    without showing their cells.
    """
    if sparse.issparse(X):
        raise TypeError("Sparse data was passed for X, but dense data is required. Use '.toarray()' to convert.")
    if isinstance(X, np.ma.MaskedArray):
        array = unmasked(X)
    elif isinstance(X, (list, tuple)):
        listed = bool(X) and all(isinstance(row, (list, tuple, np.ndarray)) for row in X)
        array = rows_of_lists(X) if listed else np.empty(len(X), dtype=object)
    else:
        array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data either using "
            "array.reshape(-1, 1) if it has a single feature or array.reshape(1, -1) if it contains a single sample."
        )
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    return array


def names_are_written(estimator: Any) -> bool:
    """Whether the user has declared the columns by name; otherwise the table's
    own names are used.
    """
    return estimator.domain is not None or isinstance(estimator.bounds_X, Mapping)


def check_written(names: list[str], domain: Domain | None, bounds: Any) -> None:
    """Check the names of a table against the declared ones; see domain/names.py."""
    if domain is not None:
        check_declared(names, [column.name for column in domain.columns], "the domain")
    elif isinstance(bounds, Mapping):
        check_bounds_names(names, bounds)
    else:
        check_header(names)


def label_name(estimator: Any, y: Any) -> str | None:
    """The name of a column of labels; an undeclared number may be a cell,
    and is not used as a name.
    """
    name = getattr(y, "name", None)
    declared = estimator.domain is not None and isinstance(name, str) and name in estimator.domain
    return name if isinstance(name, str) and (declared or not is_number(name)) else None


def _check_names(estimator: Any, names: list[str], *, reset: bool) -> None:
    if reset:
        estimator.n_features_in_ = len(names)
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif list(getattr(estimator, "feature_names_in_", names)) != names:
        if len(names) != estimator.n_features_in_:
            raise ValueError(
                f"X has {len(names)} features, but {type(estimator).__name__} is expecting "
                f"{estimator.n_features_in_} features as input"
            )
        before = list(estimator.feature_names_in_)
        place = next(i for i, (old, new) in enumerate(zip(before, names, strict=True)) if old != new)
        now = repr(names[place]) if names[place] in before else "another"
        raise ValueError(
            "the feature names should match those that were passed during fit, in the same order: column "
            f"{place + 1} is {now}, and was {before[place]!r}"
        )


def feature_names(estimator: Any) -> list[str]:
    """The columns' names, from the frame passed to ``fit``, or x0, x1, ..."""
    return list(getattr(estimator, "feature_names_in_", [f"x{i}" for i in range(estimator.n_features_in_)]))


def feature_domain(estimator: Any, names: list[str]) -> Domain:
    """The declared domain of X: from
    ``domain`` by column name, or from ``bounds_X`` and ``data_norm``.
    """
    if estimator.domain is None:
        return Domain.from_bounds(names, estimator.bounds_X, estimator.data_norm)
    if estimator.bounds_X is not None or estimator.data_norm is not None:
        raise DomainError("declare either domain or bounds_X and data_norm, not both")
    found: Domain = estimator.domain.select(names)
    return found


def named_target(estimator: Any, name: Any) -> Numeric:
    """The declared range of y: ``bounds_y``, or the domain's column of this name."""
    if estimator.bounds_y is not None:
        low, high = check_bounds(estimator.bounds_y, 1, "bounds_y")
        return Numeric(str(name or "y"), float(low[0]), float(high[0]))
    if estimator.domain is not None and isinstance(name, str) and name in estimator.domain:
        column = estimator.domain[name]
        if isinstance(column, Categorical):
            raise DomainError(
                f"target {name!r} is declared as categorical; this model needs a number. For classes take "
                "LogisticRegression (--family logistic)"
            )
        found: Numeric = column
        return found
    if estimator.domain is not None and isinstance(name, str):
        known = [column.name for column in estimator.domain.columns]
        raise DomainError(
            f"the target's name is not declared; the domain has {', '.join(known)}.{did_you_mean(name, known)}"
        )
    raise DomainError(
        "no range was declared for y: pass bounds_y=(low, high), the smallest and largest value that y can take, "
        "from public knowledge and never from the private rows"
    )


def check_types(table: Any, domain: Domain, *, written: bool = True) -> None:
    """Refuse columns whose type cannot represent the declaration, before anything is charged.

    written: the user has written the columns' names, so that messages may contain them.
    """
    for place, column in enumerate(domain.columns, start=1):
        if isinstance(table, np.ndarray):
            check_kind(column, kind_of_dtype(table.dtype), name_of_dtype(table.dtype))
        elif column.name not in table.columns:
            wanted = [one.name for one in domain.columns]
            raise DomainError(f"the table has no column {column.name!r}; {lacking(column.name, table.columns, wanted)}")
        else:
            series = table[column.name]
            called = None if written else f"{place} of the features"
            check_kind(column, kind_of_series(series), type(series.dtype).__name__, called)


def refuse_to_choose(missing: dict[str, int]) -> None:
    """The error of a classifier for rows without a score."""
    name, count = next(iter(missing.items()))
    others = f" (and {', '.join(map(repr, list(missing)[1:4]))})" if len(missing) > 1 else ""
    raise DomainError(
        f"column {name!r}{others} is missing, or has an undeclared value, in {count} of the rows to predict, "
        "so no class can be chosen for them: leave them out, or use predict_proba, which returns NaN there"
    )
