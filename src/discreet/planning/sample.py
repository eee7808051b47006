"""Public rows that resemble the private ones, in place of the people that a forecast assumes.

They know what a normal design does not: correlated columns, tails, leverage, errors of different
size, and how far the model is from the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.domain import Public
from discreet.glm import Family, Link, fit_plain
from discreet.planning.kinds import DECLARED, Floats, Kind, kind_of
from discreet.planning.remedy import NoForecast

# Fewer rows than this, or than this many per coefficient, say less than a normal design.
_LEAST_ROWS, _ROWS_PER_COEFFICIENT = 50, 5
# The ridge of the fit to these rows, as a part of a row without effect: it only bounds the
# coefficients of separable classes. A hundredth would shrink those of nearly separable ones, too.
_RIDGE = 1e-6


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows (1, x) and labels, where every column and linear labels have mean 0 and variance 1.

    So coefficients are per standard deviation of a column, and squared errors of linear models are
    in units of var(y), as in a ``Design``. Bounds are in the same units.
    """

    family: str
    X: Floats
    y: Floats
    bounds_X: tuple[Floats, Floats]
    label_bounds: tuple[float, float]
    # The part of rows without missing values. Others are left out here, and tell a fit nothing.
    complete: float = 1.0

    @classmethod
    def of(cls, family: str, sample: Any, bounds_X: Any = None, bounds_y: Any = None) -> Sample:
        """From a ``Public`` or a pair (X, y) of numbers, with the bounds that the fit will declare.

        Bounds that are not given are those of somebody who knows the units well: four standard
        deviations from the mean, and no row of the sample beyond them.
        """
        kind, (X, y, complete) = kind_of(family), _numbers(sample)
        _check_rows(X, y)
        kind.check(y)
        low, high = _declared(X) if bounds_X is None else _pair(bounds_X, X.shape[1], "bounds_X")
        X = np.clip(X, low, high)
        mean, std = X.mean(axis=0), X.std(axis=0)
        if flat := [str(j) for j in np.flatnonzero(std <= 1e-12 * np.maximum(np.abs(mean), high - low))]:
            raise NoForecast(f"sample: column {', '.join(flat)} has one value only: give more rows, or leave it out")
        bounds = ((low - mean) / std, (high - mean) / std)
        if kind.two_classes:
            return cls(family, (X - mean) / std, y, bounds, kind.label_bounds(kind.rate(y)), complete)
        ends = kind.whole(_declared(y[:, np.newaxis]) if bounds_y is None else _pair(bounds_y, 1, "bounds_y"))
        y = np.clip(y, *ends)
        centre, scale = kind.units(y)
        if scale == 0:
            raise NoForecast("sample: all labels are equal, give more rows")
        inner, outer = (float((end[0] - centre) / scale) for end in ends)
        return cls(family, (X - mean) / std, (y - centre) / scale, bounds, (inner, outer), complete)

    @property
    def kind(self) -> Kind:
        return kind_of(self.family)

    @property
    def rows(self) -> int:
        return len(self.y)

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    @property
    def size(self) -> int:
        """The number of coefficients, including the intercept."""
        return self.d + 1

    @property
    def model(self) -> tuple[Family, Link]:
        return self.kind.model

    @cached_property
    def design(self) -> Floats:
        return np.column_stack([np.ones(self.rows), self.X])

    @cached_property
    def coefficients(self) -> Floats:
        """Those of (1, x) without privacy."""
        family, canonical = self.model
        penalty = np.full(self.size, _RIDGE / self.rows)
        penalty[0] = 0.0
        return fit_plain(family, canonical, self.design, self.y, penalty, self._constant)

    @property
    def _constant(self) -> Floats:
        """The coefficients of the constant model."""
        flat = np.zeros(self.size)
        flat[0] = float(self.model[1].predictor(float(self.y.mean())))
        return flat

    @cached_property
    def _eta(self) -> Floats:
        return np.asarray(self.design @ self.coefficients)

    @property
    def effect(self) -> float:
        """The standard deviation of the linear predictor."""
        return float(np.std(self._eta))

    @property
    def rate(self) -> float:
        return self.kind.rate(self.y)

    @cached_property
    def dispersion(self) -> float:
        """The variance of linear labels about the model; the fit to so few rows hides a part."""
        return self.kind.seen_dispersion(self.y - self._eta, self.size)

    @cached_property
    def curvature(self) -> Floats:
        """The mean weight times (1, x)(1, x)^T. The loss is ``loss_scale`` / 2 times this
        form.
        """
        family, canonical = self.model
        weight = family.weight(self._eta, canonical)
        return np.asarray((self.design.T * weight) @ self.design / self.rows)

    @cached_property
    def per_row(self) -> Floats:
        """The covariance of the plain coefficients times the rows: the sandwich (HC1)."""
        family, canonical = self.model
        scores = self.design * family.score(self.y, self._eta, canonical)[:, np.newaxis]
        back = np.linalg.pinv(self.curvature)
        return np.asarray(back @ (scores.T @ scores) @ back / (self.rows - self.size))

    @property
    def information(self) -> float:
        """The information of a row about a coefficient, so that 1 / (n information) is the mean
        variance of the plain coefficients.
        """
        return 1 / float(np.mean(np.diag(self.per_row)[1:]))

    @property
    def plain_risk(self) -> float:
        """The excess risk of the plain fit, times the number of rows."""
        return float(np.sum(self.per_row * self.curvature)) * self.kind.loss_scale / 2

    @cached_property
    def turn(self) -> Floats:
        """From slopes of white features to those of the columns; directions without rows are left
        out.
        """
        values, vectors = np.linalg.eigh(self.X.T @ self.X / self.rows)
        kept = values > 1e-10 * values[-1]
        return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))

    def typical(self) -> tuple[Floats, Floats, Floats]:
        """White features, labels and predictors, as of a ``Design``."""
        return self.X @ self.turn, self.y, self._eta

    @property
    def means(self) -> Floats:
        return self.model[1].mean(self._eta)

    @property
    def closeness(self) -> Floats:
        """A number that orders rows: neighbours have similar residuals."""
        return self.kind.closeness(self.typical()[0], self._eta)

    def losses(self, coefficients: Floats) -> Floats:
        """The mean loss of each column of coefficients of (1, x), in the units of a forecast, up to
        a constant.
        """
        return np.asarray(np.mean(self.kind.loss(self.y[:, np.newaxis], self.design @ coefficients), axis=0))

    @property
    def constant_risk(self) -> float:
        """The excess risk of the constant model."""
        both = self.losses(np.column_stack([self._constant, self.coefficients]))
        return float(both[0] - both[1])


def _numbers(sample: Any) -> tuple[Floats, Floats, float]:
    """Features and labels of the rows without a missing value, and their part of all rows."""
    X, y = (sample.rows, sample.y) if isinstance(sample, Public) else sample
    if X is None or y is None:
        raise ValueError("sample needs rows and labels: Public(rows=..., y=...) or a pair (X, y)")
    try:
        X, y = np.asarray(X, dtype=np.float64), np.ravel(np.asarray(y, dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError("sample must have numbers only: encode categories first, as columns of 0 and 1") from None
    X = X[:, np.newaxis] if X.ndim == 1 else X
    if X.ndim != 2 or len(X) != len(y):
        raise ValueError(f"sample needs as many labels as rows, got shapes {X.shape} and {y.shape}")
    whole = np.isfinite(y) & np.isfinite(X).all(axis=1)
    return X[whole], y[whole], float(whole.mean()) if len(y) else 0.0


def _check_rows(X: Floats, y: Floats) -> None:
    least = max(_LEAST_ROWS, _ROWS_PER_COEFFICIENT * (X.shape[1] + 1))
    if len(y) < least:
        raise NoForecast(f"sample: {least} rows or more are needed for {X.shape[1]} columns, got {len(y)}")


def _declared(X: Floats) -> tuple[Floats, Floats]:
    mean, reach = X.mean(axis=0), DECLARED * X.std(axis=0)
    return np.minimum(mean - reach, X.min(axis=0)), np.maximum(mean + reach, X.max(axis=0))


def _pair(bounds: Any, width: int, name: str) -> tuple[Floats, Floats]:
    try:
        low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), (width,)) for end in bounds)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a pair (low, high) of numbers or of {width} numbers each") from None
    if not (np.isfinite(low).all() and np.isfinite(high).all() and np.all(low < high)):
        raise ValueError(f"{name} must be finite, low below high")
    return low, high
