"""Progress of a fit for an observer, such as the terminal: what is reserved, and each answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from discreet.engines.progress import listener
from discreet.privacy import Budget, Ledger


class Watch(Protocol):
    """Receives facts that the plan of a fit makes public anyway."""

    def reserved(self, asked: Budget, ledger: Ledger, kept: bool) -> None:
        """The whole cost of the fit was charged; ``kept``: its answers are stored,
        so that it can be resumed.
        """
        ...

    def passed(self) -> None:
        """One more pass over the rows is done; a minimisation counts as one, whatever it took."""
        ...

    def answered(self) -> None:
        """One more answer was found."""
        ...


watching: ContextVar[Watch | None] = ContextVar("watching", default=None)


def passed() -> None:
    if (watch := watching.get()) is not None:
        watch.passed()


def answered() -> None:
    if (watch := watching.get()) is not None:
        watch.answered()


@contextmanager
def without_progress() -> Iterator[None]:
    """Passes over the rows whose number must stay private: no progress is reported."""
    token = listener.set(None)
    try:
        yield
    finally:
        listener.reset(token)
