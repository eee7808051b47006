"""A block and queries made of plain arrays, so that tests say exactly which factors the grid sees."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass
class ArrayBlock:
    """x with one row per feature and one column per record."""

    x: np.ndarray
    y: np.ndarray
    offset: np.ndarray | None = None

    @property
    def records(self) -> int:
        return self.x.shape[1]

    def write_x(self, out: np.ndarray) -> None:
        out[:] = self.x


@dataclass
class Square:
    """The sum of x x^T."""

    width: int
    left_norm: float
    label: str = "square"
    geometry: str = "square"

    @property
    def shape(self):
        return self.width, self.width

    @property
    def right_norm(self):
        return self.left_norm

    def factors(self, block):
        x = block.x.copy()
        return x, x


@dataclass
class Product:
    """The sum of x y, with any geometry that is no square."""

    width: int
    left_norm: float
    right_norm: float
    label: str = "product"
    geometry: str = "free"

    @property
    def shape(self):
        return self.width, 1

    def factors(self, block):
        return block.x.copy(), block.y[np.newaxis].copy()


def blocks(block: ArrayBlock, cuts: list[int]) -> list[ArrayBlock]:
    """The block cut at these rows."""
    edges = [0, *sorted(cuts), block.records]
    return [ArrayBlock(block.x[:, a:b], block.y[a:b]) for a, b in pairwise(edges)]
