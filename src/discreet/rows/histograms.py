"""Histograms: the number of rows between fixed edges.

A row is in one cell, whatever their number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.rows.kernels import cells_between, even_cells
from discreet.rows.linear_map import LinearMap
from discreet.rows.query import Block, Floats, Geometry, OneCell, encoded_x, ones, silence
from discreet.rows.scores import Labels

Function = Callable[[Floats], Floats]


def one_hot(values: Floats, edges: Floats, out: Floats) -> None:
    """Row i of ``out`` marks values in (edges[i-1], edges[i]], the last row those above
    all edges; NaN is in none.
    """
    cell = np.searchsorted(edges, values, side="left")
    for i, row in enumerate(out):
        np.equal(cell, i, out=row)
    out[:, np.isnan(values)] = 0.0


def cell_of(values: Floats, edges: Floats) -> NDArray[np.int64]:
    """The cell of each value, as ``one_hot`` marks it, as one line; -1 for NaN."""
    return cells_between(values, edges)[np.newaxis]


class Histogram:
    """The number of rows with a number in each cell; a row whose number is NaN is in none.

    Privacy: a row adds a single 1, so it moves the counts by at most 1, and a
    replaced one by sqrt(2).
    """

    edges: Floats
    geometry: Geometry = "cells"
    left_norm: float = 1.0
    right_norm: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.edges) + 1, 1

    def numbers(self, block: Block) -> Floats:
        """The number of each record."""
        raise NotImplementedError

    def factors(self, block: Block) -> tuple[Any, Floats]:
        return cell_of(self.numbers(block), self.edges), ones(block.records)


@dataclass(frozen=True, eq=False)
class Look(OneCell):
    """Histograms of y, in the user's units, and of the norm of encoded x;
    without edges one is left out.

    A row adds 1 to one cell of each, so its norm is the root of the number of
    histograms; entries are >= 0.
    """

    labels: Labels
    width: int
    y_edges: Floats
    norm_edges: Floats
    label: str = "first look"
    geometry: Geometry = "nonnegative"
    right_norm: float = 1.0

    @property
    def _cells(self) -> tuple[int, int]:
        of_y, of_norm = (len(edges) + 1 if len(edges) else 0 for edges in (self.y_edges, self.norm_edges))
        return of_y, of_norm

    @property
    def left_norm(self) -> float:
        return math.sqrt(sum(cells > 0 for cells in self._cells))

    @property
    def shape(self) -> tuple[int, int]:
        return sum(self._cells), 1

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        row = np.zeros((self.shape[0], block.records))
        cells = self._cells[0]
        silent = silence(block, self.width)
        if cells:
            labels = self.labels.of(block)
            one_hot(labels, self.y_edges, row[:cells])
            silent += 0.0 * labels
        if self._cells[1]:
            one_hot(encoded_x(block, self.width)[1], self.norm_edges, row[cells:])
        row += silent
        return row, ones(block.records)

    def cell_and_numbers(self, block: Block) -> tuple[NDArray[np.int64], Floats] | None:
        if len(self.norm_edges):
            return None
        labels = self.labels.of(block)
        return cell_of(labels + silence(block, self.width), self.y_edges)[0], ones(block.records)

    def read(self, counts: Floats) -> tuple[Floats, Floats]:
        """The two histograms of a released answer."""
        return counts[: self._cells[0], 0], counts[self._cells[0] :, 0]


@dataclass(frozen=True, eq=False)
class ColumnHistograms:
    """For every encoded feature, the number of rows in each of equal cells of its declared range.

    Privacy: a row adds a single 1 to each histogram, so it moves the counts by at most the root of
    the number of features, and a replaced one by sqrt(2) times that.
    """

    width: int
    cells: int
    label: str = "where columns lie"
    geometry: Geometry = "cells"
    right_norm: float = 1.0

    @property
    def left_norm(self) -> float:
        return math.sqrt(self.width)

    @property
    def shape(self) -> tuple[int, int]:
        return self.width * self.cells, 1

    def factors(self, block: Block) -> tuple[Any, Floats]:
        x, _ = encoded_x(block, self.width)
        return even_cells(x, silence(block, self.width), self.cells), ones(block.records)

    def read(self, counts: Floats) -> Floats:
        """A released answer, one histogram per row."""
        return counts[:, 0].reshape(self.width, self.cells)


@dataclass(frozen=True, eq=False)
class Residuals:
    """|y - mean(eta)| of each row, with eta the map's first output."""

    map: LinearMap
    labels: Labels
    mean: Function

    def sizes(self, block: Block) -> Floats:
        return np.asarray(np.abs(self.labels.of(block) - self.mean(self.map.apply(block)[0])))


@dataclass(frozen=True, eq=False)
class ResidualHistogram(Histogram):
    """The number of rows with a residual in each cell."""

    residuals: Residuals
    edges: Floats
    label: str = "sizes of residuals"

    def numbers(self, block: Block) -> Floats:
        return self.residuals.sizes(block)


@dataclass(frozen=True, eq=False)
class ResidualCounts:
    """Counts of rows with a residual up to each edge, as in RELU: +1/2 for
    such a row, -1/2 for others.

    Two rows then differ by at most 1 in every entry: the sensitivity is
    that of counts, sqrt(edges).
    """

    residuals: Residuals
    edges: Floats
    label: str = "counts of small residuals"
    geometry: Geometry = "free"
    right_norm: float = 1.0

    @property
    def left_norm(self) -> float:
        return math.sqrt(len(self.edges)) / 2

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.edges), 1

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        sizes = self.residuals.sizes(block)
        row = np.less_equal(sizes, self.edges[:, np.newaxis]) - 0.5
        row[:, np.isnan(sizes)] = 0.0
        return row, ones(block.records)
