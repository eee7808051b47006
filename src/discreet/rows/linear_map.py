"""Linear functions of a row whose value depends on the row alone, to the last bit.

BLAS adds in an order that changes with the size of a block, so a plain ``matrix @ x`` could round a row otherwise when
another one joins its block, and one person would move others' contributions. Here the row and the matrix are whole
numbers, so small that every product and every partial sum is a whole number below 2^53: float64 holds them all, and
no order of addition can change the result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.rows.kernels import round_scaled, scaled_norms, scratch
from discreet.rows.query import Block, Floats

_EXACT_BITS = 53
# Encoded numbers lie in [-1, 1]. A grid of this many bits is finer than any noise on a sum of them.
_ROW_BITS = 26
# A row of the matrix below this is nothing: its scale would overflow.
_LEAST_ENTRY = 2.0**-900


@dataclass(frozen=True, eq=False)
class LinearMap:
    """``matrix @ (1, x)`` for every record; the matrix is rounded to a fixed number of bits, row by row."""

    matrix: Floats

    @property
    def outputs(self) -> int:
        return len(self.matrix)

    @property
    def _bits(self) -> tuple[int, int]:
        """Bits of a row's entries and of the matrix's: with 2^k entries to add, 53 - k are left for both together."""
        together = _EXACT_BITS - math.ceil(math.log2(self.matrix.shape[1])) - 1
        row = min(_ROW_BITS, together // 2)
        return row, together - row

    @cached_property
    def _whole(self) -> tuple[Floats, Floats]:
        """The matrix in whole numbers, and what one unit of each output is worth."""
        row_bits, matrix_bits = self._bits
        largest = np.max(np.abs(self.matrix), axis=1, initial=0.0)
        # A power of two, so that scaling is exact; a row of zeros, or of numbers too small to scale, becomes zero.
        scale = 2.0 ** (matrix_bits - np.ceil(np.log2(np.where(largest > _LEAST_ENTRY, largest, 1.0))))
        return np.rint(self.matrix * scale[:, np.newaxis]), 1.0 / (scale * 2.0**row_bits)

    @cached_property
    def rounded(self) -> Floats:
        """The matrix that is really applied."""
        whole, unit = self._whole
        return whole * unit[:, np.newaxis] * 2.0 ** self._bits[0]

    def apply(self, block: Block) -> Floats:
        """One row per output, one column per record; scratch memory, good until this thread's next ``apply``."""
        out, unit = self._product(block)
        out *= unit[:, np.newaxis]
        return out

    def with_norms(self, block: Block) -> tuple[Floats, Floats]:
        """The same, and the norm of each record's outputs but the first, in one go."""
        out, unit = self._product(block)
        return out, scaled_norms(out, unit)

    def _product(self, block: Block) -> tuple[Floats, Floats]:
        whole, unit = self._whole
        row = scratch("row in whole numbers", (self.matrix.shape[1], block.records))
        block.write_x(row[1:])
        row[0] = 1.0
        round_scaled(row, 2.0 ** self._bits[0])
        out = scratch("mapped", (self.outputs, block.records))
        np.matmul(whole, row, out=out)
        return out, unit
