"""Which ledger has paid for which plan, noted in the private key's file.

A release under a plan with public keys needs the party's private key. So a copy of that file, with
which a release could be made elsewhere, has the note too. The note is a line below the key, signed
by the key; readers of PEM files ignore it. It is on disk before the first charge. One case is not
covered: a copy of the key from before the release has no note, and can release once more where
neither the ledger nor the user's state folder is the same.
"""

from __future__ import annotations

import json
import os
import socket
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from discreet.documents import parsed_json
from discreet.errors import LedgerError
from discreet.parties.plan import Plan
from discreet.parties.signing import SigningKey
from discreet.privacy import Ledger
from discreet.privacy.ledger_mark import sync

_LINE = b"discreet-release: "
_PURPOSE = b"discreet note of a release\n"


@dataclass(frozen=True)
class Note:
    """The start of a release under a plan: when, on which machine, and which ledger pays for it."""

    plan: str
    party: str
    ledger: str
    host: str
    time: str

    @classmethod
    def now(cls, plan: Plan, party: str, ledger: Ledger) -> Note:
        time = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(plan.hash, party, str(ledger.path), socket.gethostname(), time)

    @property
    def is_of_this_machine(self) -> bool:
        return self.host == socket.gethostname()

    def to_line(self, key: SigningKey) -> bytes:
        fields = asdict(self)
        content = json.dumps(fields, sort_keys=True).encode()
        return _LINE + json.dumps({**fields, "signature": key.sign(content, _PURPOSE)}).encode() + b"\n"


def note_of(key: SigningKey | None, plan: Plan, party: str) -> Note | None:
    """The newest note of this plan's release in the key's file."""
    return next((note for note in reversed(_notes(key)) if (note.plan, note.party) == (plan.hash, party)), None)


def write_note(key: SigningKey | None, plan: Plan, party: str, ledger: Ledger) -> None:
    """Note that this ledger pays for the release; LedgerError, with nothing spent, if
    that fails.
    """
    note, earlier = Note.now(plan, party, ledger), note_of(key, plan, party)
    if key is None or key.path is None or (earlier and (earlier.ledger, earlier.host) == (note.ledger, note.host)):
        return
    try:
        _append(key.path, note.to_line(key))
    except OSError as error:
        raise LedgerError(
            f"the key {key.path} cannot be written ({error.strerror}): a release is noted in it, so that no copy of "
            "the key pays for the plan again; `chmod 600` it, or keep it in a folder that can be written; nothing was "
            "spent"
        ) from error


def take_back(key: SigningKey | None, plan: Plan, party: str) -> None:
    """Remove the note of a release that was never charged, if it is the last one."""
    note = note_of(key, plan, party)
    if key is not None and key.path is not None and note is not None:
        line = note.to_line(key)
        with key.path.open("r+b") as file:
            content = file.read()
            if content.endswith(line):
                file.truncate(len(content) - len(line))
                sync(file.fileno())


def _append(path: Path, line: bytes) -> None:
    # A crash may leave an incomplete line, which no charge has followed: it is ended, and ignored.
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
    try:
        size = os.fstat(descriptor).st_size
        ended = size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"
        os.write(descriptor, (b"" if ended else b" cut short\n") + line)
        sync(descriptor)
    finally:
        os.close(descriptor)


def _notes(key: SigningKey | None) -> list[Note]:
    if key is None or key.path is None:
        return []
    try:
        content = key.path.read_bytes()
    except OSError as error:
        raise LedgerError(f"cannot read the key {key.path}: {error.strerror}; nothing was spent") from error
    lines = [line for line in content.splitlines(keepends=True) if line.startswith(_LINE) and line.endswith(b"}\n")]
    return [_read(line, key) for line in lines]


def _read(line: bytes, key: SigningKey) -> Note:
    altered = LedgerError(f"a note of a release in the key {key.path} was altered: put it back; nothing was spent")
    fields = parsed_json(line.removeprefix(_LINE), f"a note in the key {key.path}", LedgerError)
    try:
        signature = fields.pop("signature")
        note = Note(**fields)
        if note.to_line(key) != _LINE + json.dumps({**fields, "signature": signature}).encode() + b"\n":
            raise altered
    except (AttributeError, KeyError, TypeError):
        raise altered from None
    return note
