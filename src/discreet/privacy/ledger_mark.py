"""A ledger's mark: the small file that says how far the ledger had come, so that an older copy is noticed.

The chain of hashes inside a ledger shows that no entry was altered; only a note kept outside can show that the last
ones were not cut off. One mark lies beside the ledger, a second one in the user's state directory.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from discreet.errors import LedgerError

try:
    import fcntl
except ImportError:  # Windows has neither flock nor a directory that can be synced
    fcntl = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Mark:
    """The newest entry of a ledger, the digest of its whole file, and the entry about to be committed, if any.

    ``ledger`` is the hash of the opening entry; ``seq`` is -1 while a ledger is being created.
    """

    ledger: str
    seq: int
    head: str
    digest: str
    pending: str = ""

    def to_text(self) -> str:
        fields = asdict(self)
        return canonical_json({**fields, "checksum": sha256(canonical_json(fields))}) + "\n"

    @classmethod
    def from_text(cls, text: str) -> Mark:
        fields = json.loads(text)
        fields.pop("checksum")
        mark = cls(**fields)
        if mark.to_text() != text:  # byte for byte, so that no flip goes unnoticed, not even in a space
            raise ValueError("the checksum does not match")
        return mark


def read_mark(path: Path) -> Mark | None:
    """The mark at ``path``, None where there is none; ValueError where it was altered."""
    try:
        text = path.read_bytes().decode("ascii")
        return Mark.from_text(text)
    except FileNotFoundError:
        return None
    except (AttributeError, KeyError, TypeError, RecursionError) as error:
        raise ValueError("this is no mark") from error


def write_mark(path: Path, mark: Mark) -> None:
    """Replace the mark in one step: after a crash there is the old one or the new one, whole."""
    fresh = path.with_name(path.name + ".new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, mark.to_text().encode("ascii"))
        _sync(descriptor)
    finally:
        os.close(descriptor)
    os.replace(fresh, path)
    sync_directory(path.parent)


def mark_elsewhere(ledger: str) -> Path:
    """Where this user's second mark of a ledger lies: it stays when a directory is restored from a backup."""
    return state_folder() / "marks" / f"{ledger}.json"


def state_folder() -> Path:
    """Where discreet remembers things for this user, wherever a command runs: DISCREET_STATE or the user's own."""
    chosen = os.environ.get("DISCREET_STATE")
    return Path(chosen) if chosen else _user_state() / "discreet"


def _user_state() -> Path:
    chosen = os.environ.get("XDG_STATE_HOME")
    try:
        return Path(chosen) if chosen else Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise FileNotFoundError("this user has no home directory") from error


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file ``path``, against every other thread and process; the kernel frees it when a holder dies."""
    if fcntl is None:
        raise LedgerError("a ledger needs the file locks of a POSIX system (Linux, macOS); this system has none")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        _sync(descriptor)
    finally:
        os.close(descriptor)


def _sync(descriptor: int) -> None:
    # On macOS fsync stops at the drive's own cache.
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is None:
        os.fsync(descriptor)
    else:
        fcntl.fcntl(descriptor, full)


def canonical_json(fields: dict[str, Any]) -> str:
    """The one ASCII text of these fields."""
    return json.dumps(fields, sort_keys=True, separators=(",", ":"))


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()
