"""Another look at the same rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.engine import Engine, Function
from discreet.rows import Parts, Residues


class SeenThrough:
    """An engine whose blocks are seen through something that is put around each of them."""

    def __init__(self, engine: Engine, see: Callable[[Any], Any]) -> None:
        self._engine = engine
        self._see = see

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
