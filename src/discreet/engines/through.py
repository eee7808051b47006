"""Engines that transform or restrict the rows of another engine."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.engine import Engine, Function
from discreet.errors import DomainError
from discreet.rows import Parts, Residues


class _Around:
    """An engine around another one, with its columns and its number of rows."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def types(self) -> Any:
        return getattr(self._engine, "types", None)

    @property
    def rows(self) -> int:
        return self._engine.rows


class SeenThrough(_Around):
    """An engine whose blocks are wrapped, each by the same function."""

    def __init__(self, engine: Engine, see: Callable[[Any], Any]) -> None:
        super().__init__(engine)
        self._see = see

    @property
    def ordered(self) -> bool:
        return self._engine.ordered

    def sum_rows(self, function: Function, part: Residues | None = None) -> Parts:
        return self._engine.sum_rows(partial(_seen, function, self._see), part)


def _seen(function: Function, see: Callable[[Any], Any], block: Any, used: NDArray[np.bool_] | None) -> Parts:
    return function(see(block), used)


class Expanded(_Around):
    """An engine whose rows become several records each, the same number for every row."""

    ordered = False

    def __init__(self, engine: Engine, see: Callable[[Any], Any], records: int) -> None:
        super().__init__(engine)
        self._see = see
        self._records = records

    def sum_rows(self, function: Function, part: Residues | None = None) -> Parts:
        if part is not None:
            raise DomainError("rows that become several records have no positions")
        return self._engine.sum_rows(partial(_expanded, function, self._see, self._records))


def _expanded(
    function: Function, see: Callable[[Any], Any], records: int, block: Any, used: NDArray[np.bool_] | None
) -> Parts:
    return function(see(block), None if used is None else np.tile(used, records))


class Positions(_Around):
    """The rows of an engine at these positions; they have no positions of their own."""

    ordered = False

    def __init__(self, engine: Engine, chosen: Residues) -> None:
        super().__init__(engine)
        self._chosen = chosen

    @property
    def rows(self) -> int:
        return self._chosen.count(self._engine.rows)

    def sum_rows(self, function: Function, part: Residues | None = None) -> Parts:
        if part is not None:
            raise DomainError("rows of a part have no positions")
        return self._engine.sum_rows(function, self._chosen)


class Chosen(_Around):
    """The rows of an engine that a rule chooses, row by row."""

    ordered = False

    def __init__(self, engine: Engine, rule: Callable[[Any], NDArray[np.bool_]]) -> None:
        super().__init__(engine)
        self._rule = rule

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
