"""What a user passes to ``fit`` and ``predict``: arrays and frames, checked by their public facts only."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d, validate_data

from discreet.domain import Categorical, Domain, Numeric, check_bounds
from discreet.errors import DomainError


def is_frame(X: Any) -> bool:
    """Whether X is a table with named columns; numbered ones (as of ``pd.DataFrame(array)``) make it an array."""
    if isinstance(X, np.ndarray) or not nw.dependencies.is_into_dataframe(X):
        return False
    return all(isinstance(name, str) for name in nw.from_native(X, eager_only=True).columns)


def check_table(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as a frame (untouched) or a 2-d array; shapes, names and types may raise, values never do."""
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        _check_names(estimator, list(frame.columns), reset=reset)
        return frame
    # Values that are no numbers stay as objects: the encoder counts them as missing, and no cell raises.
    raw = X if hasattr(X, "shape") else np.asarray(X)
    if raw is not X and raw.dtype.kind in "US":
        raw = np.asarray(X, dtype=object)
    dtype = None if getattr(getattr(raw, "dtype", None), "kind", "") == "O" else "numeric"
    _check_shape(raw)
    # An empty table is one row away from another: where the number of rows is private, it must not raise.
    least = int(estimator.neighbours != "add_or_remove_one")
    array = check_array(raw, dtype=dtype, ensure_all_finite=False, estimator=estimator, ensure_min_samples=least)
    validate_data(estimator, X=array, reset=reset, skip_check_array=True)
    return array


def _check_shape(raw: Any) -> None:
    """What scikit-learn refuses with a message that shows the array."""
    if len(raw.shape) < 2:
        raise ValueError(
            f"Expected 2D array, got {len(raw.shape)}D array instead. Reshape your data either using "
            "array.reshape(-1, 1) if it has a single feature or array.reshape(1, -1) if it contains a single sample."
        )
    if getattr(getattr(raw, "dtype", None), "kind", "") == "c":
        raise ValueError("Complex data not supported")


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
        raise ValueError("the feature names should match those that were passed during fit, in the same order")


def check_target(X: Any, y: Any, estimator: Any) -> Any:
    """y as a 1-d array of the same length as X."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    if hasattr(y, "to_numpy") and not hasattr(y, "__array__"):
        y = y.to_numpy()
    labels = np.asarray(y)
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    labels = column_or_1d(labels, warn=True)
    check_consistent_length(X, labels)
    return labels


def feature_domain(estimator: Any, names: list[str]) -> Domain:
    """The declared domain of X: from ``domain`` by column name, or from ``bounds_X`` and ``data_norm``."""
    if estimator.domain is None:
        return Domain.from_bounds(names, estimator.bounds_X, estimator.data_norm)
    if estimator.bounds_X is not None or estimator.data_norm is not None:
        raise DomainError("declare either domain or bounds_X and data_norm, not both")
    return estimator.domain.select(names)


def named_target(estimator: Any, name: Any) -> Numeric:
    """The declared range of y: ``bounds_y``, or the domain's column of this name."""
    if estimator.bounds_y is not None:
        low, high = check_bounds(estimator.bounds_y, 1, "bounds_y")
        return Numeric(str(name or "y"), float(low[0]), float(high[0]))
    if estimator.domain is not None and isinstance(name, str) and name in estimator.domain:
        column = estimator.domain[name]
        if isinstance(column, Categorical):
            raise DomainError(f"target {name!r} is declared as categorical; a linear model needs a number")
        return column
    if estimator.domain is not None and isinstance(name, str):
        declared = ", ".join(column.name for column in estimator.domain.columns)
        raise DomainError(f"target {name!r} is not declared; the domain has {declared}")
    raise DomainError(
        "no range was declared for y: pass bounds_y=(low, high), the smallest and largest value that y can take, "
        "known from what y is and never from the private rows"
    )


def check_types(table: Any, domain: Domain) -> None:
    """Refuse text in a column that is declared as a number, by the frame's schema.

    A column of Python objects has no schema: what its cells are is theirs to know, and odd ones count as missing.
    """
    if isinstance(table, np.ndarray):
        return
    for column in domain.columns:
        series = table[column.name]
        if (
            isinstance(column, Numeric)
            and series.dtype in _TEXTS
            and str(getattr(series.to_native(), "dtype", "")) != "object"
        ):
            raise DomainError(
                f"column {column.name!r} is declared with bounds but holds {series.dtype}; declare its values, "
                f"as Categorical({column.name!r}, (...)) in a domain"
            )


_TEXTS = (nw.String, nw.Categorical, nw.Enum)


def check_groups(groups: Any, n: int) -> np.ndarray | None:
    """One person id per row; None when every row is a person of its own."""
    if groups is None:
        return None
    ids = column_or_1d(np.asarray(groups))
    if len(ids) != n:
        raise ValueError(f"groups must have one entry per row, got {len(ids)} for {n} rows")
    return np.asarray(ids)


def refuse_to_choose(missing: dict[str, int]) -> None:
    """What a classifier says of rows that it has no score for."""
    name, count = next(iter(missing.items()))
    others = f" (and {', '.join(map(repr, list(missing)[1:4]))})" if len(missing) > 1 else ""
    raise DomainError(
        f"column {name!r}{others} is missing, or has a value that was not declared, in {count} of the rows to predict, "
        "so no class can be chosen for them: leave them out, or take predict_proba, which is NaN there"
    )
