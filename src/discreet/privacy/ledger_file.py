"""A SQLite file that only grows, whose every change survives kill -9 and whose every alteration is noticed.

It knows nothing of privacy: it keeps a chain of texts, each hashed onto the one before it. One append is

    lock -> verify -> write the mark with the coming entry's hash as ``pending`` -> commit -> write the final mark

so at every moment the file either has the bytes whose digest the mark holds, or a commit was under way and the mark
says which entry it was to add. SQLite keeps a rollback journal, not a write-ahead log: after a commit the one main
file is the whole state.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from discreet.errors import LedgerCorrupt, LedgerError, LedgerRolledBack
from discreet.privacy.ledger_mark import Mark, locked, mark_elsewhere, read_mark, sha256, sync_directory, write_mark

# A fork waits until no thread is inside an operation: a child never inherits half a transaction or a held lock.
_operation = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_operation.acquire, after_in_parent=_operation.release, after_in_child=_operation.release
    )


@dataclass(frozen=True, eq=False)
class Chain:
    """All entries of a ledger, oldest first: each hash covers its own body and, through the one before, all others."""

    bodies: tuple[str, ...] = ()
    hashes: tuple[str, ...] = ()

    @property
    def ledger(self) -> str:
        """The hash of the opening entry, which holds a random id: no two ledgers share it, every copy does."""
        return self.hashes[0]

    @property
    def head(self) -> str:
        return self.hashes[-1] if self.hashes else ""

    @property
    def seq(self) -> int:
        return len(self.hashes) - 1

    def extended(self, body: str) -> Chain:
        return Chain((*self.bodies, body), (*self.hashes, sha256(self.head + body)))

    def contains(self, mark: Mark) -> bool:
        return mark.seq <= self.seq and (mark.seq < 0 or self.hashes[mark.seq] == mark.head)


class LedgerFile:
    """The chain stored at ``path``, with its mark and its lock beside it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.mark_path = path.with_name(path.name + ".mark")
        self._lock_path = path.with_name(path.name + ".lock")
        self._journal = path.with_name(path.name + "-journal")

    def create(self, body: str) -> None:
        """A new file with this opening entry; it appears under its name complete or not at all."""
        if not self.path.parent.is_dir():
            raise LedgerError(f"{self.path.parent} is no directory; make it before the ledger {self.path.name}")
        with self._translated(), _operation, locked(self._lock_path):
            self._check_free()
            chain = Chain().extended(body)
            fresh = self.path.with_name(self.path.name + ".new")
            for leftover in (fresh, fresh.with_name(fresh.name + "-journal")):
                leftover.unlink(missing_ok=True)
            os.close(os.open(fresh, os.O_CREAT | os.O_EXCL, 0o600))
            with _writing(fresh) as connection:
                connection.execute("CREATE TABLE entries (seq INTEGER PRIMARY KEY, body TEXT, hash TEXT)")
                _insert(connection, chain)
            # A creation is an append to the empty chain: a crash after this line is settled like any other.
            write_mark(self.mark_path, Mark(chain.ledger, -1, "", "", pending=chain.head))
            os.replace(fresh, self.path)
            sync_directory(self.path.parent)
            self._settle(chain)

    def read(self) -> Chain:
        """The verified chain."""
        with self._held() as mark:
            return self._verified(mark)[1]

    def append(self, compose: Callable[[Chain], str | None]) -> Chain:
        """Add the entry that ``compose`` makes of the verified chain; durable on return. None adds nothing."""
        with self._held() as mark:
            mark, chain = self._verified(mark)
            body = compose(chain)
            if body is None:
                return chain
            longer = chain.extended(body)
            write_mark(self.mark_path, replace(mark, pending=longer.head))
            with _writing(self.path) as connection:
                newest = connection.execute("SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1").fetchone()
                if newest != (chain.seq, chain.head):  # only possible if somebody removed the lock file
                    raise LedgerError(f"ledger {self.path} was changed during an operation; try again")
                _insert(connection, longer)
            self._settle(longer)
            return longer

    def _check_free(self) -> None:
        if self.path.exists():
            raise LedgerError(f"{self.path} exists already; a ledger is never overwritten, choose another path")
        earlier = self._read_mark(self.mark_path)
        if earlier is not None and earlier.seq >= 0:
            raise LedgerError(
                f"{self.mark_path} belongs to a ledger that is gone from here; put {self.path.name} back, "
                "or choose another path"
            )

    @contextmanager
    def _held(self) -> Iterator[Mark]:
        """Exclusive use of this file and, where the state directory allows, of every copy of it on this machine."""
        if not self.path.is_file():
            raise LedgerError(f"no ledger at {self.path}; make one with Ledger.create or `discreet budget create`")
        with self._translated(), ExitStack() as held:
            held.enter_context(_operation)
            held.enter_context(locked(self._lock_path))
            mark = self._read_mark(self.mark_path)
            if mark is None:
                raise LedgerRolledBack(
                    f"ledger {self.path} has no mark: {self.mark_path.name} is missing, without which a restored older "
                    "copy could not be told from the newest; put the mark file that belongs to it back beside it"
                )
            with suppress(OSError):  # best effort: not every process has a home
                elsewhere = mark_elsewhere(mark.ledger)
                elsewhere.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                held.enter_context(locked(elsewhere.with_suffix(".lock")))
            yield mark

    def _verified(self, mark: Mark) -> tuple[Mark, Chain]:
        if mark.pending:
            mark = self._recover(mark)
        elif self._journal.exists():  # SQLite would play it back into the ledger
            raise self._corrupt(f"{self._journal.name} was put beside it, which discreet did not write")
        digest = _digest(self.path)
        if digest != mark.digest:
            raise self._mismatch(mark, digest)
        chain = self._chain(digest)
        if (chain.ledger, chain.seq, chain.head) != (mark.ledger, mark.seq, mark.head):
            raise self._corrupt(f"it does not end where {self.mark_path.name} says")
        self._check_elsewhere(chain)
        return mark, chain

    def _recover(self, mark: Mark) -> Mark:
        """After a crash in mid-append: SQLite rolls back or had committed, and nothing else may have happened."""
        with _writing(self.path):
            pass  # opening a transaction is what makes SQLite play back the journal of the dead process
        self._journal.unlink(missing_ok=True)  # one that SQLite left had never been filled
        digest = _digest(self.path)
        chain = self._chain(digest)
        rolled_back = digest == mark.digest
        committed = chain.contains(mark) and chain.seq == mark.seq + 1 and chain.head == mark.pending
        if not (rolled_back or committed) or chain.ledger != mark.ledger:
            raise self._mismatch(mark, digest)
        self._check_elsewhere(chain)
        return self._settle(chain)

    def _settle(self, chain: Chain) -> Mark:
        mark = Mark(chain.ledger, chain.seq, chain.head, _digest(self.path))
        write_mark(self.mark_path, mark)
        with suppress(OSError):
            elsewhere = mark_elsewhere(mark.ledger)
            elsewhere.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_mark(elsewhere, replace(mark, digest=""))
        return mark

    def _check_elsewhere(self, chain: Chain) -> None:
        highest = None
        with suppress(OSError):
            highest = self._read_mark(mark_elsewhere(chain.ledger))
        if highest is not None and not chain.contains(highest):
            raise self._rolled_back(highest)

    def _read_mark(self, path: Path) -> Mark | None:
        try:
            return read_mark(path)
        except ValueError as error:
            raise LedgerCorrupt(
                f"mark {path} was altered; put back the copy that belongs to ledger {self.path}; nothing was spent"
            ) from error

    def _chain(self, digest: str) -> Chain:
        try:
            return _read_chain(self.path, digest)
        except (sqlite3.Error, ValueError, OverflowError) as error:
            raise self._corrupt("its entries do not form the chain that discreet wrote") from error

    def _mismatch(self, mark: Mark, digest: str) -> LedgerError:
        """Why the bytes are not the marked ones: an older whole ledger, or a damaged one."""
        chain = self._chain(digest)
        if not chain.contains(mark):
            return self._rolled_back(mark)
        return self._corrupt(f"its bytes are not the ones that {self.mark_path.name} was written for")

    def _corrupt(self, reason: str) -> LedgerCorrupt:
        return LedgerCorrupt(
            f"ledger {self.path} was altered: {reason}; put back the newest intact copy of {self.path.name} together "
            f"with its {self.mark_path.name}; nothing was spent"
        )

    def _rolled_back(self, highest: Mark) -> LedgerRolledBack:
        return LedgerRolledBack(
            f"ledger {self.path} is a restored older copy or a fork: entry {highest.seq} of the copy used last "
            "is not in it, so it would spend the same budget twice; use the newest copy; nothing was spent"
        )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            if type(error) is sqlite3.DatabaseError:  # its subclasses are a full disk, a lock and the like
                raise self._corrupt("SQLite cannot read it") from error
            raise LedgerError(f"ledger {self.path} cannot be used: {error}") from error


@contextmanager
def _writing(path: Path) -> Iterator[sqlite3.Connection]:
    """One transaction, on disk when the block ends."""
    # No other descriptor of this file may be open: closing one would drop SQLite's POSIX locks.
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=60, isolation_level=None)) as connection:
        for setting in ("journal_mode = DELETE", "synchronous = EXTRA", "fullfsync = ON"):
            connection.execute(f"PRAGMA {setting}")
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")


def _insert(connection: sqlite3.Connection, chain: Chain) -> None:
    connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (chain.seq, chain.bodies[-1], chain.head))


@lru_cache(maxsize=4)
def _read_chain(path: Path, digest: str) -> Chain:
    """The chain in the file, every link checked. ``digest`` is the key of the cache: same bytes, same chain."""
    # immutable: SQLite takes the bytes as they are and writes nothing, whatever lies beside the file.
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        rows = connection.execute("SELECT seq, body, hash FROM entries ORDER BY seq").fetchall()
    hashes: list[str] = [""]
    for expected, (seq, body, entry_hash) in enumerate(rows):
        if seq != expected or not isinstance(body, str) or entry_hash != sha256(hashes[-1] + body):
            raise ValueError(f"entry {expected} is not the one that was written")
        hashes.append(entry_hash)
    if not rows:
        raise ValueError("there is no opening entry")
    return Chain(tuple(body for _, body, _ in rows), tuple(hashes[1:]))


def _digest(path: Path) -> str:
    """Of the whole file, so that a flip in an unused part of a page counts too."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
