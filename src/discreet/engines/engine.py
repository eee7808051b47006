"""The interface of engines: the sum of a function over blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.rows import Parts, Residues

# From a block, and which of its rows may contribute (None: all), to whole numbers. One function may
# ask several questions at once: it returns their parts in one array, which the caller splits again.
Function = Callable[[Any, NDArray[np.bool_] | None], Parts]


class Engine(Protocol):
    """An engine that adds up a function over blocks of rows."""

    @property
    def rows(self) -> int:
        """The number of rows; it may take a pass to count them, so ask only where it is public."""
        ...

    @property
    def ordered(self) -> bool:
        """Whether a row has a position, the same in every pass."""
        ...

    # Engines of tables also have ``types``: the columns that are read and the names of their types,
    # which are public.

    def sum_rows(self, function: Function, part: Residues | None = None) -> Parts:
        """The exact sum of the function over all rows, or over the rows of a part; each row is
        counted once.

        The sum does not depend on how rows are cut into blocks, on their order, or on repeated
        computations of a block. Where it does not fit into 64 bits the array holds Python's
        integers.

        ``part``: chosen by position, so only engines with an order have parts.
        """
        ...
