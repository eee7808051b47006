"""A ledger's mark: a small file that records the ledger's newest entry, so that
an older copy is detected.

The hash chain inside a ledger shows that no entry was altered. Only a record outside of it can show
that the last entries were not removed. One mark lies beside the ledger, a second one in the user's
state directory. With a key (in the environment or in a file) marks are authenticated: without the
key nobody can make a mark for an altered ledger.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from discreet.errors import LedgerError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_KEY, _KEY_FILE = "DISCREET_LEDGER_KEY", "DISCREET_LEDGER_KEY_FILE"
_SHORTEST_KEY = 16
# The length of a mark in bytes: one sector is written in full or not at all.
_SECTOR = 512


@dataclass(frozen=True)
class Mark:
    """The newest entry of a ledger for which anything was released.

    ``ledger`` is the hash of the opening entry. ``seq`` is -1 while a ledger is being created.
    ``stamp`` is the size and modification time of the file when it was last written here: a file
    with another stamp is verified in full before it is used.
    """

    ledger: str
    seq: int
    head: str
    stamp: str = ""

    def to_text(self, key: bytes | None) -> str:
        fields = {"format": 2, **asdict(self), "keyed": key is not None}
        text = canonical_json({**fields, "checksum": _checksum(canonical_json(fields), key)})
        return text.ljust(_SECTOR - 1) + "\n"

    @classmethod
    def from_text(cls, text: str, key: bytes | None) -> Mark:
        """Raises ValueError if the mark was altered, LedgerError if its key is missing."""
        fields = json.loads(text)
        if {"digest", "pending"} <= set(fields):
            raise LedgerError("it was made by an earlier version of discreet, and only that version can charge it")
        if fields["format"] != 2:
            raise ValueError("this is no mark of this format")
        if fields["keyed"] and key is None:
            raise LedgerError(f"its mark was made with a key: put the key into {_KEY}, or its file into {_KEY_FILE}")
        if key is not None and not fields["keyed"]:
            raise LedgerError(
                f"{_KEY} or {_KEY_FILE} is set, but its mark was made without a key: if nobody else can have made it, "
                "sign it with `discreet budget sign`"
            )
        mark = cls(*(fields[name] for name in ("ledger", "seq", "head", "stamp")))
        # Compared byte by byte, so that every changed bit is detected, even in a space.
        if not hmac.compare_digest(mark.to_text(key).encode(), text.encode()):
            raise ValueError("the checksum does not match")
        return mark


def _checksum(text: str, key: bytes | None) -> str:
    return sha256(text) if key is None else hmac.new(key, text.encode("ascii"), hashlib.sha256).hexdigest()


def mark_key() -> bytes | None:
    """The key for the marks of this process, from the environment or from a file;
    None without one.
    """
    if text := os.environ.get(_KEY):
        key = text.encode()
    elif path := os.environ.get(_KEY_FILE):
        try:
            key = Path(path).read_bytes().strip()
        except OSError as error:
            raise LedgerError(f"the key of ledger marks cannot be read from {path}: {error.strerror}") from error
    else:
        return None
    if len(key) < _SHORTEST_KEY:
        raise LedgerError(f"the key of ledger marks must have at least {_SHORTEST_KEY} characters, got {len(key)}")
    return key


def read_mark(path: Path, key: bytes | None) -> Mark | None:
    """The mark at ``path``, or None if there is none. Raises ValueError if it was altered."""
    try:
        return Mark.from_text(path.read_bytes().decode("ascii"), key)
    except FileNotFoundError:
        return None
    except (AttributeError, KeyError, TypeError, RecursionError) as error:
        raise ValueError("this is no mark") from error


def write_mark(path: Path, mark: Mark, key: bytes | None) -> None:
    """Replace the mark in one step: after a crash the file holds the old or the new one, complete.

    A mark is one disk sector, overwritten in one call and not synced. If a power cut
    loses it, the previous mark accepts the same ledger. Replacing the file by another
    would take ten times as long.
    """
    text = mark.to_text(key).encode("ascii")
    try:
        descriptor = os.open(path, os.O_WRONLY)
    except FileNotFoundError:
        _put_mark(path, text)
        return
    try:
        if os.fstat(descriptor).st_size != _SECTOR:
            _put_mark(path, text)
            return
        os.pwrite(descriptor, text, 0)
    finally:
        os.close(descriptor)


def _put_mark(path: Path, text: bytes) -> None:
    """Create a mark where there is none, or none of this size."""
    fresh = path.with_name(path.name + ".new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, text)
        sync(descriptor)
    finally:
        os.close(descriptor)
    os.replace(fresh, path)
    sync_directory(path.parent)


def mark_elsewhere(ledger: str) -> Path:
    """The path of this user's second mark of a ledger, which restoring the
    ledger's folder does not change.
    """
    return state_folder() / "marks" / f"{ledger}.json"


def state_folder() -> Path:
    """The folder of discreet's state for this user: DISCREET_STATE, or one in
    the home directory.
    """
    chosen = os.environ.get("DISCREET_STATE")
    return Path(chosen) if chosen else _user_state() / "discreet"


def _user_state() -> Path:
    chosen = os.environ.get("XDG_STATE_HOME")
    try:
        return Path(chosen) if chosen else Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise FileNotFoundError("this user has no home directory") from error


def sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def sync(descriptor: int) -> None:
    """Write the file's content to the disk before this returns."""
    # On macOS fsync stops at the drive's cache.
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is None:
        getattr(os, "fdatasync", os.fsync)(descriptor)
    else:
        fcntl.fcntl(descriptor, full)


def canonical_json(fields: Any) -> str:
    """The unique ASCII text of these fields."""
    return json.dumps(fields, sort_keys=True, separators=(",", ":"))


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()
