"""From cells to a formula's features, in [-1, 1], each row on its own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np

from discreet.domain.columns import Numeric
from discreet.domain.domain import Domain
from discreet.domain.encoding import EncodedBlock, Encoder, cells_of, column_numbers
from discreet.domain.formula.parse import Design, Feature, parse_formula
from discreet.domain.values import Floats
from discreet.rows import Coded, Columns, whole_numbers


@dataclass(frozen=True)
class FormulaEncoder(Encoder):
    """An encoder whose features are a formula's; ``domain`` has the columns that the formula reads.

    Encoded features are cut to [-1, 1], whatever rounding does, and a row of them is no longer than
    ``radius``.
    """

    plan: Design | None = None
    # The places of the features that are used, in this order; None: all of them.
    kept: tuple[int, ...] | None = None

    @classmethod
    def of(cls, text: str, domain: Domain, target: Numeric | None = None, exposure: Numeric | None = None) -> Any:
        """From the formula's text and a domain, which may have more columns."""
        plan = parse_formula(text, domain)
        read = [column.name for column in domain.columns if column.name in plan.columns]
        return cls(domain.select(read), target, exposure, plan=plan)

    @property
    def design_plan(self) -> Design:
        assert self.plan is not None
        return self.plan

    @cached_property
    def features(self) -> list[Feature]:
        """The features that are used."""
        every = self.design_plan.features
        return list(every) if self.kept is None else [every[place] for place in self.kept]

    @cached_property
    def names(self) -> list[str]:
        return [feature.name for feature in self.features]

    @cached_property
    def centre(self) -> Floats:
        return np.array([feature.centre for feature in self.features])

    @property
    def categories(self) -> tuple[tuple[int, int], ...]:
        return ()  # features of a formula are encoded as -1 and 1

    @property
    def spans(self) -> Floats:
        return np.array([feature.interval.high - feature.interval.low for feature in self.features])

    @cached_property
    def half_width(self) -> Floats:
        return np.array([feature.half_width for feature in self.features])

    @property
    def intercept(self) -> bool:
        return self.design_plan.intercept

    @property
    def exposures(self) -> tuple[float, float] | None:
        offset = self.design_plan.offset
        if offset is None:
            return super().exposures
        return math.exp(offset.interval.low), math.exp(offset.interval.high)

    @property
    def radius(self) -> float:
        return math.sqrt(self.design_plan.norm_square)

    def encode(self, table: Any, y: Any = None) -> FormulaBlock:
        return FormulaBlock(self, table, y)

    def design(self, table: Any, *, extrapolate: bool = False) -> Floats:
        columns = self._in_order(table if isinstance(table, np.ndarray) else nw.from_native(table, eager_only=True))
        lines = self._features(self._cells(columns, len(table), {}, extrapolate))
        return np.ascontiguousarray(lines.T)

    def missing_columns(self, table: Any) -> dict[str, int]:
        columns = self._in_order(table if isinstance(table, np.ndarray) else nw.from_native(table, eager_only=True))
        found = self._cells(columns, len(table), {})
        counts = {
            name: int(np.sum(np.isnan(part) if part.dtype.kind == "f" else part < 0)) for name, part in found.items()
        }
        return {name: count for name, count in counts.items() if count}

    def write(self, table: Any, out: Floats, memory: dict[str, Any] | None = None) -> None:
        lines = self._features(self._cells(self._in_order(table), len(table), {} if memory is None else memory))
        lines -= self.centre[:, np.newaxis]
        lines /= self.half_width[:, np.newaxis]
        np.clip(lines, -1.0, 1.0, out=out)

    def cells(self, table: Any) -> None:
        """Nothing that a loop could read itself: terms are functions of cells."""
        return

    def write_whole(self, table: Any, out: Floats, scale: float, memory: dict[str, Any] | None = None) -> None:
        out[0] = scale
        self.write(table, out[1:], memory)
        whole_numbers(out[1:], scale)

    def offset_of(self, table: Any) -> Floats | None:
        """What the formula's offset adds to the linear predictor, within its bounds."""
        offset = self.design_plan.offset
        if offset is None:
            return None
        values = np.asarray(offset.of(self._cells(self._in_order(table), len(table), {})), dtype=np.float64)
        return np.broadcast_to(np.clip(values, offset.interval.low, offset.interval.high), (len(table),))

    def _in_order(self, table: Any) -> Any:
        """The cells of the declared columns, one after the other."""
        if isinstance(table, np.ndarray):
            return table.T
        if isinstance(table, Columns):
            return table.arrays
        frame = nw.from_native(table, eager_only=True)
        return [frame[column.name] for column in self.domain.columns]

    def _cells(
        self, columns: Any, rows: int, memory: dict[str, Any], extrapolate: bool = False
    ) -> dict[str, np.ndarray]:
        """Numbers within their bounds, and levels; NaN and -1 for missing cells, or the domain's
        values for them.
        """
        centred, levels = self.domain.missing == "centre", memory.setdefault("levels", {})
        found: dict[str, np.ndarray] = {}
        for column, values in zip(self.domain.columns, columns, strict=True):
            if isinstance(column, Numeric):
                with np.errstate(invalid="ignore"):
                    cell = np.ascontiguousarray(column_numbers(column, values))
                    cell = cell if extrapolate else np.clip(cell, column.low, column.high)
                found[column.name] = np.where(np.isnan(cell), column.centre, cell) if centred else cell
                continue
            if column.name not in levels:
                coded = isinstance(values, Coded)
                levels[column.name] = values.map(column.levels) if coded else column.levels(cells_of(values))
            level = levels[column.name]
            found[column.name] = np.maximum(level, 0) if centred else level
        return found

    def _features(self, cells: dict[str, np.ndarray]) -> Floats:
        known: dict[Any, Floats] = {}
        with np.errstate(all="ignore"):
            lines = np.concatenate([term.of(cells, known) for term in self.design_plan.terms])
        return lines if self.kept is None else lines[list(self.kept)]


class FormulaBlock(EncodedBlock):
    """A chunk of a table as queries see it through a formula."""

    _encoder: FormulaEncoder

    @cached_property
    def offset(self) -> Floats | None:
        """The logarithm of the exposure, or the formula's offset, where there is one."""
        own = self._encoder.offset_of(self._table)
        return own if own is not None else EncodedBlock.offset.func(self)  # type: ignore[attr-defined]
