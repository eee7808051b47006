"""Declared classes: the possible labels, never learnt from y, and the index
of each label among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from discreet.docstrings import described
from discreet.domain import Categorical, Domain, Kind, Numeric, as_floats, check_label_kind, levels_of, spelling
from discreet.errors import DomainError
from discreet.estimators.tables import refuse_to_choose

ZERO_ONE = (0, 1)


def declared_classes(
    classes: Any, domain: Domain | None, name: str | None, wanted: str = "at least two different labels"
) -> tuple[Any, ...]:
    """The classes, checked against the domain's target; by default the domain's values."""
    # Arrays, and the columns and indices of frames.
    classes = classes.tolist() if hasattr(classes, "tolist") else classes
    if not isinstance(classes, Sequence) or isinstance(classes, (str, bytes)):
        raise DomainError(f"classes must be a list of labels, got {classes!r}")
    values = tuple(classes)
    column = domain[name] if domain is not None and isinstance(name, str) and name in domain else None
    if isinstance(column, Categorical) and values == ZERO_ONE:
        return column.values
    if len(values) < 2 or len({spelling(value) for value in values}) != len(values):
        raise DomainError(f"classes must be {wanted}, got {list(values)!r}")
    if isinstance(column, Categorical):
        known = {spelling(value) for value in column.values}
        for value in values:
            if spelling(value) not in known:
                raise DomainError(f"class {value!r} is not among the declared values of target {name!r}")
    elif isinstance(column, Numeric):
        _check_range(values, column)
    return values


def _check_range(values: Sequence[Any], column: Numeric) -> None:
    """Bounds of a numeric target must be the smallest and the largest class."""
    numbers = as_floats(values)
    if not (np.isfinite(numbers).all() and (numbers.min(), numbers.max()) == (column.low, column.high)):
        raise DomainError(
            f"target {column.name!r} is declared as a number from {column.low:g} to {column.high:g}, which does not "
            f"match the classes {', '.join(map(repr, values))}: declare the labels as "
            f"Categorical({column.name!r}, [...])"
        )


class DeclaredClasses:
    """Labels of a classifier: declared classes, which rows only select by their index."""

    classes_: NDArray[Any]

    def _declared(self, name: str | None) -> tuple[Any, ...]:
        """The classes, in the order of their indices."""
        raise NotImplementedError

    def _target(self, name: str | None) -> Numeric:
        self.classes_ = class_array(self._declared(name))
        return Numeric(str(name or "y"), 0.0, float(len(self.classes_) - 1))

    def _check_label_kind(self, kind: Kind, shown: object) -> None:
        check_label_kind(self.classes_.tolist(), kind, shown)

    def _label_texts(self, target: str) -> bool:
        return any(isinstance(value, str) for value in self._declared(target))

    def _label_numbers(self, labels: Any, target: Numeric) -> Any:
        """The index of each label among the classes; NaN for an undeclared label."""
        return class_numbers(labels, self.classes_.tolist())

    if TYPE_CHECKING:

        def decision_function(self, X: Any, *, extrapolate: bool = False) -> np.ndarray: ...

    def _missing(self, X: Any, extrapolate: bool) -> dict[str, int]:
        """How many of these rows lack each column, for the columns that the model reads."""
        raise NotImplementedError

    @described
    def predict_proba(self, X: Any, *, extrapolate: bool = False) -> np.ndarray:
        """The probability of each class, in the order of ``classes_``.

        NaN for a row with a missing or undeclared value in a column that the model reads.
        """
        scores = self.decision_function(X, extrapolate=extrapolate)
        if scores.ndim == 2:
            return np.asarray(softmax(scores, axis=1))
        positive = expit(scores)
        return np.column_stack([1 - positive, positive])

    @described
    def predict(self, X: Any, *, extrapolate: bool = False) -> np.ndarray:
        """The most probable class.

        A missing or undeclared value raises an error that names the column.
        """
        scores = self.decision_function(X, extrapolate=extrapolate)
        if np.isnan(scores).any():
            refuse_to_choose(self._missing(X, extrapolate))
        return np.asarray(
            self.classes_[np.argmax(scores, axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)]
        )


def class_array(classes: Sequence[Any]) -> NDArray[Any]:
    """The classes as ``classes_``; an object array if their types differ."""
    alike = len({_family_of(value) for value in classes}) == 1
    return np.array(classes) if alike else np.array(classes, dtype=object)


def _family_of(value: Any) -> type:
    if isinstance(value, (bool, np.bool_)):
        return bool
    return float if isinstance(value, (int, float, np.number)) else type(value)


def class_numbers(labels: Any, classes: Sequence[Any]) -> NDArray[np.float64]:
    """The index of each label among the classes; NaN for any other label, which must not raise."""
    # The last number is that of the level -1.
    numbers = np.append(np.arange(len(classes), dtype=np.float64), np.nan)
    return np.asarray(numbers[levels_of(labels, classes)])
