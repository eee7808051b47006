"""Scaling, indicators, polynomials and splines from a declared domain: a
transformer that learns nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import combinations_with_replacement
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from discreet.docstrings import described
from discreet.domain import Column, Domain, Encoder, FormulaEncoder, Numeric, parse_formula
from discreet.errors import DomainError
from discreet.estimators.doc_link import LinkedToDocs
from discreet.estimators.tables import (
    check_types,
    check_written,
    column_names,
    feature_domain,
    feature_names,
    is_frame,
    names_are_written,
    read_table,
)
from discreet.parameters import check_count

Floats = np.ndarray


@dataclass(eq=False, repr=False)
class DomainEncoder(LinkedToDocs, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Features in [-1, 1] from declarations alone, for pipelines with private models.

    scikit-learn's scalers, encoders and splines take means, categories and knots from the rows that
    they are fitted to, and no later model can protect these. This encoder takes them from the
    domain: ``fit`` uses only names and types.

    Numbers are clipped to their bounds and scaled to [-1, 1], and categories become indicators.
    A missing or undeclared value makes all features that use it NaN, or counts as the domain
    says. A frame stays a frame.

    ``output_domain`` declares the result, for the model's ``domain``; for arrays
    bounds_X=(-1, 1) is enough.

    Parameters
    ----------
    domain : Domain, optional
        The declared columns.
    bounds_X : pair or mapping, optional
        Declared bounds of numeric columns, instead of a domain.
    degree : int, default 1
        The largest number of features in a product, as in PolynomialFeatures.
    interaction_only : bool, default False
        Exclude powers of one feature.
    splines : int or mapping, optional
        Numbers of evenly spaced knots by column name, or one number for all numeric columns. Such a
        column becomes a B-spline basis without its first function, which the intercept replaces.
    spline_degree : int, default 3
        The degree of these splines; 0 makes bins.
    formula : str, optional
        Terms such as ``"age * smoker + bs(bmi, 4)"``, instead of the other options. Columns that it
        does not name are left out.

    Privacy
    -------
    Nothing is learned from rows, so no budget is spent. The guarantee of the model holds for the
    whole pipeline.

    Examples
    --------
    >>> import pandas as pd
    >>> from discreet import Categorical, Domain, DomainEncoder, Numeric
    >>> domain = Domain((Numeric("age", 0, 100), Categorical("smoker", ("no", "yes"))))
    >>> DomainEncoder(domain).fit_transform(
    ...     pd.DataFrame({"age": [25, 100], "smoker": ["yes", "no"]})
    ... )
       age  smoker=yes
    0 -0.5         1.0
    1  1.0         0.0
    """

    domain: Domain | None = None
    _: KW_ONLY
    bounds_X: Any = None
    degree: int = 1
    interaction_only: bool = False
    splines: int | Mapping[str, int] | None = None
    spline_degree: int = 3
    formula: str | None = None
    data_norm = None

    @described
    def fit(self, X: Any, y: Any = None) -> DomainEncoder:
        """Check names and types. No cell is read.

        Parameters
        ----------
        y : ignored
            Ignored; for pipelines.

        Returns
        -------
        self
            The encoder.
        """
        table = read_table(X)
        names = column_names(table)
        if is_frame(X) and self.formula is None:
            check_written(names, self.domain, self.bounds_X)
        self._plan(names)
        check_types(table, self._declared(names), written=names_are_written(self))
        self.n_features_in_ = len(names)
        if is_frame(X):
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    @described
    def transform(self, X: Any) -> Any:
        """The features, as a frame of X's library or as an array.

        Returns
        -------
        array or frame
            The features.
        """
        table = read_table(X)
        names = column_names(table)
        self._check_seen(names, framed=is_frame(X))
        domain, plan = self._declared(names), self._plan(names)
        check_types(table, domain, written=names_are_written(self))
        if self.formula is None:
            encoded = np.clip(Encoder(domain).encode(table).x, -1.0, 1.0)
            columns = [feature.of(encoded) for feature in plan]
        else:
            columns = list(self._encoder(names).encode(table).x)
        if not is_frame(X):
            return np.column_stack(columns) if columns else np.empty((len(table), 0))
        named = zip(plan, columns, strict=True)
        series = [nw.new_series(feature.name, cells, backend=table.implementation) for feature, cells in named]
        made = nw.concat([one.to_frame() for one in series], how="horizontal").to_native()
        return (
            made.set_axis(X.index, axis=0) if hasattr(made, "set_axis") else made
        )  # pandas aligns rows by their index

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the features, as in ``output_domain``.

        Parameters
        ----------
        input_features : ignored
            Ignored unless given; for pipelines.

        Returns
        -------
        array of str
            One name per feature.
        """
        names = self._known_names() if input_features is None else [str(name) for name in input_features]
        return np.array([feature.name for feature in self._plan(names)], dtype=object)

    @property
    def output_domain(self) -> Domain:
        """The declared bounds of the features: the ``domain`` for the next model."""
        columns = tuple(Numeric(feature.name, feature.low, feature.high) for feature in self._plan(self._known_names()))
        return Domain(columns)

    def _known_names(self) -> list[str]:
        if hasattr(self, "n_features_in_"):
            return feature_names(self)
        if self.domain is None:
            raise DomainError("the number of columns is known after fit, or from domain=Domain(...)")
        return [column.name for column in self.domain.columns]

    def _check_seen(self, names: list[str], *, framed: bool) -> None:
        if len(names) != getattr(self, "n_features_in_", len(names)):
            raise ValueError(
                f"X has {len(names)} features, but DomainEncoder is expecting {self.n_features_in_} features as input"
            )
        if framed and list(getattr(self, "feature_names_in_", names)) != names:
            raise ValueError("the feature names should match those that were passed during fit, in the same order")

    def _declared(self, names: list[str]) -> Domain:
        return feature_domain(self, names) if self.formula is None else self._encoder(names).domain

    def _encoder(self, names: list[str]) -> FormulaEncoder:
        """The formula's encoder, for a table with these columns."""
        from discreet.estimators.formula import formula_domain

        assert self.formula is not None
        declared = formula_domain(self, names)
        domain = declared.select([name for name in names if name in declared])
        plan = parse_formula(self.formula, domain, listed=names_are_written(self))
        if plan.offset is not None:
            raise DomainError("a transformer cannot use offset(...): put it into the model's formula")
        return FormulaEncoder(domain, plan=plan)

    def _plan(self, names: list[str]) -> list[_Feature]:
        """The features in order: a formula's terms, or products of
        features, then splines by column.
        """
        self._check_parameters(names)
        if self.formula is not None:
            return [_Feature(name, -1.0, 1.0, ()) for name in self._encoder(names).names]
        domain, splined = self._declared(names), self._knots(names)
        products, start = [], 0
        bases: list[_Feature] = []
        for column in domain.columns:
            if column.name in splined:
                bases += _splines(column, start, splined[column.name], self.spline_degree)
            else:
                products += [_Base(name, start + place, column) for place, name in enumerate(column.names)]
            start += len(column.names)
        return [*_monomials(products, self.degree, self.interaction_only), *bases]

    def _knots(self, names: list[str]) -> dict[str, int]:
        columns = self._declared(names).columns
        if isinstance(self.splines, Mapping):
            numeric = [column.name for column in columns if isinstance(column, Numeric)]
            for name in self.splines:
                if name not in numeric:
                    raise DomainError(f"splines are for numeric columns, and {name!r} is not numeric")
            return dict(self.splines)
        return {} if self.splines is None else {one.name: self.splines for one in columns if isinstance(one, Numeric)}

    def _check_parameters(self, names: list[str]) -> None:
        check_count("degree", self.degree, 1)
        check_count("spline_degree", self.spline_degree, 0)
        for knots in self.splines.values() if isinstance(self.splines, Mapping) else [self.splines or 2]:
            check_count("splines", knots, 2)
        if self.formula is not None and (self.degree != 1 or self.splines is not None):
            raise ValueError("a formula defines its own products and splines: leave degree and splines out")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.allow_nan = True
        tags.input_tags.string = tags.input_tags.categorical = self.domain is not None
        return tags


@dataclass(frozen=True)
class _Base:
    """One encoded number or indicator."""

    name: str
    place: int
    column: Column

    @property
    def indicator(self) -> bool:
        return not isinstance(self.column, Numeric)


@dataclass(frozen=True)
class _Feature:
    """One feature: its name, its range, and how it is made from encoded columns."""

    name: str
    low: float
    high: float
    places: tuple[int, ...]
    # The knots of a spline (ends repeated), its degree and the number of this
    # function; None for a product.
    spline: tuple[tuple[float, ...], int, int] | None = None

    def of(self, encoded: Floats) -> Floats:
        if self.spline is None:
            return np.asarray(np.prod(encoded[list(self.places)], axis=0) + 0.0)  # no -0
        from scipy.interpolate import BSpline

        knots, degree, number = self.spline
        only = np.eye(len(knots) - degree - 1)[number]
        return np.asarray(BSpline(np.array(knots), only, degree, extrapolate=False)(encoded[self.places[0]]))


def _monomials(bases: Sequence[_Base], degree: int, interaction_only: bool) -> Iterator[_Feature]:
    """Products of up to ``degree`` factors, without those that are always 0 or equal to another."""
    for size in range(1, degree + 1):
        for chosen in combinations_with_replacement(bases, size):
            powers = {base: chosen.count(base) for base in chosen}
            levels = [base.column.name for base in powers if base.indicator]
            repeated = any(count > 1 for base, count in powers.items() if base.indicator or interaction_only)
            if repeated or len(set(levels)) < len(levels):
                continue
            name = " ".join(base.name if count == 1 else f"{base.name}^{count}" for base, count in powers.items())
            even = all(base.indicator or count % 2 == 0 for base, count in powers.items())
            yield _Feature(name, 0.0 if even else -1.0, 1.0, tuple(base.place for base in chosen))


def _splines(column: Column, place: int, knots: int, degree: int) -> Iterator[_Feature]:
    ends = (-1.0,) * degree, (1.0,) * degree
    places = tuple(float(knot) for knot in np.linspace(-1, 1, knots))
    for number in range(1, knots + degree - 1):
        name = f"{column.name} spline {number}"
        yield _Feature(name, 0.0, 1.0, (place,), ((*ends[0], *places, *ends[1]), degree, number))
