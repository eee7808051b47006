"""A partition of a distributed frame on its worker: from cells to blocks to a sum."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from discreet.domain import cells, days_of
from discreet.engines.engine import Function
from discreet.engines.frames import ids_of
from discreet.engines.layout import BLOCK_ROWS, Cells, Chunk, Layout, chunk, chunk_sum, codes_of
from discreet.engines.persons import Mask, least_rows, row_ranks
from discreet.engines.threads import compile_if_it_pays
from discreet.engines.total import PassSum
from discreet.rows import Coded, Columns


def frame_cells(layout: Layout, native: Any) -> Cells:
    """The cells of a frame in memory; numbers as float64, everything else coded."""
    frame = nw.from_native(native, eager_only=True)
    return Cells(
        Columns([_column(frame[name]) for name in [*layout.columns, *layout.keys]], len(frame)),
        None if layout.target is None else _column(frame[layout.target]),
        None if layout.groups is None else codes_of(ids_of(frame[layout.groups])),
    )


def _column(series: Any) -> Any:
    if series.dtype in (nw.Date, nw.Datetime):
        return days_of(series)
    return cells(series) if series.dtype.is_numeric() else Coded.of(series.to_list())


def chunks_of(layout: Layout, given: Cells, used: Mask | None = None) -> list[Chunk]:
    """The cells in blocks; where there are none, one empty block gives a sum its shape."""
    compile_if_it_pays(len(given))
    made, start = [], 0
    for piece in given.blocks(layout.block_rows or 2 * BLOCK_ROWS):
        mask = None if used is None else used[start : start + len(piece)]
        made.append(chunk(layout, piece, used=mask))
        start += len(piece)
    return made


def sum_chunks(function: Function, chunks: Iterable[Chunk]) -> PassSum:
    """The sum over some blocks, of which there is at least one."""
    first, *others = chunks
    total = chunk_sum(function, first)
    for other in others:
        total.add(chunk_sum(function, other))
    return total


def used_rows(layout: Layout, given: Cells) -> Mask | None:
    """Which of these rows their persons use, if these are all of their rows."""
    if given.persons is None:
        return None
    ranks = [
        row_ranks(layout.encode(piece.columns, piece.y), layout.width)
        for piece in given.blocks(layout.block_rows or 2 * BLOCK_ROWS)
    ]
    return least_rows(given.persons[0], np.concatenate(ranks), layout.rows_per_person)


def buckets(given: Cells, used: Mask) -> NDArray[np.int64]:
    """The shuffle key of each row that is used: the same for all rows of a person, on every
    machine.

    Persons may share a key; they are distinguished again after the shuffle.
    """
    assert given.persons is not None
    codes, names = given.persons
    digests = b"".join(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest() for name in names)
    return (np.frombuffer(digests, dtype=np.int64) >> 1)[codes[used]]
