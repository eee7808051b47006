"""Public declarations about one column."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from discreet.documents import shown
from discreet.domain.values import MISSING, Floats, Values, as_floats, levels_of, spelling
from discreet.errors import DomainError

# Magnitudes that have a middle, a half and an inverse; and those whose squares and ratios stay far
# from overflow.
_LARGEST, _LARGEST_SCALED = 1e300, 1e50
# The least width of bounds, as a share of the larger one; see Numeric.
_LEAST_SHARE = 2.0**-26


@dataclass(frozen=True)
class Numeric:
    """A number between two declared bounds; values outside are moved to the nearest bound.

    Encoded numbers lie in [-1, 1] up to 2^-25 + 2^-50, which rounds away on the grid of 2^-23 that
    sums use. Let u = 2^-53, M the larger bound in magnitude and w = high - low >= 2^-26 M. The
    centre has an error of at most 2uM, so |x - centre| <= w/2 + 2uM before its own rounding.
    Divided by w/2 this is at most 1 + 4uM/w <= 1 + 2^-25. The four roundings of the difference, the
    half width, its inverse and the product add less than 5u each.

    Parameters
    ----------
    name : str
        The column.
    low : float
        The least value, declared and never taken from private rows.
    high : float
        The largest value.

    Examples
    --------
    >>> from discreet import Numeric
    >>> Numeric("age", 18, 90).half_width
    36.0
    """

    name: str
    low: float
    high: float

    def __post_init__(self) -> None:
        _check_name(self.name)
        # Python floats, whatever type was given: they are written to files and compared.
        object.__setattr__(self, "low", self._bound("low"))
        object.__setattr__(self, "high", self._bound("high"))
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise DomainError(f"bounds of {self.name!r} must be finite with low < high, got ({self.low}, {self.high})")
        check_width(self.low, self.high, f"bounds of {self.name!r}")

    def _bound(self, which: str) -> float:
        value = getattr(self, which)
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Real, Decimal)):
            raise DomainError(f"column {self.name!r}: {which} must be a number, got {shown(value)}")
        try:
            return float(value)
        except OverflowError:
            return math.inf

    @property
    def centre(self) -> float:
        """The middle of the bounds."""
        return (self.low + self.high) / 2

    @property
    def half_width(self) -> float:
        """Half the distance between the bounds."""
        return (self.high - self.low) / 2

    @property
    def names(self) -> list[str]:
        """The column's own name."""
        return [self.name]

    def encode(self, values: Values, centre: float, half_width: float) -> Floats:
        """One row of clipped, centred and scaled numbers; NaN where the value is missing or is no
        number.

        Parameters
        ----------
        values : array
            Cells.
        centre : float
            The value that is subtracted.
        half_width : float
            The divisor of the difference.

        Returns
        -------
        array
            Numbers in [-1, 1], or NaN.
        """
        with np.errstate(invalid="ignore"):  # a signalling NaN must not cause a warning
            clipped = np.clip(as_floats(values), self.low, self.high)
            clipped -= centre
            clipped *= 1 / half_width
        return clipped[np.newaxis]


@dataclass(frozen=True)
class Categorical:
    """One of a declared list of values; the first is the reference level and the others become 0/1
    indicators.

    A value that was not declared is treated as missing.

    Parameters
    ----------
    name : str
        The column.
    values : tuple
        The declared values; the first is the reference level.

    Examples
    --------
    >>> from discreet import Categorical
    >>> Categorical("region", ("north", "south", "east")).names
    ['region=south', 'region=east']
    """

    name: str
    values: tuple[object, ...]

    def __post_init__(self) -> None:
        _check_name(self.name)
        object.__setattr__(self, "values", self._listed())
        if len(self.values) < 2 or len({spelling(value) for value in self.values}) != len(self.values):
            raise DomainError(
                f"column {self.name!r} must declare at least two different values, got {shown(self.values)}"
            )

    def _listed(self) -> tuple[object, ...]:
        """The values as a tuple; sets, texts and missing values are refused."""
        values = self.values
        if isinstance(values, (str, bytes, Set, Mapping)) or not isinstance(values, Iterable):
            raise DomainError(
                f"column {self.name!r}: values must be a list, as the first one is the reference, got {shown(values)}"
            )
        plain = tuple(value.item() if isinstance(value, np.generic) else value for value in values)
        for value in plain:
            if isinstance(value, (list, tuple, Set, Mapping)) or spelling(value) == MISSING:
                raise DomainError(f"column {self.name!r}: {shown(value)} cannot be one of the values")
        return plain

    @property
    def names(self) -> list[str]:
        """The indicators' names: ``name=value`` for each level but the first."""
        return [f"{self.name}={value}" for value in self.values[1:]]

    def encode(self, values: Values) -> Floats:
        """One row of indicators per level but the first; NaN in all of them where a value is
        missing or undeclared.

        Parameters
        ----------
        values : array
            Cells.

        Returns
        -------
        array
            Indicators, a row for each level but the first.
        """
        return self.indicators(self.levels(values))

    def levels(self, values: Values) -> NDArray[np.int32]:
        """The position of each value among the declared ones; -1 where it is missing or undeclared.

        Parameters
        ----------
        values : array
            Cells.

        Returns
        -------
        array of int
            Positions, -1 for none.
        """
        return levels_of(values, self.values)

    def indicators(self, levels: NDArray[np.int32]) -> Floats:
        """The result of ``encode`` for values at these positions.

        Parameters
        ----------
        levels : array of int
            Positions among the declared values; -1 for none.

        Returns
        -------
        array
            The same indicators.
        """
        indicators: Floats = (levels == np.arange(1, len(self.values))[:, np.newaxis]).astype(np.float64)
        indicators[:, levels < 0] = np.nan
        return indicators


Column = Numeric | Categorical


def _check_name(name: object) -> None:
    if not isinstance(name, str):
        raise DomainError(f"a column's name must be a text, got {shown(name)}")


def check_scalable(column: Numeric) -> None:
    """Refuse bounds of a feature or label in whose units coefficients and their variances could
    overflow.
    """
    check_width(column.low, column.high, f"bounds of {column.name!r}", _LARGEST_SCALED)


def check_width(low: float, high: float, what: str, largest: float = _LARGEST) -> None:
    """Refuse bounds that floats cannot tell apart well enough, or cannot scale by."""
    larger = max(abs(low), abs(high))
    if larger > largest or high - low < 1 / largest:
        raise DomainError(
            f"{what} must be at most {largest:g} in size and at least {1 / largest:g} apart, got ({low}, {high}); "
            "rescale the column"
        )
    if high - low < _LEAST_SHARE * larger:
        raise DomainError(
            f"{what} are too close together for their size, got ({low!r}, {high!r}): subtract a constant from the "
            "column first"
        )
