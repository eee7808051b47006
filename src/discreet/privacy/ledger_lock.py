"""Write access to a ledger: one lock per ledger, waiting with a time limit, and safe forks."""

from __future__ import annotations

import json
import os
import random
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from discreet.errors import LedgerBusy, LedgerError

try:
    import fcntl
except ImportError:  # Windows has neither flock nor a directory that can be synced
    fcntl = None  # type: ignore[assignment]

# How long to wait for a lock, in seconds; DISCREET_LOCK_SECONDS overrides it.
_PATIENCE = 30.0
_SHORTEST, _LONGEST = 0.0005, 0.02


class ForkGate:
    """Makes a fork wait until no thread is inside SQLite: a child must not
    inherit half a transaction.

    A thread is inside for the milliseconds of one transaction, never while it waits for a lock. So
    a fork does not wait for a lock. In the child no thread is inside.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._inside: set[int] = set()
        self._forks = 0

    def __enter__(self) -> None:
        with self._condition:
            self._condition.wait_for(lambda: not self._forks)
            self._inside.add(threading.get_ident())

    def __exit__(self, *_: object) -> None:
        with self._condition:
            self._inside.discard(threading.get_ident())
            self._condition.notify_all()

    def before_fork(self) -> None:
        self._condition.acquire()
        self._forks += 1  # no other thread enters
        self._condition.wait_for(lambda: self._inside <= {threading.get_ident()})

    def after_in_parent(self) -> None:
        self._forks -= 1
        self._condition.notify_all()
        self._condition.release()

    def after_in_child(self) -> None:
        self.__init__()  # type: ignore[misc]


no_fork = ForkGate()
# Lock files that this process has open: a child must not keep a lock that it does not hold.
_open_locks: set[int] = set()


def _close_in_child() -> None:
    for descriptor in _open_locks:
        with suppress(OSError):
            os.close(descriptor)  # the parent's descriptor still holds the lock
    _open_locks.clear()
    no_fork.after_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=no_fork.before_fork, after_in_parent=no_fork.after_in_parent, after_in_child=_close_in_child
    )


@contextmanager
def locked(path: Path, what: str = "") -> Iterator[None]:
    """Hold the lock file ``path`` against all other threads and processes; the
    kernel frees it at exit.

    Raises LedgerBusy, with the name of the holder, if it is not free in time. ``what``: what is
    locked, for the message.
    """
    if fcntl is None:
        raise LedgerError("a ledger needs the file locks of a POSIX system (Linux, macOS); this system has none")
    descriptor = _acquired(path, what or str(path))
    try:
        _sign(descriptor)
        yield
    finally:
        # Unlocked before it is closed: a child forked meanwhile may hold a copy of the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        _open_locks.discard(descriptor)
        os.close(descriptor)


def _acquired(path: Path, what: str) -> int:
    started, pause, patience = time.monotonic(), _SHORTEST, _patience()
    while True:
        with no_fork:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            _open_locks.add(descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(descriptor, path):
                return descriptor
        except BlockingIOError:
            pass
        except BaseException:
            _close(descriptor)
            raise
        if time.monotonic() - started > patience:
            holder = _holder(descriptor)
            _close(descriptor)
            raise LedgerBusy(
                f"{what} has been in use by {holder} for more than {patience:g} seconds: wait for it, or resume or end "
                "it if it hangs, and try again (DISCREET_LOCK_SECONDS sets how long to wait); nothing was spent"
            )
        _close(descriptor)
        time.sleep(pause * random.uniform(0.5, 1.5))
        pause = min(2 * pause, _LONGEST)


def _patience() -> float:
    try:
        return float(os.environ["DISCREET_LOCK_SECONDS"])
    except (KeyError, ValueError):
        return _PATIENCE


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether the locked file is still the one at its path, and was not deleted."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _close(descriptor: int) -> None:
    _open_locks.discard(descriptor)
    os.close(descriptor)


def _sign(descriptor: int) -> None:
    """Write into the lock file who holds it. This is used in messages only."""
    holder = {
        "process": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
        "program": Path(sys.argv[0]).name if sys.argv else "",
    }
    with suppress(OSError):
        text = json.dumps(holder).encode()
        os.pwrite(descriptor, text, 0)
        os.ftruncate(descriptor, len(text))


def _holder(descriptor: int) -> str:
    try:
        facts = json.loads(os.pread(descriptor, 4096, 0))
        process, host = int(facts["process"]), str(facts["host"])
        program = f" ({facts['program']})" if facts["program"] else ""
        where = "" if host == socket.gethostname() else f" on {host}"
        return f"process {process}{program}{where}, {_condition(process, host)}since {facts['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def _condition(process: int, host: str) -> str:
    """Whether the holder is stopped, if the system shows that: it then never
    releases the lock by itself.
    """
    if host != socket.gethostname():
        return ""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""
    return f"which is stopped (kill -CONT {process} resumes it), " if state in ("T", "t") else ""
