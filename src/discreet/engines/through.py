"""Another look at the same rows, or at some of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.engine import Engine, Function
from discreet.errors import DomainError
from discreet.rows import Parts, Residues


class SeenThrough:
    """An engine whose blocks are seen through something that is put around each of them."""

    def __init__(self, engine: Engine, see: Callable[[Any], Any]) -> None:
        self._engine = engine
        self._see = see

    @property
    def types(self) -> Any:
        return getattr(self._engine, "types", None)

    @property
    def rows(self) -> int:
        return self._engine.rows

    @property
    def ordered(self) -> bool:
        return self._engine.ordered

    def sum_rows(self, function: Function, part: Residues | None = None) -> Parts:
        return self._engine.sum_rows(partial(_seen, function, self._see), part)


def _seen(function: Function, see: Callable[[Any], Any], block: Any, used: NDArray[np.bool_] | None) -> Parts:
    return function(see(block), used)


class Expanded:
    """An engine whose rows become several records each, the same number for every row."""

    ordered = False

    def __init__(self, engine: Engine, see: Callable[[Any], Any], records: int) -> None:
        self._engine = engine
        self._see = see
        self._records = records

    @property
    def types(self) -> Any:
        return getattr(self._engine, "types", None)

    @property
    def rows(self) -> int:
        return self._engine.rows

    def sum_rows(self, function: Function, part: Residues | None = None) -> Parts:
        if part is not None:
            raise DomainError("rows that become several records have no positions")
        return self._engine.sum_rows(partial(_expanded, function, self._see, self._records))


def _expanded(
    function: Function, see: Callable[[Any], Any], records: int, block: Any, used: NDArray[np.bool_] | None
) -> Parts:
    return function(see(block), None if used is None else np.tile(used, records))


class Positions:
    """The rows of an engine at these positions, as if there were no others; they have no positions of their own."""

    ordered = False

    def __init__(self, engine: Engine, chosen: Residues) -> None:
        self._engine = engine
        self._chosen = chosen

    @property
    def types(self) -> Any:
        return getattr(self._engine, "types", None)

    @property
    def rows(self) -> int:
        return self._chosen.count(self._engine.rows)

    def sum_rows(self, function: Function, part: Residues | None = None) -> Parts:
        if part is not None:
            raise DomainError("rows of a part have no positions")
        return self._engine.sum_rows(function, self._chosen)


class Chosen:
    """The rows of an engine that a rule chooses, which looks at one row of a block at a time."""

    ordered = False

    def __init__(self, engine: Engine, rule: Callable[[Any], NDArray[np.bool_]]) -> None:
        self._engine = engine
        self._rule = rule

    @property
    def types(self) -> Any:
        return getattr(self._engine, "types", None)

    @property
    def rows(self) -> int:
        raise DomainError("how many rows a rule chooses is private")

    def sum_rows(self, function: Function, part: Residues | None = None) -> Parts:
        if part is not None:
            raise DomainError("rows of a part have no positions")
        return self._engine.sum_rows(partial(_chosen, function, self._rule))


def _chosen(
    function: Function, rule: Callable[[Any], NDArray[np.bool_]], block: Any, used: NDArray[np.bool_] | None
) -> Parts:
    chosen = rule(block)
    return function(block, chosen if used is None else used & chosen)
