"""Public declarations of a table: visible behaviour may depend on these facts only."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from numbers import Real
from os import PathLike
from typing import Any, Literal

import narwhals as nw
import numpy as np

from discreet.documents import read_toml, shown, toml_value
from discreet.domain.columns import Categorical, Column, Numeric, check_scalable
from discreet.domain.dates import Date
from discreet.domain.declared import columns_toml, declared_columns
from discreet.errors import DomainError
from discreet.text import did_you_mean

Missing = Literal["drop", "centre"]

HOW_TO_DECLARE = (
    "Declare what the values can be, from a codebook, a law or the way they are measured, never from the private rows: "
    "bounds_X=(low, high) with one number for all columns, bounds_X={'age': (18, 90), ...} by column, data_norm= with "
    "the largest Euclidean norm of a row, or domain=Domain(...). "
    "Domain.from_public(rows) takes bounds from rows that are public anyway."
)


@dataclass(frozen=True)
class Domain:
    """Declared columns, an optional bound on a row's Euclidean norm, and the rule for missing
    values.

    ``missing="drop"``: a row with a missing or undeclared value contributes nothing (complete
    cases, as in R). ``missing="centre"``: a missing number counts as the centre of its bounds, a
    missing category as the reference.

    Parameters
    ----------
    columns : tuple of Numeric, Categorical or Date
        The declared columns, in the order of coefficients.
    data_norm : float, optional
        A bound on the Euclidean norm of a row of features.
    missing : {'drop', 'centre'}, default 'drop'
        With ``'drop'`` a row with a missing or undeclared value contributes nothing (complete
        cases, as in R); with ``'centre'`` a missing number counts as the centre of its bounds and a
        missing category as the reference.

    Examples
    --------
    >>> from discreet import Domain, Numeric
    >>> domain = Domain((Numeric("age", 18, 90), Numeric("cost", 0, 9_000)))
    >>> [column.name for column in domain.columns]
    ['age', 'cost']
    """

    columns: tuple[Column, ...]
    data_norm: float | None = None
    missing: Missing = "drop"
    _index: Mapping[str, Column] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", _listed(self.columns))
        object.__setattr__(self, "_index", {column.name: column for column in self.columns})
        if not self.columns:
            raise DomainError("a domain must declare at least one column")
        if twice := _twice(column.name for column in self.columns):
            raise DomainError(f"a domain must not declare a column name twice: {twice!r}")
        if twice := _twice(name for column in self.columns for name in column.names):
            raise DomainError(f"two columns of a domain would have one name for their coefficients: {twice!r}")
        if self.data_norm is not None and not _is_positive(self.data_norm):
            raise DomainError(f"data_norm must be finite and > 0, got {shown(self.data_norm)}")
        if self.missing not in ("drop", "centre"):
            raise DomainError(f"missing must be 'drop' or 'centre', got {shown(self.missing)}")
        if self.data_norm is not None:
            self._check_norm(float(self.data_norm))

    def _check_norm(self, norm: float) -> None:
        check_scalable(Numeric("data_norm", -norm, norm))
        for column in self.columns:
            if isinstance(column, Numeric) and not (column.low < norm and column.high > -norm):
                raise DomainError(
                    f"column {column.name!r} is declared from {column.low:g} to {column.high:g}, where every row is "
                    f"longer than data_norm = {norm:g}"
                )

    @classmethod
    def from_bounds(
        cls, names: Sequence[str], bounds: Any = None, data_norm: float | None = None, missing: Missing = "drop"
    ) -> Domain:
        """Numeric columns from ``(low, high)``, each one number for all columns or one number per
        column.

        Or from a mapping that gives each column's ``(low, high)`` by its name.

        Parameters
        ----------
        names : sequence of str
            The columns.
        bounds : pair or mapping
            ``(low, high)``, each one number for all columns or one per column; or a mapping from
            names to such pairs.
        data_norm : float, optional
            A declared bound on the Euclidean norm of a row of features, in place of bounds.
        missing : {'drop', 'centre'}, default 'drop'
            The rule for missing values.

        Returns
        -------
        Domain
            Numeric columns.
        """
        if bounds is None:
            if data_norm is None:
                raise DomainError(f"no bounds were declared for {len(names)} columns. {HOW_TO_DECLARE}")
            bounds = (-data_norm, data_norm)
        low, high = (
            _named_bounds(bounds, names)
            if isinstance(bounds, Mapping)
            else check_bounds(bounds, len(names), "bounds_X")
        )
        columns = tuple(Numeric(name, float(a), float(b)) for name, a, b in zip(names, low, high, strict=True))
        return cls(columns, data_norm, missing)

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Domain:
        """A domain file: a list ``[[columns]]`` with ``name`` and ``low`` and ``high``, or
        ``values``.

        Tables ``[columns.NAME]`` are read as well; see docs/howto/domain.md.

        Parameters
        ----------
        path : str or path
            The domain file.

        Returns
        -------
        Domain
            Declared columns.
        """
        content = read_toml(path, "the domain file")
        unknown = set(content) - {"columns", "data_norm", "missing"}
        if unknown:
            raise DomainError(f"{path}: unknown settings {sorted(unknown)}; known: columns, data_norm, missing")
        columns = declared_columns(content.get("columns"), str(path))
        try:
            return cls(columns, content.get("data_norm"), content.get("missing", "drop"))
        except DomainError as error:
            raise DomainError(f"{path}: {error}") from None

    @classmethod
    def from_public(cls, frame: Any, *, widen: float = 0.25, missing: Missing = "drop") -> Domain:
        """Bounds and category lists from *public* rows; numeric ranges are widened by this fraction
        on each side.

        Parameters
        ----------
        frame : frame
            Public rows. Never private ones.
        widen : float, default 0.25
            By which part of its width each numeric range is widened on both sides.
        missing : {'drop', 'centre'}, default 'drop'
            The rule for missing values.

        Returns
        -------
        Domain
            Declared columns.
        """
        table = nw.from_native(frame, eager_only=True)
        columns: list[Column] = []
        for name in table.columns:
            series = table[name].drop_nulls()
            if series.dtype.is_numeric():
                values = series.to_numpy().astype(np.float64)
                values = values[np.isfinite(values)]
                if len(values) == 0 or values.min() == values.max():
                    raise DomainError(f"public column {name!r} has no range to take bounds from; declare it by hand")
                margin = widen * (values.max() - values.min())
                columns.append(Numeric(name, float(values.min() - margin), float(values.max() + margin)))
            elif series.dtype in (nw.Date, nw.Datetime):
                if len(series) == 0:
                    raise DomainError(f"public column {name!r} has no range to take bounds from; declare it by hand")
                columns.append(Date(name, series.min(), series.max()))
            else:
                columns.append(Categorical(name, tuple(sorted(series.unique().to_list(), key=str))))
        return cls(tuple(columns), missing=missing)

    def to_toml(self) -> str:
        """The domain as a file that ``from_toml`` reads.

        Returns
        -------
        str
            TOML.
        """
        lines = [f"missing = {toml_value(self.missing)}"]
        if self.data_norm is not None:
            lines.append(f"data_norm = {float(self.data_norm)!r}")
        return "\n".join([*lines, *columns_toml(self.columns)]) + "\n"

    def __contains__(self, name: str) -> bool:
        return name in self._index

    def __getitem__(self, name: str) -> Column:
        try:
            return self._index[name]
        except KeyError:
            known = list(self._index)
            raise DomainError(
                f"column {name!r} is not declared; the domain has {', '.join(known)}.{did_you_mean(name, known)}"
            ) from None

    def select(self, names: Sequence[str]) -> Domain:
        """The same declarations for these columns only, in this order.

        Parameters
        ----------
        names : sequence of str
            The columns to keep.

        Returns
        -------
        Domain
            The chosen columns.
        """
        return Domain(tuple(self[name] for name in names), self.data_norm, self.missing)


def check_bounds(bounds: Any, size: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """``(low, high)`` as two arrays of this size, or a DomainError that says what is wrong."""
    if isinstance(bounds, Mapping):
        raise DomainError(f"{name} must be (low, high), got {bounds!r}")
    try:
        low, high = bounds
        low = np.broadcast_to(np.asarray(low, dtype=np.float64), (size,))
        high = np.broadcast_to(np.asarray(high, dtype=np.float64), (size,))
    except (TypeError, ValueError) as error:
        each = f", each one number or {size} numbers (one per column), or {{name: (low, high), ...}}" * (size > 1)
        raise DomainError(f"{name} must be (low, high){each}; got {bounds!r}") from error
    if any(isinstance(end, (bool, np.bool_)) for ends in bounds for end in np.ravel(np.asarray(ends, dtype=object))):
        raise DomainError(f"{name} must be (low, high), both numbers; got {bounds!r}")
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()):
        raise DomainError(f"{name} must be (low, high), finite with low < high in every column; got {bounds!r}")
    if size == 2 and _also_pairs(bounds, low, high):
        raise DomainError(
            f"{name}={bounds!r} can be read as (low, high) and as one pair per column: say which is meant by names, as "
            f"{{'x0': ({low[0]:g}, {high[0]:g}), 'x1': ({low[1]:g}, {high[1]:g})}} for (low, high)"
        )
    return low, high


def _also_pairs(bounds: Any, low: np.ndarray, high: np.ndarray) -> bool:
    """Whether two rows of two numbers are also valid bounds if each row is one column's pair.

    A tuple of two lists or arrays is (low, high), as documented; pairs are written as tuples, or
    listed.
    """
    documented = isinstance(bounds, tuple) and all(isinstance(part, (list, np.ndarray)) for part in bounds)
    if documented or not all(np.ndim(part) == 1 for part in bounds):
        return False
    return bool(low[0] < low[1] and high[0] < high[1] and low[1] != high[0])


def _named_bounds(bounds: Mapping[Any, Any], names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Bounds by column name, in the order of the columns."""
    for kind, odd in (
        ("no bounds for column", [name for name in names if name not in bounds]),
        ("bounds for what is no column:", [name for name in bounds if name not in names]),
    ):
        if odd:
            raise DomainError(f"bounds_X has {kind} {odd[0]!r}; the columns are {_some(names)}")
    pairs = [check_bounds(bounds[name], 1, f"bounds_X[{name!r}]") for name in names]
    return np.array([low[0] for low, _ in pairs]), np.array([high[0] for _, high in pairs])


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")


def _listed(columns: Any) -> tuple[Column, ...]:
    """Columns in the given order; an unordered collection, or anything that is not a column, is
    refused.
    """
    if isinstance(columns, Mapping) and columns:
        first = next(iter(columns))
        raise DomainError(
            f"a domain is a list of columns, not a dictionary: for {first!r} give Numeric({first!r}, low, high) or "
            f"Categorical({first!r}, [...])"
        )
    if isinstance(columns, (str, Set)) or not isinstance(columns, Iterable):
        raise DomainError(f"a domain is a list of columns, in the order of the data, got {shown(columns)}")
    listed = tuple(columns)
    for number, column in enumerate(listed, start=1):
        if not isinstance(column, (Numeric, Categorical)):
            raise DomainError(
                f"column {number} of a domain must be Numeric(name, low, high) or Categorical(name, [...]), "
                f"got {shown(column)}"
            )
    return listed


def _twice(names: Iterable[str]) -> str | None:
    counted = Counter(names)
    return next((name for name, times in counted.items() if times > 1), None)


def _is_positive(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) and 0 < float(value) < math.inf
