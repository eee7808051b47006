"""A SQLite file that only grows, whose every change survives kill -9 and whose every alteration is noticed.

It knows nothing of privacy: it keeps a chain of entries and a checkpoint, the running state that they add up to. One
append is

    lock -> check the end -> commit -> write the mark, which says where the ledger now ends -> return

so nothing is released for an entry that the mark does not know of, and a ledger that lacks the entry of a mark is an
older copy. One that goes on beyond its mark, as a crash between commit and mark leaves it, can only have spent more.

An append takes the same time whatever lies before: what is checked is the newest entry, the checkpoint, and that the
file ends where the mark says and has the size and time it was left with. If not, after a crash, a copy or an edit, it
is verified in full before it is used: every entry, every link, every state. ``verify`` does that at any time.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from discreet.errors import LedgerCorrupt, LedgerError, LedgerRolledBack
from discreet.privacy.ledger_chain import Entry, StateType, View, create_tables, insert, link, reading, writing
from discreet.privacy.ledger_lock import locked, no_fork
from discreet.privacy.ledger_mark import Mark, mark_elsewhere, mark_key, read_mark, sync_directory, write_mark

T = TypeVar("T")

# A reader may come between a writer's commit and its mark: it looks again so often, so many seconds apart.
_LOOKS, _BETWEEN = 5, 0.02


class LedgerFile:
    """The chain stored at ``path``, with its mark and its lock beside it."""

    def __init__(self, path: Path, states: StateType) -> None:
        self.path = path
        self.mark_path = path.with_name(path.name + ".mark")
        self._states = states
        self._lock_path = path.with_name(path.name + ".lock")
        self._journal = path.with_name(path.name + "-journal")
        # After an append: why nothing outside of the ledger's folder would notice an older copy, if nothing would.
        self.forgotten: str | None = None

    def create(self, entry: Entry) -> None:
        """A new file with this opening entry; it appears under its name complete or not at all."""
        if not self.path.parent.is_dir():
            raise LedgerError(f"{self.path.parent} is no directory; make it before the ledger {self.path.name}")
        with self._translated(), locked(self._lock_path, f"ledger {self.path}"):
            self._check_free()
            key, fresh = mark_key(), self.path.with_name(self.path.name + ".new")
            journal = fresh.with_name(fresh.name + "-journal")
            fresh.unlink(missing_ok=True)
            journal.unlink(missing_ok=True)
            os.close(os.open(fresh, os.O_CREAT | os.O_EXCL, 0o600))
            state = self._states.opened(entry.kind, entry.fields).text
            head = link("", entry.digest, state)
            with no_fork, writing(fresh) as connection:
                create_tables(connection)
                insert(connection, 0, entry, head, state)
            journal.unlink(missing_ok=True)
            # A creation is an append to the empty chain: after a crash from here on the ledger is beyond its mark.
            write_mark(self.mark_path, Mark(head, -1, ""), key)
            os.replace(fresh, self.path)
            sync_directory(self.path.parent)
            self._settle(Mark(head, 0, head), key)

    def read(self, work: Callable[[View], T]) -> T:
        """What ``work`` finds in the ledger. Takes no lock and writes nothing, so it works in a read-only folder."""
        with self._translated():
            key = mark_key()
            for looks_left in reversed(range(_LOOKS)):
                try:
                    mark, stamp = self._own_mark(key), self._stamp()
                    with self._reading() as connection:
                        view = self._view(connection)
                        if view.head == mark.head or not looks_left:
                            self._check(view, mark, key, stamp)
                            return self._found(view, work)
                except LedgerCorrupt:  # or a mark was read while it was written
                    if not looks_left:
                        raise
                time.sleep(_BETWEEN)  # a writer is between its commit and its mark, or died there
            raise AssertionError("the last look returns or raises")

    def append(self, compose: Callable[[View], Entry | None]) -> None:
        """Add the entry that ``compose`` makes of the ledger's view; durable on return. None adds nothing."""
        with self._held() as (mark, key), no_fork:
            stamp = self._stamp()
            with writing(self.path) as connection:
                view = self._view(connection)
                self._check(view, mark, key, stamp)
                entry = self._found(view, compose)
                if entry is None:
                    return
                state = self._states.read(view.state).after(entry.kind, entry.fields).text
                head = link(view.head, entry.digest, state)
                insert(connection, view.seq + 1, entry, head, state)
            self._settle(Mark(view.ledger, view.seq + 1, head), key)

    def verify(self) -> int:
        """Check everything that was ever written; returns the number of entries."""
        return self.read(lambda view: view.verify(self._states))

    def _check_free(self) -> None:
        if self.path.exists():
            raise LedgerError(f"{self.path} exists already; a ledger is never overwritten, choose another path")
        earlier = self._read_mark(self.mark_path, mark_key())
        if earlier is not None and earlier.seq >= 0:
            raise LedgerError(
                f"{self.mark_path} belongs to a ledger that is gone from here; put {self.path.name} back, "
                "or choose another path"
            )

    @contextmanager
    def _held(self) -> Iterator[tuple[Mark, bytes | None]]:
        """Exclusive use of this file and, where the state directory allows, of every copy of it on this machine."""
        if not self.path.is_file():
            raise self._none()
        with self._translated(), ExitStack() as held:
            key = mark_key()
            held.enter_context(locked(self._lock_path, f"ledger {self.path}"))
            mark = self._own_mark(key)
            with suppress(OSError):  # best effort: not every process has a home
                elsewhere = mark_elsewhere(mark.ledger)
                elsewhere.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                held.enter_context(locked(elsewhere.with_suffix(".lock"), f"a copy of ledger {self.path}"))
            yield mark, key

    def _none(self) -> LedgerError:
        return LedgerError(f"no ledger at {self.path}; make one with Ledger.create or `discreet budget create`")

    def _own_mark(self, key: bytes | None) -> Mark:
        if not self.path.is_file():
            raise self._none()
        mark = self._read_mark(self.mark_path, key)
        if mark is None:
            raise LedgerRolledBack(
                f"ledger {self.path} has no mark: {self.mark_path.name} is missing, without which a restored older "
                "copy could not be told from the newest; put the mark file that belongs to it back beside it, or see "
                "what `discreet budget repair` can do"
            )
        return mark

    def _view(self, connection: sqlite3.Connection) -> View:
        try:
            return View(connection)
        except (sqlite3.Error, ValueError, TypeError, OverflowError) as error:
            if "no such column: digest" in str(error):  # as entries of format 1 have none
                made = f"ledger {self.path} was made by an earlier version of discreet"
                raise LedgerError(f"{made}, which alone can read and charge it; nothing was spent") from error
            raise self._corrupt(str(error) if type(error) is ValueError else "its entries cannot be read") from error

    def _found(self, view: View, work: Callable[[View], T]) -> T:
        try:
            return work(view)
        except (sqlite3.DatabaseError, ValueError, TypeError, KeyError) as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            raise self._corrupt(str(error) if type(error) is ValueError else "its entries cannot be read") from error

    def _check(self, view: View, mark: Mark, key: bytes | None, stamp: str) -> None:
        """Whether this is the ledger of both marks; one that is not as it was left is verified in full."""
        if not view.contains(mark):
            raise self._rolled_back(mark.seq)
        with suppress(OSError):
            highest = self._read_mark(mark_elsewhere(view.ledger), key)
            if highest is not None and not view.contains(highest):
                raise self._rolled_back(highest.seq)
            if highest is None and view.seq > 0:
                self.forgotten = f"{mark_elsewhere(view.ledger).parent} has never seen it, though it was charged before"
        if (view.head, stamp) != (mark.head, mark.stamp):
            self._found(view, lambda whole: whole.verify(self._states))

    def _settle(self, mark: Mark, key: bytes | None) -> Mark:
        mark = replace(mark, stamp=self._stamp())
        write_mark(self.mark_path, mark, key)
        try:
            elsewhere = mark_elsewhere(mark.ledger)
            elsewhere.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_mark(elsewhere, replace(mark, stamp=""), key)
        except OSError as error:
            self.forgotten = str(error)
        return mark

    def _hot(self) -> bool:
        """Whether a journal lies there that is not blanked out, as that of a finished transaction is."""
        try:
            with self._journal.open("rb") as journal:
                return journal.read(8).strip(b"\0") != b""
        except FileNotFoundError:
            return False

    def _stamp(self) -> str:
        facts = self.path.stat()
        return f"{facts.st_size} {facts.st_mtime_ns}"

    def _read_mark(self, path: Path, key: bytes | None) -> Mark | None:
        try:
            return read_mark(path, key)
        except LedgerError as error:
            raise LedgerError(f"ledger {self.path} cannot be used: {error}; nothing was spent") from error
        except ValueError as error:
            raise LedgerCorrupt(
                f"mark {path} was altered; put back the copy that belongs to ledger {self.path}, or see what "
                "`discreet budget repair` can do; nothing was spent"
            ) from error

    def _corrupt(self, reason: str) -> LedgerCorrupt:
        return LedgerCorrupt(
            f"ledger {self.path} was altered: {reason}; put back the newest intact copy of {self.path.name} together "
            f"with its {self.mark_path.name}; nothing was spent"
        )

    def _rolled_back(self, seq: int) -> LedgerRolledBack:
        return LedgerRolledBack(
            f"ledger {self.path} is a restored older copy or a fork: entry {seq} of the copy used last "
            "is not in it, so it would spend the same budget twice; use the newest copy; nothing was spent"
        )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
            # Subclasses of DatabaseError are a full disk, a lock and the like; SQLite quotes damaged names in errors.
            if type(error) in (sqlite3.DatabaseError, UnicodeDecodeError):
                raise self._corrupt("SQLite cannot read it") from error
            raise LedgerError(f"ledger {self.path} cannot be used: {error}") from error

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that writes nothing; of a file that a crash has left half written, to a settled copy."""
        with ExitStack() as opened:
            try:
                connection = opened.enter_context(reading(self.path))
            except sqlite3.OperationalError:
                if not self._hot():
                    raise
                connection = opened.enter_context(self._settled_copy())
            yield connection

    @contextmanager
    def _settled_copy(self) -> Iterator[sqlite3.Connection]:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "copy"
            shutil.copyfile(self._journal, copy.with_name("copy-journal"))
            shutil.copyfile(self.path, copy)
            with no_fork, writing(copy) as connection:
                yield connection
