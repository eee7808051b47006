"""Dask frames: partitions become blocks on the workers; only exact sums are sent, and added by a
tree.

Every task can be computed again from those before it, so a worker that is lost costs time and
changes no bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from dask.base import get_scheduler, persist
from dask.delayed import Delayed, delayed

from discreet.domain import frame_of, kind_of_series
from discreet.engines.blas import one_thread_per_block
from discreet.engines.changes import SameRows
from discreet.engines.engine import Engine, Function
from discreet.engines.frame_cells import buckets, chunks_of, frame_cells, sum_chunks, used_rows
from discreet.engines.kept import MOST_BYTES
from discreet.engines.layout import Cells, Chunk, Layout, check_kinds, check_names
from discreet.engines.progress import Progress
from discreet.engines.reading import reading
from discreet.engines.total import PassSum
from discreet.errors import DomainError
from discreet.rows import Parts, Residues

# The number of sums that one task adds up.
_BRANCHES = 16
# The share of the cluster's memory that blocks may take between passes; Dask begins to spill at 60
# %.
_KEPT_SHARE = 0.3
_WHY = "a task failed, on the cluster or in the frame's own graph; Dask's own log says why"
_BUCKET = "discreet: who"


class DaskTable:
    """A Dask DataFrame; ``decimal``: all its columns are texts, as read from CSV files with this
    decimal point.
    """

    def __init__(self, frame: Any, decimal: str | None = None) -> None:
        self._frame = frame
        self._decimal = decimal

    @property
    def names(self) -> list[str]:
        return [name for name in self._frame.columns if isinstance(name, str)]

    def engine(self, layout: Layout) -> Engine:
        check_names(layout, list(self._frame.columns), "the Dask frame")
        if self._decimal is None:
            meta = frame_of(self._frame._meta)
            # Without the categories of a type, which may be cells.
            kinds = {name: (kind_of_series(meta[name]), type(meta[name].dtype).__name__) for name in layout.read}
            check_kinds(layout, kinds)
        return DaskEngine(layout, self._frame[layout.read], self._decimal)


def frame_of_csv(table: Any, columns: Sequence[str]) -> Any:
    """The rows of CSV files as bytes, a partition for each file: read on the workers by the reader
    of streams.

    pandas would take the first cells of lines that are too long for an index, and fill lines that
    are too short.
    """
    import dask.dataframe as dd

    empty = table.empty(columns).to_pandas(types_mapper=_as_in_arrow)
    return dd.from_map(partial(_texts, table, columns), range(table.files), meta=empty)


class DaskEngine:
    """Sums over the partitions of a Dask frame, by whatever scheduler Dask uses."""

    ordered = False

    def __init__(self, layout: Layout, frame: Any, decimal: str | None = None) -> None:
        self._layout = layout
        self._frame = frame
        self._decimal = decimal
        self._same = SameRows()
        self._passes = 0
        # Blocks that stay where they are between passes, once it is known that they fit.
        self._kept: list[Delayed] | None = None

    @property
    def types(self) -> dict[str, str]:
        """The columns that are read and the names of their types."""
        meta = frame_of(self._frame._meta)
        return {name: type(meta[name].dtype).__name__ for name in self._layout.read}

    @cached_property
    def rows(self) -> int:
        rows = int(reading("the Dask frame", lambda: len(self._frame), _WHY))
        self._same.count(rows)
        return rows

    def sum_rows(self, function: Function, part: Residues | None = None) -> Parts:
        """The exact sum of the function over all rows."""
        if part is not None:
            raise DomainError("rows of a Dask frame have no positions")
        self._passes += 1
        progress = Progress(self._passes, None)
        if "rows" in self.__dict__:  # counted already, as their number is public
            self._keep_if_it_fits(self.rows)
        asked = delayed(function, traverse=False, pure=False)
        sums = [delayed(sum_chunks, pure=False)(asked, chunks) for chunks in self._kept or self._chunks]
        while len(sums) > 1:
            tree = [sums[start : start + _BRANCHES] for start in range(0, len(sums), _BRANCHES)]
            sums = [delayed(_add_up, pure=False)(branch) for branch in tree]
        found: PassSum = reading("the Dask frame", partial(_compute, sums[0]), _WHY)
        self._same.check(found.seen)
        progress.end()
        self._keep_if_it_fits(found.seen.rows)
        return found.total.value

    def _keep_if_it_fits(self, rows: int) -> None:
        """Keep the blocks in the workers' memory from now on."""
        if self._kept is None and self._fits(rows):
            self._kept = list(reading("the Dask frame", lambda: persist(*self._chunks), _WHY))

    @cached_property
    def _chunks(self) -> list[Delayed]:
        """The blocks of every partition, as Dask tasks."""
        layout = delayed(self._layout, traverse=False, pure=False)
        read = partial(_cells, decimal=self._decimal)
        if self._layout.groups is None:
            partitions = self._frame.to_delayed()
            return [delayed(_blocks, pure=False)(read, layout, partition) for partition in partitions]
        # Each partition passes on the rows that its persons could use; the shuffle then collects
        # each person's rows.
        meta = self._frame._meta.assign(**{_BUCKET: np.zeros(0, dtype=np.int64)})
        mine = self._frame.map_partitions(_candidates, read, self._layout, meta=meta, enforce_metadata=False)
        together = mine.shuffle(on=_BUCKET, ignore_index=True, shuffle_method=_shuffle_method())
        return [delayed(_blocks, pure=False)(read, layout, partition) for partition in together.to_delayed()]

    def _fits(self, rows: int) -> bool:
        """Whether the blocks of this many rows can stay in memory between passes."""
        size = 8 * rows * (len(self._layout.read) + 4)
        get = get_scheduler(collections=self._chunks[:1])
        client = getattr(get, "__self__", None)
        if client is None:  # in this process: other processes would receive the blocks again for every pass
            return size <= MOST_BYTES and getattr(get, "__module__", "") != "dask.multiprocessing"
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        return size <= _KEPT_SHARE * sum(worker["memory_limit"] or 0 for worker in workers)


def _shuffle_method() -> str | None:
    """Dask's own choice on a cluster; elsewhere in memory, as it would otherwise write rows to a
    temporary file.
    """
    get = get_scheduler()
    return None if getattr(get, "__self__", None) is not None else "tasks"


def _compute(task: Delayed) -> Any:
    with one_thread_per_block():
        return task.compute()


def _cells(layout: Layout, partition: Any, decimal: str | None) -> Cells:
    if decimal is None:
        return frame_cells(layout, partition)
    import pyarrow as pa

    from discreet.engines.arrow_cells import batch_cells, one_batch

    texts = {name: pa.array(partition[name], pa.binary()) for name in layout.read}
    return batch_cells(layout, one_batch(pa.table(texts)), decimal)


def _texts(table: Any, columns: Sequence[str], file: int) -> Any:
    return table.texts(file, columns).to_pandas(types_mapper=_as_in_arrow)


def _as_in_arrow(kind: Any) -> Any:
    import pandas as pd

    return pd.ArrowDtype(kind)


def _blocks(read: Any, layout: Layout, partition: Any) -> list[Chunk]:
    given = read(layout, partition)
    return chunks_of(layout, given, used_rows(layout, given))


def _candidates(partition: Any, read: Any, layout: Layout) -> Any:
    given = read(layout, partition)
    used = used_rows(layout, given)
    assert used is not None
    return partition[used].assign(**{_BUCKET: buckets(given, used)})


def _add_up(sums: list[PassSum]) -> PassSum:
    first, *others = sums
    total = first.copy()
    for other in others:
        total.add(other)
    return total
