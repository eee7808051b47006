"""A table in a search: fitted as a whole, or in two parts by the rules of held_out.py.

Rows are divided by position if neighbours replace a row, so the table must have a fixed order; by a
hash of the encoded row if they add or remove one; and by a hash of the person's id if the guarantee
is about persons. Only the first rule needs an order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.domain import objects
from discreet.engines import Chosen, Engine, Layout, Positions, Table, open_table
from discreet.errors import DomainError
from discreet.estimators.held_out import held_out_ids
from discreet.rows import Coded, Columns, Residues, row_hashes

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class TableRows:
    """The table of a search, all of it or a part."""

    table: Table
    target: str
    features: Sequence[str] | None = None
    groups: str | None = None
    exposure: str | None = None

    @classmethod
    def of(cls, table: Any, target: str, *columns: Any) -> TableRows:
        return cls(open_table(table), target, *columns)

    def parted(self, estimator: Any, one_in: int) -> tuple[TableRows, TableRows]:
        """The rows to which candidates are fitted, and those kept for the choice."""
        replaced = estimator.neighbours == "replace_one"
        kind: Literal["position", "row", "label", "person"] = "position" if replaced else "row"
        if self.groups is not None:
            kind = "label" if replaced else "person"
        rest, kept = (replace(self, table=PartTable(self.table, kind, one_in, aside)) for aside in (False, True))
        return rest, kept

    def fit(self, estimator: Any) -> Any:
        return estimator.fit_table(self.table, **self._asked)

    def engine(self, estimator: Any) -> tuple[Engine, Any]:
        """The engine over these rows, and their encoding."""
        found: tuple[Engine, Any] = estimator._table_engine(self.table, **self._asked)
        return found

    @property
    def _asked(self) -> dict[str, Any]:
        more = {} if self.exposure is None else {"exposure": self.exposure}
        return {"target": self.target, "features": self.features, "groups": self.groups, **more}


@dataclass(frozen=True)
class PartTable:
    """One part of a table's rows: those
    ``aside`` for the choice, about one in ``one_in``, or the others.
    """

    table: Table
    kind: Literal["position", "row", "label", "person"]
    one_in: int
    aside: bool

    @property
    def names(self) -> list[str]:
        return self.table.names

    def engine(self, layout: Layout) -> Engine:
        if self.kind == "position":
            return self._by_position(self.table.engine(layout))
        if self.kind == "row":
            return Chosen(self.table.engine(layout), partial(_rows_apart, layout.width, self.one_in, self.aside))
        assert layout.groups is not None
        told = partial(_told_apart, layout.encode, self.kind, self.one_in, self.aside)
        engine = self.table.engine(replace(layout, encode=told, keys=(layout.groups,)))
        return engine if self.kind == "label" else Chosen(engine, _marked)

    def _by_position(self, engine: Engine) -> Engine:
        if not engine.ordered:
            raise DomainError(
                "a search divides rows by position, and the rows of this table have no fixed order: use a Parquet or "
                "CSV file or a frame in memory, or neighbours='add_or_remove_one', or groups"
            )
        if engine.rows < self.one_in:
            raise ValueError(f"n_samples={engine.rows} rows are too few to hold out one in {self.one_in}")
        rest, kept = Residues.side_by_side([self.one_in - 1, 1])
        return Positions(engine, kept if self.aside else rest)


def _rows_apart(width: int, one_in: int, aside: bool, block: Any) -> Mask:
    """Rows of this part, by a hash of the encoded row and its label."""
    cells = np.empty((width, block.records))
    block.write_x(cells)
    return np.asarray((row_hashes([*cells, block.y], block.records) % np.uint64(one_in) == 0) == aside)


def _told_apart(encode: Callable[[Any, Any], Any], kind: str, one_in: int, aside: bool, table: Columns, y: Any) -> Any:
    """A block whose last column is ids: marks the rows of this part, or removes
    the labels of the others.
    """
    *columns, ids = table.arrays
    mine = _held_out(ids, one_in) == aside
    block = encode(Columns(columns, len(table)), _without_labels(y, ~mine) if kind == "label" else y)
    block.mine = mine
    return block


def _marked(block: Any) -> Mask:
    return np.asarray(block.mine)


def _held_out(ids: Any, one_in: int) -> Mask:
    if isinstance(ids, Coded):
        return ids.map(partial(held_out_ids, one_in=one_in))
    return held_out_ids(ids.to_list() if hasattr(ids, "to_list") else ids.tolist(), one_in)


def _without_labels(y: Any, others: Mask) -> Any:
    if isinstance(y, Coded):
        distinct = objects([*y.distinct.tolist(), None])
        return Coded(distinct, np.where(others, len(distinct) - 1, y.codes))
    if y.dtype.kind == "f":
        return np.where(others, np.nan, y)
    labels = y.astype(object)
    labels[others] = None
    return labels
