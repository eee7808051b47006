"""Linear functions of a row whose value depends on that row alone, to the last bit.

BLAS adds in an order that depends on the size of a block. So a plain ``matrix @ x`` could round a
row differently when another row joins its block, and one person would change others'
contributions. Here the row and the matrix are whole numbers so small that every product and
partial sum is a whole number below 2^53. float64 represents all of them, and the order of addition
cannot change the result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.rows.kernels import TILE_ROWS, norms_from, scratch, whole_numbers
from discreet.rows.look import look
from discreet.rows.query import Block, Floats, WholeBlock

_EXACT_BITS = 53
# Encoded numbers lie in [-1, 1]. A grid of this many bits is finer than any noise on a sum of them.
ROW_BITS = 23
# A matrix row whose entries are all below this counts as zero: its scale would overflow.
_LEAST_ENTRY = 2.0**-200
# Outputs that are this many bits smaller than the largest one get no finer scale.
_SPREAD_BITS = 60


@dataclass(frozen=True, eq=False)
class LinearMap:
    """``matrix @ (1, x)`` for every record; the matrix is rounded to a fixed
    number of bits, row by row.
    """

    matrix: Floats

    @property
    def outputs(self) -> int:
        return len(self.matrix)

    @property
    def _bits(self) -> tuple[int, int]:
        """Bits of the row's and of the matrix's entries: adding 2^k
        products leaves 53 - k for both.
        """
        together = _EXACT_BITS - math.ceil(math.log2(self.matrix.shape[1])) - 1
        row = min(ROW_BITS, together // 2)
        return row, together - row

    @cached_property
    def _whole(self) -> tuple[Floats, Floats]:
        """The matrix in whole numbers, and the value of one unit of each output."""
        row_bits, matrix_bits = self._bits
        largest = np.max(np.abs(self.matrix), axis=1, initial=0.0)
        # A power of two, so that scaling is exact; a row of zeros, or of numbers too small
        # to scale, becomes zero.
        used = largest > _LEAST_ENTRY
        scale = 2.0 ** (matrix_bits - np.ceil(np.log2(np.where(used, largest, 1.0))))
        scale = np.minimum(scale, np.min(scale, where=used, initial=np.inf) * 2.0**_SPREAD_BITS)
        return np.rint(self.matrix * scale[:, np.newaxis]), 1.0 / (scale * 2.0**row_bits)

    @cached_property
    def rounded(self) -> Floats:
        """The matrix that is actually applied."""
        whole, unit = self._whole
        return whole * unit[:, np.newaxis] * 2.0 ** self._bits[0]

    @cached_property
    def _scaled(self) -> Floats:
        """The whole matrix in units of the outputs.

        These are powers of two, so products stay exact.
        """
        whole, unit = self._whole
        return np.asarray(whole * unit[:, np.newaxis])

    def apply(self, block: Block) -> Floats:
        """One row per output, one column per record; scratch memory, valid until the
        thread's next ``apply``.
        """
        return self.with_norms(block)[0]

    def with_norms(self, block: Block, skipped: int = 0) -> tuple[Floats, Floats]:
        """The same, with the norm of each record's outputs without the first ``skipped`` ones."""
        look.mapped = None
        lines = self._whole_lines(block)
        out, norms = scratch("mapped", (self.outputs, block.records)), np.zeros(block.records)
        for start in range(0, block.records, TILE_ROWS):
            some = slice(start, start + TILE_ROWS)
            np.matmul(self._scaled, lines[:, some], out=out[:, some])
            norms_from(out[skipped:], start, norms[some])
        return out, norms

    def seen(self, block: Block, skipped: int = 1) -> tuple[Floats, Floats]:
        """``with_norms`` without the first outputs, read-only.

        Several queries of one pass may apply the same map to a block: it is
        applied once for all of them.
        """
        already = self._mapped_already(block, skipped)
        if already is not None:
            return already
        mapped, length = self.with_norms(block, skipped=skipped)
        mapped.flags.writeable = False
        if look.block is block:
            look.mapped = (self.key, skipped), mapped, length
        return mapped, length

    def _mapped_already(self, block: Block, skipped: int = 1) -> tuple[Floats, Floats] | None:
        known = look.mapped if look.block is block else None
        return None if known is None or known[0] != (self.key, skipped) else known[1:]

    def predictor_and_length(self, block: Block) -> tuple[Floats, Floats, Floats]:
        """The records (1, x) in whole numbers (scratch memory), their first output with
        offset, the others' norm.

        Norms do not change while only the first output changes, so they are stored with the rows.
        """
        memory = block.memory if isinstance(block, WholeBlock) else {}
        known, length = memory.get("lengths", (None, None))
        if known != self._length_key:
            length = self.seen(block)[1]
            memory["lengths"] = self._length_key, length
        lines = self._whole_lines(block)
        mapped = self._mapped_already(block)
        eta = self._scaled[0] @ lines if mapped is None else mapped[0][0]
        return lines, with_offset(eta, block), length

    @cached_property
    def key(self) -> bytes:
        """Everything that outputs depend on, except the rows."""
        return self._whole[0].tobytes() + self._whole[1].tobytes()

    @cached_property
    def _length_key(self) -> bytes:
        """Everything that norms depend on, except the rows."""
        return self._whole[0][1:].tobytes() + self._whole[1][1:].tobytes()

    @cached_property
    def fine_scale(self) -> float:
        """Whole units of the finest output (except the first) per unit of it, for
        records in whole numbers.
        """
        return float(1.0 / self._whole[1][1:].min(initial=1.0))

    @cached_property
    def fine_matrix(self) -> NDArray[np.object_]:
        """The matrix without its first row, in Python integers: applied to whole
        records, it gives fine units.
        """
        whole, unit = self._whole
        worth = np.array([int(one * self.fine_scale) for one in unit[1:]], dtype=object)
        return np.asarray(
            np.array([[int(entry) for entry in row] for row in whole[1:]], dtype=object) * worth[:, np.newaxis]
        )

    @property
    def row_bits(self) -> int:
        """Whole records are in units of 2^-row_bits."""
        return self._bits[0]

    def _whole_lines(self, block: Block) -> Floats:
        """The records (1, x), one per column."""
        lines, scale = scratch("rows in whole numbers", (self.matrix.shape[1], block.records)), 2.0**self.row_bits
        if look.block is block and look.rows == scale:
            return lines
        look.rows = None
        if isinstance(block, WholeBlock):
            block.write_whole(lines, scale)
        else:
            lines[0] = scale
            block.write_x(lines[1:])
            whole_numbers(lines[1:], scale)
        look.rows = scale if look.block is block else None
        return lines


def with_offset(eta: Floats, block: Block) -> Floats:
    """The linear predictor with the block's offset."""
    return eta if block.offset is None else eta + block.offset
