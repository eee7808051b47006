"""A wide table's rows: dense rows of any number type, or compressed sparse rows, never copied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.rows.carries import Parts, shifted
from discreet.rows.kernels import encode_table
from discreet.rows.query import Block, Floats
from discreet.rows.ranking import Indices
from discreet.rows.wide_kernels import LIMIT, MOST_ROWS, weighted_cells, whole_cells

# Small compared with any table that is worth dividing, and large enough that
# starting a block costs little.
_BLOCK_CELLS = 2**23


def wide_block_rows(width: int) -> int:
    """The number of rows of a block: fewer for wider rows."""
    return int(np.clip(_BLOCK_CELLS // max(width, 1), 16, 16384))


class SparseRows:
    """Compressed sparse rows (SciPy's CSR) in the form that engines expect:
    with a length and slices.
    """

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __getitem__(self, rows: slice) -> SparseRows:
        return SparseRows(self.matrix[rows])


@dataclass(frozen=True)
class WideEncoding:
    """Declared bounds of every column and of y: encoded = (clip(x, low, high) -
    centre) / half_width, in [-1, 1].
    """

    low: Floats
    high: Floats
    y_low: float
    y_high: float
    cells: int = 0

    @property
    def width(self) -> int:
        return len(self.low)

    @property
    def centre(self) -> Floats:
        return (self.low + self.high) / 2

    @property
    def half_width(self) -> Floats:
        return (self.high - self.low) / 2

    @property
    def y_centre(self) -> float:
        return (self.y_low + self.y_high) / 2

    @property
    def y_half_width(self) -> float:
        return (self.y_high - self.y_low) / 2

    def encode(self, table: Any, y: Any) -> EncodedRows:
        return EncodedRows(self, table, y)

    def see(self, block: Block) -> EncodedRows:
        """The features of a block as a wide table, where these bounds are those of encoded
        features.
        """
        features = np.empty((self.width, block.records))
        block.write_x(features)
        return EncodedRows(self, np.ascontiguousarray(features.T), block.y)


class EncodedRows:
    """Some rows of a wide table."""

    def __init__(self, encoding: WideEncoding, table: Any, y: Any, columns: Indices | None = None) -> None:
        self._encoding = encoding
        self._table = table
        self._y = y
        # The columns that ``write_x`` gives; None for all.
        self._columns = columns

    @property
    def records(self) -> int:
        return len(self._table)

    @property
    def y(self) -> Floats:
        """The label in [-1, 1]; NaN where there is none."""
        code = self._encoding
        with np.errstate(over="ignore", invalid="ignore"):  # a signalling NaN would cause a warning
            labels = np.clip(np.asarray(self._y, dtype=np.float64), code.y_low, code.y_high)
            return (labels - code.y_centre) * (1 / code.y_half_width)

    @property
    def offset(self) -> Floats | None:
        """Sparse models have no exposure."""
        return None

    def write_x(self, out: Floats) -> None:
        code = self._encoding
        columns = np.arange(code.width) if self._columns is None else self._columns
        if isinstance(self._table, SparseRows):
            cells = self._table.matrix[:, columns].toarray()
        else:
            cells = self._table[:, columns]
        bounds = (code.low[columns], code.high[columns], code.centre[columns], 1 / code.half_width[columns])
        with np.errstate(over="ignore", invalid="ignore"):
            numbers = np.asarray(cells, dtype=np.float64)
        encode_table(numbers, *bounds, out)

    def take(self, columns: Indices) -> Block:
        return EncodedRows(self._encoding, self._table, self._y, columns)

    def weighted_sums(self, weights: Floats, cell_bound: float) -> Parts:
        """See the protocol; a missing cell adds nothing to its own column and
        does not affect the others.
        """
        if not 1e-100 < cell_bound <= 1:
            raise ValueError(f"a cell's bound must be above 0 and at most 1, got {cell_bound}")
        per_unit = LIMIT / (self._encoding.half_width * cell_bound)
        if self.records > MOST_ROWS:
            raise ValueError(f"a block may have at most {MOST_ROWS} rows for exact sums, got {self.records}")
        sums = self._sums(weights, per_unit)
        return shifted(sums, 0)

    def _sums(self, weights: Floats, per_unit: Floats) -> NDArray[np.int64]:
        table, centre = self._table, self._encoding.centre
        if not isinstance(table, SparseRows):
            return weighted_cells(table, weights, centre, per_unit, cells=self._encoding.cells).astype(np.int64)
        return _sparse_sums(table.matrix, weights, centre, per_unit)


def _sparse_sums(matrix: Any, weights: Floats, centre: Floats, per_unit: Floats) -> NDArray[np.int64]:
    """The same sums from the stored cells alone: all others are 0, and add weight
    times the grid value of 0.

    Three sums of whole numbers, each exact in float64 up to 2^33 rows. A row
    must not store a cell twice.
    """
    zero = whole_cells(np.zeros(len(centre)), centre, per_unit)
    columns = matrix.indices
    stored = whole_cells(matrix.data, centre[columns], per_unit[columns])
    row_weights = np.repeat(weights, np.diff(matrix.indptr))
    cells = np.bincount(columns, row_weights * stored, minlength=len(centre)).astype(np.int64)
    stored_zeros = (zero * np.bincount(columns, row_weights, minlength=len(centre))).astype(np.int64)
    return np.asarray(cells - stored_zeros + (zero * weights.sum()).astype(np.int64))
