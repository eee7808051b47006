"""The cells of the table, each with the losses of all methods in it, and how auto compares there."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from benchmarks.accuracy import ours
from benchmarks.accuracy.cells import Cell, Table
from benchmarks.accuracy.methods import METHODS
from benchmarks.accuracy.problems import ALL_SETS

AUTO = ours.PREFIX + "auto"
NEAR_BEST = 1.02


@dataclass(frozen=True)
class Line:
    """A cell and the loss of each method that was run in it."""

    cell: Cell
    losses: dict[str, float]

    def best(self, tuned: bool) -> tuple[str, float] | None:
        """The best private method other than auto: peers without tuning, or everything."""
        found = {
            name: value
            for name, value in self.losses.items()
            if name != AUTO
            and (
                tuned
                if name not in METHODS
                else not METHODS[name].is_baseline and (tuned or not METHODS[name].is_tuned)
            )
        }
        return min(found.items(), key=lambda item: item[1]) if found else None

    def ratio(self, tuned: bool) -> float | None:
        """auto's loss over the best other one."""
        best = self.best(tuned)
        if best is None or AUTO not in self.losses:
            return None
        return self.losses[AUTO] / best[1] if best[1] > 0 else math.nan

    @property
    def public_ratio(self) -> float | None:
        """auto's loss over that of the fit on the public rows alone."""
        if AUTO not in self.losses or "public-only" not in self.losses:
            return None
        return self.losses[AUTO] / self.losses["public-only"]

    def gain(self, lines: dict[Cell, Line]) -> float | None:
        """auto's loss with public rows over its loss without them."""
        without = lines.get(replace(self.cell, with_public=False))
        if not self.cell.with_public or AUTO not in self.losses or without is None or AUTO not in without.losses:
            return None
        return self.losses[AUTO] / without.losses[AUTO]


def lines_of(table: Table) -> list[Line]:
    """In the order of the sets, then by epsilon."""
    lines: dict[Cell, dict[str, float]] = {}
    for (cell, method), result in table.items():
        lines.setdefault(cell, {})[method] = result.loss
    # A baseline is run once for every epsilon: cells that have nothing else were not asked for yet.
    lines = {cell: losses for cell, losses in lines.items() if any(not is_baseline(name) for name in losses)}
    order = sorted(lines, key=lambda cell: (ALL_SETS.index(cell.data_set), cell))
    return [Line(cell, lines[cell]) for cell in order]


def is_baseline(name: str) -> bool:
    return name in METHODS and METHODS[name].is_baseline


def percent_above(ratio: float) -> str:
    """A ratio of losses in words, with three digits."""
    above = 100 * (ratio - 1)
    return f"{above:.3g} %" if abs(above) < 1_000 else "over 1,000 %"
