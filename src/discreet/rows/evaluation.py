"""Queries of a private evaluation about held-out rows: predictions and losses."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.rows.histograms import Histogram, cell_of, one_hot
from discreet.rows.linear_map import LinearMap, with_offset
from discreet.rows.query import Block, Floats, Geometry
from discreet.rows.scores import Labels

# Maps labels, linear predictors (one line per output of the map) and the offset (None:
# 0) to lines of losses.
Losses = Callable[[Floats, Floats, Floats | None], Floats]


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """The number of rows with a linear predictor in each cell; ``by_label``:
    rows with label 0, then 1.

    Privacy: a row adds a single 1, so it moves the counts by at most 1, and a
    replaced one by sqrt(2).
    """

    map: LinearMap
    labels: Labels
    edges: Floats
    by_label: bool = False
    label: str = "predictions"
    geometry: Geometry = "cells"
    left_norm: float = 1.0
    right_norm: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        return (len(self.edges) + 1) * (1 + self.by_label), 1

    def factors(self, block: Block) -> tuple[Any, Floats]:
        labels = self.labels.of(block)
        cell = cell_of(self.map.apply(block)[0] + 0.0 * labels, self.edges)
        if self.by_label:
            cell = np.where((cell >= 0) & (labels > 0.5), cell + len(self.edges) + 1, cell)
        return cell, np.ones((1, block.records))


@dataclass(frozen=True, eq=False)
class ByPrediction:
    """Exposures (or counts), sums of labels and of predictions, by cells of the linear predictor.

    Labels are clipped to their range and measured from its low end, in units of the range;
    exposures in units of the largest. A prediction is ``mean`` of the linear predictor without
    offset, as its position in its cell, which lies between two of ``ends``, times the exposure.

    Privacy: a row is in one cell, with three numbers between 0 and 1, so its norm is at most
    sqrt(3); all entries are >= 0, so a replaced row moves the sums by at most sqrt(6) (``reach``).
    """

    map: LinearMap
    labels: Labels
    mean: Callable[[Floats], Floats]
    edges: Floats
    ends: Floats
    largest_exposure: float = 1.0
    label: str = "labels by prediction"
    geometry: Geometry = "nonnegative"
    left_norm: float = 1.0
    right_norm: float = math.sqrt(3)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.edges) + 1, 3

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        cells, numbers = np.empty((self.shape[0], block.records)), np.ones((3, block.records))
        eta = np.array(self.map.apply(block)[0])
        one_hot(eta, self.edges, cells)
        if block.offset is not None:
            numbers[0] = np.minimum(np.exp(block.offset) / self.largest_exposure, 1.0)
        low, high = self.labels.low, self.labels.high
        numbers[1] = (np.clip(self.labels.of(block), low, high) - low) / (high - low)
        place = np.searchsorted(self.edges, eta, side="left")
        start, end = self.ends[place], self.ends[place + 1]
        numbers[2] = np.clip((self.mean(eta) - start) / (end - start), 0.0, 1.0) * numbers[0]
        return cells, numbers


@dataclass(frozen=True, eq=False)
class LossCells(Histogram):
    """The number of rows with a loss in each cell."""

    map: LinearMap
    labels: Labels
    losses: Losses
    edges: Floats
    label: str = "sizes of losses"

    def numbers(self, block: Block) -> Floats:
        return np.asarray(_losses(self, block)[0])


@dataclass(frozen=True, eq=False)
class LossSums:
    """The number of rows, and sums of losses, each clipped at its bound and in units of it.

    Privacy: a row is a vector of 1 + k numbers between 0 and 1, so its norm is at most
    sqrt(1 + k); all entries are >= 0, so a replaced row moves the sums by at most
    sqrt(2) times that (``reach``).
    """

    map: LinearMap
    labels: Labels
    losses: Losses
    bounds: Floats
    label: str = "losses"
    geometry: Geometry = "nonnegative"
    left_norm: float = 1.0

    @property
    def right_norm(self) -> float:
        return math.sqrt(1 + len(self.bounds))

    @property
    def shape(self) -> tuple[int, int]:
        return 1, 1 + len(self.bounds)

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        numbers = np.ones((1 + len(self.bounds), block.records))
        numbers[1:] = np.clip(_losses(self, block) / self.bounds[:, np.newaxis], 0.0, 1.0)
        return np.ones((1, block.records)), numbers


@dataclass(frozen=True, eq=False)
class ClassLosses:
    """The number of rows in each class, and the sum of losses, clipped at a
    bound and in units of it.

    Privacy: a row is a 1 for its class and a number between 0 and 1, so its norm is at most
    sqrt(2); all entries are >= 0, so a replaced row moves the sums by at most 2.
    """

    map: LinearMap
    labels: Labels
    losses: Losses
    bound: float
    classes: int
    label: str = "losses by class"
    geometry: Geometry = "nonnegative"
    left_norm: float = 1.0
    right_norm: float = math.sqrt(2)

    @property
    def shape(self) -> tuple[int, int]:
        return 1, self.classes + 1

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        numbers = np.zeros((self.classes + 1, block.records))
        labels = np.rint(self.labels.of(block))
        for number in range(self.classes):
            numbers[number] = labels == number
        numbers[-1] = np.clip(_losses(self, block)[0] / self.bound, 0.0, 1.0)  # NaN drops the row
        return np.ones((1, block.records)), numbers


def _losses(query: Any, block: Block) -> Floats:
    labels = query.labels.of(block)
    eta = np.array(query.map.apply(block))
    if block.offset is not None:
        eta = with_offset(eta, block)
    return np.asarray(query.losses(labels, eta, block.offset))
