"""Work that the queries of one pass share about a block is done once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray


class _Look(threading.local):
    """The block that queries share, and what this thread's scratch memory holds of it."""

    block: Any = None
    # The scale at which its rows are stored in whole numbers.
    rows: float | None = None
    # The map (with the number of skipped outputs) whose outputs and norms are stored.
    mapped: tuple[tuple[bytes, int], NDArray[Any], NDArray[Any]] | None = None
    # Stored results of functions of its rows.
    found: dict[Hashable, Any] | None = None


look = _Look()


@contextmanager
def one_look(block: object) -> Iterator[None]:
    """Within this context the block's rows do not change, so work that queries
    share is done once.
    """
    if look.block is block:  # already open, for several queries
        yield
        return
    outer = look.block
    look.block, look.rows, look.mapped, look.found = block, None, None, {}
    try:
        yield
    finally:
        look.block, look.rows, look.mapped, look.found = outer, None, None, None


def shared(key: Hashable, compute: Callable[[], Any]) -> Any:
    """The result of ``compute``, computed once per block; the key identifies
    everything but the block.
    """
    found = look.found
    if found is None:
        return compute()
    if key not in found:
        found[key] = compute()
    return found[key]


def shared_of(block: object, key: Hashable, compute: Callable[[], Any]) -> Any:
    """``shared`` for a result that depends on this block, which may not be
    the one that queries share.
    """
    return shared(key, compute) if look.block is block else compute()
