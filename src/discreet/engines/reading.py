"""Other libraries' errors quote cells, so they end here: only their kind is passed on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from discreet.errors import DiscreetError, ReadError

_WHY = "it is damaged, or its lines differ in length"


def reading(what: str, action: Callable[[], Any], why: str = _WHY) -> Any:
    """What the action returns; a ReadError with nothing but the kind of what it raises."""
    try:
        return action()
    except DiscreetError:
        raise
    except Exception as error:
        kind = type(error).__name__
    # Raised after the handler, so that the message with the cells is not kept as this error's context.
    raise ReadError(f"cannot read {what} to its end: {why} ({kind})")


def read_on(what: str, items: Iterable[Any]) -> Iterator[Any]:
    """The same items; what drawing them raises, is raised as ``reading`` does."""
    iterator = iter(items)
    end = object()
    try:
        while (item := reading(what, lambda: next(iterator, end))) is not end:
            yield item
    finally:
        close = getattr(iterator, "close", None)
        if close is not None:
            close()
