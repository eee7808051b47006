"""A SQLite file that only grows: changes survive kill -9, and alterations are detected.

It knows nothing of privacy: it stores a chain of entries and a checkpoint, the running state that
they add up to. One append is

    lock -> check the end -> commit -> write the mark, which says where the
    ledger now ends -> return

where a commit is a transaction of SQLite or, in a burst, an entry of the ledger's tail
(ledger_tail.py). So nothing is released for an entry that is not in the mark, and a ledger without
the entry of its mark is an older copy. A ledger that continues beyond its mark, as a crash between
commit and mark leaves it, can only have spent more.

The time for an append does not depend on earlier entries. The checks are: the newest entry, the
checkpoint, whether the file ends where the mark says, and whether its size and modification time
are unchanged. If one fails (after a crash, a copy or an edit), the file is verified in full before
it is used: every entry, every link, every state. ``verify`` does that at any time.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from discreet.errors import LedgerCorrupt, LedgerError, LedgerRolledBack
from discreet.privacy.ledger_chain import StateType, View, create_tables, insert, reading, writing
from discreet.privacy.ledger_entry import Entry, link
from discreet.privacy.ledger_lock import locked, no_fork
from discreet.privacy.ledger_mark import Mark, mark_elsewhere, mark_key, read_mark, sync_directory, write_mark
from discreet.privacy.ledger_tail import Tail

T = TypeVar("T")

# A reader may come between a writer's commit and its mark. It then tries again:
# number, seconds apart.
_LOOKS, _BETWEEN = 20, 0.005


@dataclass(frozen=True)
class _KnownEnds:
    """Both marks before the ledger was read: the entries that it must
    contain, and the marks' ``key``.

    They are read first, because a writer may continue meanwhile: a mark that is newer than the
    content that was read proves nothing.
    """

    own: Mark
    second: Mark | None
    key: bytes | None


class LedgerFile:
    """The chain stored at ``path``, with its mark and its lock beside it."""

    def __init__(self, path: Path, states: StateType) -> None:
        self.path = path
        self.mark_path = path.with_name(path.name + ".mark")
        self._states = states
        self._lock_path = path.with_name(path.name + ".lock")
        self._journal = path.with_name(path.name + "-journal")
        self._tail = Tail(path)
        # After an append: why nothing outside of the ledger's folder would detect
        # an older copy, or None.
        self.forgotten: str | None = None

    def create(self, entry: Entry) -> None:
        """Create the file with this opening entry; it appears under its
        name complete or not at all.
        """
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
            self._tail.clear()
            # A creation is an append to the empty chain: after a crash from here on, the
            # ledger is beyond its mark.
            write_mark(self.mark_path, Mark(head, -1, ""), key)
            os.replace(fresh, self.path)
            sync_directory(self.path.parent)
            self._settle(Mark(head, 0, head), key)

    def read(self, work: Callable[[View], T]) -> T:
        """The result of ``work`` on the ledger.

        Takes no lock and writes nothing: works in a read-only folder.
        """
        with self._translated():
            key = mark_key()
            for looks_left in reversed(range(_LOOKS)):
                try:
                    marks, stamp = self._marks_now(key), self._stamp()
                    with self._tail_and_tables() as (tail, connection):
                        view = self._view(connection, tail)
                        if view.head == marks.own.head or not looks_left:
                            self._check(view, marks, stamp)
                            return self._found(view, work)
                except LedgerCorrupt:  # or a mark was read while it was written
                    if not looks_left:
                        raise
                time.sleep(_BETWEEN)  # a writer is between its commit and its mark, or died there
            raise AssertionError("the last look returns or raises")

    def append(self, compose: Callable[[View], Entry | None], *, last: bool = False) -> None:
        """Add the entry that ``compose`` makes from the ledger's view; durable on
        return. None adds nothing.

        ``last``: no other entry is expected soon, so the tail is moved into the tables as well.
        """
        with self._held() as marks, no_fork:
            end = self._put_in_tail(compose, marks) if self._tail.in_burst() and not last else None
            end = end or self._commit(compose, marks)
            if end != marks.own:
                self._settle(end, marks.key)

    def _commit(self, compose: Callable[[View], Entry | None], marks: _KnownEnds) -> Mark:
        """Add the entry, after those of the tail, in one transaction;
        returns where the ledger ends.
        """
        tail, stamp = self._tail.read(), self._stamp()
        with writing(self.path) as connection:
            view = self._view(connection, tail)
            self._check(view, marks, stamp)
            entry = self._found(view, compose)
            folded = view.fold()
            end = self._ended(view)
            if entry is not None:
                state, end = self._after(view, entry)
                insert(connection, end.seq, entry, end.head, state)
        if folded:
            self._tail.clear()
        return marks.own if entry is None and not folded else end

    def _put_in_tail(self, compose: Callable[[View], Entry | None], marks: _KnownEnds) -> Mark | None:
        """Add the entry to the tail; returns where the ledger ends, or None if the tail is full."""
        stamp = self._stamp()
        with self._tail_and_tables() as (tail, connection):
            view = self._view(connection, tail)
            self._check(view, marks, stamp)
            entry = self._found(view, compose)
            if entry is None:
                return marks.own
            state, end = self._after(view, entry)
            start = view.tail[-1].end if view.tail else 0
        return end if self._tail.append(end.seq, entry, state, end.head, start) else None

    def _ended(self, view: View) -> Mark:
        return Mark(view.ledger, view.seq, view.head)

    def _after(self, view: View, entry: Entry) -> tuple[str, Mark]:
        """The state after one more entry, and where the ledger ends with it."""
        state = self._states.read(view.state).after(entry.kind, entry.fields).text
        return state, Mark(view.ledger, view.seq + 1, link(view.head, entry.digest, state))

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
    def _held(self) -> Iterator[_KnownEnds]:
        """Exclusive use of this file and, if the state directory allows it, of
        every copy on this machine.
        """
        if not self.path.is_file():
            raise self._none()
        with self._translated(), ExitStack() as held:
            key = mark_key()
            held.enter_context(locked(self._lock_path, f"ledger {self.path}"))
            ledger = self._own_mark(key).ledger
            with suppress(OSError):  # optional: not every process has a home directory
                elsewhere = mark_elsewhere(ledger)
                elsewhere.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                held.enter_context(locked(elsewhere.with_suffix(".lock"), f"a copy of ledger {self.path}"))
            yield self._marks_now(key)

    def _none(self) -> LedgerError:
        return LedgerError(f"no ledger at {self.path}; make one with Ledger.create or `discreet budget create`")

    def _own_mark(self, key: bytes | None) -> Mark:
        if not self.path.is_file():
            raise self._none()
        mark = self._read_mark(self.mark_path, key)
        if mark is None:
            raise LedgerRolledBack(
                f"ledger {self.path} has no mark: {self.mark_path.name} is missing, and without it a restored older "
                "copy cannot be distinguished from the newest; put the mark file that belongs to it back beside it, "
                "or run `discreet budget repair`"
            )
        return mark

    def _marks_now(self, key: bytes | None) -> _KnownEnds:
        own, second = self._own_mark(key), None
        with suppress(OSError):
            second = self._read_mark(mark_elsewhere(own.ledger), key)
        return _KnownEnds(own, second, key)

    def _view(self, connection: sqlite3.Connection, tail: bytes) -> View:
        try:
            return View(connection, tail)
        except (sqlite3.Error, ValueError, TypeError, OverflowError) as error:
            if "no such column: digest" in str(error):  # entries of format 1 have no digest
                made = f"ledger {self.path} was made by an earlier version of discreet"
                raise LedgerError(f"{made}, and only that version can read and charge it; nothing was spent") from error
            raise self._corrupt(str(error) if type(error) is ValueError else "its entries cannot be read") from error

    def _found(self, view: View, work: Callable[[View], T]) -> T:
        try:
            return work(view)
        except (sqlite3.DatabaseError, ValueError, TypeError, KeyError) as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            raise self._corrupt(str(error) if type(error) is ValueError else "its entries cannot be read") from error

    def _check(self, view: View, marks: _KnownEnds, stamp: str) -> None:
        """Check that this is the ledger of both marks; verify it in full if it
        has changed since.
        """
        for mark in (marks.own, marks.second):
            if mark is not None and not view.contains(mark):
                raise self._rolled_back(mark.seq)
        if marks.second is None and view.seq > 0:
            with suppress(OSError):
                self.forgotten = (
                    f"{mark_elsewhere(view.ledger).parent} has no record of it, though it was charged before"
                )
        if view.head != marks.own.head:
            self._tail.sync()  # its writer may have died before the sync
        if (view.head, stamp) != (marks.own.head, marks.own.stamp):
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
        """Whether there is a journal that was not zeroed, as that of a finished transaction is."""
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
                f"mark {path} was altered; put back the copy that belongs to ledger {self.path}, or run "
                "`discreet budget repair`; nothing was spent"
            ) from error

    def _corrupt(self, reason: str) -> LedgerCorrupt:
        return LedgerCorrupt(
            f"ledger {self.path} was altered: {reason}; put back the newest intact copy of {self.path.name} together "
            f"with its {self.mark_path.name}; nothing was spent"
        )

    def _rolled_back(self, seq: int) -> LedgerRolledBack:
        return LedgerRolledBack(
            f"ledger {self.path} is a restored older copy or a fork: entry {seq} of the copy that was used last "
            "is not in it, so the same budget would be spent twice; use the newest copy, together with its "
            f"{self._tail.path.name} if it has one; nothing was spent"
        )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
            # Subclasses of DatabaseError are a full disk, a lock and similar; SQLite quotes
            # damaged names in errors.
            if type(error) in (sqlite3.DatabaseError, UnicodeDecodeError):
                raise self._corrupt("SQLite cannot read it") from error
            raise LedgerError(f"ledger {self.path} cannot be used: {error}") from error

    @contextmanager
    def _tail_and_tables(self) -> Iterator[tuple[bytes, sqlite3.Connection]]:
        """The content of the tail, then a connection that writes nothing; see
        View for the order.
        """
        tail = self._tail.read()
        with self._reading() as connection:
            yield tail, connection

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that writes nothing; if a crash left the file half
        written, to a repaired copy.
        """
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
