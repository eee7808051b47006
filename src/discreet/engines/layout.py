"""Which columns of a table are read, and how their cells become blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.domain import Column, Date, Kind, check_kind, lacking, spelling
from discreet.engines.engine import Function
from discreet.engines.person_ids import person_codes
from discreet.engines.persons import Choice, Mask, Persons, row_ranks
from discreet.engines.total import PassSum, Seen
from discreet.errors import DomainError
from discreet.rows import Coded, Columns, digest_of

# A block of this many rows and a few dozen columns stays in a core's cache from the first step to
# the last.
BLOCK_ROWS = 16384


@dataclass(frozen=True)
class Layout:
    """The columns that an engine reads, and how they are encoded.

    ``encode`` makes a block of the cells of ``columns``, ``exposure`` and ``keys``, in this order,
    and of the labels. ``keys`` are passed on as they are; numbers are float64, and all other cells
    are objects.
    """

    encode: Callable[[Any, Any], Any]
    columns: tuple[str, ...] = ()
    target: str | None = None
    groups: str | None = None
    rows_per_person: int = 1
    keys: tuple[str, ...] = ()
    # Columns whose cells stay texts where a file has no types; all others are read as numbers.
    texts: frozenset[str] = frozenset()
    # The declared columns, to refuse a table whose types cannot hold them.
    declared: tuple[Column, ...] = ()
    # Refuses labels of a type that cannot hold what is declared about them.
    check_labels: Callable[[Kind, object], None] | None = None
    # Columns whose names come from the table and not from the user: messages give their positions.
    unwritten: frozenset[str] = frozenset()
    # How many numbers an encoded row has: what ``write_x`` fills.
    width: int = 0
    block_rows: int | None = None
    # Threads on this machine; None for as many as there are cores.
    workers: int | None = None

    @cached_property
    def read(self) -> list[str]:
        """The columns to read, each once."""
        names = [*self.columns, self.target, self.groups, *self.keys]
        return list(dict.fromkeys(name for name in names if name is not None))

    def called(self, name: str) -> str:
        """How a message calls a column."""
        return f"{self.read.index(name) + 1} of the features" if name in self.unwritten else repr(name)


def check_names(layout: Layout, present: Sequence[Any], what: str, known: str | None = None) -> None:
    """A DomainError for a missing or repeated column; ``known`` describes the existing ones."""
    for name in layout.read:
        if name not in present:
            raise DomainError(f"{what} has no column {name!r}; {known or lacking(name, present, layout.read)}")
        if list(present).count(name) > 1:
            raise DomainError(f"{what} has more than one column {name!r}")


def check_kinds(layout: Layout, kinds: Mapping[str, tuple[Kind, object]]) -> None:
    """A DomainError for a column whose type cannot hold what is declared.

    Each type comes with its name in its library.
    """
    dates = {column.name for column in layout.declared if isinstance(column, Date)}
    for name, (kind, shown) in kinds.items():
        if kind in ("date", "other") and name not in dates:
            called = layout.called(name)
            raise DomainError(f"column {called} has the type {shown}; store it as a number, a text or a boolean")
    for column in layout.declared:
        check_kind(column, *kinds[column.name], layout.called(column.name))
    if layout.target is not None and layout.check_labels is not None:
        layout.check_labels(*kinds[layout.target])


@dataclass
class Cells:
    """Some rows of a table: their columns as numbers or objects, labels, and person ids."""

    columns: Columns
    y: Any = None
    # Positions in a list of spelt ids, and that list.
    persons: tuple[NDArray[np.int64], list[str]] | None = None

    def __len__(self) -> int:
        return len(self.columns)

    def blocks(self, rows: int) -> Iterator[Cells]:
        """The same rows in pieces of so many."""
        if len(self) <= rows:
            yield self
            return
        for start in range(0, len(self), rows):
            cut = slice(start, start + rows)
            yield Cells(
                self.columns.cut(cut),
                None if self.y is None else self.y[cut],
                None if self.persons is None else (self.persons[0][cut], self.persons[1]),
            )

    def digest(self) -> int:
        """A number that changes where the rows change, but not with their order."""
        before, label = self.columns.addresses, [] if self.y is None else [self.y]
        columns = label if before is not None else [*self.columns.arrays, *label]
        return digest_of([_words(column) for column in columns], len(self), None, before)


@dataclass
class Chunk:
    """A block to be summed, which of its rows may contribute, and their count and hash."""

    block: Any
    used: Mask | None
    seen: Seen


def chunk(layout: Layout, cells: Cells, choice: Choice | None = None, used: Mask | None = None) -> Chunk:
    """A block of these rows; ``choice`` says which of them their persons use."""
    block = layout.encode(cells.columns, cells.y)
    if choice is None and used is None:
        return Chunk(block, None, Seen(len(cells), cells.digest()))
    ranks = row_ranks(block, layout.width)
    if choice is not None and cells.persons is not None:
        used = choice.used(*cells.persons, ranks)
    # Of rows that are the same once they are encoded, a pass may use another one than the pass
    # before: what is hashed must be the same for all of them.
    return Chunk(block, used, Seen(len(cells), int(np.sum(ranks[used], dtype=np.uint64))))


def look_at_persons(layout: Layout, cells: Cells, persons: Persons) -> None:
    """Record the persons of these rows."""
    assert cells.persons is not None
    persons.look(*cells.persons, row_ranks(layout.encode(cells.columns, cells.y), layout.width))


def chunk_sum(function: Function, chunk: Chunk) -> PassSum:
    return PassSum(function(chunk.block, chunk.used), chunk.seen)


def codes_of(ids: Any) -> tuple[NDArray[np.int64], list[str]]:
    """Persons of a column of ids."""
    if isinstance(ids, Coded):
        codes, names = person_codes(ids.distinct)
        return codes[ids.codes], names
    return person_codes(ids)


def _words(column: Any) -> Any:
    """A column's cells as numbers or words that a hash takes."""
    if isinstance(column, Coded):
        return column.map(_spelt_words)
    return column if column.dtype == np.float64 else _spelt_words(column)


def _spelt_words(values: Any) -> NDArray[np.uint64]:
    spelt = (
        value if isinstance(value, bytes) else spelling(value).encode("utf-8", "surrogatepass") for value in values
    )
    digests = b"".join(hashlib.blake2b(text, digest_size=8).digest() for text in spelt)
    return np.frombuffer(digests, dtype=np.uint64)
