"""Errors of other libraries may quote cells, so only their type is passed on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from discreet.errors import DiscreetError, ReadError

_WHY = "it is damaged, or its lines differ in length"


def reading(what: str, action: Callable[[], Any], why: str = _WHY) -> Any:
    """The action's result; a ReadError with only the type of its exception."""
    try:
        return action()
    except DiscreetError:
        raise
    except Exception as error:
        kind = type(error).__name__
    # Raised after the handler, so that the message with the cells is not kept as this error's
    # context.
    raise ReadError(f"cannot read {what} to its end: {why} ({kind})")


def read_on(what: str, items: Iterable[Any]) -> Iterator[Any]:
    """The same items; exceptions are translated as in ``reading``."""
    iterator = iter(items)
    end = object()
    try:
        while (item := reading(what, lambda: next(iterator, end))) is not end:
            yield item
    finally:
        close = getattr(iterator, "close", None)
        if close is not None:
            close()
