"""Candidates for the worst row: corners of the domain, sign patterns, centres,
undeclared values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.frames import frame_of, series_of
from discreet.domain import Categorical, Domain, Numeric, check_bounds

Floats = NDArray[np.float64]
Column = Numeric | Categorical


@dataclass(frozen=True)
class Box:
    """The declared box: centre and half-width of every feature and of the label.

    Where columns are declared by names, rows become a frame; until then a category is its level's
    position.
    """

    centre: Floats
    half_width: Floats
    y_centre: float
    y_half_width: float
    norm: float | None = None
    columns: tuple[Column, ...] = ()
    label: Column | None = None

    @classmethod
    def of(cls, estimator: Any, features: int, target: str | None = None) -> Box:
        """The box that an estimator declares.

        From bounds_X, data_norm or a domain; and bounds_y, classes or a column of the domain.
        ``features`` is the number of columns where the declaration fits any number; ``target`` is
        the domain's label.
        """
        model = getattr(estimator, "estimator", estimator)  # a search declares what its estimator does
        norm = getattr(model, "data_norm", None)
        columns, label = _declared_columns(model, features, target)
        ends = np.array([_ends(column) for column in columns])
        y_low, y_high = _label_range(model) if label is None else _ends(label)
        return cls(
            ends.mean(axis=1),
            (ends[:, 1] - ends[:, 0]) / 2,
            (y_low + y_high) / 2,
            (y_high - y_low) / 2,
            norm,
            columns if _has_names(model) else (),
            label,
        )

    def data(self, X: Floats, y: Floats) -> tuple[Any, Any]:
        """What ``fit`` takes: the arrays, or a frame with the declared names and categories."""
        if not self.columns:
            return X, y
        frame = frame_of({column.name: _cells(column, X[:, place]) for place, column in enumerate(self.columns)})
        return frame, y if self.label is None else series_of(self.label.name, _cells(self.label, y))

    def row(self, candidate: Candidate) -> tuple[Floats, float]:
        x = self.centre + self.half_width * candidate.scale * candidate.pattern
        return x, self.y_centre + self.y_half_width * candidate.label

    def centre_rows(self, rows: int, two_labels: bool) -> tuple[Floats, Floats]:
        """Rows at the centre, where one other row has the largest influence."""
        y = np.full(rows, self.y_centre)
        if two_labels:
            y += self.y_half_width * (2 * (np.arange(rows) % 2) - 1)
        return np.tile(self.centre, (rows, 1)), y

    def scattered_rows(self, rows: int, two_labels: bool, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Random rows whose labels depend on every feature."""
        features = len(self.centre)
        unit = np.clip(rng.normal(0, 0.25, (rows, features)), -1, 1)
        signal = unit.sum(axis=1) / math.sqrt(features) + rng.normal(0, 0.2, rows)
        label = np.where(signal > 0, 1.0, -1.0) if two_labels else np.clip(signal, -1, 1)
        shrink = 1.0 if self.norm is None else 1 / math.sqrt(features)
        return self.centre + self.half_width * unit * shrink, self.y_centre + self.y_half_width * label


def column_count(estimator: Any, features: int) -> int:
    """How many columns the declarations are about; ``features`` where they hold for any number."""
    model = getattr(estimator, "estimator", estimator)
    bounds = getattr(model, "bounds_X", None)
    if bounds is None:
        return features
    if isinstance(bounds, Mapping):
        return len(bounds)
    try:
        sizes = {np.size(end) for end in bounds} - {1}
    except TypeError:
        return features
    return int(max(sizes, default=features))


def _declared_columns(model: Any, features: int, target: str | None) -> tuple[tuple[Column, ...], Column | None]:
    domain: Domain | None = getattr(model, "domain", None)
    if domain is None:
        norm, bounds = getattr(model, "data_norm", None), getattr(model, "bounds_X", None)
        if bounds is None and norm is None:
            bounds = (-1.0, 1.0)
        names = list(bounds) if isinstance(bounds, Mapping) else [f"x{place}" for place in range(features)]
        return Domain.from_bounds(names, bounds, norm).columns, None
    if target is not None:
        label = domain[target]
        return tuple(column for column in domain.columns if column.name != target), label
    if getattr(model, "bounds_y", None) is None and not hasattr(model, "classes"):
        raise ValueError("say which column of the domain is the label: target=..., or --target in the terminal")
    return domain.columns, None


def _has_names(model: Any) -> bool:
    """Whether columns are declared by names, so that rows must be a frame."""
    return getattr(model, "domain", None) is not None or isinstance(getattr(model, "bounds_X", None), Mapping)


def _ends(column: Column) -> tuple[float, float]:
    return (column.low, column.high) if isinstance(column, Numeric) else (0.0, len(column.values) - 1.0)


def _cells(column: Column, numbers: Floats) -> Any:
    """Numbers as they are; a category as the nearest level, or as an undeclared value outside all
    levels.
    """
    if isinstance(column, Numeric):
        return numbers
    levels = np.where(np.isfinite(numbers), np.rint(np.clip(numbers, -1e9, 1e9)), -1).astype(int)
    values = np.array([*column.values, "an undeclared value"], dtype=object)
    return values[np.where((levels < 0) | (levels >= len(column.values)), -1, levels)]


def _label_range(estimator: Any) -> tuple[float, float]:
    bounds = getattr(estimator, "bounds_y", None)
    if bounds is None:
        return 0.0, float(len(getattr(estimator, "classes", (0, 1))) - 1)
    low, high = check_bounds(bounds, 1, "bounds_y")
    return float(low[0]), float(high[0])


@dataclass(frozen=True)
class Candidate:
    """A row in units of the box: x = centre + half_width * scale * pattern,
    y = centre + half_width * label.
    """

    pattern: Floats
    scale: float
    label: float

    def key(self) -> tuple[Any, ...]:
        return (self.pattern.tobytes(), self.scale, self.label)


def first_candidates(features: int, rng: np.random.Generator, two_labels: bool) -> Iterator[Candidate]:
    """Corners, axes, zero and odd rows, at several distances, with labels at and beyond the ends of
    their range.
    """
    ones = np.ones(features)
    patterns = [ones, -ones, np.eye(features)[0], -np.eye(features)[0]]
    patterns += [rng.choice([-1.0, 1.0], features) for _ in range(3)]
    for pattern in patterns:
        for scale in (0.1, 1.0):
            for label in (1.0, -1.0):
                yield Candidate(pattern, scale, label)
    yield Candidate(np.zeros(features), 1.0, 1.0 if two_labels else 0.0)
    yield Candidate(np.zeros(features), 1.0, 1.0)
    yield Candidate(ones, 1e6, 1.0 if two_labels else 1e6)
    yield Candidate(np.full(features, np.nan), 1.0, 1.0)


def steps(candidate: Candidate, rng: np.random.Generator, stride: float, two_labels: bool) -> Candidate:
    """A similar candidate: another distance, one sign changed, another label, or a
    small rotation.
    """
    move = rng.integers(5)
    if move == 0 or move == 1:
        return replace(candidate, scale=candidate.scale * float(np.exp(stride * rng.standard_normal())))
    if move == 2:
        pattern = candidate.pattern.copy()
        pattern[rng.integers(len(pattern))] *= -1
        return replace(candidate, pattern=pattern)
    if move == 3 and not two_labels:
        return replace(candidate, label=float(np.clip(candidate.label + stride * rng.standard_normal(), -1, 1)))
    if move == 3:
        return replace(candidate, label=-candidate.label)
    return replace(candidate, pattern=candidate.pattern + stride * rng.standard_normal(len(candidate.pattern)))
