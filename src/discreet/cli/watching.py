"""Messages at a terminal about a fit that takes long or is interrupted."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

# A fit that ends sooner shows no progress.
_PATIENCE, _EVERY = 2.0, 0.5


class Watcher:
    """Counts passes over the rows and answers, and records what was reserved."""

    def __init__(self, patience: float = _PATIENCE) -> None:
        self.passes = 0
        self.answers = 0
        self.tenths = 0
        self._patience = patience
        self._paid: Any = None
        self._ended = threading.Event()
        self._shown = False

    def reserved(self, asked: Any, ledger: Any, kept: bool) -> None:
        self._paid = (asked, ledger, kept)

    def passed(self) -> None:
        self.passes, self.tenths = self.passes + 1, 0

    def answered(self) -> None:
        self.answers += 1

    def heard(self, _: int, tenths: int) -> None:
        """Progress of a pass, from the engine. Its own count is not used: it includes passes
        without an answer.
        """
        self.tenths = tenths

    @contextmanager
    def showing(self) -> Iterator[None]:
        """Progress on standard error, where that is a terminal, on one line that is wiped at the
        end.
        """
        if not sys.stderr.isatty():
            yield
            return
        thread = threading.Thread(target=self._show, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()
            if self._shown:
                click.echo(f"\r{' ' * 70}\r", err=True, nl=False)

    def _show(self) -> None:
        started = time.monotonic()
        pause = self._patience
        while not self._ended.wait(pause):
            pause = _EVERY
            if self.passes or self.tenths:
                self._shown = True
                words = "pass" if self.passes == 1 else "passes"
                here = f", {10 * self.tenths} % of the next" if self.tenths else ""
                line = f"{self.passes} {words} over the rows done{here}, {time.monotonic() - started:.0f} s"
                click.echo(f"\r{line:<70}", err=True, nl=False)

    def interruption(self) -> list[str]:
        """The message after an interruption: what is spent, what was released, how to continue."""
        if self._paid is None:
            looked = f" The rows were read {self.passes} times." if self.passes else ""
            return [f"Interrupted: no ledger was charged, and nothing was shown or written.{looked}"]
        asked, ledger, kept = self._paid
        answers = f"{self.answers} answers" if self.answers != 1 else "1 answer"
        lines = [
            f"Interrupted: {asked} is reserved in ledger {ledger.path}, and stays spent.",
            f"{answers} had been found; none was shown, and no model was written.",
        ]
        if kept:
            resume = "They are kept in the ledger: the same command goes on from there, at no further cost."
        else:
            resume = "The same command pays again. With --job NAME the answers are kept, and a fit can be resumed."
        return [*lines, resume]


@contextmanager
def watched() -> Iterator[Watcher]:
    """Watch the fits inside this context; an interruption is explained, with exit code 130."""
    from discreet.curator.watch import watching
    from discreet.engines.progress import listener

    watcher = Watcher()
    tokens = watching.set(watcher), listener.set(watcher.heard)
    try:
        with watcher.showing():
            yield watcher
    except KeyboardInterrupt:
        for line in watcher.interruption():
            click.echo(line, err=True)
        raise SystemExit(130) from None
    finally:
        watching.reset(tokens[0])
        listener.reset(tokens[1])
