"""Frames in memory: pandas, polars, pyarrow, and whatever else narwhals knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.domain import cells, frame_of, kind_of_series, objects
from discreet.engines.engine import Engine
from discreet.engines.layout import Layout, check_kinds, check_names
from discreet.engines.memory import Arrays
from discreet.engines.types import types_of
from discreet.rows import Columns


class FrameRows(Columns):
    """Some columns of a frame, which are read only when they are encoded."""

    def __init__(self, frame: Any, names: Sequence[str]) -> None:
        self._frame = frame
        self._names = names

    @property
    def arrays(self) -> list[Any]:
        return [self._frame[name] for name in self._names]

    @property
    def types(self) -> Any:
        return types_of(self._frame)

    def __len__(self) -> int:
        return len(self._frame)

    def __getitem__(self, rows: Any) -> FrameRows:
        return FrameRows(self._frame[rows], self._names)


class FrameTable:
    """A frame in this process's memory."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame_of(frame)

    @property
    def names(self) -> list[str]:
        return [name for name in self._frame.columns if isinstance(name, str)]

    def engine(self, layout: Layout) -> Engine:
        frame = self._frame
        check_names(layout, list(frame.columns), "the frame")
        columns = {name: frame[name] for name in layout.read}
        # Without the categories of a type, which may be cells.
        check_kinds(
            layout, {name: (kind_of_series(column), type(column.dtype).__name__) for name, column in columns.items()}
        )
        labels = None if layout.target is None else cells(frame[layout.target])
        groups = None if layout.groups is None else ids_of(frame[layout.groups])
        rows = FrameRows(frame[layout.read], [*layout.columns, *layout.keys])
        return Arrays(rows, labels, groups).engine(layout)


def ids_of(series: Any) -> np.ndarray:
    """A column of ids, exactly as they are: whole numbers beyond 2^53 are never rounded."""
    if series.dtype.is_integer() and not series.is_null().any():
        return np.asarray(series.to_numpy())
    return objects(series.to_list())
