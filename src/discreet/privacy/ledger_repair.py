"""A refused ledger: what can still be read, and what can be repaired without returning budget.

A repair never increases the remaining budget. Everything that is rewritten is recomputed from
entries that verify in full, and only if an unaltered mark shows that none of them is missing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from discreet.errors import LedgerCorrupt, LedgerError
from discreet.privacy.ledger_chain import View, recomputed, rows, set_checkpoint, writing
from discreet.privacy.ledger_file import LedgerFile
from discreet.privacy.ledger_lock import locked, no_fork
from discreet.privacy.ledger_mark import Mark, mark_elsewhere, mark_key

T = TypeVar("T")


class LenientFile(LedgerFile):
    """Reads a ledger even if it could not be charged; ``doubts`` says why it could not."""

    doubts: str = ""

    def read(self, work: Callable[[View], T]) -> T:
        try:
            return super().read(work)
        except LedgerError as error:
            if not self.path.is_file():
                raise
            self.doubts = str(error)
        with self._translated(), self._tail_and_tables() as (tail, connection):
            return self._found(self._view(connection, tail), work)


@dataclass
class Repair:
    """What was repaired, and what could not be."""

    mended: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


class RepairFile(LedgerFile):
    """Repairs what can be repaired."""

    def repair(self) -> Repair:
        """Repair the running totals, then the marks; each only from entries that verify."""
        found, key = Repair(), mark_key()
        if not self.path.is_file():
            raise self._none()
        with self._translated(), locked(self._lock_path, f"ledger {self.path}"), no_fork:
            stamp = self._stamp()
            try:
                with writing(self.path) as connection:
                    view = self._mended(connection, found)
                    marks = self._marks(view, key)
                    found.left += self._objections(view, marks)
            except (sqlite3.DatabaseError, ValueError, TypeError, KeyError) as error:
                if isinstance(error, sqlite3.OperationalError) and "no such" not in str(error):
                    raise  # a full disk, a read-only folder
                return self._hopeless(error)
            if not found.left:
                self._write_marks(view, found, key, marks, stamp)
        return found

    def sign(self) -> None:
        """Make marks with this process's key for a ledger whose marks have none."""
        key = mark_key()
        if key is None:
            raise LedgerError("there is no key to sign with: set DISCREET_LEDGER_KEY or DISCREET_LEDGER_KEY_FILE")
        if not self.path.is_file():
            raise self._none()
        with self._translated(), locked(self._lock_path, f"ledger {self.path}"), no_fork:
            marks = self._marks_now(None)
            with writing(self.path) as connection:
                view = self._view(connection, self._tail.read())
                self._check(view, marks, "")
            self._settle(Mark(view.ledger, view.seq, view.head), key)

    def _mended(self, connection: sqlite3.Connection, found: Repair) -> View:
        """The ledger's end; its index and totals are rebuilt if every entry is intact."""
        if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            connection.execute("REINDEX")
            found.mended.append("the index of its entries was damaged, and was rebuilt")
        number, _, state = recomputed(rows(connection), self._states)
        if connection.execute("SELECT seq, state FROM checkpoint").fetchall() != [(number - 1, state)]:
            set_checkpoint(connection, number - 1, state)
            found.mended.append("the running totals did not match the entries, and were recomputed")
        view = View(connection, self._tail.read())
        view.verify(self._states)
        return view

    def _hopeless(self, error: Exception) -> Repair:
        reason = str(error) if type(error) is ValueError else "its entries cannot be read"
        copy = f"the newest intact copy of {self.path.name} together with its {self.mark_path.name}"
        return Repair(left=[f"{reason}: what was spent can no longer be determined; put back {copy}"])

    def _marks(self, view: View, key: bytes | None) -> _Marks:
        own, lost = self._tried(self.mark_path, key)
        try:
            second, second_lost = self._tried(mark_elsewhere(view.ledger), key)
        except OSError:
            second, second_lost = None, "missing"
        return _Marks(own, lost, second, second_lost)

    def _tried(self, path: Path, key: bytes | None) -> tuple[Mark | None, str]:
        """A mark, or in what way it is lost: missing or altered."""
        try:
            return self._read_mark(path, key), "missing"
        except LedgerCorrupt:
            return None, "altered"

    def _objections(self, view: View, marks: _Marks) -> list[str]:
        """Reasons why no mark shows that this is the newest copy."""
        for mark in (marks.own, marks.second):
            if mark is not None and not view.contains(mark):
                return [str(self._rolled_back(mark.seq))]
        if marks.second_lost == "altered":
            return [
                f"the second mark {mark_elsewhere(view.ledger)} was altered, and could belong to a newer ledger: if "
                "you know that this ledger is the newest, delete that mark and repair again"
            ]
        if marks.own is None and marks.second is None:
            return [
                f"{self.mark_path.name} is {marks.lost}, and no second mark on this machine shows that this is the "
                "newest copy; put back its mark, or repair it on the machine where it was charged, as the same user"
            ]
        return []

    def _write_marks(self, view: View, found: Repair, key: bytes | None, marks: _Marks, stamp: str) -> None:
        """Write both marks, for a ledger that at least one of them confirms."""
        if marks.own is None:
            name = self.mark_path.name
            found.mended.append(
                f"{name} was {marks.lost}, and was recreated: the second mark shows that nothing is missing"
            )
        elif (marks.own.head, marks.own.stamp) != (view.head, stamp):
            found.mended.append(f"{self.mark_path.name} was of another state of the file; the file verifies in full")
        self._settle(Mark(view.ledger, view.seq, view.head), key)
        if self.forgotten is not None:
            found.left.append(f"no second mark can be written ({self.forgotten}): an older copy would go unnoticed")
        elif marks.second is None:
            found.mended.append("there was no second mark, and one was written")


@dataclass(frozen=True)
class _Marks:
    """Both marks; for each that is None, in what way it is lost."""

    own: Mark | None
    lost: str
    second: Mark | None
    second_lost: str
