"""Indicators of rare categories in second moments of clipped rows.

The few rows of a rare category are long, and are scaled down before they are added. So its
indicator seems to vary little, however far it is stretched: a category with less than 1 row in
``size`` never reaches a variance of 1. But an indicator's variance follows from its mean, which a
first look has shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.levels import Category, declared_places
from discreet.rows import Floats

# A column is an indicator if its moment is above this part of what clipping leaves of an
# indicator's.
_EXPECTED = 0.5
# Clipping leaves at least this part of a variance.
_LEAST = 0.05
# Rows of a level with a share up to this are long.
_RARE = 0.1


@dataclass(frozen=True, eq=False)
class Direction:
    """An indicator's part of the second moment of z, and its rare category: the mean row, the
    length of a row, the share of rows, and the change of phi that moves their predictor alone by 1.
    """

    moment: Floats
    row: Floats
    length: float
    share: float
    change: Floats


@dataclass(frozen=True, eq=False)
class RareColumns:
    """Columns that may be indicators of rare categories; encoded, these are -1 or 1."""

    # Whether nearly all rows lie in one place, and whether that is an end of the range.
    mostly_constant: NDArray[np.bool_]
    at_an_end: NDArray[np.bool_]
    # The mean of each column, as encoded, with noise.
    mean: Floats
    # Declared categories. Their columns are not among the others.
    declared: tuple[Category, ...] = ()

    def scales(self, common: float, origin: Floats | None) -> Floats:
        """The standard deviations of these columns if they are indicators, and the common scale of
        the others; ``origin``: where x = 0 lies, encoded, for a model without an intercept.
        """
        return np.asarray(np.where(self.at_an_end, np.maximum(np.sqrt(self._true(origin)), common), common))

    def confirmed(self, here: Coordinates, moment: Floats, radius: float) -> RareColumns:
        """Without columns that are narrow within their bounds, by a second moment of z in which
        no column is stretched yet; it clipped rows at ``radius``.
        """
        seen, true = self._variances(here, moment)
        mass = max(float(moment[0, 0]), 1e-300) if here.constant else 1.0
        turn, centre = _slopes(here)
        squared_lengths = np.sum(turn**2, axis=0) * (self._rare - centre) ** 2 + here.size
        kept = np.minimum(radius**2 / squared_lengths / mass, 1.0)
        return replace(self, at_an_end=self.at_an_end & (np.diagonal(seen) > _EXPECTED * kept * true))

    def directions(self, here: Coordinates) -> list[Direction]:
        """For each of these columns."""
        first, (turn, centre) = int(here.constant), _slopes(here)
        true, rare = self._true(None if first else centre), self._rare - centre
        found, back = [], np.asarray(np.linalg.pinv(turn))
        for place in np.flatnonzero(self.at_an_end):
            along = np.concatenate([np.zeros(first), turn[:, place]])
            norm = max(float(along @ along), 1e-300)
            # White coordinates have a second moment of 1, up to errors on either side.
            moment = min(float(true[place]), 1 / norm) * np.outer(along, along)
            length = math.sqrt(norm * rare[place] ** 2 + here.size)
            change = np.concatenate([np.zeros(first), back[place] / rare[place]])
            share = (1 - abs(float(self.mean[place]))) / 2
            found.append(Direction(moment, rare[place] * along, length, share, change))
        for category in self.declared:
            found += [one for one in _levels(category, here, turn, back) if one.share < _RARE]
        return found

    def references(self, here: Coordinates) -> list[Direction]:
        """Those of the reference levels, for a model with an intercept."""
        turn, _ = _slopes(here)
        back = np.asarray(np.linalg.pinv(turn))
        return [next(_levels(category, here, turn, back)) for category in self.declared]

    @property
    def indicators(self) -> NDArray[np.bool_]:
        """All columns that are indicators, as far as is known."""
        return self.at_an_end | self.is_declared

    @property
    def is_declared(self) -> NDArray[np.bool_]:
        """Whether a column is a level of a declared category."""
        return declared_places(self.declared, len(self.mean))

    @property
    def _rare(self) -> Floats:
        """The rare value of each column."""
        return np.where(self.mean > 0, -1.0, 1.0)

    def restored(self, here: Coordinates, moment: Floats) -> Floats:
        """A second moment of z with the variances and means that these columns have without
        clipping. Their correlations with others are kept.
        """
        seen, true = self._variances(here, moment)
        variance = np.diagonal(seen)
        places = np.flatnonzero(self.at_an_end & (variance < true))
        if not len(places) and not self.declared:
            return moment
        mean, stretch = self.mean.copy(), np.ones(len(true))
        stretch[places] = np.sqrt(true[places] / np.maximum(variance[places], _LEAST * true[places]))
        whole = seen * np.outer(stretch, stretch)
        whole[places, places] = true[places]
        for category in self.declared:
            whole[category.places, category.places] = category.moment(here.constant)
            mean[category.places] = category.mean
        places = np.union1d(places, np.flatnonzero(self.is_declared))
        first, (turn, centre), new = int(here.constant), _slopes(here), moment.copy()
        if not first:
            return np.asarray(turn @ whole @ turn.T)
        mass = max(float(moment[0, 0]), 1e-300)
        moved = np.linalg.pinv(turn) @ moment[0, 1:] / mass
        moved[places] = (mean - centre)[places]
        shift = turn @ moved
        new[0, 1:] = new[1:, 0] = mass * shift
        new[1:, 1:] = mass * (turn @ whole @ turn.T + np.outer(shift, shift))
        return new

    def _variances(self, here: Coordinates, moment: Floats) -> tuple[Floats, Floats]:
        """The covariance of columns, as encoded, by the moment, and the variances of indicators
        with these means; without an intercept, about the origin.
        """
        turn, centre = _slopes(here)
        back = np.linalg.pinv(turn)
        if not here.constant:
            return back @ moment @ back.T, self._true(centre)
        mass = max(float(moment[0, 0]), 1e-300)
        shift = moment[0, 1:] / mass
        return back @ (moment[1:, 1:] / mass - np.outer(shift, shift)) @ back.T, self._true(None)

    def _true(self, origin: Floats | None) -> Floats:
        """The variances of indicators with these means, or their mean squares about an origin."""
        variance = np.maximum(1 - self.mean**2, 0.0)
        return np.asarray(variance if origin is None else variance + (self.mean - origin) ** 2)


def _levels(category: Category, here: Coordinates, turn: Floats, back: Floats) -> Iterator[Direction]:
    """For each level."""
    first = int(here.constant)
    for share, away, change in category.levels(here.constant):
        along = np.concatenate([np.zeros(first), turn[:, category.places] @ away])
        square = max(float(along @ along), 1e-300)
        moment = min(share / (1 - share), 1 / square) * np.outer(along, along)
        moved = np.concatenate([np.zeros(first), change @ back[category.places]])
        yield Direction(moment, along, math.sqrt(square + here.size), share, moved)


def _slopes(here: Coordinates) -> tuple[Floats, Floats]:
    """The map from encoded columns to z, and where z is 0."""
    first = int(here.constant)
    turn = here.matrix[first:, 1:]
    return turn, np.asarray(-np.linalg.pinv(turn) @ here.matrix[first:, 0])
