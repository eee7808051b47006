"""Linear functions of a row whose value depends on the row alone, to the last bit.

BLAS adds in an order that changes with the size of a block, so a plain ``matrix @ x`` could round a row otherwise when
another one joins its block, and one person would move others' contributions. Here the row and the matrix are whole
numbers, so small that every product and every partial sum is a whole number below 2^53: float64 holds them all, and
no order of addition can change the result.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.rows.kernels import TILE_ROWS, norms_from, scratch, whole_numbers
from discreet.rows.query import Block, Floats, WholeBlock

_EXACT_BITS = 53
# Encoded numbers lie in [-1, 1]. A grid of this many bits is finer than any noise on a sum of them.
ROW_BITS = 23
# A row of the matrix below this is nothing: its scale would overflow.
_LEAST_ENTRY = 2.0**-200
# Outputs so many bits smaller than the largest one have no bits of their own any more.
_SPREAD_BITS = 60


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
        row = min(ROW_BITS, together // 2)
        return row, together - row

    @cached_property
    def _whole(self) -> tuple[Floats, Floats]:
        """The matrix in whole numbers, and what one unit of each output is worth."""
        row_bits, matrix_bits = self._bits
        largest = np.max(np.abs(self.matrix), axis=1, initial=0.0)
        # A power of two, so that scaling is exact; a row of zeros, or of numbers too small to scale, becomes zero.
        used = largest > _LEAST_ENTRY
        scale = 2.0 ** (matrix_bits - np.ceil(np.log2(np.where(used, largest, 1.0))))
        scale = np.minimum(scale, np.min(scale, where=used, initial=np.inf) * 2.0**_SPREAD_BITS)
        return np.rint(self.matrix * scale[:, np.newaxis]), 1.0 / (scale * 2.0**row_bits)

    @cached_property
    def rounded(self) -> Floats:
        """The matrix that is really applied."""
        whole, unit = self._whole
        return whole * unit[:, np.newaxis] * 2.0 ** self._bits[0]

    @cached_property
    def _scaled(self) -> Floats:
        """The whole matrix in units of the outputs, which are powers of two: products are as exact as before."""
        whole, unit = self._whole
        return np.asarray(whole * unit[:, np.newaxis])

    def apply(self, block: Block) -> Floats:
        """One row per output, one column per record; scratch memory, good until this thread's next ``apply``."""
        return self.with_norms(block)[0]

    def with_norms(self, block: Block, skipped: int = 0) -> tuple[Floats, Floats]:
        """The same, and the norm of each record's outputs but the first ones that are skipped, in one go."""
        _look.mapped = None
        lines = self._whole_lines(block)
        out, norms = scratch("mapped", (self.outputs, block.records)), np.zeros(block.records)
        for start in range(0, block.records, TILE_ROWS):
            some = slice(start, start + TILE_ROWS)
            np.matmul(self._scaled, lines[:, some], out=out[:, some])
            norms_from(out[skipped:], start, norms[some])
        return out, norms

    def seen(self, block: Block, skipped: int = 1) -> tuple[Floats, Floats]:
        """``with_norms`` without the first outputs, but only to be read.

        Several queries of one pass see a block through the same map: it is applied once for all of them.
        """
        already = self._mapped_already(block, skipped)
        if already is not None:
            return already
        mapped, length = self.with_norms(block, skipped=skipped)
        mapped.flags.writeable = False
        if _look.block is block:
            _look.mapped = (self.key, skipped), mapped, length
        return mapped, length

    def _mapped_already(self, block: Block, skipped: int = 1) -> tuple[Floats, Floats] | None:
        known = _look.mapped if _look.block is block else None
        return None if known is None or known[0] != (self.key, skipped) else known[1:]

    def predictor_and_length(self, block: Block) -> tuple[Floats, Floats, Floats]:
        """The records (1, x) in whole numbers (scratch memory), one column each, their first output with offset, the
        others' norm.

        Lengths stay the same while only the first output changes, so the rows' holder remembers them.
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
        """All that outputs depend on, besides the rows."""
        return self._whole[0].tobytes() + self._whole[1].tobytes()

    @cached_property
    def _length_key(self) -> bytes:
        """All that lengths depend on, besides the rows."""
        return self._whole[0][1:].tobytes() + self._whole[1][1:].tobytes()

    @cached_property
    def fine_scale(self) -> float:
        """Whole units of the finest output (but the first) per unit of it, for records in whole numbers."""
        return float(1.0 / self._whole[1][1:].min(initial=1.0))

    @cached_property
    def fine_matrix(self) -> NDArray[np.object_]:
        """The matrix without its first row, in Python's integers: applied to whole records it counts fine units."""
        whole, unit = self._whole
        worth = np.array([int(one * self.fine_scale) for one in unit[1:]], dtype=object)
        return np.asarray(
            np.array([[int(entry) for entry in row] for row in whole[1:]], dtype=object) * worth[:, np.newaxis]
        )

    @property
    def row_bits(self) -> int:
        """Whole records count units of 2^-row_bits."""
        return self._bits[0]

    def _whole_lines(self, block: Block) -> Floats:
        """The records (1, x), one per column."""
        lines, scale = scratch("rows in whole numbers", (self.matrix.shape[1], block.records)), 2.0**self.row_bits
        if _look.block is block and _look.rows == scale:
            return lines
        _look.rows = None
        if isinstance(block, WholeBlock):
            block.write_whole(lines, scale)
        else:
            lines[0] = scale
            block.write_x(lines[1:])
            whole_numbers(lines[1:], scale)
        _look.rows = scale if _look.block is block else None
        return lines


class _Look(threading.local):
    """The block that queries look at in turn, and what this thread's scratch memory holds of it."""

    block: Any = None
    # At which scale its rows are there in whole numbers.
    rows: float | None = None
    # Through which map they are there, with their lengths, which leave so many outputs out.
    mapped: tuple[tuple[bytes, int], Floats, Floats] | None = None
    # What functions of its rows gave.
    found: dict[Hashable, Any] | None = None


_look = _Look()


@contextmanager
def one_look(block: Block) -> Iterator[None]:
    """While this is open the block's rows stay as they are, so what queries have in common is computed once."""
    if _look.block is block:  # opened already, for several queries
        yield
        return
    outer = _look.block
    _look.block, _look.rows, _look.mapped, _look.found = block, None, None, {}
    try:
        yield
    finally:
        _look.block, _look.rows, _look.mapped, _look.found = outer, None, None, None


def shared(key: Hashable, compute: Callable[[], Any]) -> Any:
    """What ``compute`` gives, computed once for all queries that look at a block; the key says all but the block."""
    found = _look.found
    if found is None:
        return compute()
    if key not in found:
        found[key] = compute()
    return found[key]


def with_offset(eta: Floats, block: Block) -> Floats:
    """The linear predictor with what every model adds to it."""
    return eta if block.offset is None else eta + block.offset
