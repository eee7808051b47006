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

from discreet.rows.kernels import TILE_ROWS, map_cells, norms_from, scratch, whole_numbers
from discreet.rows.look import look, shared_of
from discreet.rows.query import Block, Floats, WholeBlock, cells_of

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
        out, norms = scratch("mapped", (self.outputs, block.records)), np.zeros(block.records)
        if self._from_cells(block, self.outputs, skipped, out, norms):
            return out, norms
        lines = self.whole_lines(block)
        for start in range(0, block.records, TILE_ROWS):
            some = slice(start, start + TILE_ROWS)
            np.matmul(self._scaled, lines[:, some], out=out[:, some])
            norms_from(out[skipped:], start, norms[some])
        return out, norms

    def _from_cells(self, block: Block, outputs: int, skipped: int, out: Floats, norms: Floats) -> bool:
        """The first outputs by a loop that reads a block's cells; False where there is none."""
        cells = cells_of(block)
        scale, spans = 2.0**self.row_bits, self._spans[:outputs]
        return cells is not None and map_cells(cells, scale, self._scaled[:outputs], spans, skipped, out, norms)

    @property
    def loops(self) -> tuple[float, Floats, NDArray[np.int64]]:
        """What loops over a block's cells need: the scale of whole rows, the matrix, and where each
        output has coefficients.
        """
        return 2.0**self.row_bits, self._scaled, self._spans

    @cached_property
    def _spans(self) -> NDArray[np.int64]:
        """Where each output has coefficients of features that are not 0: from, to."""
        spans = np.ones((self.outputs, 2), dtype=np.int64)
        for span, coefficients in zip(spans, self._scaled, strict=True):
            there = np.flatnonzero(coefficients[1:])
            span[:] = (there[0] + 1, there[-1] + 2) if len(there) else (1, 1)
        return spans

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

    def predictor_and_length(self, block: Block) -> tuple[Floats, Floats]:
        """The first output with the offset, and the norm of the others; read-only.

        Norms do not change while only the first output changes, so they are stored with the rows.
        """
        eta, length = shared_of(block, ("predictor", self.key), lambda: self._first_and_length(block))
        return with_offset(eta, block), length

    def _first_and_length(self, block: Block) -> tuple[Floats, Floats]:
        already = self._mapped_already(block)
        if already is not None:
            return already[0][0].copy(), already[1]
        memory = block.memory if isinstance(block, WholeBlock) else {}
        known, length = memory.get("lengths", (None, None))
        eta, norms = np.empty((1, block.records)), np.zeros(block.records)
        if known == self._length_key:
            if not self._from_cells(block, 1, 1, eta, norms):
                np.matmul(self._scaled[:1], self.whole_lines(block), out=eta)
        elif self._from_cells(block, self.outputs, 1, eta, norms):
            length = norms
        else:
            mapped, length = self.seen(block)
            eta = mapped[:1].copy()
        memory["lengths"] = self._length_key, length
        eta.flags.writeable = False
        return eta[0], length

    @cached_property
    def key(self) -> bytes:
        """Everything that outputs depend on, except the rows."""
        return self._whole[0].tobytes() + self._whole[1].tobytes()

    @cached_property
    def predictor_key(self) -> bytes:
        """Everything that the first output depends on, except the rows."""
        return self._whole[0][:1].tobytes() + self._whole[1][:1].tobytes()

    @cached_property
    def is_constant(self) -> bool:
        """Whether there is one output besides the first, which is 1 in every complete row."""
        return self.outputs == 2 and bool(np.all(self.rounded[1] == np.eye(1, self.matrix.shape[1])[0]))

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

    def whole_lines(self, block: Block) -> Floats:
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
