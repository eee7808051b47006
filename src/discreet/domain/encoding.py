"""From a table's cells to encoded numbers, by declared values only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from discreet.domain.columns import Column, Numeric, check_scalable
from discreet.domain.dates import Date, days_of
from discreet.domain.domain import Domain
from discreet.domain.values import Floats, as_floats, objects
from discreet.rows import (
    CellsInMemory,
    Coded,
    Columns,
    Scaling,
    WholeBlock,
    encode_columns,
    encode_table,
    whole_numbers,
)


@dataclass(frozen=True)
class Encoder:
    """Turns chunks of a table into blocks: x scaled to [-1, 1] (or by ``data_norm``), y to [-1, 1].

    ``centre`` and ``half_width`` undo the scaling: original = centre + half_width * encoded.
    """

    domain: Domain
    target: Numeric | None = None
    # How long each row was observed, if that differs: y is then given with two columns, labels and
    # exposures.
    exposure: Numeric | None = None
    # How much each row counts, if that differs: the last column of y then.
    weight: Numeric | None = None

    def __post_init__(self) -> None:
        for column in (*self.domain.columns, self.target):
            if isinstance(column, Numeric):
                check_scalable(column)

    @cached_property
    def names(self) -> list[str]:
        return [name for column in self.domain.columns for name in column.names]

    @property
    def width(self) -> int:
        return len(self.names)

    @cached_property
    def centre(self) -> Floats:
        return np.array([centre for column in self.domain.columns for centre, _ in self._scaling(column)])

    @cached_property
    def half_width(self) -> Floats:
        return np.array([half_width for column in self.domain.columns for _, half_width in self._scaling(column)])

    @property
    def categories(self) -> tuple[tuple[int, int], ...]:
        """Where the columns of each declared category begin and end, if they are encoded as 0 and
        1.
        """
        if self.domain.data_norm is not None:
            return ()
        ends = np.cumsum([0, *(len(column.names) for column in self.domain.columns)]).tolist()
        spans = zip(self.domain.columns, ends, ends[1:], strict=False)
        return tuple((start, stop) for column, start, stop in spans if not isinstance(column, Numeric))

    @property
    def spans(self) -> Floats:
        """The width of each feature's declared range; 1 for an indicator."""
        return np.concatenate(
            [
                [column.high - column.low] if isinstance(column, Numeric) else np.ones(len(column.names))
                for column in self.domain.columns
            ]
        )

    @cached_property
    def _all_bounds(self) -> tuple[Floats, Floats] | None:
        """Lower and upper bounds if every column is numeric."""
        numeric = [column for column in self.domain.columns if isinstance(column, Numeric)]
        if len(numeric) < len(self.domain.columns):
            return None
        limits = np.array([self._limits(column) for column in numeric])
        return limits[:, 0].copy(), limits[:, 1].copy()

    def _limits(self, column: Column) -> tuple[float, float]:
        """A column's bounds, cut to data_norm, so that encoded numbers always lie in [-1, 1]."""
        low, high = (column.low, column.high) if isinstance(column, Numeric) else (0.0, 1.0)
        norm = self.domain.data_norm
        return (low, high) if norm is None else (max(low, -norm), min(high, norm))

    def _centre_of(self, column: Column) -> float:
        """The value of a missing cell with missing='centre': the middle of the bounds, or the
        reference.
        """
        return sum(self._limits(column)) / 2 if isinstance(column, Numeric) else 0.0

    @cached_property
    def _encoded_centre(self) -> Floats:
        """The same, encoded, one entry per feature: 0 unless a norm scales the columns."""
        middle = [self._centre_of(column) for column in self.domain.columns for _ in column.names]
        return (np.array(middle) - self.centre) / self.half_width

    @property
    def intercept(self) -> bool:
        """Whether a model of these features may have an intercept."""
        return True

    @property
    def exposures(self) -> tuple[float, float] | None:
        """The declared range of exposures, of which the offset is the logarithm; None where rows
        have none.
        """
        return None if self.exposure is None else (self.exposure.low, self.exposure.high)

    def offset_of(self, table: Any) -> Floats | None:
        """The offset of each row, besides an exposure."""
        return None

    @property
    def radius(self) -> float:
        """The largest norm of an encoded row: each number lies in [-1, 1], each category is at most
        one indicator.
        """
        box = math.sqrt(len(self.domain.columns))
        return box if self.domain.data_norm is None else min(1.0, box)

    def _scaling(self, column: Column) -> list[tuple[float, float]]:
        if self.domain.data_norm is not None:
            return [(0.0, self.domain.data_norm)] * len(column.names)
        if isinstance(column, Numeric):
            return [(column.centre, column.half_width)]
        return [(0.0, 1.0)] * len(column.names)

    def encode(self, table: Any, y: Any = None) -> EncodedBlock:
        """The block of a chunk: a 2-d array or Columns in the declared order, or a frame that has
        them by name.
        """
        return EncodedBlock(self, table, y)

    def design(self, table: Any, *, extrapolate: bool = False) -> Floats:
        """The features in their own units, one row per record, for predictions.

        They are moved into their bounds, as those of the fitted rows were; ``extrapolate`` leaves
        them as they are.
        """
        frame = None if isinstance(table, np.ndarray) else nw.from_native(table, eager_only=True)
        parts = []
        for position, column in enumerate(self.domain.columns):
            values = table[:, position] if frame is None else frame[column.name]
            values = values if isinstance(column, Date) else cells_of(values)
            part = column_numbers(column, values)[np.newaxis] if isinstance(column, Numeric) else column.encode(values)
            if not extrapolate:
                part = np.clip(part, *self._limits(column))
            if self.domain.missing == "centre":
                part = np.where(np.isnan(part), self._centre_of(column), part)
            parts.append(part)
        # Row by row in memory: products with coefficients then do not depend on how many rows there
        # are.
        return np.ascontiguousarray(np.vstack(parts).T)

    def missing_columns(self, table: Any) -> dict[str, int]:
        """In how many rows each declared column has a missing or undeclared value, where it has
        any.
        """
        empty, start, counts = np.isnan(self.design(table)), 0, {}
        for column in self.domain.columns:
            counts[column.name] = int(empty[:, start].sum())
            start += len(column.names)
        return {name: count for name, count in counts.items() if count}

    def write(self, table: Any, out: Floats, memory: dict[str, Any] | None = None) -> None:
        """Encode the features of a chunk into ``out``.

        ``memory`` keeps the levels of categories for the next time: looking up levels takes
        longest.
        """
        if not self._write_numbers(table, out):
            columns: Any
            if isinstance(table, np.ndarray):
                columns = table.T
            elif isinstance(table, Columns):
                columns = table.arrays
            else:
                frame = nw.from_native(table, eager_only=True)
                columns = [frame[column.name] for column in self.domain.columns]
            self._write_columns(columns, out, {} if memory is None else memory)
        if self.domain.missing == "centre":
            np.copyto(out, self._encoded_centre[:, np.newaxis], where=np.isnan(out))

    def write_whole(self, table: Any, out: Floats, scale: float, memory: dict[str, Any] | None = None) -> None:
        """Encode the features of a chunk in whole numbers into ``out``, as ``WholeBlock`` says."""
        out[0], x = scale, out[1:]
        if not self._write_numbers(table, x, scale):
            self.write(table, x, memory)
            whole_numbers(x, scale)
        elif self.domain.missing == "centre":
            np.copyto(x, np.rint(self._encoded_centre * scale)[:, np.newaxis], where=np.isnan(x))

    @cached_property
    def _scaling_lines(self) -> Floats | None:
        if self._all_bounds is None:
            return None
        missing = self._encoded_centre if self.domain.missing == "centre" else np.full(self.width, np.nan)
        return Scaling(*self._all_bounds, self.centre, 1 / self.half_width, missing).lines

    def cells(self, table: Any) -> CellsInMemory | None:
        """Where the cells of a table lie, if all its columns are numbers of float64.

        Loops then encode them as ``write_whole`` does; who overrides one overrides the other.
        """
        lines = self._scaling_lines
        if lines is not None and isinstance(table, Columns) and table.addresses is not None:
            return CellsInMemory(table.addresses, 1, lines, table)
        return CellsInMemory.of_table(table, lines) if lines is not None and isinstance(table, np.ndarray) else None

    def _write_numbers(self, table: Any, out: Floats, scale: float = 0.0) -> bool:
        """Encode a table all of whose columns are numbers, as ``encode_table`` says; False if it is
        not such a one.
        """
        if self._all_bounds is None:
            return False
        scaling = (*self._all_bounds, self.centre, 1 / self.half_width)
        if isinstance(table, np.ndarray) and table.dtype.kind in "fiub":
            encode_table(table, *scaling, out, scale)
        elif isinstance(table, Columns) and table.floats:
            encode_columns(table.arrays, *scaling, out, scale)
        else:
            return False
        return True

    def _write_columns(self, columns: Any, out: Floats, memory: dict[str, Any]) -> None:
        known: dict[str, NDArray[np.int32]] = memory.setdefault("levels", {})
        start = 0
        for column, values in zip(self.domain.columns, columns, strict=True):
            part = out[start : start + len(column.names)]
            start += len(column.names)
            centre, half_width = self._scaling(column)[0]
            if isinstance(column, Numeric):
                low, high, middle, worth = np.array([[*self._limits(column), centre, 1 / half_width]]).T
                encode_table(column_numbers(column, values)[:, np.newaxis], low, high, middle, worth, part)
            else:
                if column.name not in known:
                    coded = isinstance(values, Coded)
                    known[column.name] = values.map(column.levels) if coded else column.levels(cells_of(values))
                np.divide(column.indicators(known[column.name]), max(half_width, 1.0), out=part)


class EncodedBlock(WholeBlock):
    """A chunk of a table as queries see it, encoded into their own arrays when they ask."""

    def __init__(self, encoder: Encoder, table: Any, y: Any) -> None:
        self._encoder = encoder
        self._table = table
        self._y = y
        self.memory: dict[str, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Another process has the same cells at other addresses."""
        return {name: value for name, value in self.__dict__.items() if name != "cells"}

    @property
    def records(self) -> int:
        return len(self._table)

    @property
    def y(self) -> Floats:
        if "y" not in self.memory:
            target = self._encoder.target
            if target is None or self._y is None:
                raise TypeError("these rows have no target")
            labels = self._y if self._y.ndim == 1 else self._y[:, 0]
            encoded = target.encode(labels, target.centre, target.half_width)[0]
            # Not every query reads exposures: a row without one has no label either.
            if self.offset is not None:
                encoded[np.isnan(self.offset)] = np.nan
            encoded.flags.writeable = False  # the next query must find it unchanged
            self.memory["y"] = encoded
        return np.asarray(self.memory["y"])

    @cached_property
    def offset(self) -> Floats | None:
        """The logarithm of each row's exposure, where exposures are declared."""
        exposure = self._encoder.exposure
        return None if exposure is None else np.log(exposure.encode(self._y[:, 1], 0.0, 1.0)[0])

    @cached_property
    def weight(self) -> Floats | None:
        """Each row's weight over the largest declared weight, in [0, 1]."""
        weight = self._encoder.weight
        return None if weight is None else weight.encode(self._y[:, -1], 0.0, weight.high)[0]

    @property
    def weight_as_given(self) -> Floats | None:
        """The column in the place of weights, unscaled."""
        return None if self._encoder.weight is None else np.asarray(self._y[:, -1], dtype=np.float64)

    def write_x(self, out: Floats) -> None:
        self._encoder.write(self._table, out, self.memory)

    @cached_property
    def cells(self) -> CellsInMemory | None:
        return self._encoder.cells(self._table)

    def write_whole(self, out: Floats, scale: float) -> None:
        self._encoder.write_whole(self._table, out, scale, self.memory)

    @property
    def x(self) -> Floats:
        """The encoded features in an array of their own."""
        out = np.empty((self._encoder.width, self.records))
        self.write_x(out)
        return out


def column_numbers(column: Numeric, values: Any) -> Floats:
    """A numeric column's cells as float64: days, where it is one of dates."""
    return np.asarray(days_of(values), dtype=np.float64) if isinstance(column, Date) else numbers(values)


def numbers(values: Any) -> Floats:
    """A column's cells, however it is held, as float64 with NaN for what is no number."""
    return values.map(as_floats) if isinstance(values, Coded) else as_floats(cells_of(values))


def cells_of(values: Any) -> Any:
    """The cells of a frame's column, where it is one; only when they are needed."""
    return cells(values) if isinstance(values, nw.Series) else values


def cells(series: Any) -> Any:
    """The series as an array; a missing number is NaN and a missing category None, whatever the
    library.
    """
    if series.dtype.is_numeric():
        # Integers that numpy has no type for are cast first. Others are not: pyarrow refuses to
        # cast one above 2^53, in a message that quotes it.
        wide = series.dtype in (nw.Int128, nw.UInt128)
        return as_floats((series.cast(nw.Float64) if wide else series).to_numpy())
    return objects(series.to_list())
